"""How many runs share a GPU by their measured memory, and what runs take side by side."""

from __future__ import annotations

from pathlib import Path

from harness.disk.files import write_json
from harness.plan.estimate import CONTEXT, hours_at_once, packing

GIB = 2**30


def test_runs_share_a_gpu_as_the_largest_of_them_allows(tmp_path: Path) -> None:
    """Of 80 GiB 72 are usable: 3 runs of 24 GiB with their context, 9 of 8 GiB; the larger decides."""
    for key, peak in {"large": 24 * GIB, "small": 8 * GIB}.items():
        write_json(tmp_path / f"{key}.train.json", {"peak_memory": peak - CONTEXT, "card_memory": 80 * GIB})
    write_json(tmp_path / "here.train.json", {"train_seconds": 1.0})
    told = "runs a GPU: 3, by the largest peak of memory measured; --gpus-per-run 0.33"
    assert packing(["large", "small", "here", "absent"], tmp_path) == told
    assert packing(["small"], tmp_path).startswith("runs a GPU: 9, ")
    assert packing(["absent"], tmp_path).startswith("runs a GPU: 1, for no training")


def test_side_by_side_takes_the_sum_over_the_slots_or_the_longest() -> None:
    assert hours_at_once([1.0] * 6, 2) == 3
    assert hours_at_once([3.0, 1.0, 1.0], 2) == 3
    assert hours_at_once([], 2) == 0
