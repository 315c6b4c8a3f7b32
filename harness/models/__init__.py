"""Models of other origins: files and models of the hub."""
