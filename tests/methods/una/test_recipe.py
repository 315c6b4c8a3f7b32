"""recipes/una.yaml: presets, rates and seeds of the paper, and a run of a table turns one thing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from harness.facts.spec import load_specs
from harness.plan.recipes import load_recipes
from methods.core.schedule import rate_factor
from tests.methods.una.sample import PAPER, PARAPHRASE, RELEASED

ROOT = Path(__file__).parents[3]
RECIPES = load_recipes(ROOT / "recipes")
RUNS = RECIPES["una"].systems
BASELINES = {name: run for name, run in RECIPES["baselines"].systems.items() if name.startswith("simcse-nt")}
D7_SEEDS = [42, 0, 1, 11, 15, 48, 111, 421, 456, 3407]


def turned(name: str, released: str) -> dict[str, Any]:
    mine, base = RUNS[name].config, RUNS[released].config
    return {key: value for key, value in mine.items() if value != base[key]}


def test_no_run_clips_its_gradients_and_those_with_paraphrases_read_their_corpus() -> None:
    for run in RUNS.values():
        assert run.train["max_grad_norm"] is None
        assert (run.corpus == "wiki1m-paraphrased") == (run.config["positive"] == "paraphrase")
    assert len(RUNS) == 40


def test_the_presets_are_the_ones_the_conformance_kit_runs() -> None:
    assert RUNS["una"].config == RUNS["una-roberta"].config == RELEASED
    assert RUNS["una-paper"].config == PAPER
    assert RUNS["una-paraphrase"].config == {**RELEASED, **PARAPHRASE}


def test_main_runs_have_the_ten_seeds_and_the_rates_of_the_paper() -> None:
    mains = ["una", "una-paraphrase", "una-roberta", "una-paraphrase-roberta"]
    nt = ["simcse-nt", "simcse-nt-paraphrase", "simcse-nt-roberta", "simcse-nt-paraphrase-roberta"]
    for mine, theirs in zip(mains, nt, strict=True):
        assert RUNS[mine].seeds == BASELINES[theirs].seeds == D7_SEEDS
        assert RUNS[mine].train == BASELINES[theirs].train
        assert RUNS[mine].corpus == BASELINES[theirs].corpus
        assert RUNS[mine].backbones == BASELINES[theirs].backbones
        assert RUNS[mine].config["head"] == BASELINES[theirs].config["head"]
    bert, roberta = RUNS["una"].train, RUNS["una-roberta"].train
    for step in (0, 1, 9_000):
        factor = rate_factor(bert["schedule"], step=step, warmup=0, total=15_625)
        assert bert["learning_rate"] * factor == pytest.approx(3e-5 * (1 - step / 15_625))
        assert roberta["learning_rate"] * rate_factor(
            roberta["schedule"], step=step, warmup=0, total=15_625
        ) == pytest.approx(5e-6)


def test_a_run_of_a_sweep_or_the_audit_turns_one_switch() -> None:
    keys = {"alpha": "period", "beta": "magnitude", "radius": "radius", "audit": None}
    found = 0
    for name in RUNS:
        parts = name.removeprefix("una-").removeprefix("paraphrase-").split("-")
        if parts[0] in keys:
            base = "una-paraphrase" if "paraphrase" in name else "una"
            changed = turned(name, base)
            assert len(changed) == 1
            assert keys[parts[0]] in (*changed, None)
            assert RUNS[name].seeds == [42, 0, 1]
            found += 1
    assert found == 32


def test_every_run_is_in_a_table_or_in_the_audit() -> None:
    shown = {run.system for spec in load_specs().values() for run in spec.choices()}
    assert set(RUNS) - shown <= set(RECIPES["una"].groups["audit"])
    assert shown & set(RUNS)
