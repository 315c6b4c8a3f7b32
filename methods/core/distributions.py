"""Losses between similarity distributions over a queue and the present batch, in bounded memory.

A vector's similarity distribution is the softmax of its dot products with all keys over a temperature.
The keys come as blocks, the queue's rows as they lie in their buffer and the batch's own vectors last, and
are never copied or joined. Rows are processed in chunks; of all scores only the gradient [B, d] outlives one.
Vectors and keys are used as they are: give unit vectors where the cosine is meant.

Legend: V sets of online vectors, B batch, d width, N keys in all blocks together, c rows of a chunk.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from methods.core.fast.linear import product, uses_onednn
from methods.core.losses import wide

SCRATCH = 3 * 2**22
"""Scores held at once, all buffers of a chunk together: 48 MiB in fp32; oneDNN copies one buffer more."""

FEWEST_ROWS = 64
"""Rows of a chunk, where the batch has them, however large their scores: oneDNN packs all keys again for each
chunk, so sums of keys for 32 rows ran at two thirds of the rate of those for 64."""

PIECE = 4096
"""Keys whose scores oneDNN returns at once; it cannot write them in place, so each is copied."""

TARGET_ROWS = 8
"""Rows whose target distribution is formed next to their scores before it takes their place."""


class Match(NamedTuple):
    """How far online distributions are from their targets, in nats, means over the batch.

    cross_entropy: [] or [V], has the gradient. entropy: the target's own [], a constant.
    """

    cross_entropy: Tensor
    entropy: Tensor

    @property
    def divergence(self) -> Tensor:
        """KL(target || online); its gradient equals that of the cross-entropy. [] or [V]."""
        return self.cross_entropy - self.entropy


def match_distributions(
    online: Tensor,
    reference: Tensor,
    keys: Sequence[Tensor],
    *,
    online_temperature: float,
    reference_temperature: float,
) -> Match:
    """Returns how far the distributions of `online` are from those of `reference`, over the same keys.

    Source: SCT eq. 2, ConGen eq. 3. With p the target and q the online distribution of a row, the gradient is
    (q - p) keys / (B online_temperature), formed in the forward pass.
    Shapes: online [B, d] or [V, B, d] (V vectors for each target), reference [B, d], each block [N_i, d].
    Gradients: reach `online` alone; everything else must be constant. Put the batch's own keys last.
    Facts: KL is 0 with zero gradient for equal vectors and temperatures; tends to InfoNCE as the reference
    temperature goes to 0 and each reference is its own nearest key.
    Errors: ValueError if a constant requires a gradient.
    """
    _check_constant([reference, *keys])
    stacked = online if online.ndim == 3 else online.unsqueeze(0)  # [V, B, d]
    with torch.autocast(online.device.type, enabled=False):
        stacked = wide(stacked)
        cross_entropy, entropy = _Match.apply(
            stacked,
            reference.to(stacked.dtype),
            _as(stacked, keys),
            (online_temperature, reference_temperature),
        )
    means = cross_entropy.mean(dim=1)  # [V]
    return Match(means if online.ndim == 3 else means[0], entropy.mean())


def pick_among_keys(online: Tensor, keys: Sequence[Tensor], *, temperature: float) -> Tensor:
    """Returns the mean cross-entropy of picking each row's own key: same index, last block.

    InfoNCE with all other keys, queue included, as negatives; the target distribution is one-hot.
    Shapes: online [B, d], each block [N_i, d], the last one at least B rows; returns a scalar in nats.
    Gradients: reach `online` alone; keys must be constant.
    Errors: ValueError if a key requires a gradient.
    """
    _check_constant(keys)
    with torch.autocast(online.device.type, enabled=False):
        online = wide(online)
        rows: Tensor = _Pick.apply(online, _as(online, keys), temperature)
        return rows.mean()


class _Match(torch.autograd.Function):
    """Cross-entropy [V, B] and target entropy [B]; the gradient is ready when the forward pass ends."""

    @staticmethod
    def forward(
        ctx: Any,
        online: Tensor,
        reference: Tensor,
        keys: list[Tensor],
        temperatures: tuple[float, float],
    ) -> tuple[Tensor, Tensor]:
        views, batch, _ = online.shape
        columns = sum(map(len, keys))
        step = _chunk_rows(batch, columns * (views + 1))
        scores = online.new_empty((views + 1) * step, columns)
        online, reference = online / temperatures[0], reference / temperatures[1]
        cross_entropy, entropy = online.new_empty(views, batch), online.new_empty(batch)
        gradient = torch.empty_like(online)
        for rows in _chunks(batch, step):
            size = rows.stop - rows.start
            logits = scores[: (views + 1) * size].unflatten(0, (views + 1, size))  # [V+1, c, N]
            both = torch.cat([reference[None, rows], online[:, rows]])
            _multiply(both.flatten(0, 1), keys, logits.flatten(0, 1))
            own, entropy[rows] = _target(logits[0])
            for view in range(views):
                cross_entropy[view, rows] = _miss(logits[view + 1], logits[0])
                gradient[view, rows] = _against(_balanced(logits[view + 1], own), keys)
        ctx.save_for_backward(gradient.div_(-temperatures[0]))
        ctx.mark_non_differentiable(entropy)
        return cross_entropy, entropy

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, of_cross_entropy: Tensor, of_entropy: Tensor) -> tuple[Tensor | None, ...]:
        (gradient,) = ctx.saved_tensors
        return gradient * of_cross_entropy.unsqueeze(-1), None, None, None


class _Pick(torch.autograd.Function):
    """Cross-entropy [B] against one-hot targets; the gradient is ready when the forward pass ends."""

    @staticmethod
    def forward(ctx: Any, online: Tensor, keys: list[Tensor], temperature: float) -> Tensor:
        batch, columns = len(online), sum(map(len, keys))
        step = _chunk_rows(batch, columns)
        scores = online.new_empty(step, columns)
        own = torch.arange(batch, device=online.device)[:, None] + columns - len(keys[-1])  # [B, 1]
        cross_entropy, gradient = online.new_empty(batch), torch.empty_like(online)
        for rows in _chunks(batch, step):
            logits = scores[: rows.stop - rows.start]
            _multiply(online[rows] / temperature, keys, logits)
            _shift(logits)
            picked = logits.gather(1, own[rows])
            total = logits.exp_().sum(dim=1, keepdim=True)
            cross_entropy[rows] = (total.log() - picked)[:, 0]
            gradient[rows] = _against(_balanced(logits.div_(total), own[rows]), keys)
        ctx.save_for_backward(gradient.div_(temperature))
        return cross_entropy

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, of_rows: Tensor) -> tuple[Tensor | None, ...]:
        (gradient,) = ctx.saved_tensors
        return gradient * of_rows.unsqueeze(-1), None, None


def _chunk_rows(batch: int, per_row: int) -> int:
    """Returns the rows of a chunk: as few chunks as the scratch allows, of about equal size."""
    held = max(SCRATCH, FEWEST_ROWS * per_row)
    chunks = -(-batch // max(1, held // per_row))
    return -(-batch // max(1, chunks))


def _chunks(batch: int, step: int) -> Iterator[slice]:
    return (slice(start, min(start + step, batch)) for start in range(0, batch, step))


def _multiply(queries: Tensor, blocks: Sequence[Tensor], scores: Tensor) -> None:
    """Writes queries [c, d] times all blocks into scores [c, N].

    oneDNN packs its second factor: the queries, which are few, unless they are too few for it.
    """
    start = 0
    for block in blocks:
        written = scores[:, start : start + len(block)]
        if uses_onednn(queries, block):
            pack_queries = uses_onednn(block, queries)
            for keys, part in zip(block.split(PIECE), written.split(PIECE, dim=1), strict=True):
                part.copy_(product(keys, queries).T if pack_queries else product(queries, keys))
        else:
            torch.mm(queries, block.T, out=written)
        start += len(block)


def _against(weights: Tensor, blocks: Sequence[Tensor]) -> Tensor:
    """Returns the weighted sums of all keys; weights [c, N] to [c, d]."""
    parts = weights.split([len(block) for block in blocks], dim=1)
    total = product(parts[0], blocks[0].T)
    for part, block in zip(parts[1:], blocks[1:], strict=True):
        total += product(part, block.T)
    return total


def _target(logits: Tensor) -> tuple[Tensor, Tensor]:
    """Leaves in `logits` [c, N] their distribution.

    Returns the column of its heaviest key [c, 1] and its entropy [c].
    """
    own, entropy = _shift(logits), logits.new_empty(len(logits))
    for some, of_some in zip(logits.split(TARGET_ROWS), entropy.split(TARGET_ROWS), strict=True):
        shares = some.exp()
        total = shares.sum(dim=1, keepdim=True)
        shares.div_(total)
        torch.sub(total[:, 0].log(), torch.linalg.vecdot(shares, some), out=of_some)  # no temporary
        some.copy_(shares)
    return own, entropy


def _miss(logits: Tensor, shares: Tensor) -> Tensor:
    """Returns the cross-entropy of `logits` against the target `shares` [c] and leaves p - q in `logits`."""
    _shift(logits)
    expected = torch.linalg.vecdot(shares, logits)
    total = logits.exp_().sum(dim=1, keepdim=True)
    torch.addcmul(shares, logits, total.reciprocal(), value=-1, out=logits)
    return total[:, 0].log() - expected


def _shift(logits: Tensor) -> Tensor:
    """Subtracts each row's maximum in place and returns its column, [c, 1]."""
    top, column = logits.max(dim=1, keepdim=True)
    logits.sub_(top)
    return column


def _balanced(differences: Tensor, own: Tensor) -> Tensor:
    """Returns p - q with the entry of the heaviest key set from the others, in place: each row sums to 0.

    Where nearly all mass is on one key, the direct difference there is one of two numbers close to 1 and in
    fp32 has few digits left; the other entries are small and have all of theirs.
    """
    differences.scatter_(1, own, 0.0)
    return differences.scatter_(1, own, -differences.sum(dim=1, keepdim=True))


def _as(like: Tensor, blocks: Sequence[Tensor]) -> list[Tensor]:
    return [block.to(like.dtype) for block in blocks]


def _check_constant(constants: Sequence[Tensor]) -> None:
    if any(tensor.requires_grad for tensor in constants):
        raise ValueError("a reference or key requires a gradient, expected constants: compute them without")
