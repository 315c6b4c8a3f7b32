"""`sentbench calibrate` keeps what was measured or chosen for this machine until it is asked again."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import harness.commands.calibrate as command
from harness.cli import main
from harness.compute import products
from harness.errors import InputError
from harness.paths import CALIBRATION
from harness.stages.train import choose_kernels
from methods.core.fast import choices


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(command, "need_checkout", lambda what: None)
    monkeypatch.setattr(command, "compute_with", lambda arithmetic: None)
    monkeypatch.setattr(products, "training_rates", lambda: {"onednn": 90.0, "torch": 120.0})
    for name in ("_library", "_gpu_layers"):
        monkeypatch.setattr(choices, name, getattr(choices, name))
    return tmp_path


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


@pytest.mark.parametrize(
    "content", ["", "[]", '{"gpu_layers": "fast"}', '{"training_products": 3, "digest": "0"}']
)
def test_a_damaged_file_is_refused_in_one_line_and_replaced_by_again(
    content: str, checkout: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    CALIBRATION.parent.mkdir(parents=True)
    CALIBRATION.write_text(content)
    with pytest.raises(InputError, match=r"calibration.json.*calibrate --again"):
        choose_kernels()
    assert main(["calibrate", "--again"]) == 0
    choose_kernels()
