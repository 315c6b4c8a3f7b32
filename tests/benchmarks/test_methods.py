"""How real steps are counted, and that every trained method has a count."""

from pathlib import Path

import pytest
import torch

from benchmarks import methods
from benchmarks.methods import PASSES, Count, Passes, check_passes, counted
from benchmarks.runner import Disagreement
from benchmarks.steps import chosen_runs
from harness.plan.entries import Params
from harness.plan.recipes import load_recipes
from harness.plan.resolve import resolve
from methods.core.fast import choices
from methods.core.fast import linear as fast_linear
from methods.core.types import Tokens
from tests.support import tiny


@pytest.fixture(scope="module")
def params() -> Params:
    recipes = load_recipes()
    return resolve(recipes, ["all", *recipes], seeds=1)


def test_every_trained_method_has_a_count(params: Params) -> None:
    found = {run.method for run in chosen_runs(params, list(PASSES))}
    assert found == {run.method for run in chosen_runs(params, [])}
    assert len(found) >= 11


def test_rows_are_counted_by_whether_they_are_trained(tmp_path: Path) -> None:
    encoder = tiny.sentence_encoder(tiny.write_backbone(tmp_path))
    ids = torch.full((3, 5), 7)
    tokens: Tokens = {"input_ids": ids, "attention_mask": torch.ones_like(ids)}

    def step(number: int) -> None:
        encoder({name: rows[:2] for name, rows in tokens.items()}).sum().backward()
        with torch.no_grad():
            encoder(tokens)

    assert counted(step, 2)[:2] == (4, 6)


@pytest.mark.parametrize("library", ["onednn", "torch"])
def test_operations_of_a_layer_are_counted_whoever_multiplies(
    library: choices.Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    """5 rows through 130 x 140 weights: forward twice, once with both gradients, each 2 x 5 x 130 x 140."""
    monkeypatch.setattr(choices, "_library", library)
    layer, rows = torch.nn.Linear(130, 140), torch.randn(5, 130, requires_grad=True)

    def step(number: int) -> None:
        fast_linear.linear(layer, rows).sum().backward()
        with torch.no_grad():
            fast_linear.linear(layer, rows)

    assert counted(step, 1).operations == 4 * 2 * 5 * 130 * 140


def test_a_step_that_does_something_else_stops_the_benchmark() -> None:
    passes = Passes(2, 1, "X i")
    said = check_passes("x", passes, Count(8, 4, 0), sentences=4)
    assert "agree with the count: 2 a sentence forward and backward, 1 forward only (X i)" in said
    told = "8 rows with and 0 without gradient for 4 sentences, expected 8 and 4"
    with pytest.raises(Disagreement, match=told):
        check_passes("x", passes, Count(8, 0, 0), sentences=4)


@pytest.mark.parametrize("system", ["una", "pcl", "diffcse", "ct-paper"])
def test_a_step_is_measured_after_its_passes_were_counted(params: Params, system: str) -> None:
    simcse, run = chosen_runs(params, [system])
    result = methods.step_result(run, simcse, methods.corpus(True), 1, True)
    assert PASSES[system].source in result.agreement
    assert result.met is not None
    (real,) = result.peers
    products = float(real.name.removeprefix("SimCSE's step x ").removesuffix(" (all products)"))
    passes = PASSES[system].trained + PASSES[system].frozen / 3
    assert 0.8 < products / (passes / 2) < 4, "heads and further networks come on top"
    assert real.target == 1 / methods.LIMIT
