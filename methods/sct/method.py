"""SCT: self-supervised cross-view training (Limkonchotiwat et al. 2023).

Legend: B sentences, d width of the encoder, t of the teacher, K rows of a queue. Vectors of both views are
stacked: [2, B, d].
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from methods.core.batching import encode_in_groups, pad_in_groups
from methods.core.encoder import evaluating
from methods.core.fast.linear import linear
from methods.core.losses import unit, unit_squared_error
from methods.core.method import Method
from methods.core.momentum import ema_update
from methods.core.networks import Networks
from methods.core.queues import VectorQueue
from methods.core.rows import Row
from methods.core.teachers import TeacherVectors, add_mapping
from methods.core.types import Batch, Loss
from methods.sct.config import Distillation, SCTConfig, SelfSupervision
from methods.sct.objective import CrossView, cross_view_loss


class SCT(Method):
    """Fits two views to each other's similarity distributions over queues of earlier reference vectors.

    Trained: encoder, projector (not exported), and the optional layer to the teacher's width (exported).
    References, teacher vectors and queues take no gradient.
    """

    Config = SCTConfig
    config: SCTConfig

    def __init__(self, config: SCTConfig, networks: Networks) -> None:
        super().__init__(config, networks)
        self.vectors: TeacherVectors | None = None
        self.projector, self.reference, self.queues = nn.Sequential(), None, nn.ModuleList()
        supervision = config.self_supervision
        if supervision is not None:
            width = self.encoder.width
            self.projector = Projector(
                width, blocks=supervision.projector_blocks, factor=supervision.projector_factor
            )
            self.queues = random_queues(
                config.queue_size, width, count=2 if supervision.queues == "two" else 1
            )
            if supervision.momentum is not None:
                self.reference = networks.new_encoder().requires_grad_(False)
                self.fixed_modes = {"reference": supervision.reference_dropout}
        self.teacher_queues = nn.ModuleList()
        if config.distillation is not None:
            self.vectors = networks.teacher_vectors("sct with distillation")
            target = self.vectors.dim
            add_mapping(self.encoder, config.distillation.mapping, teacher_dim=target)
            if config.distillation.loss == "distributions":
                self.teacher_queues = random_queues(config.queue_size, target, count=2)

    def prepare(self, rows: Sequence[Row]) -> Sequence[Row]:
        """Tokenises both views, and opens the teacher's precomputed vectors of the corpus."""
        if self.vectors is not None:
            self.vectors.open(rows)
        return super().prepare(rows)

    def collate(self, rows: Sequence[Row], *, step: int, rng: np.random.Generator) -> Batch:
        """Returns the tokens, first views before second views, and the teacher's vectors [2, B, t]."""
        batch: Batch = {"views": pad_in_groups(self.encoder, self.token_ids(rows))}
        if self.vectors is not None:
            batch["teacher"] = torch.stack([self.vectors.of(rows, column) for column in self.columns])
        return batch

    def loss(self, batch: Batch) -> Loss:
        """Returns the weighted sum of the losses without and with a teacher, and updates the queues."""
        pooled = encode_in_groups(self.encoder, batch["views"])  # [2B, d]
        total, parts = pooled.new_zeros((), dtype=torch.float32), {}
        if self.config.self_supervision is not None:
            value, terms = self.own_loss(pooled, batch, self.config.self_supervision)
            total, parts = total + value, terms
        if self.config.distillation is not None:
            value, terms = self.teacher_loss(pooled, batch, self.config.distillation)
            total, parts = total + value, {**parts, **terms}
        return Loss(self.config.loss_weight * total, parts)

    def own_loss(
        self, pooled: Tensor, batch: Batch, supervision: SelfSupervision
    ) -> tuple[Tensor, dict[str, Tensor]]:
        """Returns the loss against the encoder's own reference vectors, and its parts."""
        online = unit(self.projector(pooled)).unflatten(0, (2, -1))  # [2, B, d]
        references = unit(self.reference_vectors(batch, supervision)).unflatten(0, (2, -1))
        match = cross_view_loss(
            online,
            references,
            self.earlier(self.queues, online.shape[1], views=2 if supervision.queues == "two" else 1),
            online_temperature=self.config.online_temperature,
            reference_temperature=self.config.reference_temperature,
            loss=supervision.loss,
            crossing=supervision.crossing,
            both_directions=supervision.both_directions,
        )
        if supervision.queue_update:
            push(self.queues, references)
        return match.total, logged("own", match)

    @torch.no_grad()
    def reference_vectors(self, batch: Batch, supervision: SelfSupervision) -> Tensor:
        """Returns the vectors for targets and queues, without projector or graph; [2B, d]."""
        if self.reference is not None:
            return encode_in_groups(self.reference, batch["views"])
        if supervision.reference_dropout:
            return encode_in_groups(self.encoder, batch["views"])
        with evaluating(self.encoder):
            return encode_in_groups(self.encoder, batch["views"])

    def teacher_loss(
        self, pooled: Tensor, batch: Batch, distillation: Distillation
    ) -> tuple[Tensor, dict[str, Tensor]]:
        """Returns the loss against the teacher's vectors, and its parts."""
        students = unit(self.encoder.finish(pooled)).unflatten(0, (2, -1))  # [2, B, t]
        targets = unit(batch["teacher"])
        if distillation.loss == "squared-error":
            error = unit_squared_error(students.flatten(0, 1), targets.flatten(0, 1))
            return error, {"teacher": error.detach()}
        match = cross_view_loss(
            students,
            targets,
            self.earlier(self.teacher_queues, students.shape[1], views=2),
            online_temperature=self.config.online_temperature,
            reference_temperature=self.config.reference_temperature,
        )
        push(self.teacher_queues, targets)
        return match.total, logged("teacher", match)

    def earlier(self, queues: nn.ModuleList, batch: int, *, views: int) -> list[list[Tensor]]:
        """Returns the queue rows among the keys of a batch, as blocks for each view.

        Errors: InputError if a queue cannot hold the vectors of one step.
        """
        if not len(queues):
            return [[] for _ in range(views)]
        brought, blocks = batch * 2 // views, []
        for queue in queues:
            assert isinstance(queue, VectorQueue)
            count = queue.rows_beside(brought, holds_batch=self.config.queue_holds_batch)
            blocks.append(queue.newest_blocks(count))
        return blocks

    def after_step(self, step: int) -> None:
        """Moves a momentum reference towards the updated weights."""
        supervision = self.config.self_supervision
        if self.reference is not None and supervision is not None and supervision.momentum is not None:
            ema_update(self.reference.backbone, self.encoder.backbone, momentum=supervision.momentum)


