"""Published numbers, independent and our measurements, and the rules of verdicts."""
