"""The check of a GPU on the simulated device, its record, and the two estimates of peak memory."""

from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
import torch

from benchmarks import gpu_check, peaks
from benchmarks.gpu_check import Gpu
from benchmarks.steps import built
from harness.plan.estimate import Estimate, read_peaks
from harness.plan.step_times import read_step_times
from harness.report.measurements import load_measurements
from methods.core.fast.choices import layers_on
from methods.simcse.method import SimCSE

CARD, USED = 24e9, 0.9
"""Bytes of a GPU, and the share that a step may take: the rest is for context and workspaces."""


def test_every_part_of_the_check_holds_on_the_simulated_device(capsys: pytest.CaptureFixture[str]) -> None:
    assert gpu_check.main(["--method", "simcse", "--method", "moco"]) == 0
    told = capsys.readouterr().out
    for part in (
        "2 methods, bf16",
        "waits of the host",
        "equal bytes: simcse, moco",
        "9 of 9 results within",
    ):
        assert part in told


def test_a_loss_that_reads_each_row_fails_the_check(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    whole = SimCSE.loss

    def loss(self: SimCSE, batch: Any) -> Any:
        for row in batch["anchor"]["input_ids"]:
            row[0].item()
        return whole(self, batch)

    monkeypatch.setattr(SimCSE, "loss", loss)
    monkeypatch.setattr(gpu_check, "expected", lambda real: [])
    assert gpu_check.main(["--method", "simcse"]) == 1
    assert "not: waits of the host in a step, 1 methods, fp32" in capsys.readouterr().out


def test_a_way_to_compute_layers_that_fails_on_this_gpu_has_a_line_and_the_others_are_timed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def measure(*given: Any, **asked: Any) -> float:
        if layers_on("cuda") == "varlen":
            raise RuntimeError("no kernel for this card\nmore")
        return 0.1

    monkeypatch.setattr(gpu_check, "seconds_of_a_step", measure)
    ((run, shape, _),) = gpu_check.expected(real=False)
    timed = [result.name for result in gpu_check.ways(Gpu("cpu", lambda: 0, real=True), run, shape)]
    assert [name.rpartition(" ")[2] for name in timed] == ["padded", "compiled"]
    assert capsys.readouterr().out == "layers varlen: not on this GPU: no kernel for this card\n"
    assert layers_on("cuda") == "padded"


def test_on_a_gpu_the_results_are_a_section_of_the_record(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    result = gpu_check.figure("a step of simcse", "s", [0.1])
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda: "NVIDIA A10")
    monkeypatch.setattr(gpu_check, "gpu", lambda real: nullcontext(Gpu("cpu", lambda: 0, real)))
    monkeypatch.setattr(gpu_check, "expected", lambda real: [])
    monkeypatch.setattr(gpu_check, "checks", lambda *given: [result])
    out = tmp_path / "benchmarks.json"
    assert gpu_check.main(["--out", str(out)]) == 0
    record = load_measurements(out)
    assert record is not None
    (machine,) = record.machines
    assert (machine.device, machine.benchmarks[0].name) == ("cuda", "gpu-check")
    assert machine.benchmarks[0].results == (result,)


def test_a_tiny_step_is_counted_by_hand_and_tracked_within_a_fifth(tmp_path: Path) -> None:
    """4 numbers of 4 bytes a parameter; 2 x 64 x 32 tokens, 2 layers, 68 x 128 + 10 x 2 x 32 bytes each.

    The last layer computes most for the first token alone, which only tracking sees.
    """
    params = peaks.full_scale()
    estimate = Estimate(params, read_step_times())
    run = next(run for run in params.runs.values() if run.id == "simcse")
    shape = estimate.times.shapes["bert-tiny"]
    made, _ = built(run, shape, tmp_path)
    weights = sum(value.numel() for value in made.parameters())
    found = peaks.peak_of(run, shape)
    buffers = sum(value.numel() for value in made.buffers())
    by_hand = 16 * weights + 4 * buffers + 4096 * 2 * (68 * 128 + 10 * 2 * 32)
    assert found.counted == pytest.approx(by_hand, rel=1e-3)
    assert found.tracked == pytest.approx(found.counted, rel=0.2)


def test_all_peaks_of_pcl_and_sct_fit_a_gpu_of_24_gb_by_both_estimates() -> None:
    """SCT on BERT-large leaves less than a tenth of it."""
    params = peaks.full_scale()
    estimate = Estimate(params, read_step_times())
    found = {key: estimate.peak(run) for key, run in params.runs.items() if run.method in ("pcl", "sct")}
    known = {key: peak for key, peak in found.items() if peak is not None}
    assert {key for key, peak in known.items() if max(peak.counted, peak.tracked) > USED * CARD} == {
        "sct-bert-large__bert-large-uncased__s0"
    }
    assert all(max(peak.counted, peak.tracked) < CARD for peak in known.values())
    assert {"pcl__bert-base-uncased__s0", "sct-bert-small__bert-small__s0"} <= known.keys()
    assert all(0.6 < peak.counted / peak.tracked < 1.4 for peak in read_peaks().peaks.values())
