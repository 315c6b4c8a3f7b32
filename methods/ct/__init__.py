"""Contrastive tension: two encoders, similar for a sentence and dissimilar for random pairs."""
