"""Faster computation of the same values on a CPU; no definition of a result is in this package."""
