"""The record of all machines: what one measuring replaces, what it keeps, and what it refuses to touch."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from benchmarks import __main__
from benchmarks.machine import machine, machine_id, product_rates
from benchmarks.measurement import Result, Spread
from benchmarks.record import write_figures, write_rates
from harness.errors import InputError
from harness.report.measurements import Machine, Measurement, load_measurements

ORDER = ("one", "two")
HERE = {"id": "here", "processor": "x", "model": "", "cores": 2, "device": "cpu"}
THERE = {**HERE, "id": "there", "cores": 4}


def measured(cost: float, rounds: int = 5) -> dict[str, Any]:
    """One result that may cost 2 s, as a benchmark hands it over."""
    result = Result("x", "s", Spread(cost, cost, cost), limit=2.0)
    software = {"python": "3.11", "versions": {"torch": "2.13"}}
    return {"rounds": rounds, "threads": 1, **software, "results": [asdict(result)]}


def machines_of(path: Path) -> dict[str, Machine]:
    found = load_measurements(path)
    assert found is not None
    return {machine.id: machine for machine in found.machines}


def costs(measurement: Measurement | None) -> list[float]:
    return [result.ours.median for result in measurement.results] if measurement else []


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A record in which one machine measured both benchmarks, the second at 1 s."""
    path = tmp_path / "benchmarks.json"
    write_figures(path, HERE, "two", measured(1.0, rounds=3), order=ORDER)
    write_figures(path, HERE, "one", measured(3.0), order=ORDER)
    return path


def test_benchmarks_stand_in_their_order_whichever_was_measured_first(path: Path) -> None:
    (here,) = machines_of(path).values()
    assert [(entry.name, entry.now.rounds, entry.before) for entry in here.benchmarks] == [
        ("one", 5, None),
        ("two", 3, None),
    ]
    assert (here.count(met=True), here.count(met=False)) == (1, 1)


def test_another_machine_is_put_beside_and_changes_nothing_of_the_first(path: Path) -> None:
    before = machines_of(path)["here"]
    write_figures(path, THERE, "one", measured(0.5), order=ORDER)
    assert list(machines_of(path)) == ["here", "there"]
    assert machines_of(path)["here"] == before
    assert costs(machines_of(path)["there"].benchmarks[0].now) == [0.5]


def test_replaced_figures_of_a_machine_stay_beside_the_new_ones(path: Path) -> None:
    write_figures(path, HERE, "two", measured(0.8), order=ORDER)
    one, two = machines_of(path)["here"].benchmarks
    assert (costs(two.now), costs(two.before)) == ([0.8], [1.0])
    assert (costs(one.now), one.before) == ([3.0], None)


def test_figures_measured_again_are_dropped_and_leave_what_was_before_them(path: Path) -> None:
    write_figures(path, HERE, "two", measured(9.0), order=ORDER)
    write_figures(path, HERE, "two", measured(0.7), order=ORDER, again=True)
    write_figures(path, HERE, "one", measured(2.0), order=ORDER, again=True)
    one, two = machines_of(path)["here"].benchmarks
    assert (costs(two.now), costs(two.before)) == ([0.7], [1.0])
    assert (costs(one.now), one.before) == ([2.0], None)


def test_a_benchmark_that_is_no_more_leaves_with_the_next_figures(path: Path) -> None:
    write_figures(path, HERE, "one", measured(1.0), order=("one",))
    assert [entry.name for entry in machines_of(path)["here"].benchmarks] == ["one"]


def test_rates_of_products_are_of_a_machine_and_keep_its_figures(path: Path) -> None:
    rates = {"onednn": Spread(400.0, 390.0, 410.0), "torch": Spread(200.0, 190.0, 210.0)}
    write_rates(path, HERE, rates, threads=2)
    write_rates(path, THERE, rates, threads=4)
    write_figures(path, THERE, "one", measured(1.0), order=ORDER)
    here, there = machines_of(path).values()
    assert here.products is not None
    assert there.products is not None
    assert (here.products.onednn.median, here.products.torch.low, here.products.threads) == (400.0, 190.0, 2)
    assert (there.products.threads, len(here.benchmarks), len(there.benchmarks)) == (4, 2, 1)


@pytest.mark.parametrize(
    "write",
    [
        partial(write_figures, about=HERE, name="one", measured=measured(1.0), order=ORDER),
        partial(write_rates, about=HERE, rates={}, threads=1),
    ],
)
def test_a_damaged_record_is_refused_and_stays_as_it_is(path: Path, write: Callable[[Path], None]) -> None:
    """One digit is changed: with a new checksum, the wrong figure would pass for a measured one."""
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace('"median": 3.0', '"median": 2.0'), encoding="utf-8")
    damaged = path.read_bytes()
    with pytest.raises(InputError, match="damaged"):
        write(path)
    assert path.read_bytes() == damaged


def test_a_machine_is_named_by_processor_model_cores_and_device() -> None:
    assert machine_id("AMD EPYC", "", 2, "cpu") == "amd-epyc-2-cores"
    assert machine_id("AMD EPYC", "family 25, model 1", 2, "cpu") == "amd-epyc-family-25-model-1-2-cores"
    assert machine_id("A100", "", 8, "cuda") == "a100-8-cores-cuda"
    assert machine("cpu")["id"].endswith(f"-{machine('cpu')['cores']}-cores")


def test_both_products_are_measured_in_gigaflops() -> None:
    rates = product_rates("cpu", rounds=2)
    assert list(rates) == ["onednn", "torch"]
    assert all(0 < rate.low <= rate.median <= rate.high for rate in rates.values())


def test_the_command_writes_what_the_page_reads_and_a_short_run_writes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    command = ["benchmarks", "dclr", "--short", "--threads", "1"]
    monkeypatch.setattr("sys.argv", command)
    assert __main__.main() == 0
    assert list(tmp_path.iterdir()) == []
    monkeypatch.setattr(
        "sys.argv", ["benchmarks", "dclr", "--short", "--threads", "1", "--out", "found.json"]
    )
    assert __main__.main() == 0
    (here,) = machines_of(Path("found.json")).values()
    assert here.id == machine("cpu")["id"]
    assert here.products is not None
    assert [entry.name for entry in here.benchmarks] == ["dclr"]
    assert here.benchmarks[0].now.versions["torch"]
    Path("found.json").write_text(json.dumps({"machine": {}, "benchmarks": []}), encoding="utf-8")
    assert __main__.main() == 2
