"""Atomic writes, checksums and locks; files of other programs are never overwritten."""