def logged(name: str, match: CrossView) -> dict[str, Tensor]:
    """Returns the parts of a loss: its value, the entropy of its targets and the number of keys."""
    keys = match.total.new_full((), float(match.keys))
    return {name: match.total.detach(), f"{name}_entropy": match.entropy, f"{name}_keys": keys}


def random_queues(size: int, width: int, *, count: int) -> nn.ModuleList:
    """Returns queues filled with random directions; no queues for size 0."""
    queues = [VectorQueue(size, width) for _ in range(count if size else 0)]
    for queue in queues:
        queue.push(unit(torch.randn(size, width)))
    return nn.ModuleList(queues)


def push(queues: nn.ModuleList, vectors: Tensor) -> None:
    """Adds the vectors [2, B, d] of each view to its queue, or both to a single queue."""
    if len(queues):
        for queue, part in zip(queues, vectors.flatten(0, 1).chunk(len(queues)), strict=True):
            queue.push(part)  # type: ignore[operator]


class Projector(nn.Sequential):
    """Blocks in series, each a dense layer to `factor` times the width, ReLU, and a dense layer back.

    Source: SCT section 2.1 (three "layers", w = 10): each is a block of two, without activation between
    blocks, as in the released code. Three blocks of factor 10 have 60 d^2 + 33 d weights.
    """

    def __init__(self, width: int, *, blocks: int, factor: int) -> None:
        super().__init__(
            *(
                nn.Sequential(nn.Linear(width, factor * width), nn.ReLU(), nn.Linear(factor * width, width))
                for _ in range(blocks)
            )
        )

    def forward(self, vectors: Tensor) -> Tensor:
        """Returns the vectors after all blocks; [B, d] to [B, d]."""
        block: Any
        for block in self:
            widen, activation, narrow = block
            vectors = linear(narrow, activation(linear(widen, vectors)))
        return vectors
