"""SimCSE: contrast of two passes of a sentence that differ by dropout only."""
