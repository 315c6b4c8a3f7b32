"""DCLR as a whole: both presets against the slow form, trained and frozen parts."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from tests.methods.dclr.conftest import Build, batch_of, loss_of
from tests.methods.dclr.sample import PAPER, RELEASED, UNWEIGHTED
from tests.methods.dclr.test_objective import slow_ascent, slow_binary, slow_cross_entropy
from tests.methods.simcse.sample import SAMPLES
from tests.support import tiny
from tests.support.vectors import assert_equal_with_gradients, cosine, drawn


def slow_loss(vectors: dict[str, Tensor], config: dict[str, Any]) -> Tensor:
    """The loss pair by pair from the two views, the complement's two views and the drawn noise."""
    first, second = vectors["first"], vectors["second"]
    settings = {
        name: config[f"noise_{name}"] for name in ("temperature", "steps", "step_size", "denominator")
    }
    noise = slow_ascent(vectors["noise"], first.detach(), second.detach(), **settings)
    released = config["masked_pair"] == "zero-logit"
    rows = []
    for i in range(len(first)):
        row = []
        for j in range(len(second)):
            score = cosine(vectors["scored"][i], vectors["scored_again"][j])
            tau, phi = config["temperature"], config["threshold"]
            false = score / tau > 20 * phi if released else score >= phi
            logit = cosine(first[i], second[j]) / tau
            masked = 0 * logit if released else logit - 1e4
            row.append(masked if i != j and false else logit)
        row += [cosine(first[i], vector) / config["temperature"] for vector in noise]
        rows.append(torch.stack(row))
    return (slow_binary if released else slow_cross_entropy)(torch.stack(rows))


@pytest.mark.parametrize("preset", [RELEASED, PAPER], ids=["released", "paper"])
@pytest.mark.parametrize("temperature", [0.05, 0.07])
def test_both_presets_equal_the_slow_form_with_gradients(
    preset: dict[str, Any], temperature: float, build: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = {**preset, "threshold": 0.6, "temperature": temperature, "noise_step_size": 0.1}
    method = build(config)
    vectors = {"first": drawn(6, 16, seed=1), "second": drawn(6, 16, seed=2)}
    vectors["noise"], scored = drawn(4, 16, seed=3).detach(), drawn(6, 2, seed=4).detach()
    vectors |= {"scored": scored, "scored_again": scored}
    if preset is RELEASED:  # two passes with dropout differ
        vectors["scored_again"] = scored + 0.3 * drawn(6, 2, seed=5).detach()
    both = torch.cat([vectors["scored"], vectors["scored_again"]]) if preset is RELEASED else scored
    monkeypatch.setattr(method, "complement", lambda tokens: both)
    monkeypatch.setattr(method, "vectors", lambda batch: (vectors["first"], vectors["second"]))
    actual = method.loss({**batch_of(method, 6), "noise": vectors["noise"]})
    assert 0.1 < actual.parts["masked_share"] < 0.9
    expected = slow_loss(vectors, config)
    assert_equal_with_gradients(actual.total, expected, [vectors["first"], vectors["second"]])


@pytest.mark.parametrize("off", [{**UNWEIGHTED}, {"threshold": 1.0, "comparison": "above"}])
def test_without_noise_and_weights_the_paper_preset_is_simcse_bit_for_bit(
    off: dict[str, Any], build: Build, tmp_path: Path
) -> None:
    """Whole training steps: the complement and the noise must not shift the dropout of the student."""
    simcse = build(dict(SAMPLES[0].config), name="simcse", parent=None)
    states = []
    for method in (build({**PAPER, **off, "noise_ratio": 0.0}), simcse):
        tiny.trainer(method, tmp_path / type(method).__name__, steps=2).fit(tiny.rows())
        states.append(method.state_dict())
    assert states[0].keys() == states[1].keys()
    assert all(torch.equal(states[0][name], states[1][name]) for name in states[0])


@pytest.mark.parametrize("preset", [RELEASED, PAPER], ids=["released", "paper"])
@pytest.mark.parametrize("count", [1, 2, 3])
def test_small_batches_have_finite_losses_and_gradients(
    preset: dict[str, Any], count: int, build: Build
) -> None:
    for ratio in (0.0, 1.0):
        method = build({**preset, "noise_ratio": ratio, "temperature": 0.01})
        actual = loss_of(method, batch_of(method, count))
        actual.total.backward()
        assert all(torch.isfinite(part) for part in (actual.total, *actual.parts.values()))
        gradients = [value.grad for value in method.parameters() if value.grad is not None]
        assert all(torch.isfinite(gradient).all() for gradient in gradients)


@pytest.mark.parametrize(("preset", "share"), [(PAPER, 2 / 56), (RELEASED, 0)], ids=["paper", "released"])
def test_duplicates_are_found_unless_dropout_of_the_complement_is_active(
    preset: dict[str, Any], share: float, build: Build
) -> None:
    """Eight sentences of which two are equal: 2 of 56 pairs at phi 0.99999."""
    method = build({**preset, "threshold": 0.99999})
    rows = tiny.rows()[:7]
    batch = method.collate([*rows, rows[0]], step=0, rng=np.random.default_rng(0))
    assert loss_of(method, batch).parts["masked_share"].item() == pytest.approx(share)
    scores = method.complement_scores(batch["anchor"])
    assert torch.allclose(scores, scores.T, atol=1e-4) == (preset is PAPER)


def test_a_batch_has_its_own_noise_of_the_stated_standard_deviation(build: Build) -> None:
    """int(2.5 * 24) = 60 vectors of width 16 and sigma 3, int(2.5 * 3) = 7; each step draws others."""
    method = build({**PAPER, **UNWEIGHTED, "noise_ratio": 2.5, "noise_scale": 3.0}, parent=None)
    drawn = batch_of(method, 24)["noise"]
    assert drawn.shape == (60, 16)
    assert len(batch_of(method, 3)["noise"]) == 7
    assert drawn.std().item() == pytest.approx(3.0, rel=0.1)
    assert drawn.mean().item() == pytest.approx(0.0, abs=0.3)
    assert not torch.equal(drawn, batch_of(method, 24, step=1)["noise"])


@pytest.mark.parametrize("scale", ["cosine", "twenty"])
def test_temperature_moves_the_weights_only_in_the_released_arithmetic(scale: str, build: Build) -> None:
    """At tau 0.1 the released test cos / tau > 20 phi asks for cos > 2 phi: at phi 0.55 none is masked."""
    shares = []
    for temperature in (0.05, 0.1):
        method = build({**RELEASED, "threshold_scale": scale, "temperature": temperature, "threshold": 0.55})
        shares.append(float(loss_of(method).parts["masked_share"]))
    assert shares[0] > 0
    assert shares[1] == (shares[0] if scale == "cosine" else 0.0)
