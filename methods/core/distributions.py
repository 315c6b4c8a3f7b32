"""Losses between similarity distributions over a queue and the present batch, in bounded memory.

A vector's similarity distribution is the softmax of its dot products with all keys over a temperature.
The keys are blocks: first the queue's rows in their buffer, last the vectors of the batch. They are never
copied or joined. Rows are processed in chunks, and the gradient is computed with the value, so only the
gradient [B, d] outlives a chunk. Vectors are not normalised: pass unit vectors for cosines.

Legend: V sets of online vectors, B batch, d width, N keys in all blocks together, c rows of a chunk.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from methods.core.fast.linear import fits_onednn, product
from methods.core.losses import wide

SCRATCH = 3 * 2**22
"""Most scores in memory, in all buffers of a chunk: 48 MiB in fp32; oneDNN copies one more buffer."""

FEWEST_ROWS = 64
"""Fewest rows of a chunk, if the batch is large enough: oneDNN packs all keys again for each chunk, so chunks
of 32 rows ran at two thirds of the rate of chunks of 64."""

PIECE = 4096
"""Number of keys per product; oneDNN cannot write scores in place, so each is copied."""

TARGET_ROWS = 8
"""Number of rows whose target distribution is computed out of place."""


class Match(NamedTuple):
    """Distances of online distributions from their targets, in nats, averaged over the batch.

    cross_entropy: [] or [V], differentiable. entropy: of the target, [], a constant.
    """

    cross_entropy: Tensor
    entropy: Tensor

    @property
    def divergence(self) -> Tensor:
        """KL(target || online); its gradient equals the cross-entropy's. [] or [V]."""
        return self.cross_entropy - self.entropy


def match_distributions(
    online: Tensor,
    reference: Tensor,
    keys: Sequence[Tensor],
    *,
    online_temperature: float,
    reference_temperature: float,
) -> Match:
    """Returns the distances of the distributions of `online` from `reference`'s, over the same keys.

    Source: SCT eq. 2, ConGen eq. 3. With p the target and q the online distribution of a row, the gradient is
    (q - p) keys / (B online_temperature).
    Shapes: online [B, d] or [V, B, d] (V vectors for each target), reference [B, d], each block [N_i, d].
    Gradients: only for `online`; everything else must be constant. Put the keys of the batch last.
    Facts: KL is 0 with zero gradient for equal vectors and temperatures; tends to InfoNCE as the reference
    temperature goes to 0 and each reference is its own nearest key.
    Errors: ValueError if a constant requires a gradient.
    """
    _check_constant([reference, *keys])
    stacked = online if online.ndim == 3 else online.unsqueeze(0)  # [V, B, d]
    with torch.autocast(online.device.type, enabled=False):
        stacked = wide(stacked)
        reference, *keys = (given.to(stacked.dtype) for given in (reference, *keys))
        values, entropy, gradient = _matched(
            stacked.detach() / online_temperature, reference / reference_temperature, keys
        )
        means = _Formed.apply(stacked, values, gradient.div_(-online_temperature)).mean(dim=1)  # [V]
    return Match(means if online.ndim == 3 else means[0], entropy.mean())


def pick_among_keys(online: Tensor, keys: Sequence[Tensor], *, temperature: float) -> Tensor:
    """Returns the mean cross-entropy of picking each row's own key: same index, last block.

    InfoNCE with all other keys, queue included, as negatives; the target distribution is one-hot.
    Shapes: online [B, d], each block [N_i, d], the last one at least B rows; returns a scalar in nats.
    Gradients: only for `online`; keys must be constant.
    Errors: ValueError if a key requires a gradient.
    """
    _check_constant(keys)
    with torch.autocast(online.device.type, enabled=False):
        online = wide(online)
        values, gradient = _picked(online.detach() / temperature, [block.to(online.dtype) for block in keys])
        rows: Tensor = _Formed.apply(online, values, gradient.div_(temperature))
        return rows.mean()


class _Formed(torch.autograd.Function):
    """Values [..., B] of vectors [..., B, d] with a gradient that was computed together with them."""

    @staticmethod
    def forward(ctx: Any, vectors: Tensor, values: Tensor, gradient: Tensor) -> Tensor:
        ctx.save_for_backward(gradient)
        return values.clone()

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, of_values: Tensor) -> tuple[Tensor, None, None]:
        (gradient,) = ctx.saved_tensors
        return gradient * of_values.unsqueeze(-1), None, None


