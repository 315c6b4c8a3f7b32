"""Numbers of commands: the borders of options and of what is shown, and the sums of a plan by hand."""

import argparse
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from harness.commands import forecast, launch, plan, verify
from harness.errors import InputError
from harness.evidence.spec import load_specs
from harness.plan.estimate import Estimate
from harness.plan.hours import Cost
from harness.plan.params_file import read_params
from harness.plan.recipes import load_recipes
from harness.plan.resolve import resolve

ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize(
    ("hours", "shown"),
    [
        (0.0, "0"),
        (0.0099, "<0.01"),
        (0.01, "0.01"),
        (0.123, "0.12"),
        (9.94, "9.9"),
        (10.0, "10.0"),
        (99.94, "99.9"),
        (100.0, "100"),
        (12345.6, "12,346"),
    ],
)
def test_hours_have_two_digits_below_ten_one_decimal_below_a_hundred_and_none_above(
    hours: float, shown: str
) -> None:
    assert plan._hours(hours) == shown
    assert plan._shown(Cost(hours, 1.0, 2.345e9)) == (shown, "1", "2.35 GB")
    assert plan._shown(None) == ("?", "?", "?")


@pytest.fixture
def costs(monkeypatch: pytest.MonkeyPatch) -> dict[str, Cost | None]:
    """Costs of the parts of a plan in place of estimates, on two cores; a run's is by its system."""
    known: dict[str, Cost | None] = {"teachers": Cost(1.0, 8.0, 1e9)}
    monkeypatch.setattr(Estimate, "run", lambda self, run: known[run.id])
    monkeypatch.setattr(Estimate, "teachers", lambda self: known["teachers"])
    monkeypatch.setattr(Estimate, "corpora", lambda self: Cost(disk=2e9))
    monkeypatch.setattr(Estimate, "data", lambda self: Cost(disk=3e9))
    monkeypatch.setattr(plan, "cores_here", lambda: 2)
    monkeypatch.setattr(plan, "packing", lambda keys: [f"packing of {len([*keys])}"])
    return known


def rows(params: Any) -> dict[str, list[str]]:
    """Returns the words of each line by its first word."""
    return {line.split()[0]: line.split() for line in plan.describe_plan(params).splitlines()}


def test_the_sums_of_a_plan_by_hand(
    costs: dict[str, Cost | None], monkeypatch: pytest.MonkeyPatch, checkout: Path
) -> None:
    """Three seeds of one system, of which one is done: 2 GPU hours, 20 core hours and 5 GB each.

    In all 3 x 2 + 1 GPU hours, 3 x 20 + 8 core hours and 15 + 1 + 2 + 3 GB. Left are two of 20 core hours,
    one on each core, next to the half of 8.
    """
    params = resolve(load_recipes(), ["baselines/simcse"], seeds=3, backbones=["bert-base-uncased"])
    costs["simcse"] = Cost(2.0, 20.0, 5e9)
    key = next(iter(params.runs))
    monkeypatch.setattr(plan, "recorded_recipes", lambda params: {key: "r"})
    monkeypatch.setattr(plan, "outdated", lambda params, recorded: [])
    found = rows(params)
    assert found["simcse"][2:4] == ["3", "1"]
    assert found["simcse"][-4:] == ["6", "60.0", "15.00", "GB"]
    assert found["total"] == ["total", "3", "1", "7", "68.0", "21.00", "GB"]
    assert found["still"][:2] == ["still", "to"]
    lines = plan.describe_plan(params).splitlines()
    left, on_cores = (line for line in lines if line.startswith("still to run"))
    assert left.split() == ["still", "to", "run", "2", "4", "40.0", "10.00", "GB"]
    assert (
        on_cores
        == "still to run on this machine, 2 runs of one core at once: about 24.0 hours; no GPU needed"
    )
    assert "3 runs (1 done), " in "\n".join(lines)
    assert "packing of 3" in lines
    costs["simcse"] = None
    found = rows(params)
    assert found["total"] == ["total", "3", "1", "?", "?", "?"]
    assert any(line.startswith("no estimate: simcse on bert-base-uncased (") for line in
               plan.describe_plan(params).splitlines())  # fmt: skip
    monkeypatch.setattr(plan, "outdated", lambda params, recorded: [key])
    assert rows(params)["simcse"][2:4] == ["3", "0"], "a result of other settings is not done"


