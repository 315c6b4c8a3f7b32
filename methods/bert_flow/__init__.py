"""BERT-flow: sentence vectors of a fixed encoder through an invertible map to a normal distribution."""
