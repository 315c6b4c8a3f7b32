"""Bad input as the whole harness reports it; one class, shared with `methods.core`."""

from methods.core.errors import InputError, near_matches

__all__ = ["InputError", "near_matches"]
