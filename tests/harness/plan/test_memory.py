"""What training takes of a card, counted by hand, and that the full settings fit one of 24 GB."""

from __future__ import annotations

from typing import Any

import pytest

from harness.plan.entries import Run
from harness.plan.estimate import Estimate
from harness.plan.memory import Kept, kept_by, training_bytes
from harness.plan.recipes import load_recipes
from harness.plan.resolve import resolve
from harness.plan.step_times import read_step_times

CARD, USED = 24e9, 0.9
"""Bytes of a card, and the share that training may fill: the rest is for what is not counted."""


def planned(*names: str) -> tuple[dict[str, Run], Estimate]:
    params = resolve(load_recipes(), names, seeds=1)
    runs = {key: run for key, run in params.runs.items() if run.train["steps"] != 0}
    return runs, Estimate(params, read_step_times())


def changed(run: Run, **config: Any) -> Run:
    return run.model_copy(update={"config": {**run.config, **config}})


def test_two_views_of_simcse_are_worked_by_hand() -> None:
    """16 bytes a parameter; of 2 x 64 x 32 tokens in 12 layers 68 x 768 + 10 x 12 x 32 bytes each."""
    runs, estimate = planned("baselines/simcse")
    run = runs["simcse__bert-base-uncased__s0"]
    shape = estimate.shape("bert-base-uncased")
    assert shape is not None
    activations = 4096 * 12 * (68 * 768 + 10 * 12 * 32)
    assert training_bytes(run, estimate) == 16 * shape.parameters + activations
    assert training_bytes(run, estimate) == pytest.approx(4.5e9, rel=0.02)


def test_pcl_keeps_ten_views_in_two_networks_or_one_group_of_one_network() -> None:
    runs, _ = planned("pcl/pcl")
    run = runs["pcl__bert-base-uncased__s0"]
    assert kept_by(run, 768, 0) == Kept(views=20, held=1 / 8, trained=1)
    assert kept_by(changed(run, recompute=False), 768, 0) == Kept(views=20, trained=1)
    assert kept_by(changed(run, coupling="none"), 768, 0).views == 10
    assert kept_by(changed(run, coupling="fixed"), 768, 0) == Kept(views=10, held=1 / 4, frozen=1)


def test_sct_keeps_its_projector_and_two_queues() -> None:
    """Three blocks of 20 x 512^2 weights, 11 x 512 biases; 2 x 65,536 vectors, 2 x 131,072 of a teacher."""
    runs, _ = planned("sct")
    own, taught = (runs[f"sct-{name}bert-small__bert-small__s0"] for name in ("", "distill-"))
    blocks = 3 * (20 * 512**2 + 11 * 512)
    assert kept_by(own, 512, 0) == Kept(weights=blocks, queued=2 * 65_536 * 512)
    assert kept_by(taught, 512, 1024) == Kept(weights=513 * 1024, queued=2 * 131_072 * 1024)


def test_a_teacher_is_as_wide_as_its_encoder() -> None:
    runs, estimate = planned("sct")
    taught = runs["sct-distill-bert-small__bert-small__s0"]
    assert estimate.teacher_width(taught) == 1024
    assert estimate.teacher_width(runs["sct-bert-small__bert-small__s0"]) is None


def test_the_full_settings_of_pcl_and_sct_fit_a_card_of_24_gb_and_pcl_by_recomputing_alone() -> None:
    runs, estimate = planned("pcl", "sct")
    sizes = {key: training_bytes(run, estimate) for key, run in runs.items()}
    assert len(sizes) >= 100
    assert all(sizes.values())
    assert {key: size for key, size in sizes.items() if size > USED * CARD} == {}
    plain = changed(runs["pcl__bert-base-uncased__s0"], recompute=False)
    assert training_bytes(plain, estimate) == pytest.approx(31e9, rel=0.01)
