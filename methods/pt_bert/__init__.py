"""PT-BERT: momentum contrast after a block of pseudo tokens."""
