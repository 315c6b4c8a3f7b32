"""The least memory that training a run takes, counted from its settings and the sizes of its backbone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from harness.plan.entries import Run
from harness.plan.estimate import FLOAT_BYTES, Estimate
from harness.plan.step_times import TRAINING_LENGTH

STATES = 4
"""Numbers a trained parameter takes: itself, its gradient, two moments."""
GROUPS = 4
"""Parts of a batch of which one at a time keeps its activations where they are recomputed."""


class Kept(NamedTuple):
    """What a step keeps beside one trained encoder.

    views: texts of a sentence that are encoded with a gradient, in all networks together. held: the share of
    their activations that is there at once. trained, frozen: encoders beside the first one. weights: trained
    ones of what stands on the encoder. queued: numbers in queues.
    """

    views: int = 2
    held: float = 1.0
    trained: int = 0
    frozen: int = 0
    weights: int = 0
    queued: int = 0


def training_bytes(run: Run, estimate: Estimate) -> float:
    """Returns the bytes of weights with states, of activations and of queues; 0 for an unknown backbone.

    Activations of a layer are those of Korthikanti et al. (2022) in fp32: 68 bytes a token and unit of width,
    10 for each head and pair of tokens, heads of width 64; sentences are of TRAINING_LENGTH, or shorter where
    the run cuts them. What a loss makes of the vectors is not counted.
    """
    shape = estimate.shape(run.backbone_name)
    if shape is None:
        return 0.0
    teacher_width = estimate.teacher_width(run) or shape.width
    kept = kept_by(run, shape.width, teacher_width)
    length = min(int(run.config.get("max_length", TRAINING_LENGTH)), TRAINING_LENGTH)
    tokens = kept.views * int(run.train["batch_size"]) * length
    heads = max(1, shape.width // 64)
    activations = tokens * shape.layers * (68 * shape.width + 10 * heads * length)
    parameters = STATES * ((1 + kept.trained) * shape.parameters + kept.weights)
    numbers = parameters + kept.frozen * shape.parameters + kept.queued
    return FLOAT_BYTES * numbers + kept.held * activations


def kept_by(run: Run, width: int, teacher_width: int) -> Kept:
    """Returns what a step of the run keeps: counted for PCL and SCT, two views of one encoder for others."""
    if run.method == "pcl":
        return _pcl(run.config)
    if run.method == "sct":
        return _sct(run.config, width, teacher_width)
    return Kept()


def _pcl(config: Mapping[str, Any]) -> Kept:
    """K + 1 views in the main network and, but for a peer without gradient or none, in the peer."""
    coupling = config["coupling"]
    networks = 2 if coupling in ("separate", "tied") else 1
    return Kept(
        views=networks * (config["positives"] + 1),
        held=1 / (networks * GROUPS) if config["recompute"] else 1.0,
        trained=int(coupling == "separate"),
        frozen=int(coupling == "fixed"),
    )


def _sct(config: Mapping[str, Any], width: int, teacher_width: int) -> Kept:
    """Two views, the projector, and the queues of either loss; reference vectors leave no activations."""
    own, distillation, queue = config["self_supervision"], config["distillation"], config["queue_size"]
    queued = weights = frozen = 0
    if own is not None:
        wide = own["projector_factor"] * width
        weights = own["projector_blocks"] * (2 * wide * width + wide + width)
        queued = (2 if own["queues"] == "two" else 1) * queue * width
        frozen = int(own["momentum"] is not None)
    if distillation is not None:
        weights += (width + 1) * teacher_width
        queued += 2 * queue * teacher_width if distillation["loss"] == "distributions" else 0
    return Kept(weights=weights, queued=queued, frozen=frozen)
