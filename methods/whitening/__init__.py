"""Sentence vectors centred, or centred and whitened, with statistics of a corpus."""
