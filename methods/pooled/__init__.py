"""A backbone as it is, under one pooling: the untrained rows of every table."""
