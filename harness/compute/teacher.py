"""A teacher's vectors of a corpus; this module imports all code that determines them."""

from harness.data.corpora import read_corpus
from methods.core.folders import load_encoder
from methods.core.teachers import write_teacher as write_vectors

__all__ = ["load_encoder", "read_corpus", "write_vectors"]
