"""What every method is built from; imports nothing from the rest of this repository."""
