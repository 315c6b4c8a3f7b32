"""Every configuration of the recipes trains as it did: losses, rates, development scores, kept weights."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from harness.plan.entries import Run
from methods.registry import METHODS
from tests.regression.pairs import beyond_pairs
from tests.regression.reference import (
    KNOWN,
    configurations,
    covering,
    measure,
    presets,
    write_project,
)
from tests.support.networks import each_network_is_built_once

NEAR, AGAIN = 1e-4, "after a wanted change: python -m tests.regression.reference"


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("reference") / "project"
    write_project(folder)
    return folder


@pytest.fixture(scope="module", autouse=True)
def networks() -> Iterator[None]:
    with each_network_is_built_once():
        yield


@pytest.fixture
def known(project: Path, monkeypatch: pytest.MonkeyPatch) -> Mapping[str, Any]:
    """The numbers of reference.json; the current folder is the folder of the runs."""
    monkeypatch.chdir(project)
    monkeypatch.setenv("SENTBENCH_PROVIDERS", "embedded")
    result: Mapping[str, Any] = json.loads(KNOWN.read_text(encoding="utf-8"))
    return result


def check(name: str, run: Run, known: Mapping[str, Any], state: Path) -> None:
    measured = measure(run, state)
    assert set(measured) == set(known[name]), f"{name}; {AGAIN}"
    for number, values in measured.items():
        assert values == pytest.approx(known[name][number], rel=NEAR, abs=NEAR), f"{name}: {number}; {AGAIN}"


@pytest.mark.parametrize("method", METHODS)
def test_presets_and_settings_that_no_pair_has_give_their_reference_numbers(
    method: str, known: Mapping[str, Any], tmp_path: Path
) -> None:
    """test_pairs.py has the losses and gradients of the other settings."""
    for name, run in covering().items():
        if run.method == method and name in beyond_pairs():
            check(name, run, known, tmp_path / name)


@pytest.mark.thorough
@pytest.mark.parametrize("method", METHODS)
def test_the_other_runs_that_cover_all_settings_give_their_reference_numbers(
    method: str, known: Mapping[str, Any], tmp_path: Path
) -> None:
    for name, run in covering().items():
        if run.method == method and name not in beyond_pairs():
            check(name, run, known, tmp_path / name)


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
def test_every_run_of_the_recipes_trains_to_finite_weights(
    method: str, known: Mapping[str, Any], tmp_path: Path
) -> None:
    for name, run in configurations().items():
        if run.method == method:
            measured = measure(run, tmp_path / name)
            assert all(np.isfinite(values).all() for values in measured.values()), name


def test_the_presets_of_every_method_with_any_are_among_the_runs() -> None:
    """Both if a recipe distinguishes code and text; only the code's if it trains a competitor."""
    by_preset = presets()
    both = {method for _, method, preset in by_preset if preset == "paper"}
    assert both >= {"dclr", "pcl", "pt-bert", "moco", "sct", "una", "diffcse", "scd", "ct", "consert"}
    assert {method for _, method, _ in by_preset} - both == {
        *("ckd", "congen", "distill", "pooled", "simcse", "whitening")
    }
    assert set(by_preset.values()) <= set(covering())


def test_the_file_has_the_runs_that_cover_all_settings() -> None:
    assert set(json.loads(KNOWN.read_text(encoding="utf-8"))) == set(covering()), AGAIN
