"""Independent measurements of the tables' systems."""
