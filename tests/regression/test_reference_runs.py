"""Every configuration of the recipes trains as it did: losses, rates, development scores, kept weights."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

import numpy as np
import pytest
from pydantic import BaseModel

from harness.plan.entries import Run, read_params
from methods.core.train_config import TrainConfig
from methods.registry import METHODS, load_method
from tests.regression.reference import (
    KNOWN,
    ROOT,
    configurations,
    covering,
    measure,
    settings_of,
    write_project,
)

NEAR, AGAIN = 1e-4, "after a wanted change: python -m tests.regression.reference"


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("reference") / "project"
    write_project(folder)
    return folder


@pytest.fixture
def known(project: Path, monkeypatch: pytest.MonkeyPatch) -> Mapping[str, Any]:
    """The numbers of reference.json; the current folder is that of the runs."""
    monkeypatch.chdir(project)
    monkeypatch.setenv("SENTBENCH_PROVIDERS", "embedded")
    found: Mapping[str, Any] = json.loads(KNOWN.read_text(encoding="utf-8"))
    return found


def check(name: str, run: Run, known: Mapping[str, Any], state: Path) -> None:
    found = measure(run, state)
    assert set(found) == set(known[name]), f"{name}; {AGAIN}"
    for number, values in found.items():
        assert values == pytest.approx(known[name][number], rel=NEAR, abs=NEAR), f"{name}: {number}; {AGAIN}"


@pytest.mark.parametrize("method", METHODS)
def test_runs_that_cover_all_settings_give_their_reference_numbers(
    method: str, known: Mapping[str, Any], tmp_path: Path
) -> None:
    for name, run in covering().items():
        if run.method == method:
            check(name, run, known, tmp_path / name)


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
def test_every_run_of_the_recipes_trains_to_finite_weights(
    method: str, known: Mapping[str, Any], tmp_path: Path
) -> None:
    for name, run in configurations().items():
        if run.method == method:
            found = measure(run, tmp_path / name)
            assert all(np.isfinite(values).all() for values in found.values()), name


def test_the_file_has_the_runs_that_cover_all_settings() -> None:
    assert set(json.loads(KNOWN.read_text(encoding="utf-8"))) == set(covering()), AGAIN


def fields(model: type[BaseModel], where: str = "") -> dict[str, Any]:
    """Returns the annotation of every field of settings, at any depth."""
    found = {}
    for name, field in model.model_fields.items():
        found[f"{where}{name}"] = field.annotation
        for kind in get_args(field.annotation):
            if isinstance(kind, type) and issubclass(kind, BaseModel):
                found |= fields(kind, f"{where}{name}/")
    return found


def choices(annotation: Any) -> set[object]:
    """Returns the values that a switch can have; a number that may be null has null and another one."""
    if get_origin(annotation) is Literal:
        return set(get_args(annotation))
    if annotation is bool:
        return {False, True}
    parts = [kind for kind in get_args(annotation) if kind is not ...]
    return set().union({None} & {None if kind is type(None) else 0 for kind in parts}, *map(choices, parts))


UNUSED: dict[tuple[str, str, object], str] = {
    ("", "precision", "bf16"): "rounds by the processor on a CPU; tests/conformance/test_device.py has it",
    ("mirror-bert", "drophead_all", "nan"): "two heads are soon dropped together: the loss is not finite",
}
"""Values of switches that no run has -> why."""


def test_every_value_of_every_switch_is_trained_with() -> None:
    met = set().union(*map(settings_of, covering().values()))
    owners = {"": TrainConfig, **{method: load_method(method).Config for method in METHODS}}
    wanted = {
        (owner, name, value)
        for owner, model in owners.items()
        for name, annotation in fields(model).items()
        for value in choices(annotation)
    }
    wanted |= {
        ("", name, value)
        for name in ("weights", "text")
        for value in choices(Run.model_fields[name].annotation)
    }
    assert {one for one in wanted - met if one not in UNUSED} == set()


def test_numbers_that_the_small_plan_leaves_at_rest_have_another_value() -> None:
    """A number that is 0, 0.5, 1 or null in every run of the small plan says nothing about its use."""
    small = [settings_of(run) for run in read_params(ROOT / "params.yaml").runs.values()]
    seen = set().union(*small)
    rest = {None, "number 0", "number 0.5", "number 1"}
    moving = {(owner, name) for owner, name, value in seen if value not in rest}
    at_rest = {(owner, name) for owner, name, _ in seen} - moving
    met = set().union(*map(settings_of, covering().values()))
    for owner, name in at_rest:
        others = {value for one, field, value in met if (one, field) == (owner, name)}
        before = {value for one, field, value in seen if (one, field) == (owner, name)}
        assert others - before, f"{owner} {name}: {others}"