@pytest.mark.parametrize(
    ("core_hours", "words"),
    [(2 * 168 - 8.0, "; no GPU needed"), (2 * 168 - 7.9, ""), (1.0, "; no GPU needed")],
)
def test_a_plan_that_takes_longer_than_a_week_on_all_cores_needs_a_gpu(
    costs: dict[str, Cost | None], core_hours: float, words: str, checkout: Path
) -> None:
    params = resolve(load_recipes(), ["baselines/simcse"], seeds=1, backbones=["bert-base-uncased"])
    costs["simcse"] = Cost(1.0, core_hours, 1e9)
    (line,) = (line for line in plan.describe_plan(params).splitlines() if "on this machine" in line)
    assert line.partition(" hours")[2] == words


def test_nothing_is_still_to_run_if_all_is_done(
    costs: dict[str, Cost | None], monkeypatch: pytest.MonkeyPatch, checkout: Path
) -> None:
    params = resolve(load_recipes(), ["baselines/simcse"], seeds=1, backbones=["bert-base-uncased"])
    costs["simcse"] = Cost(1.0, 1.0, 1e9)
    monkeypatch.setattr(plan, "recorded_recipes", lambda params: dict.fromkeys(params.runs, "r"))
    monkeypatch.setattr(plan, "outdated", lambda params, recorded: [])
    assert "on this machine" not in plan.describe_plan(params)


def test_a_seed_is_compared_with_the_hours_that_its_authors_state(
    costs: dict[str, Cost | None], checkout: Path
) -> None:
    """Two seeds of 3 GPU hours: an author's hours are those of one, in the precision of the run."""
    params = resolve(load_recipes(), ["pcl/table2"], seeds=2, tables=load_specs(), precision="bf16")
    costs |= dict.fromkeys({run.id for run in params.runs.values()}, Cost(3.0, 1.0, 1.0))
    lines = [line for line in plan.describe_plan(params).splitlines() if line.startswith("a seed of ")]
    assert lines
    assert all(": 3 GPU hours estimated in bf16, " in line for line in lines)


@pytest.mark.parametrize(
    ("name", "taken", "refused"),
    [
        ("jobs", [None, 1], [0, -1]),
        ("retries", [0, 5], [-1]),
        ("cpus_per_run", [None, 0.01, 3.5], [0.0099, 0, float("inf"), float("nan")]),
        ("gpus_per_run", [None, 0, 0.25], [-0.01, float("inf"), float("nan")]),
    ],
)
def test_a_number_of_a_launch_has_its_least_value(name: str, taken: list[Any], refused: list[Any]) -> None:
    usual = {"jobs": None, "retries": 5, "cpus_per_run": None, "gpus_per_run": None, "targets": []}
    usual |= {"on": "local", "address": None, "slurm": ""}
    for number in taken:
        launch.check_numbers(argparse.Namespace(**{**usual, name: number}))
    for number in refused:
        with pytest.raises(InputError, match=f"--{name.replace('_', '-')} {number}: expected at least"):
            launch.check_numbers(argparse.Namespace(**{**usual, name: number}))


