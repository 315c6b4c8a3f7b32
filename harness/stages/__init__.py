"""One function per pipeline stage."""
