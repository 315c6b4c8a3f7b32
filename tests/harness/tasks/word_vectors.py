"""An encoder that needs no model: each word a random vector keyed by its spelling, a text their mean."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from functools import cache

import numpy as np


@cache
def word_vector(word: str, width: int) -> np.ndarray:
    return np.random.default_rng(zlib.crc32(word.encode())).standard_normal(width).astype(np.float32)


def encode_words(texts: Sequence[str], width: int = 384) -> np.ndarray:
    """Returns [N, width] fp32; a text without words is a zero vector."""
    zero = np.zeros((1, width), np.float32)
    return np.array(
        [np.mean([word_vector(w, width) for w in text.split()] or zero, axis=0) for text in texts]
    )
