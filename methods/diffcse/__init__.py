"""DiffCSE: contrast with itself, and a vector that tells which tokens of a rewrite are new."""
