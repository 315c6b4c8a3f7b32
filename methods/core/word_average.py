"""The average of word vectors as an encoder (the GloVe row of every table)."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import save_file
from torch import nn

from methods.core.batching import unique
from methods.core.errors import InputError
from methods.core.model_files import read_tensors

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
    vectors = read_tensors(folder / VECTORS).get("vectors")
    if vectors is None or vectors.dim() != 2 or not vectors.is_floating_point() or not vectors.numel():
        raise InputError(f"{folder / VECTORS}: no tensor `vectors` [V, width] of floats, expected one")
    vocabulary = read_words(folder / VOCABULARY)
    if len(vocabulary) != len(vectors):
        raise InputError(
            f"{folder}: {len(vocabulary)} words and {len(vectors)} vectors, expected as many; fetch it again"
        )
    output = None
    if (folder / "output.safetensors").is_file():
        output = linear_of(read_tensors(folder / "output.safetensors"), folder)
        if output.in_features != vectors.shape[1]:
            raise InputError(f"{folder}: the output layer reads {output.in_features} numbers, not a vector's")
    return WordAverageEncoder(vectors.float(), vocabulary, output=output)


def read_words(path: Path) -> list[str]:
    """Returns the words in a file, one a line. Errors: InputError for other bytes or a repeated word."""
    try:
        words = path.read_text(encoding="utf-8").removesuffix("\n").split("\n")
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not UTF-8 ({error}); fetch it again") from None
    if len(set(words)) < len(words):
        repeated = next(word for word, count in Counter(words).items() if count > 1)
        raise InputError(f"{path}: {repeated!r} is repeated, expected each word once")
    return words


def linear_of(tensors: Mapping[str, torch.Tensor], folder: Path) -> nn.Linear:
    """Returns the linear layer whose `weight` [out, in], and perhaps `bias` [out], these are, in fp32.

    Errors: InputError if they are not.
    """
    shapes = {name: list(tensor.shape) for name, tensor in tensors.items()}
    weight = shapes.get("weight", [])
    if (
        len(weight) != 2
        or 0 in weight
        or shapes not in ({"weight": weight}, {"weight": weight, "bias": weight[:1]})
    ):
        raise InputError(f"{folder}: tensors {shapes}, expected weight [out, in] and perhaps bias [out]")
    layer = nn.Linear(weight[1], weight[0], bias="bias" in shapes)
    layer.load_state_dict({name: tensor.float() for name, tensor in tensors.items()})
    return layer