@pytest.mark.parametrize(
    ("gpus", "cpus_per_run", "gpus_per_run", "slots"),
    [
        (0, None, None, 8),
        (0, 3.0, None, 2),
        (0, 9.0, None, 1),
        (3, None, None, 3),
        (3, None, 1.0, 3),
        (3, None, 0.34, 6),
        (3, None, 0.5, 6),
        (3, 4.0, 0.5, 2),
        (3, None, 0.0, 8),
        (10, None, None, 8),
    ],
)
def test_as_many_stages_run_at_once_as_cores_and_gpus_allow(
    gpus: int, cpus_per_run: float | None, gpus_per_run: float | None, slots: int, monkeypatch: Any
) -> None:
    """Of 8 cores."""
    made: list[Any] = []
    monkeypatch.setattr(launch, "cores_here", lambda: 8)
    monkeypatch.setattr(launch, "visible_gpus", lambda: [*map(str, range(gpus))])
    monkeypatch.setattr(launch, "LocalExecutor", lambda *given: made.append(given))
    shares = {"jobs": None, "cpus_per_run": cpus_per_run, "gpus_per_run": gpus_per_run, "on": "local"}
    commands = {"a": ("make it",), "b": ("sentbench stage entries",)}
    launch.executor_of(argparse.Namespace(**shares), SimpleNamespace(commands=commands))  # type: ignore[arg-type]
    launch.executor_of(argparse.Namespace(**{**shares, "jobs": 5}), SimpleNamespace(commands={}))  # type: ignore[arg-type]
    assert made == [(slots, [*map(str, range(gpus))], [launch.PRELOADED]), (5, made[0][1], [])]


@pytest.mark.parametrize(
    ("share", "seats", "runs"),
    [
        (1.0, ["4", "7", "GPU-x"], 3),
        (0.076, ["4", "7", "GPU-x"], 39),
        (2.0, ["4,7"], 1),
        (1.5, ["4,7"], 1),
        (3.0, ["4,7,GPU-x"], 1),
    ],
)
def test_a_run_has_the_gpus_that_it_takes_and_13_share_each(
    share: float, seats: list[str], runs: int
) -> None:
    assert launch.shared_gpus(["4", "7", "GPU-x"], share) == (seats, runs)
    assert launch.shared_gpus(["a", "b", "c", "d"], 2.0) == (["a,b", "c,d"], 2)


def test_a_run_that_takes_more_gpus_than_there_are_is_refused() -> None:
    with pytest.raises(InputError, match=r"--gpus-per-run 3\.5: 3 GPUs here; correct it"):
        launch.shared_gpus(["0", "1", "2"], 3.5)


def test_first_seeds_leave_out_both_stages_and_the_collection_of_further_ones() -> None:
    params = read_params(ROOT / "params.yaml")
    further = [key for key, run in params.runs.items() if not run.is_first]
    stages = launch.further_stages(params)
    assert further
    assert stages == {f"{stage}@{key}" for key in further for stage in ("train", "evaluate")} | {
        f"further@{name}" for name in params.further
    }


