"""`sentbench try` step by step: messages of its jobs, folders that it keeps, names, notes and ranks."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from harness.check.laws import WITHOUT_TRAINING, Law
from harness.check.workers import Message, Workers
from harness.command_line import parser_of
from harness.commands import try_jobs, try_kept, try_method, try_runs
from harness.commands.try_rows import dev_scores, early_end, same_here
from harness.errors import InputError
from harness.evidence.schema import ResultFile
from harness.io.files import write_record
from harness.paths import FILE_RECORD
from harness.plan.entries import Backbone, Teacher
from harness.plan.recipes import load_recipes
from harness.plan.resolve import MOST_SEEDS
from tests.support.recording import Calls
from tests.support.results import raw_result

LAWS = try_jobs.LAWS_JOB


class Jobs(list[Any]):
    """Workers that only collect."""

    dropped = 0

    def add(self, *jobs: Any) -> None:
        self.extend(jobs)

    def drop(self) -> None:
        self.dropped += 1


@pytest.fixture
def progress() -> Any:
    """The progress of a trial of two runs, `own` and `control`, of which `before` is trained already."""
    session: Any = SimpleNamespace(
        remaining=lambda: ["own", "control", "before"],
        untrained=["own", "control"],
        job=lambda key: f"train {key}",
        needs=lambda key: {"own"} if key == "control" else set(),
        is_control=lambda key: key == "control",
    )
    return try_jobs._Progress(session, cast("Workers", Jobs()))


def laws(progress: Any, *faults: str) -> None:
    for number, fault in enumerate(faults):
        progress.take(Message(LAWS, "sent", Law(f"law {number}", fault)))


def test_runs_start_when_the_laws_hold_that_train_nothing(progress: Any) -> None:
    laws(progress, *[""] * (WITHOUT_TRAINING - 1))
    assert progress.workers == []
    laws(progress, "", "")
    assert [(job.name, job.perform, job.needs) for job in progress.workers] == [
        ("own", "train own", set()),
        ("control", "train control", {"own"}),
        ("before", "train before", set()),
    ]
    assert len(progress.workers) == 3, "they start once"


@pytest.mark.parametrize("first", range(WITHOUT_TRAINING))
def test_no_run_starts_if_an_early_law_does_not_hold(
    progress: Any, first: int, capsys: pytest.CaptureFixture[str]
) -> None:
    faults = [""] * WITHOUT_TRAINING
    faults[first] = "wrong"
    laws(progress, *faults)
    assert progress.workers == []
    shown = capsys.readouterr().out.splitlines()
    assert shown[first] == f"FAILS  law {first}: wrong"
    assert shown[first - 1] == f"holds  law {(first - 1) % WITHOUT_TRAINING}"
    assert not progress.is_over(), "the other laws are still checked"
    progress.take(Message(LAWS, "result"))
    assert progress.is_over()
    assert progress.done() == try_jobs.Done(progress.laws, 0, [])


def test_a_law_that_could_not_be_checked_is_not_printed(
    progress: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    progress.take(Message(LAWS, "sent", Law("unseen", "", ran=False)))
    assert capsys.readouterr().out == ""
    assert len(progress.laws) == 1


def test_lines_of_a_run_have_its_name_and_those_of_laws_and_waiting_have_not(
    progress: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    progress.take(Message("own", "line", "step 1/2"))
    progress.take(Message(LAWS, "line", "step 3/4"))
    progress.take(Message("", "waits", ["own", "control"]))
    assert capsys.readouterr().err.splitlines() == [
        "own  step 1/2",
        "step 3/4",
        "sentbench: waiting for own, control",
    ]


def test_a_start_says_which_run_it_is_and_how_long_the_rest_takes(
    progress: Any, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """One run took 10 s, two are left; a run that is only evaluated has no number."""
    clock = [progress.since]
    monkeypatch.setattr(try_jobs.time, "monotonic", lambda: clock[0])
    progress.take(Message("own", "started"))
    clock[0] += 10
    progress.take(Message("own", "result"))
    progress.take(Message("control", "started"))
    progress.take(Message("before", "started"))
    assert capsys.readouterr().err.splitlines() == ["[1/2] own", "[2/2] control, about 20 s left"]
    laws(progress, *[""] * WITHOUT_TRAINING)
    progress.take(Message(LAWS, "result"))
    assert progress.done().started == 3
    assert not progress.is_over()


def test_a_control_that_fails_is_a_line_and_a_run_that_fails_ends_the_trial(progress: Any) -> None:
    laws(progress, *[""] * WITHOUT_TRAINING)
    progress.take(Message("control", "error", InputError("no memory")))
    assert progress.failed == ["control could not be trained: no memory"]
    assert progress.ended == 1
    assert not progress.workers.dropped
    progress.take(Message("own", "error", InputError("first")))
    progress.take(Message("before", "error", InputError("second")))
    assert progress.workers.dropped == 2
    assert not progress.is_over(), "a law may say what is wrong"
    progress.take(Message(LAWS, "result"))
    assert progress.is_over()
    with pytest.raises(InputError, match=r"^first$"):
        progress.done()
    laws(progress, "wrong")
    assert progress.done().laws[-1].fault == "wrong"


@pytest.mark.parametrize(
    ("job", "error"),
    [("own", ValueError("a fault of ours")), (LAWS, InputError("no corpus")), ("control", KeyError("x"))],
)
def test_an_error_of_another_kind_and_of_the_laws_is_raised(progress: Any, job: str, error: Any) -> None:
    with pytest.raises(type(error)):
        progress.take(Message(job, "error", error))


@pytest.mark.parametrize(
    "changed", [None, "code", "entry", "inputs", "versions", "arithmetic", "second input"]
)
@pytest.mark.parametrize("stage", ["backbone", "teacher"])
def test_a_folder_of_an_earlier_trial_is_used_if_everything_that_decides_it_is_the_same(
    stage: str, changed: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    made: list[str] = []
    state: dict[str, Any] = {
        "code": "1",
        "versions": "1",
        "arithmetic": "1",
        "backbones/m": "1",
        "data/c": "1",
    }

    def make(params: Any, name: str, **options: Any) -> Path:
        made.append(name)
        folder = Path(f"{stage}s", name)
        folder.mkdir(parents=True)
        (folder / "file").write_text(f"made {len(made)}")
        write_record(folder / f"{stage}.json", {"files": {"file": "0"}})
        return folder

    monkeypatch.setattr(try_kept, f"make_{stage}", make)
    monkeypatch.setattr(
        try_kept, "code_base", lambda: SimpleNamespace(fingerprint=lambda roots: state["code"])
    )
    monkeypatch.setattr(try_kept, "sha256_of_folder", lambda folder: state[str(folder)])
    monkeypatch.setattr(try_kept, "library_versions", lambda: state["versions"])
    monkeypatch.setattr(try_kept, "arithmetic_used", lambda device: state["arithmetic"])
    backbone = Backbone(origin="backbones/m", corpus="data/c", layers=2)
    teacher = Teacher(encoder="backbones/m", corpus="data/c", pooling="cls")
    entry = {"backbone": backbone, "teacher": teacher}[stage]

    def keep(name: str) -> str:
        params: Any = SimpleNamespace(backbones={name: entry}, teacher=lambda name: entry)
        getattr(try_kept, f"kept_{stage}")(params, name, tmp_path / "kept")
        return Path(f"{stage}s", name, "file").read_text()

    assert keep("first") == "made 1"
    if changed == "entry":
        update = {"layers": 3} if stage == "backbone" else {"pooling": "mean"}
        entry = entry.model_copy(update=update)  # type: ignore[attr-defined]
    elif changed is not None:
        state[{"inputs": "backbones/m", "second input": "data/c"}.get(changed, changed)] = "2"
    assert keep("second") == ("made 1" if changed is None else "made 2")
    assert ("second: of an earlier trial" in capsys.readouterr().err) is (changed is None)


@pytest.mark.parametrize(
    ("seeds", "taken"), [(0, False), (1, True), (MOST_SEEDS, True), (MOST_SEEDS + 1, False)]
)
def test_a_trial_has_from_one_to_the_most_seeds_and_ten_by_default(
    seeds: int, taken: bool, refused: Callable[..., str]
) -> None:
    line = refused("try", "missing.py", "--seeds", str(seeds))
    assert ("--seeds" not in line) is taken
    assert parser_of("try").parse_args(["a.py"]).seeds == 10


def test_opponents_are_of_the_small_recipe_on_the_backbone_with_the_seeds() -> None:
    small = load_recipes()["small"]
    names = ["pcl", "simcse-small", "pooled-cls"]
    found = try_method.opponents(names, small, "words-50d", 4)
    assert [system.id for system in found] == ["pcl-small", "simcse-small", "pooled-cls-small"]
    assert [system.backbones for system in found] == [["words-50d"]] * 3
    assert [len(system.seeds) for system in found] == [4, 4, 1]
    with pytest.raises(InputError, match="--against: expected a system"):
        try_method.opponents([], small, "words-50d", 4)
    with pytest.raises(InputError, match=r"--against pcll: expected one of .*did you mean pcl"):
        try_method.opponents(["pcll"], small, "words-50d", 4)


def artefact(key: str, *lines: dict[str, Any], **selection: Any) -> None:
    folder = Path("artefacts", key)
    folder.mkdir(parents=True)
    write_record(folder / "run.json", {"key": key, "selection": selection, "files": {}})
    (folder / "train.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))


def test_an_early_end_names_both_steps_and_the_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    artefact("a", {"step": 9, "loss": 1.0}, {"step": 9, "no_score": "one vector"}, last_step=9, best_step=4)
    artefact("b", {"step": 9}, last_step=9, best_step=9)
    assert early_end("a") == (
        "a: training ended at step 9, the weights of step 4 are scored: one vector"
    )  # fmt: skip
    assert early_end("b") == ""


def test_settings_are_chosen_by_the_best_dev_scores(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    artefact("a", best_dev=0.5, last_dev=0.1, initial_dev=0.2)
    artefact("b", best_dev=0.54, last_dev=0.1, initial_dev=0.2)
    assert dev_scores("own", ["a", "b"]).startswith("own on STS-B dev: 52.00 ± 2.83, 2 seeds; ")


def made(seed: int, points: float) -> ResultFile:
    score = {"task": "STSB", "metric": "spearman", "setting": "all", "selection": "best-dev", "n": 9}
    raw = raw_result(f"own__b__s{seed}", [{**score, "value": points}], id="own", backbone="b", seed=seed)
    return ResultFile.model_validate(raw)


def test_identical_results_are_counted_among_those_of_both_sides() -> None:
    committed = [made(0, 0.5), made(1, 0.6), made(2, 0.7)]
    here = [made(0, 0.5), made(1, 0.61), made(9, 0.5)]
    assert same_here(committed, here) == "own: 1 of 2 results are bit-identical to the committed ones"
    assert same_here(committed, [made(9, 0.5)]) == ""


def test_a_trial_leaves_out_results_by_code_then_data_then_environment_before_it_counts_its_work(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Data are fetched between: those of the plan and of the results that are reused."""
    order: list[str] = []
    calls = Calls(monkeypatch)
    calls.replace("harness.commands.try_runs:folder_of", lambda name: order.append(f"fetch {name}") or Path())
    result = SimpleNamespace(provenance=SimpleNamespace(data_sha256={"sts12": "a"}))

    def plan(self: Any) -> None:
        self.params = SimpleNamespace(runs={}, sources={"words": 1})
        self.others = {"pcl-small": [result]}

    def leave_out(self: Any, differs: Any) -> None:
        order.append(differs.__name__)

    monkeypatch.setattr(try_runs.Session, "_plan", plan)
    monkeypatch.setattr(try_runs.Session, "_leave_out", leave_out)
    own: Any = SimpleNamespace(backbones=["words-50d"], id="own")
    recipes: Any = {"small": SimpleNamespace(systems={})}
    monkeypatch.setenv("SENTBENCH_PROVIDERS", "")
    session = try_runs.Session(Path("own.py"), own, [], recipes, ["embedded", "hub"], {}, tmp_path / "no")
    assert order[:5] == ["code_differs", "fetch sts12", "fetch words", "data_differ", "environment_differs"]
    assert try_runs.os.environ["SENTBENCH_PROVIDERS"] == "embedded,hub"
    assert session.origins == {"words": Path().resolve()}
    assert capsys.readouterr().err == "sentbench: no run to train: all 0 were trained before\n"


@pytest.mark.parametrize("first", [True, False])
def test_a_copy_for_trials_that_is_interrupted_is_no_copy(
    first: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next trial makes, or copies, all of it."""
    (tmp_path / "made").mkdir()
    for name in ("one", "two"):
        (tmp_path / "made" / name).write_text(name)

    def half(origin: Path, target: Path, **more: Any) -> None:
        target.mkdir(exist_ok=True)
        (target / "one").write_text("one")
        raise KeyboardInterrupt

    def perform() -> None:
        kept = tmp_path / "kept"
        try_kept._make_or_copy(tmp_path / "folder", kept, FILE_RECORD, lambda: tmp_path / "made")

    if not first:
        perform()
    with monkeypatch.context() as patch:
        patch.setattr(shutil, "copytree", half)
        with pytest.raises(KeyboardInterrupt):
            perform()
    assert not (tmp_path / ("kept" if first else "folder")).exists()
    perform()
    target = tmp_path / ("kept" if first else "folder")
    assert {path.name for path in target.iterdir()} == {"one", "two", FILE_RECORD}
