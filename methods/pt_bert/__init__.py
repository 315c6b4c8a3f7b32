"""PT-BERT: momentum contrast behind a block of pseudo tokens."""
