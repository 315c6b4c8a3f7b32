"""SimCSE: the same sentence twice through one encoder, apart by dropout only."""
