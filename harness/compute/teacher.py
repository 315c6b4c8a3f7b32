"""A teacher's vectors of a corpus."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from harness.compute.rows import read_rows
from methods.core.folders import load_encoder
from methods.core.parents import write_teacher


def write_vectors(
    encoder: Path,
    corpus: Path,
    folder: Path,
    *,
    pooling: str | None,
    device: str,
    description: dict[str, str],
) -> None:
    """Fills `folder` with the vectors of every text of a corpus and the description of what made them."""
    rows = read_rows(corpus)
    model: Any = load_encoder(encoder, pooling=pooling)
    write_teacher(folder, model.to(device), [(row.text, *row.paraphrase) for row in rows], description)
