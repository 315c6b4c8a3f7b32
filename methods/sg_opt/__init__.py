"""SG-OPT: contrast of a tuned encoder with the layers of a frozen copy, or with a back-translation."""
