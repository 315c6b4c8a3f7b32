"""Contrast against positives from augmented vectors instead of texts.

Source: Cheung and Yeung, "MODALS: Modality-agnostic Automated Data Augmentation in the Latent Space", ICLR
2021, section 3.2; the jitter: Krizhevsky et al. 2012, section 4.1, applied to token embeddings.
Legend: B batch, N pool, L tokens, d width, C directions. The pool carries no gradient.
"""

from typing import Any

import torch
from torch import Tensor

from methods.core.heads import training_head
from methods.core.losses import nt_xent
from methods.core.method import Method
from methods.core.networks import Networks
from methods.core.types import Batch, Loss, doubled, mask_on_host, moved
from methods.modals.config import ModalsConfig


class Modals(Method):
    """Contrasts two passes of a text; the vectors of the second are augmented."""

    Config = ModalsConfig
    config: ModalsConfig

    def __init__(self, config: ModalsConfig, networks: Networks) -> None:
        super().__init__(config, networks)
        self.head = training_head(config.head, self.encoder.width)

    def loss(self, batch: Batch) -> Loss:
        """Returns the symmetric contrastive loss of B sentences; logs the relative move of positives."""
        anchors, positives, moved = self.vectors(batch)
        total = nt_xent(anchors, positives, temperature=self.config.temperature)
        return Loss(total, {"moved": moved.detach()})

    def vectors(self, batch: Batch) -> tuple[Tensor, Tensor, Tensor]:
        """Returns anchors and positives after the head, each [B, d], and the relative move of positives."""
        twice = doubled(batch["anchor"])  # [2B, L]
        if self.config.positive == "pca-jittering":
            return self._jittered(twice)
        first, second = self.encoder(twice).float().chunk(2)
        move = AUGMENTATIONS[self.config.positive]
        positive = move(second, second.detach(), self.config.magnitude)
        return self.head(first), self.head(positive), relative_length(positive - second, second)

    def _jittered(self, twice: dict[str, Tensor]) -> tuple[Tensor, Tensor, Tensor]:
        """Moves the token embeddings of the second half before the encoder reads them."""
        backbone: Any = self.encoder.backbone
        embedded = backbone.get_input_embeddings()(twice["input_ids"])  # [2B, L, d]
        first, second = embedded.chunk(2)
        mask = mask_on_host(twice)
        assert mask is not None  # `pad` always adds one
        noise = jitter(
            second,
            mask[len(first) :],
            magnitude=self.config.magnitude,
            directions=self.config.directions or 0,
        )
        pooled = self.encoder(twice, inputs_embeds=torch.cat([first, second + noise.to(second.dtype)]))
        anchors, positives = self.head(pooled).chunk(2)
        return anchors, positives, relative_length(noise, second)


def relative_length(moves: Tensor, vectors: Tensor) -> Tensor:
    """Returns the mean length of the moves over the mean length of the vectors; a scalar."""
    return moves.norm(dim=-1).mean() / vectors.norm(dim=-1).mean()


def interpolation(vectors: Tensor, pool: Tensor, magnitude: float) -> Tensor:
    """Returns v + m (w - v), w the nearest other vector of the pool by Euclidean distance.

    Shapes: vectors [B, d], pool [B, d] with the same values in the same order; returns [B, d].
    Facts: m = 0 is the identity, m = 1 gives the neighbour; a batch of one stays unchanged.
    """
    distances = torch.cdist(pool, pool).fill_diagonal_(torch.inf)  # [B, B]
    return vectors + magnitude * (pool[distances.argmin(dim=1)] - vectors)


def extrapolation(vectors: Tensor, pool: Tensor, magnitude: float) -> Tensor:
    """Returns v + m (v - mean of the pool). Shapes: vectors [B, d], pool [N, d]; returns [B, d]."""
    return vectors + magnitude * (vectors - pool.mean(dim=0))


def linear_sampling(vectors: Tensor, pool: Tensor, magnitude: float) -> Tensor:
    """Returns v + m (a - b), a and b two different random vectors of the pool, drawn per row.

    Shapes: vectors [B, d], pool [N, d]; returns [B, d]. Identity for a pool of one.
    """
    first = torch.randint(len(pool), (len(vectors),), device=pool.device)
    step = torch.randint(1, max(len(pool), 2), (len(vectors),), device=pool.device)
    return vectors + magnitude * (pool[first] - pool[(first + step) % len(pool)])


def gaussian_noise(vectors: Tensor, pool: Tensor, magnitude: float) -> Tensor:
    """Returns v + m sd e, e standard normal and sd the deviation of each dimension over the pool.

    Shapes: vectors [B, d], pool [N, d]; returns [B, d]. The deviation divides by N, so it is 0 for a pool of
    one.
    """
    return vectors + magnitude * pool.std(dim=0, correction=0) * torch.randn_like(vectors)


def jitter(embeddings: Tensor, mask: Tensor, *, magnitude: float, directions: int) -> Tensor:
    """Returns noise for every sentence along the principal directions of the batch's token embeddings.

    The sum of a_c l_c p_c over the C largest eigenvalues l_c of their covariance, a_c normal with standard
    deviation `magnitude`, drawn once per sentence and shared by its tokens.
    Shapes: embeddings [B, L, d], mask [B, L] on the CPU; returns [B, 1, d] without gradient.
    """
    with torch.no_grad(), torch.autocast(embeddings.device.type, enabled=False):
        real = moved(mask.flatten().nonzero().squeeze(1), embeddings.device)
        tokens = embeddings.flatten(0, 1)[real].float()  # [tokens, d]
        centred = tokens - tokens.mean(dim=0)
        values, vectors = torch.linalg.eigh(centred.T @ centred / len(tokens))  # ascending
        top = vectors[:, -directions:] * values[-directions:]  # [d, C]
        draws = magnitude * torch.randn(len(embeddings), top.shape[1], device=top.device)
        return (draws @ top.T)[:, None, :]


AUGMENTATIONS = {
    "interpolation": interpolation,
    "extrapolation": extrapolation,
    "linear-sampling": linear_sampling,
    "gaussian-noise": gaussian_noise,
}
