"""An untrained backbone with a pooling, for the untrained rows of every table."""
