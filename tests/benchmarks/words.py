"""A small encoder over a few words."""

from collections.abc import Sequence
from pathlib import Path

import torch

from methods.core.saving import save_encoder
from methods.core.words import Start, WordAverageEncoder, word_transformer


def word_backbone(folder: Path, words: Sequence[str], *, start: Start) -> Path:
    """Writes a BERT of one layer and width 4 over drawn word vectors, and returns its folder."""
    vectors = torch.randn(len(words), 4, generator=torch.Generator().manual_seed(0))
    encoder = word_transformer(
        WordAverageEncoder(vectors, words),
        vocabulary=len(words),
        copies=1,
        layers=1,
        heads=2,
        inner=8,
        positions=16,
        dropout=0.1,
        start=start,
        pooling="cls",
        seed=0,
    )
    folder.mkdir()
    save_encoder(encoder, folder)
    return folder
