"""PCL: contrast of a sentence with augmented copies, in two cooperating networks."""
