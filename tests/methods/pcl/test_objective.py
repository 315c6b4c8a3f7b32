"""The loss of given vectors: worked values, equality with a slow version, limits, invariances, bounds."""

import math
from typing import Any

import pytest
import torch
from torch import Tensor

from methods.core.losses import info_nce
from methods.pcl import objective
from methods.pcl.config import PCLConfig
from tests.methods.pcl import reference
from tests.methods.pcl.sample import PAPER, RELEASED
from tests.support.vectors import assert_equal_with_gradients, drawn

MAIN_DEGREES = [[0, 10, 40], [90, 100, 60], [200, 190, 230]]
PEER_DEGREES = [[5, 20, 30], [80, 95, 110], [210, 200, 180]]
KL = ("kl_agreement", "kl_consistency")


def settings(**changes: Any) -> PCLConfig:
    return PCLConfig.model_validate({**RELEASED, **changes})


def on_circle(degrees: list[list[int]]) -> Tensor:
    angles = torch.tensor(degrees, dtype=torch.float64).deg2rad()
    return torch.stack([angles.cos(), angles.sin()], dim=-1)


def parts(main: Tensor, peer: Tensor | None, **changes: Any) -> dict[str, float]:
    changes = {"positives": main.shape[1] - 1, **changes}
    loss = objective.pcl_loss(main, peer, settings(**changes))
    return {"total": loss.total.item(), **{name: part.item() for name, part in loss.parts.items()}}


WORKED = {
    "released": (
        {},
        {
            "nce_main": 0.160817307,
            "nce_peer": 0.199809342,
            "group_main": 0.601925344,
            "group_peer": 0.605511371,
            "kl_agreement": 0.001026098,
            "kl_consistency": 0.003419088,
            "total": 1.572508550,
        },
    ),
    "batch-mean": (
        {"kl_reduction": "batch-mean"},
        {"kl_agreement": 0.004104391, "kl_consistency": 0.013676353},
    ),
    "main-peer": (
        {"kl_direction": "main-peer"},
        {"kl_agreement": 0.001018597, "kl_consistency": 0.003373143},
    ),
    "eq5-literal": (
        {"kl_pairs": "eq5-literal", "kl_reduction": "batch-mean", "kl_direction": "main-peer"},
        {"kl_consistency": 0.004145111, "kl_agreement": 0.004074387},
    ),
    "sum": ({"contrast": "sum"}, {"nce_main": 0.331937730, "nce_peer": 0.393344432}),
}


@pytest.mark.parametrize("name", WORKED)
def test_terms_have_their_worked_values_on_a_circle(name: str) -> None:
    """B = 3, K = 2, tau = 0.5; the vectors appear on the unit circle at the angles above."""
    changes, expected = WORKED[name]
    terms = parts(on_circle(MAIN_DEGREES), on_circle(PEER_DEGREES), temperature=0.5, **changes)
    assert {key: terms[key] for key in expected} == pytest.approx(expected, abs=1e-8)


SLOW = {
    "released": RELEASED,
    "paper": PAPER,
    "eq5": {**PAPER, "kl_pairs": "eq5-literal", "kl_direction": "peer-main"},
    "eq5-main": {**RELEASED, "kl_pairs": "eq5-literal", "kl_direction": "main-peer"},
    "no-contrast": {**RELEASED, "contrast": "dropout", "contrast_weight": 0.5},
    "fixed": {**RELEASED, "coupling": "fixed", "peer_head": "cls-shared-mlp"},
    "no-peer": {**RELEASED, "coupling": "none"},
    "no-peer-paper": {**PAPER, "coupling": "none", "contrast_weight": 2.0},
}


@pytest.mark.parametrize("name", SLOW)
@pytest.mark.parametrize("shape", [(4, 4, 5), (3, 2, 4), (2, 10, 3)])
def test_loss_and_gradients_equal_the_double_loop(name: str, shape: tuple[int, int, int]) -> None:
    config = {**SLOW[name], "positives": shape[1] - 1, "temperature": 0.3}
    main, peer = drawn(*shape), drawn(*shape, seed=1)
    other = None if config["coupling"] == "none" else peer
    fast = objective.pcl_loss(main, other, PCLConfig.model_validate(config)).total
    slow = reference.pcl(main, other, config)
    assert_equal_with_gradients(fast, slow, [main] if other is None else [main, peer])


