"""ConSERT: two views of a sentence that differ by an edit at the embedding layer."""
