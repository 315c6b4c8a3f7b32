"""The runner: order of sides, ratios, targets, and updates of the record."""

from pathlib import Path

import pytest
import torch

from benchmarks import BENCHMARKS, __main__, runner
from benchmarks.runner import Disagreement, TimedResult, TimedRounds, figure, keep, machine, run
from benchmarks.training import agree
from harness.errors import InputError
from harness.report.measurements import (
    Benchmark,
    Machine,
    MedianRange,
    PeerCost,
    ProductRates,
    load_measurements,
)

CPU_MACHINE = {"id": "here", "processor": "x", "model": "", "cores": 2, "device": "cpu"}
OTHER_MACHINE = {**CPU_MACHINE, "id": "there", "cores": 4}
FIRST, SECOND = BENCHMARKS[:2]


def measured(name: str, cost: float, rounds: int = 5) -> Benchmark:
    """One result that may cost 2 s and is half of another tool's."""
    peer = PeerCost(name="other", cost=spread(1.0, 1.0, 1.0), ratio=spread(cost, cost, cost), target=0.5)
    results = (figure("x", "s", [cost], peers=(peer,), limit=2.0),)
    versions = {"torch": "2.13"}
    return Benchmark(name=name, rounds=rounds, threads=1, python="3.11", versions=versions, results=results)


def machines_of(path: Path) -> dict[str, Machine]:
    actual = load_measurements(path)
    assert actual is not None
    return {machine.id: machine for machine in actual.machines}


def figures(benchmark: Benchmark) -> list[float]:
    return [result.ours.median for result in benchmark.results]


def spread(median: float, low: float, high: float) -> MedianRange:
    return MedianRange(median=median, low=low, high=high)


def test_ratios_are_taken_within_rounds_and_then_their_median() -> None:
    """Ours 1, 2, 4 s and theirs 2, 6, 4 s: ratios 2, 3, 1, median 2; the ratio of the medians is 4 / 2."""
    runs = TimedRounds({"ours": [1.0, 2.0, 4.0], "other": [2.0, 6.0, 4.0]}, {})
    result = runs.result("x", "ours", {"other": 2.5}, unit="s", software={"other": "other 1.0"})
    assert result.ours == spread(2.0, 1.0, 4.0)
    (peer,) = result.peers
    assert (peer.cost, peer.ratio, peer.target) == (spread(4.0, 2.0, 6.0), spread(2.0, 1.0, 3.0), 2.5)
    assert peer.software == "other 1.0"
    assert result.met is False
    assert "NOT MET" in result.lines()[0]


def test_a_limit_and_every_target_must_hold() -> None:
    runs = TimedRounds({"ours": [1.0], "other": [2.0]}, {})
    for target, limit, met in ((1.5, 1000, True), (1.5, 999, False), (2.1, None, False), (2.0, None, True)):
        assert runs.result("x", "ours", {"other": target}, limit=limit).met is met
    assert runs.result("x", "ours", {"other": None}).met is None


def test_each_side_runs_once_untimed_and_every_second_round_in_reverse_order() -> None:
    ran: list[str] = []
    runs = run({"a": lambda: ran.append("a"), "b": lambda: ran.append("b") or len(ran)}, rounds=3)
    assert ran == ["a", "b", "a", "b", "b", "a", "a", "b"]
    assert [len(taken) for taken in runs.times.values()] == [3, 3]
    assert runs.values == {"a": None, "b": 8}
    given = iter([TimedResult(1.0, "a"), TimedResult(2.5, "b")])  # a time that a side states counts
    assert run({"a": lambda: next(given)}, rounds=2, warm=False) == ({"a": [1.0, 2.5]}, {"a": "b"})


def test_sides_that_differ_stop_the_benchmark() -> None:
    values = torch.tensor([1.0, 10.0])
    assert "agree" in agree([values], [values + 1e-6], tolerance=1e-6, what="values")
    with pytest.raises(Disagreement, match=r"values differ by 0\.1 of the largest entry"):
        agree([torch.tensor([1.0, 9.0])], [values], tolerance=0.05, what="values")
    with pytest.raises(Disagreement):
        agree([values], [torch.tensor([1.0, float("nan")])], tolerance=0.1, what="values")


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A record in which one machine measured two benchmarks, the second at 1 s."""
    monkeypatch.setattr(runner, "machine", lambda device: CPU_MACHINE)
    monkeypatch.setattr(runner, "gemm_rate", lambda *given: 100.0)
    path = tmp_path / "benchmarks.json"
    keep(path, "cpu", measured(SECOND, 1.0, rounds=3))
    keep(path, "cpu", measured(FIRST, 3.0))
    return path


def test_new_figures_replace_only_the_figures_of_their_machine_and_benchmark(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Benchmarks have a fixed order, whichever was measured first."""
    keep(path, "cpu", measured(SECOND, 0.8, rounds=4))
    kept = machines_of(path)["here"]
    assert [(entry.name, entry.rounds) for entry in kept.benchmarks] == [(FIRST, 5), (SECOND, 4)]
    assert list(map(figures, kept.benchmarks)) == [[3.0], [0.8]]
    monkeypatch.setattr(runner, "machine", lambda device: OTHER_MACHINE)
    keep(path, "cpu", measured(FIRST, 0.5))
    keep(path, "cpu", ProductRates(threads=2, onednn=spread(4.0, 3.0, 4.0), torch=spread(2.0, 1.0, 2.0)))
    assert machines_of(path)["here"] == kept
    assert figures(machines_of(path)["there"].benchmarks[0]) == [0.5]


def test_a_damaged_record_is_refused_and_stays_as_it_is(path: Path) -> None:
    """One digit is changed: with a new checksum, the wrong figure would pass for a measured one."""
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace('"median": 3.0', '"median": 2.0'), encoding="utf-8")
    damaged = path.read_bytes()
    with pytest.raises(InputError, match=r"damaged.*python -m benchmarks"):
        keep(path, "cpu", measured(FIRST, 1.0))
    assert path.read_bytes() == damaged


def test_a_machine_is_named_by_processor_model_cores_and_device(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runner, "CPU_LIST", tmp_path / "cpuinfo")
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda: "A100")
    (tmp_path / "cpuinfo").write_text("model name\t: AMD EPYC\ncpu family\t: 25\nmodel\t\t: 1\n" * 2)
    cpu, gpu = machine("cpu"), machine("cuda")
    assert cpu["model"] == "family 25, model 1"
    assert cpu["id"] == f"amd-epyc-family-25-model-1-{cpu['cores']}-cores"
    assert gpu["id"] == f"a100-{gpu['cores']}-cores-cuda"


def test_the_command_writes_the_record_of_the_page_and_a_short_run_writes_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    results = measured("training", 1.0).results
    monkeypatch.setattr(__main__, "run_benchmark", lambda *given: results)
    monkeypatch.setattr(runner, "gemm_rate", lambda *given: 100.0)
    command = ["benchmarks", "training", "--short"]
    monkeypatch.setattr("sys.argv", command)
    assert __main__.main() == 0
    assert list(tmp_path.iterdir()) == []
    monkeypatch.setattr("sys.argv", [*command, "--out", "found.json"])
    assert __main__.main() == 0
    (kept,) = machines_of(Path("found.json")).values()
    assert kept.id == machine("cpu")["id"]
    assert kept.products is not None
    assert [(entry.name, entry.results) for entry in kept.benchmarks] == [("training", results)]
