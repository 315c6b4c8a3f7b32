"""PCL: two networks agree on which of a sentence's edited copies are its peers."""
