"""ConSERT: contrast of two views of a sentence, augmented at the embedding layer."""
