"""Files on disk: written whole or not at all, with checksums, and never over what is not ours."""
