"""Byte formats: where data comes from and how it is read."""
