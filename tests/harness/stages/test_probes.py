"""Probes: what a run does in its first steps is compared number by number."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from harness.compute.probe import SENTENCES, STEPS, probe
from harness.errors import InputError
from harness.stages.probe_file import (
    ABSOLUTE,
    NUDGES,
    REACH,
    RELATIVE,
    differences,
    read_probes,
    with_tolerances,
    write_probes,
)
from harness.stages.probes import probe_statistics, word_hashes
from methods.core.networks import Networks
from methods.core.train_config import TrainConfig
from methods.core.types import Row
from methods.registry import load_method
from tests.methods.simcse import sample
from tests.support import tiny

KNOWN = {"loss at step 1": [0.28, 0.001], "length": [2.0, 0.0]}


def test_a_number_that_is_off_lacks_or_is_new_is_one_line_each() -> None:
    found = {"loss at step 1": 0.31, "width": 3.0}
    assert differences("simcse", KNOWN, found) == [
        "simcse: loss at step 1 is 0.31, expected 0.28 ± 0.001",
        "simcse: no length, expected 2",
        "simcse: width is 3, expected no such number",
    ]
    assert differences("simcse", KNOWN, {"loss at step 1": 0.2809, "length": 2.0}) == []
    assert len(differences("simcse", KNOWN, {"loss at step 1": float("nan"), "length": 2.0})) == 1


@pytest.mark.parametrize("moved", NUDGES)
def test_a_tolerance_is_a_reach_of_what_arithmetic_alone_does(moved: float) -> None:
    """Moved weights give 1.5 for 1: the reach of one half, and the share and the least of every number."""
    assert len(NUDGES) == 2
    threads = torch.get_num_threads()
    name, alike = "length of sentence 1", "length of sentence 2"
    found = with_tolerances(
        lambda nudge: {name: 1.5 if nudge == moved else 1.0, alike: 1.0, "loss": 1e-8}, wide=False
    )
    assert found[name] == found[alike] == [1.0, pytest.approx(REACH * 0.5 + RELATIVE + ABSOLUTE)]
    assert found["loss"][1] < 1e-9, "a small loss is a number like others"
    assert with_tolerances(lambda nudge: {"a": 1.0}, wide=True) == {"a": [1.0, pytest.approx(2e-7)]}
    assert torch.get_num_threads() == threads
    assert torch.backends.mkldnn.enabled


def test_probes_are_read_as_they_were_written_and_a_damaged_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "probes.yaml"
    write_probes(path, {"simcse": KNOWN})
    assert read_probes(path) == {"simcse": KNOWN}
    path.write_text("probes: {simcse: {loss: [1.0]}}")
    with pytest.raises(InputError, match=r"loss is \[1.0\], expected a value and its tolerance"):
        read_probes(path)
    with pytest.raises(InputError, match="check --measure"):
        read_probes(tmp_path / "none.yaml")


def probed(folder: Path, state: Path, *, temperature: float = 0.05, seed: int = 1) -> dict[str, float]:
    method = load_method("simcse")
    config = method.Config(**{**sample.SAMPLES[0].config, "temperature": temperature})
    rows = [Row(index, f"{text} {index}") for index, text in enumerate(SENTENCES * 3)]
    settings = TrainConfig.model_validate({**tiny.TRAIN, "steps": 40, "batch_size": 4})
    return probe(method, config, settings, Networks(folder, pooling="mean"), rows, seed=seed, state=state)


def test_a_probe_is_repeatable_and_shows_another_temperature_and_seed(tmp_path: Path) -> None:
    """Before training nothing has been asked of the temperature: only numbers from step 1 on differ."""
    folder = tiny.write_backbone(tmp_path / "bert")
    first = probed(folder, tmp_path / "a")
    assert probed(folder, tmp_path / "b") == first
    assert f"loss at step {STEPS}" in first
    warmer = probed(folder, tmp_path / "c", temperature=0.1)
    changed = {name for name in first if first[name] != warmer[name]}
    assert "loss at step 1" in changed
    assert not any("before training" in name for name in changed)
    assert probed(folder, tmp_path / "d", seed=2)["loss at step 1"] != first["loss at step 1"]


def test_statistics_are_probed_with_made_results_and_tasks_with_hashes_of_words() -> None:
    """Scores of seeds 0, 1, 2 lie 0, 1/3 and 4/3 points above the first: mean 5/9, sd of 0, 1/3, 4/3."""
    found = probe_statistics()
    expected = float(np.std([0, 1 / 3, 4 / 3], ddof=1))
    assert found["spread of simcse/made@made STSB-dev"] == pytest.approx(expected)
    assert found["mean of simcse/made@made STSB-dev"] == pytest.approx(50 + 6 / 7 + 5 / 9)
    vectors = word_hashes(["a b", "b a", "a b", ""])
    np.testing.assert_array_equal(vectors[0], vectors[2])
    assert not np.array_equal(vectors[0], vectors[1]), "the order of words counts"
    assert not vectors[3].any()
