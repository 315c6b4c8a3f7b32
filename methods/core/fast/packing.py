"""Where the real tokens of a padded batch are, and how they get into rows for attention and back.

Legend: B rows, L columns, T real tokens, H heads, d width.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn.functional import pad

from methods.core.transfers import moved


class Rows(NamedTuple):
    """Rows of packed tokens: where each begins and the last ends [B + 1], and how long they are."""

    ends: Tensor
    shortest: int
    longest: int


class Packing:
    """A padded batch: where its real tokens are among B times L, and what is attended to.

    given: the batch, [B, L] or [B, L, d]. mask: 1 for what is attended to, [B, L]; None for all.
    on_host: the same mask on the CPU, so that the device is not asked.
    with_padding: padding counts as real tokens that none attends to; T is then B times L.
    Attributes: mask [B, 1, 1, L] bool, None where all is attended to; positions [T] and lengths [B], which is
    on the CPU, None where T is B times L.
    """

    def __init__(
        self,
        given: Tensor,
        mask: Tensor | None,
        on_host: Tensor | None = None,
        *,
        with_padding: bool = False,
    ) -> None:
        self.rows, self.columns = given.shape[:2]
        self.mask: Tensor | None = None
        self.positions: Tensor | None = None
        self.lengths: Tensor | None = None
        self._of_heads: dict[int, tuple[Tensor, Tensor]] = {}
        self._own_rows: Rows | None = None
        known = mask if on_host is None else on_host
        if mask is not None and known is not None and not bool(known.all()):
            self.mask = mask.bool()[:, None, None, :]
            if not with_padding:
                attended, lengths = known.bool().flatten(), known.bool().sum(dim=1)
                self.lengths = lengths
                self.positions = moved(attended.nonzero().squeeze(1), mask.device)
                self.sources = moved((attended.cumsum(0) - 1).clamp_min(0), mask.device)  # [B L]
                self.first = moved(lengths.cumsum(0) - lengths, mask.device)  # [B]

    def pack(self, padded: Tensor) -> Tensor:
        """Returns the real tokens; [B, L, ...] to [T, ...]."""
        flat = padded.flatten(0, 1)
        return flat if self.positions is None else flat.index_select(0, self.positions)

    def unpack(self, packed: Tensor) -> Tensor:
        """Returns the tokens in their rows; [T, d] to [B, L, d].

        Where there is none a copy of the last token before it stands: nothing may attend to it, and no
        gradient comes back from it.
        """
        if self.positions is not None:
            packed = _Scatter.apply(packed, self.sources, self.positions)
        return packed.unflatten(0, (self.rows, self.columns))

    def to_heads(self, packed: Tensor, heads: int) -> Tensor:
        """Returns the tokens of each row and head, with copies as in `unpack`; [T, d] to [B H, L, d / H]."""
        if self.positions is None:
            rows = packed.unflatten(0, (self.rows, self.columns)).unflatten(-1, (heads, -1))
            return rows.transpose(1, 2).flatten(0, 1)
        sources, positions = self._indices(heads)
        parts = _Scatter.apply(packed.reshape(len(packed) * heads, -1), sources, positions)
        return parts.unflatten(0, (self.rows * heads, self.columns))

    def from_heads(self, read: Tensor, heads: int) -> Tensor:
        """Returns what each real token read by all heads; [B H, L, d / H] to [T, d]."""
        if self.positions is None:
            return read.unflatten(0, (self.rows, heads)).transpose(1, 2).flatten(2).flatten(0, 1)
        _, positions = self._indices(heads)
        return _Chosen.apply(read.flatten(0, 1), positions).unflatten(0, (-1, heads)).flatten(1)

    def hidden(self, heads: int) -> Tensor | None:
        """Returns what to add to scores: minus infinity for padding; [B H, 1, L], None without padding."""
        if self.mask is None:
            return None
        lost = torch.zeros(self.mask.shape, device=self.mask.device).masked_fill(~self.mask, -torch.inf)
        return lost.expand(-1, heads, -1, -1).flatten(0, 1)

    def first_tokens(self, packed: Tensor) -> Tensor:
        """Returns the first token of every row; [T, d] to [B, d]."""
        return packed[:: self.columns] if self.positions is None else packed[self.first]

    def own_rows(self) -> Rows:
        """Returns the rows of real tokens; for a packing with lengths. Copied to the device once."""
        if self._own_rows is None:
            assert self.lengths is not None
            ends = moved(pad(self.lengths.cumsum(0), (1, 0)), self.first.device)
            self._own_rows = Rows(ends, int(self.lengths.min()), int(self.lengths.max()))
        return self._own_rows

    def single_rows(self) -> Rows:
        """Returns rows of one token each; for a packing with lengths."""
        return Rows(torch.arange(self.rows + 1, device=self.own_rows().ends.device), 1, 1)

    def _indices(self, heads: int) -> tuple[Tensor, Tensor]:
        """Returns sources [B H L] and positions [T H] of parts of tokens."""
        if heads not in self._of_heads:
            assert self.positions is not None
            head = torch.arange(heads, device=self.positions.device)
            sources = self.sources.view(self.rows, 1, self.columns) * heads + head[:, None]
            row, column = self.positions // self.columns, self.positions % self.columns
            positions = (row[:, None] * heads + head) * self.columns + column[:, None]
            self._of_heads[heads] = sources.flatten(), positions.flatten()
        return self._of_heads[heads]


class _Scatter(torch.autograd.Function):
    """Rows at several places, of which those in `back` alone give a gradient, each row once."""

    @staticmethod
    def forward(ctx: Any, rows: Tensor, index: Tensor, back: Tensor) -> Tensor:
        ctx.save_for_backward(back)
        return rows.index_select(0, index)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None, None]:
        return gradient.index_select(0, *ctx.saved_tensors), None, None


class _Chosen(torch.autograd.Function):
    """Some rows, none of them twice."""

    @staticmethod
    def forward(ctx: Any, rows: Tensor, index: Tensor) -> Tensor:
        ctx.save_for_backward(index)
        ctx.count = len(rows)
        return rows.index_select(0, index)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None]:
        (index,) = ctx.saved_tensors
        return gradient.new_zeros(ctx.count, gradient.shape[1]).index_copy_(0, index, gradient), None
