"""Mirror-BERT: a sentence and itself with a masked span, for a few steps."""
