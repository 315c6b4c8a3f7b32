"""Encoders from folders of any origin: read by the library that defines them, computed faster if known."""
