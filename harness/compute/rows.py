"""A corpus as the rows that methods train on and teachers encode."""

from pathlib import Path

from harness.data.corpora import corpus_file, read_corpus
from methods.core.streams import subset
from methods.core.types import Row


def read_rows(corpus: Path, *, share: float = 1.0, seed: int = 0) -> list[Row]:
    """Returns the corpus as rows; a share of it is a nested random subset that keeps the rows' indices."""
    rows = [Row(index, text, others) for index, (text, others) in enumerate(read_corpus(corpus_file(corpus)))]
    return rows if share == 1.0 else [rows[index] for index in subset(seed, len(rows), share)]
