"""Every two values of two settings of a method, together in some run, give the recorded numbers."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.regression.pairs import KNOWN, configured, is_possible, measure, trained, wanted
from tests.regression.reference import write_project
from tests.support.networks import each_network_is_built_once

NEAR, AGAIN = 1e-4, "after a wanted change: python -m tests.regression.pairs"
ROWS: Mapping[str, Any] = json.loads(KNOWN.read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("pairs") / "project"
    write_project(folder)
    with each_network_is_built_once():
        yield folder


@pytest.mark.parametrize("method", ROWS)
def test_pairs_of_settings_have_their_losses_and_gradients(
    method: str, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(project)
    for changed, known in ROWS[method]:
        measured = measure(method, configured(method, changed))
        assert measured == pytest.approx(known, rel=NEAR, abs=NEAR), f"{method} with {changed}; {AGAIN}"


@pytest.mark.parametrize("method", ROWS)
def test_every_pair_of_values_is_in_a_run_or_refused(
    method: str, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the method's settings, or by the networks that it would be built on."""
    monkeypatch.chdir(project)
    left = wanted(method, ROWS[method])
    assert not [sorted(pair) for pair in left if is_possible(method, pair)], f"{method}; {AGAIN}"


def test_every_trained_method_with_several_settings_has_rows() -> None:
    assert list(ROWS) == trained()
