"""What passes between corpus, method, trainer and evaluation. Imports no other module of this repository.

Legend of shapes used throughout `methods`: B batch, L tokens, d width, K positives, M queue rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
from torch import Tensor

Tokens = dict[str, Tensor]
"""`input_ids`, `attention_mask` and, where the backbone has them, `token_type_ids`; each [B, L]."""

MASK, HOST_MASK = "attention_mask", "host_mask"
"""The mask of tokens, and on other devices than the CPU its copy that stays on the host."""

Batch = dict[str, Any]
"""What one step reads, by names that the method gives: `Tokens`, a tensor, or a group of such."""

Column = int
"""Which text of a row: TEXT is the sentence itself, p its p-th augmentation, as in recipes/corpora.yaml."""

TEXT, FIRST_AUGMENTATION = 0, 1


class Row(NamedTuple):
    """One training example: a sentence and what augmentation made of it.

    `index` is the row's number in the whole corpus and the key of everything that is kept per row.
    """

    index: int  # type: ignore[assignment]  # hides tuple.index, which no one calls on a row
    text: str
    augmentations: tuple[str, ...] = ()

    @property
    def columns(self) -> tuple[str, ...]:
        """All texts of the row, by column."""
        return (self.text, *self.augmentations)


class Loss(NamedTuple):
    """A scalar fp32 `total` with a graph, and detached scalars for the log."""

    total: Tensor
    parts: dict[str, Tensor]


@runtime_checkable
class Encoder(Protocol):
    """What training yields and evaluation takes."""

    @property
    def dim(self) -> int: ...
    def encode(self, texts: Sequence[str], *, batch_size: int = 128) -> np.ndarray: ...  # [N, dim] fp32
    def save(self, directory: Path) -> None: ...
