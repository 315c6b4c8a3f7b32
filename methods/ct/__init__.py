"""Contrastive tension: two encoders agree on a sentence and disagree on random pairs."""
