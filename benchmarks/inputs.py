"""What the benchmarks encode and train on: all-MiniLM-L6-v2 and Wikipedia sentences, or tiny stand-ins."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import numpy as np

from harness.data.corpora import corpus_file, read_corpus
from harness.data.download import folder_of
from harness.process import quiet
from methods.core.encoder import SentenceEncoder
from methods.core.folders import load_encoder
from tests.support import tiny


@cache
def backbone(short: bool) -> Path:
    """Returns a folder of a six-layer encoder of width 384; `short` one of two layers and width 16."""
    quiet()
    return tiny.write_backbone(Path(mkdtemp()) / "tiny") if short else folder_of("minilm-l6")


def encoder(short: bool, pooling: str, **config: Any) -> SentenceEncoder:
    """Returns a fresh encoder of that folder; `config` overrides entries such as `hidden_dropout_prob`."""
    return load_encoder(backbone(short), pooling=pooling, **config)  # type: ignore[return-value]


def sentences(count: int, short: bool) -> list[str]:
    """Returns so many sentences in an order drawn once."""
    texts = [row.text for row in tiny.rows(count)]
    if not short:
        texts = [text for text, _ in read_corpus(corpus_file(folder_of("wiki-small")))]
    return [texts[place] for place in np.random.default_rng(0).permutation(len(texts))[:count]]
