"""The average of word vectors as an encoder (the GloVe row of every table)."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import load_file, save_file
from torch import nn

from methods.core.batching import unique
from methods.core.errors import InputError

_WORD = re.compile(r"\w+|[^\w\s]")
VECTORS, VOCABULARY = "vectors.safetensors", "vocab.txt"


class WordAverageEncoder(nn.Module):
    """Maps a text to the mean vector of its known words; a text without any is the zero vector.

    Text is lower-cased and split into words and punctuation marks; GloVe 6B knows both.
    Shapes: V words, d width; `vectors` [V, d].
    """

    vectors: torch.Tensor

    def __init__(
        self, vectors: torch.Tensor, vocabulary: Sequence[str], *, output: nn.Linear | None = None
    ) -> None:
        super().__init__()
        self.register_buffer("vectors", vectors, persistent=False)
        self.vocabulary = list(vocabulary)
        self.index = {word: number for number, word in enumerate(self.vocabulary)}
        self.output = output

    @property
    def width(self) -> int:
        """Width of the word vectors."""
        return int(self.vectors.shape[1])

    @property
    def dim(self) -> int:
        """Width of the vectors that `encode` returns."""
        return self.width if self.output is None else self.output.out_features

    def words(self, text: str) -> list[int]:
        """Returns the indices of the known words of a text."""
        return [self.index[word] for word in _WORD.findall(text.lower()) if word in self.index]

    def encode(self, texts: Sequence[str], *, batch_size: int = 128, progress: bool = False) -> np.ndarray:
        """Returns [N, dim] fp32."""
        distinct, inverse = unique(texts)
        table = self.vectors.cpu().numpy()
        pooled = np.zeros((len(distinct), self.width), dtype=np.float32)
        for number, text in enumerate(distinct):
            known = self.words(text)
            if known:
                pooled[number] = table[known].mean(axis=0)
        if self.output is not None:
            with torch.no_grad():
                pooled = self.output.cpu()(torch.from_numpy(pooled)).numpy()
        return pooled[inverse]

    def save(self, directory: Path) -> None:
        """Writes a folder that `load_encoder` reads; no other library has an equal word splitter."""
        directory.mkdir(parents=True, exist_ok=True)
        save_file({"vectors": self.vectors.cpu().contiguous()}, directory / VECTORS)
        (directory / VOCABULARY).write_text("\n".join(self.vocabulary) + "\n", encoding="utf-8")
        if self.output is not None:
            layer = {name: value.contiguous() for name, value in self.output.state_dict().items()}
            save_file(layer, directory / "output.safetensors")
        marker = {"format": 1, "kind": "word-average"}
        (directory / "sentbench.json").write_text(json.dumps(marker) + "\n", encoding="utf-8")


def load_word_average(folder: Path) -> WordAverageEncoder:
    """Returns the word-average encoder of a folder with `vectors.safetensors` and `vocab.txt`.

    Errors: InputError if a file is missing or the vocabulary has another length than the vectors.
    """
    for name in (VECTORS, VOCABULARY):
        if not (folder / name).is_file():
            raise InputError(f"{folder}: no {name}, expected a word-vector folder; fetch it again")
    vectors = load_file(folder / VECTORS)["vectors"]
    vocabulary = (folder / VOCABULARY).read_text(encoding="utf-8").removesuffix("\n").split("\n")
    if len(vocabulary) != len(vectors):
        raise InputError(
            f"{folder}: {len(vocabulary)} words and {len(vectors)} vectors, expected as many; fetch it again"
        )
    output = None
    if (folder / "output.safetensors").is_file():
        layer = load_file(folder / "output.safetensors")
        output = nn.Linear(layer["weight"].shape[1], layer["weight"].shape[0], bias="bias" in layer)
        output.load_state_dict(layer)
    return WordAverageEncoder(vectors, vocabulary, output=output)
