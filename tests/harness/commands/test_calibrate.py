"""`sentbench calibrate` keeps what was measured or chosen for this machine until it is asked again."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

import harness.commands.calibrate as command
from harness.cli import main
from harness.compute import products
from harness.errors import InputError
from harness.paths import CALIBRATION
from harness.plan.estimate import cores_here
from harness.plan.step_times import read_step_times
from harness.stages.train import choose_kernels
from methods.core.fast import choices


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """What takes a minute is not measured, and no choice outlives a test."""
    monkeypatch.setattr(command, "need_checkout", lambda what: None)
    monkeypatch.setattr(command, "compute_with", lambda arithmetic: None)
    monkeypatch.setattr(products, "training_rates", lambda: {"onednn": 90.0, "torch": 120.0})
    monkeypatch.setattr(command, "seconds_of_steps", lambda run, sizes, cores: dict.fromkeys(sizes, 2.0))
    for name in ("_library", "_gpu_layers"):
        monkeypatch.setattr(choices, name, getattr(choices, name))


def kept() -> dict[str, object]:
    return {key: value for key, value in json.loads(CALIBRATION.read_text()).items() if key != "digest"}


def test_the_faster_library_is_kept_and_measured_again_only_on_request(
    checkout: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["calibrate"]) == 0
    assert kept()["training_products"] == "torch"
    monkeypatch.setattr(products, "training_rates", lambda: {"onednn": 130.0, "torch": 120.0})
    assert main(["calibrate"]) == 0
    assert kept()["training_products"] == "torch"
    assert "measure again with --again" in capsys.readouterr().out
    assert main(["calibrate", "--again"]) == 0
    assert kept()["training_products"] == "onednn"


def test_what_is_chosen_for_a_gpu_stays_next_to_what_was_measured_for_the_cpu(
    checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert main(["calibrate", "--gpu", "varlen"]) == 0
    assert main(["calibrate"]) == 0
    assert kept()["gpu_layers"] == "varlen"
    assert kept()["training_products"] == "torch"
    assert main(["calibrate", "--gpu", "compiled"]) == 0
    assert kept()["gpu_layers"] == "compiled"
    assert kept()["training_products"] == "torch"
    monkeypatch.setattr("harness.stages.train.in_effect", lambda: "native")
    choose_kernels()
    assert choices.layers_on("cuda") == "compiled"
    assert choices.training_products() == "torch"


@pytest.mark.parametrize("content", ["", '{"gpu_layers": "fast"}'])
def test_a_damaged_file_is_refused_in_one_line_and_replaced_by_again(
    content: str, checkout: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    CALIBRATION.parent.mkdir(parents=True)
    CALIBRATION.write_text(content)
    with pytest.raises(InputError, match=r"calibration.json.*calibrate --again"):
        choose_kernels()
    assert main(["calibrate", "--again"]) == 0
    choose_kernels()


def test_the_steps_of_this_machine_take_the_place_of_those_of_another(
    checkout: Path, printed: Callable[..., str]
) -> None:
    """SimCSE's step of BERT-tiny at batch 64 takes 2 s here: 3 x 2 x 64 rows of 32 word pieces."""
    assert "a step of SimCSE with every core at work: bert-tiny 2 s (batch 64)" in printed("calibrate")
    times = read_step_times()
    shape = times.shapes["bert-tiny"]
    operations = 3 * shape.forward(2 * 64, 32)
    rate = times.rate("cpu", shape, "fp32")
    assert rate.operations == operations / 2.0
    machine = f"this machine, {cores_here()} runs at once"
    assert rate.source == f"as measured on {machine}, by `sentbench calibrate`"
    assert "here" not in times.model_dump()


def test_a_plan_says_whose_hours_it_estimates_and_how_long_all_cores_take(
    checkout: Path, printed: Callable[..., str]
) -> None:
    """A SimCSE of BERT-tiny at another batch takes 2 s for each 64 sentences."""
    asked = ["plan", "sct/sct-simcse", "--backbone", "bert-tiny", "--seeds", "1", "--dry-run"]
    assert "core hours: as measured on this machine" not in printed(*asked)
    assert main(["calibrate"]) == 0
    told = printed(*asked)
    assert "core hours: as measured on this machine" in told
    hours = 15625 * 2.0 / 3600
    shown = float(told.split("still to run on this machine, ")[1].split("about ")[1].split()[0])
    assert hours <= shown <= 1.4 * hours
