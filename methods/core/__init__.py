"""Building blocks of every method; imports no other package of this repository."""
