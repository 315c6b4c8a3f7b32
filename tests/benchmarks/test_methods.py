"""What a step's passes cost, how real steps are counted, and that every trained method has a count."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import torch

from benchmarks import methods
from benchmarks.methods import PASSES, Count, Passes, check_passes, counting
from benchmarks.runner import Disagreement, against
from benchmarks.steps import chosen_runs
from harness.plan.entries import Params
from harness.plan.recipes import load_recipes
from harness.plan.resolve import resolve
from methods.core.fast import linear as fast_linear
from methods.core.types import Tokens
from tests.support import tiny


@pytest.fixture(scope="module")
def params() -> Params:
    recipes = load_recipes()
    return resolve(recipes, ["all", *recipes], seeds=1)


def test_a_cost_is_in_steps_of_simcse() -> None:
    """SimCSE 2 rows at 3 passes, so 6. Key side: (3 + 1) / 6. UNA: 4 of 5 steps 2 rows, one 4: 2.4 / 2.

    DiffCSE: 6 of the encoder, 6 of the discriminator, 1 of a generator of half the layers.
    """
    costs = {system: passes.cost for system, passes in PASSES.items()}
    assert costs["simcse"] == 1
    assert costs["pt-bert"] == pytest.approx(4 / 6)
    assert costs["dclr"] == costs["sct-bert-small"] == pytest.approx(8 / 6)
    assert costs["ckd-bert-small"] == 0.5
    assert costs["una"] == pytest.approx(1.2)
    assert costs["pcl"] == 10
    assert costs["diffcse"] == pytest.approx(13 / 6)


def test_every_trained_method_has_a_count(params: Params) -> None:
    counted = {run.method for run in chosen_runs(params, list(PASSES))}
    assert counted == {run.method for run in chosen_runs(params, [])}
    assert len(counted) >= 11


def padded(*lengths: int) -> Tokens:
    ids = torch.full((len(lengths), max(lengths)), 7)
    return {
        "input_ids": ids,
        "attention_mask": (torch.arange(max(lengths)) < torch.tensor(lengths)[:, None]) * 1,
    }


def test_rows_and_tokens_are_counted_by_what_becomes_of_them(tmp_path: Path) -> None:
    """Trained: 2 rows of 3 + 5 tokens. Frozen: 3 rows of 2 tokens. In forward passes of a token 3 * 8 + 6."""
    encoder = tiny.sentence_encoder(tiny.write_backbone(tmp_path))
    with counting() as count:
        pooled = encoder(padded(3, 5))
        with torch.no_grad():
            encoder(padded(2, 2, 2))
        assert count.returned == 0
        pooled.sum().backward()
    assert replace(count, operations=0) == Count(2, 3, 8, 6, computed=14, returned=8)
    assert count.cost == 30
    encoder(padded(4))
    assert count.computed == 14  # the hooks are gone


@pytest.mark.parametrize("library", ["onednn", "torch"])
def test_operations_of_a_layer_are_counted_whoever_multiplies(
    library: fast_linear.Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    """5 rows through 130 x 140 weights: forward twice, once with both gradients, each 2 x 5 x 130 x 140."""
    monkeypatch.setattr(fast_linear, "_library", library)
    layer, rows = torch.nn.Linear(130, 140), torch.randn(5, 130, requires_grad=True)
    with counting() as count:
        fast_linear.linear(layer, rows).sum().backward()
        with torch.no_grad():
            fast_linear.linear(layer, rows)
    assert count.operations == 4 * 2 * 5 * 130 * 140


def test_a_step_that_does_something_else_stops_the_benchmark() -> None:
    passes, good = Passes(2, 1, "X i"), Count(8, 4, 40, 20, computed=60, returned=40)
    assert "agree with the count: 2 a sentence forward and backward, 1 forward only (X i)" in check_passes(
        "x", passes, good, sentences=4
    )
    wrong = {
        "8 rows with and 0 without gradient for 4 sentences, expected 8 and 4": replace(good, frozen_rows=0),
        "64 tokens computed, expected the 60 attended": replace(good, computed=64),
        "gradients of 20 tokens, expected 40": replace(good, returned=20),
    }
    for told, count in wrong.items():
        with pytest.raises(Disagreement, match=told):
            check_passes("x", passes, count, sentences=4)


def test_a_ratio_is_what_the_passes_allow_over_the_time_taken() -> None:
    """Twice SimCSE's 1 s allows 2 s; 1.6 s is 1.25 times faster, 4 s takes twice of it."""
    peer = against("passes", [2.0, 2.0, 2.0], [1.6, 4.0, 2.0], 1e3, 1 / 1.15)
    assert (peer.ratio.low, peer.ratio.median, peer.ratio.high) == (0.5, 1.0, 1.25)
    assert peer.met


MORE = [
    pytest.param(system, marks=pytest.mark.slow) for system in ("dclr", "ckd-bert-small", "ct-paper", "scd")
]


@pytest.mark.parametrize("system", ["una", "pcl", "diffcse", *MORE])
def test_a_step_is_measured_after_its_passes_were_counted(params: Params, system: str) -> None:
    simcse, run = chosen_runs(params, [system])
    result = methods.step_result(run, simcse, methods.corpus(True), 1, True)
    assert PASSES[system].source in result.agreement
    assert result.met is not None
    spec, real = result.peers
    assert spec.target is None
    assert real.name.endswith("(all products)")
    assert real.target == 1 / methods.LIMIT