@torch.no_grad()
def _matched(online: Tensor, reference: Tensor, keys: list[Tensor]) -> tuple[Tensor, Tensor, Tensor]:
    """Returns the cross-entropy [V, B], the targets' entropy [B], and (p - q) keys [V, B, d]."""
    views, batch, _ = online.shape
    columns = sum(map(len, keys))
    chunks = _chunks(batch, columns * (views + 1))
    scores = online.new_empty((views + 1) * chunks[0].stop, columns)
    cross_entropy, entropy = online.new_empty(views, batch), online.new_empty(batch)
    gradient = torch.empty_like(online)
    for rows in chunks:
        size = rows.stop - rows.start
        logits = scores[: (views + 1) * size].unflatten(0, (views + 1, size))  # [V+1, c, N]
        both = torch.cat([reference[None, rows], online[:, rows]])
        _multiply(both.flatten(0, 1), keys, logits.flatten(0, 1))
        heaviest, entropy[rows] = _target(logits[0])
        for view in range(views):
            cross_entropy[view, rows] = _miss(logits[view + 1], logits[0])
            gradient[view, rows] = _against(_balanced(logits[view + 1], heaviest), keys)
    return cross_entropy, entropy, gradient


@torch.no_grad()
def _picked(online: Tensor, keys: list[Tensor]) -> tuple[Tensor, Tensor]:
    """Returns the cross-entropy [B] against one-hot targets, and (q - p) keys [B, d]."""
    batch, columns = len(online), sum(map(len, keys))
    chunks = _chunks(batch, columns)
    scores = online.new_empty(chunks[0].stop, columns)
    own_columns = torch.arange(batch, device=online.device)[:, None] + columns - len(keys[-1])  # [B, 1]
    cross_entropy, gradient = online.new_empty(batch), torch.empty_like(online)
    for rows in chunks:
        logits = scores[: rows.stop - rows.start]
        _multiply(online[rows], keys, logits)
        _shift(logits)
        picked = logits.gather(1, own_columns[rows])
        total = logits.exp_().sum(dim=1, keepdim=True)
        cross_entropy[rows] = (total.log() - picked)[:, 0]
        gradient[rows] = _against(_balanced(logits.div_(total), own_columns[rows]), keys)
    return cross_entropy, gradient


def _chunks(batch: int, per_row: int) -> list[slice]:
    """Returns the rows of each chunk: as few chunks as memory allows, of about equal size."""
    held = max(SCRATCH, FEWEST_ROWS * per_row)
    number = -(-batch // max(1, held // per_row))
    step = -(-batch // number)
    return [slice(start, min(start + step, batch)) for start in range(0, batch, step)]


def _multiply(queries: Tensor, blocks: Sequence[Tensor], scores: Tensor) -> None:
    """Writes queries [c, d] times all blocks into scores [c, N]; oneDNN packs its second factor."""
    start = 0
    for block in blocks:
        written = scores[:, start : start + len(block)]
        if fits_onednn(queries, block):
            pack_queries = fits_onednn(block, queries)
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
    """Replaces `logits` [c, N] by their distribution; returns its largest column [c, 1] and entropy [c]."""
    heaviest, entropy = _shift(logits), logits.new_empty(len(logits))
    for part, of_some in zip(logits.split(TARGET_ROWS), entropy.split(TARGET_ROWS), strict=True):
        shares = part.exp()
        total = shares.sum(dim=1, keepdim=True)
        shares.div_(total)
        torch.sub(total[:, 0].log(), torch.linalg.vecdot(shares, part), out=of_some)  # no temporary
        part.copy_(shares)
    return heaviest, entropy


def _miss(logits: Tensor, shares: Tensor) -> Tensor:
    """Returns the cross-entropy of `logits` against the target `shares` [c]; replaces `logits` by p - q."""
    _shift(logits)
    expected = torch.linalg.vecdot(shares, logits)
    total = logits.exp_().sum(dim=1, keepdim=True)
    torch.addcmul(shares, logits, total.reciprocal(), value=-1, out=logits)
    return total[:, 0].log() - expected


def _shift(logits: Tensor) -> Tensor:
    """Subtracts the maximum of each row in place and returns its column, [c, 1]."""
    top, column = logits.max(dim=1, keepdim=True)
    logits.sub_(top)
    return column


def _balanced(differences: Tensor, heaviest: Tensor) -> Tensor:
    """Returns p - q with the entry of the largest key computed from the others, in place: each row sums to 0.

    If nearly all mass is on one key, the plain difference of two numbers close to 1 loses most digits.
    """
    differences.scatter_(1, heaviest, 0.0)
    return differences.scatter_(1, heaviest, -differences.sum(dim=1, keepdim=True))


def _check_constant(constants: Sequence[Tensor]) -> None:
    if any(tensor.requires_grad for tensor in constants):
        raise ValueError("references and keys must be constants: compute them without a gradient")
