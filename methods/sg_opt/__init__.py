"""SG-OPT: the tuned encoder's vector against the layers of a frozen copy, or against a back-translation."""