@pytest.mark.parametrize("positives", [1, 4, 9])
def test_without_peer_and_group_it_is_simcse_and_edits_get_exactly_zero_gradient(positives: int) -> None:
    main = drawn(5, positives + 1, 6)
    config = settings(coupling="none", contrast="dropout", positives=positives)
    total = objective.pcl_loss(main, None, config).total
    simcse = info_nce(main[:, 0], main[:, 1], temperature=0.05)
    (gradient,) = torch.autograd.grad(total, main, retain_graph=True)
    assert_equal_with_gradients(total, simcse, [main], atol=0)
    assert gradient[:, 2:].eq(0).all()


def test_equal_networks_do_not_diverge_and_get_no_gradient_from_it() -> None:
    main = drawn(4, 5, 6)
    peer = main.detach().clone().requires_grad_()
    logits = objective.candidate_logits(main, peer, temperature=0.05)
    for term in objective.cooperation(
        logits, pairs="consistency-agreement", direction="peer-main", reduction="element-mean"
    ).values():
        assert abs(term.item()) < 1e-10
        both = torch.autograd.grad(term, (main, peer), retain_graph=True, materialize_grads=True)
        assert all(gradient.abs().max() < 1e-10 for gradient in both)


def test_equal_vectors_make_every_distribution_uniform() -> None:
    """B = 64, K = 9, M = 72: InfoNCE is log 64 = 4.158883, eq. 6 is 9 log 64."""
    same = torch.ones(64, 10, 3, dtype=torch.float64)
    terms = parts(same, same)
    expected = (9 * math.log1p(math.exp(-1 / 72)) + 63 * math.log1p(math.exp(1 / 72))) / 72
    assert terms["nce_main"] == pytest.approx(4.158883, abs=1e-6)
    assert terms["group_main"] == pytest.approx(expected, abs=1e-12)
    assert terms["positive_mass"] == pytest.approx(9 / 72)
    assert max(abs(terms[name]) for name in KL) < 1e-12
    assert parts(same, same, contrast="sum")["nce_main"] == pytest.approx(9 * math.log(64))


BOUNDS = {
    (64, 9): (0.686396, 0.698380, 0.701760),
    (64, 4): (0.686150, 0.699747, 0.702403),
    (64, 1): (0.687211, 0.700746, 0.702836),
    (256, 9): (0.691306, 0.694914, 0.695496),
}


@pytest.mark.parametrize("size", BOUNDS)
def test_group_term_has_its_bounds(size: tuple[int, int]) -> None:
    """Least: mass even over the positives; in between: even over all; largest: all on one negative."""
    sentences, positives = size
    extremes = torch.full((3, positives + sentences - 1), -1e4, dtype=torch.float64)
    extremes[0, :positives] = 0.0
    extremes[1] = 0.0
    extremes[2, -1] = 0.0
    actual = [float(objective.group_term(row[None], positives=positives)) for row in extremes]
    assert actual == pytest.approx(BOUNDS[size], abs=1e-6)
    for row in drawn(50, extremes.shape[1]).detach() * 10:
        value = float(objective.group_term(row[None], positives=positives))
        assert actual[0] - 1e-9 <= value <= actual[2] + 1e-9


@pytest.mark.parametrize("config", [RELEASED, PAPER], ids=["released", "paper"])
def test_a_batch_of_one_sentence_has_only_its_positives_to_choose_from(config: dict[str, Any]) -> None:
    """No other sentence: the contrast is 0, its gradient too, and the candidates are the K = 9 positives."""
    main, peer = drawn(1, 10, 4), drawn(1, 10, 4, seed=1)
    loss = objective.pcl_loss(main, peer, PCLConfig.model_validate(config))
    gradients = torch.autograd.grad(loss.total, (main, peer))
    assert loss.parts["nce_main"].item() == loss.parts["nce_peer"].item() == 0.0
    assert loss.parts["positive_mass"].item() == pytest.approx(1.0)
    expected = reference.pcl(main, peer, config)
    assert loss.total.item() == pytest.approx(expected.item(), abs=1e-8)
    for actual, slow in zip(gradients, torch.autograd.grad(expected, (main, peer)), strict=True):
        torch.testing.assert_close(actual, slow, rtol=0, atol=1e-8)


def test_group_term_is_first_order_in_the_mass_on_the_positives() -> None:
    """log 2 + (1/2 - P) / M, and never below it: what comes next is a sum of p^2 / 8 over M."""
    for row in drawn(40, 12).detach() * 3:
        probabilities = row.softmax(0)
        first_order = math.log(2) + (0.5 - float(probabilities[:4].sum())) / 12
        excess = float(objective.group_term(row[None], positives=4)) - first_order
        assert 0 <= excess <= float(probabilities.square().sum()) / (8 * 12)
