"""Encoders from folders of any origin, read by the library that defines them; files and models of the hub."""
