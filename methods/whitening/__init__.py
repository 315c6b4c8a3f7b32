"""Centring and whitening of sentence vectors with statistics of a corpus."""
