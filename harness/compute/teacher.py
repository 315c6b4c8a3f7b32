"""A teacher's vectors of a corpus; this module imports all code that determines them."""

from harness.compute.rows import read_rows
from methods.core.folders import load_encoder
from methods.core.teachers import write_teacher as write_vectors

__all__ = ["load_encoder", "read_rows", "write_vectors"]
