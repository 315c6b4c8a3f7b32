"""The average of GloVe word vectors."""
