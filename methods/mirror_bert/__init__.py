"""Mirror-BERT: contrast of a sentence with a copy that has a masked span."""
