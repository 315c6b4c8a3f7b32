"""Data sources, downloads and readers of data formats."""