def test_a_launch_with_another_dvc_runs_the_stages_that_first_seeds_need(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The report reads the other scores as they are, so it runs alone; a failure ends the launch."""
    monkeypatch.chdir(ROOT)
    ran: list[list[str]] = []

    def run(command: list[str]) -> Any:
        ran.append(command[3:])
        return SimpleNamespace(returncode=0)

    monkeypatch.setattr(launch.subprocess, "run", run)
    without = launch.further_stages(read_params())
    assert launch.run_serially([], without, dry=False) == 0
    (evaluations, report) = ran
    assert report == ["repro", "--single-item", "report"]
    assert {*evaluations[1:]} == {
        f"evaluate@{key}" for key, made in read_params().runs.items() if made.is_first
    }
    assert "`dvc repro evaluate@" in capsys.readouterr().err
    ran.clear()
    assert (
        launch.run_serially(["report"], without, dry=True) == launch.run_serially([], set(), dry=False) == 0
    )
    assert ran == [["repro", "--dry", "report"], ["repro", "--all-pipelines"]]
    monkeypatch.setattr(launch.subprocess, "run", lambda command: SimpleNamespace(returncode=9))
    assert launch.run_serially([], without, dry=False) == 9
    assert [launch.shown(["a"] * count) for count in (3, 4, 5)] == ["a a a", "a a a a", "a a a a ..."]


@pytest.mark.parametrize(("signal", "failed", "code"), [(0, 0, 0), (0, 2, 1), (2, 0, 130), (15, 1, 143)])
def test_the_exit_code_of_a_launch_is_that_of_its_signal_or_of_a_failure(
    signal: int, failed: int, code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    ended: Any = SimpleNamespace(
        summary="3 of 9 stages",
        failed={f"s{n}": "why" for n in range(failed)},
        interrupted=signal,
        skipped=["x"],
    )
    assert launch.conclude(ended) == code
    said = capsys.readouterr().err
    assert said.startswith("3 of 9 stages\n")
    assert said.count("failed: s") == failed
    if code:
        what = "interrupted" if signal else "2 failed"
        assert f"sentbench launch: {what}; 1 stages were not run; finished stages are recorded" in said


@pytest.mark.parametrize(
    ("seconds", "jobs", "rest"),
    [
        ([59.0, 59.0], None, None),
        ([10.0, 60.0], None, ["1 runs at once on GPUs: about 70 s", "8 runs at once on GPUs: about 60 s",
                              "64 runs at once on GPUs: about 60 s"]),
        ([60.0, 60.0], 2, ["2 runs at once on GPUs: about 60 s"]),
    ],
)  # fmt: skip
def test_hours_on_gpus_are_estimated_for_one_a_machine_and_a_cluster_if_a_training_takes_a_minute(
    seconds: list[float], jobs: int | None, rest: list[str] | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The steps of the longest training; core hours are 10 and 20 seconds on the cores of this machine."""
    monkeypatch.setattr(forecast, "cores_here", lambda: 1)
    monkeypatch.setattr(forecast, "packing", lambda keys: [])
    runs = {name: SimpleNamespace(id=f"system-{name}", backbone_name="bert") for name in "abc"}
    hours = {"system-a": seconds[0], "system-b": seconds[1], "system-c": None}

    def cost(run: Any) -> Cost | None:
        found = hours[run.id]
        return None if found is None else Cost(found / 3600, (10.0 if run.id == "system-a" else 20.0) / 3600)

    estimate: Any = SimpleNamespace(params=SimpleNamespace(runs=runs), run=cost)
    lines = forecast.hours_of(estimate, ["a", "b", "c"], jobs)
    local = (
        "2 runs at once on this machine's CPU: about 20 s"
        if jobs
        else "1 runs at once on this machine's CPU: about 30 s"
    )
    assert lines[0] == f"--on local, {local}"
    if rest is None:
        assert lines[1].startswith("--on ray or slurm: no estimate for GPUs")
    else:
        assert lines[1 : 1 + len(rest)] == [f"--on ray or slurm, {line}" for line in rest]
        assert lines[1 + len(rest)] == f"  system-a@bert: 1 x {seconds[0]:.0f} s on a GPU"
    assert lines[-1] == "no estimate for 1 of 3 runs"
    assert forecast.hours_of(estimate, ["c"], jobs) == []


@pytest.mark.parametrize(("found", "full"), [(1, True), (3, True), (4, False)])
def test_three_rows_are_verified_in_full_and_more_get_a_line_each(
    found: int, full: bool, monkeypatch: pytest.MonkeyPatch, printed: Callable[..., str]
) -> None:
    number = SimpleNamespace(backbone="bert")
    monkeypatch.setattr(verify, "judged_in", lambda *words: [SimpleNamespace(number=number)] * found)
    monkeypatch.setattr(verify, "in_one_line", lambda known: ["line"] * len(known))
    monkeypatch.setattr(verify, "sentence_of", lambda judged: "sentence")
    monkeypatch.setattr(verify, "judged_text", lambda judged: "text")
    monkeypatch.setattr(verify, "judged_json", lambda judged: {})
    text = printed("verify", "pcl/table2", "SimCSE", "Avg")
    assert text.count("sentence\ntext") == (found if full else 0)
    assert text.count("line") == (0 if full else found)
    assert printed("verify", "pcl/table2", "SimCSE", "Avg", "--json").count("{}") == found
