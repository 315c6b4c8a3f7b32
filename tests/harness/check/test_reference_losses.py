"""What a run does in its first steps is compared number by number with its reference losses."""

from pathlib import Path

import pytest
import torch

from harness.check.first_steps import SENTENCES, STEPS, first_steps
from harness.check.reference_losses import (
    ABSOLUTE,
    NUDGES,
    REACH,
    RELATIVE,
    differences,
    read_reference,
    with_tolerances,
    write_reference,
)
from harness.errors import InputError
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
    found = with_tolerances(lambda nudge: {name: 1.5 if nudge == moved else 1.0, alike: 1.0, "loss": 1e-8})
    assert found[name] == found[alike] == [1.0, pytest.approx(REACH * 0.5 + RELATIVE + ABSOLUTE)]
    assert found["loss"][1] < 1e-9, "a small loss is a number like others"
    assert torch.get_num_threads() == threads
    assert torch.backends.mkldnn.enabled


def test_reference_losses_are_read_as_they_were_written_and_a_damaged_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "losses.yaml"
    write_reference(path, {"simcse": KNOWN})
    assert read_reference(path) == {"simcse": KNOWN}
    path.write_text("runs: {simcse: {loss: [1.0]}}")
    with pytest.raises(InputError, match=r"runs\.simcse\.loss is \[1\.0\]"):
        read_reference(path)
    with pytest.raises(InputError, match="check --measure"):
        read_reference(tmp_path / "none.yaml")


def measured(folder: Path, state: Path, *, temperature: float = 0.05, seed: int = 1) -> dict[str, float]:
    method = load_method("simcse")
    config = method.Config(**{**sample.SAMPLES[0].config, "temperature": temperature})
    rows = [Row(index, f"{text} {index}") for index, text in enumerate(SENTENCES * 3)]
    settings = TrainConfig.model_validate({**tiny.TRAIN, "steps": 40, "batch_size": 4})
    return first_steps(
        method, config, settings, Networks(folder, pooling="mean"), rows, seed=seed, state=state
    )


def test_first_steps_are_repeatable_and_show_another_temperature_and_seed(tmp_path: Path) -> None:
    """Before training nothing has been asked of the temperature: only numbers from step 1 on differ."""
    folder = tiny.write_backbone(tmp_path / "bert")
    first = measured(folder, tmp_path / "a")
    assert measured(folder, tmp_path / "b") == first
    assert f"loss at step {STEPS}" in first
    warmer = measured(folder, tmp_path / "c", temperature=0.1)
    changed = {name for name in first if first[name] != warmer[name]}
    assert "loss at step 1" in changed
    assert not any("before training" in name for name in changed)
    assert measured(folder, tmp_path / "d", seed=2)["loss at step 1"] != first["loss at step 1"]
