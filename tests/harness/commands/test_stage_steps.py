"""What surrounds a stage: its inputs and outputs are checked, its record is written, its state is removed."""

import json
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from harness.commands import stage, stage_of_run
from harness.errors import InputError
from harness.io.files import sha256_of_folder
from harness.io.records import read_manifest
from harness.plan.entries import Backbone, Corpus, Teacher
from methods.core.errors import NotFiniteError
from tests.faults.refusals import Refusal, refusing
from tests.support.recording import Calls

ROOT = Path(__file__).parents[3]
WORD_SHAPE = {
    "vocabulary": 9, "copies": 1, "layers": 1, "heads": 1, "inner": 4, "positions": 8, "dropout": 0.0,
    "start": "mean", "pooling": "mean", "seed": 0,
}  # fmt: skip
BACKBONES: dict[str, dict[str, Any]] = {
    "copy": {"corpus": "data/model", "layers": None},
    "cut": {"corpus": "data/model", "layers": 2},
    "built": {"corpus": "data/words", "layers": None, "shape": WORD_SHAPE},
    "not centred": {"corpus": "data/model", "layers": None, "shape": WORD_SHAPE},
}


@pytest.fixture
def calls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Calls:
    """A project with three sources; what is called around the stages is recorded."""
    monkeypatch.chdir(tmp_path)
    for name, text in (("model", "weights"), ("words", "a row"), ("lexicon", "a word")):
        Path("data", name).mkdir(parents=True)
        Path("data", name, "file.txt").write_text(text)
    made = Calls(monkeypatch)
    for name in ("check_present", "check_folder", "check_file", "compute_with", "device_for", "check_plain"):
        made.replace(f"harness.commands.stage:{name}", getattr(stage, name))
    made.replace("harness.commands.stage:resolve_device", lambda wanted: f"device {wanted}")
    made.replace("harness.commands.stage:room_of", lambda *paths: 1000)
    monkeypatch.setattr(stage, "compute_with", lambda arithmetic: None)
    return made


@pytest.mark.parametrize("kind", BACKBONES)
def test_a_made_backbone_has_a_record_and_a_copy_that_of_its_source(
    kind: str, calls: Calls, monkeypatch: pytest.MonkeyPatch
) -> None:
    entry = Backbone.model_validate({"origin": "data/model", **BACKBONES[kind]})
    given: list[Any] = []

    def run(inputs: Any) -> None:
        given.append(inputs)
        (inputs.out / "weights").write_text("made")

    monkeypatch.setattr("harness.stages.backbone.run", run)
    params: Any = SimpleNamespace(backbones={"own": entry})
    assert stage.make_backbone(params, "own") == Path("backbones/own")
    record = "source.json" if kind == "copy" else "backbone.json"
    assert calls.values("check_present.folders") == [("data/model", entry.corpus)]
    assert calls.values("check_folder.record") == [record]
    assert calls.values("check_folder.room") == [1000]
    centre = {"centre": Path("data/words")} if kind == "built" else {}
    assert given[0].folders == {"origin": Path("data/model"), **centre}
    assert given[0].entry == entry
    written = read_manifest(Path("backbones/own", record), again="")
    values = {} if kind == "copy" else entry.model_dump()
    assert {name: value for name, value in written.items() if name != "files"} == values
    assert [*written["files"]] == ["weights"]
    with pytest.raises(InputError, match=r"backbone 'other' is not in params\.yaml, expected one of own"):
        stage.make_backbone(params, "other")


VIEWS: dict[str, Any] = {
    "copy": {"kind": "copy", "source": "origin", "column": 0},
    "synonym": {"kind": "synonym", "column": 0, "share": 0.1, "at_least": 1, "clean": False},
    "fill": {
        "kind": "fill", "column": 0, "share": 0.1, "choice": "best", "max_input": 9, "batch_tokens": 9,
    },
}  # fmt: skip


@pytest.mark.parametrize("views", [("copy",), ("synonym", "copy"), ("copy", "fill")])
def test_a_derived_corpus_states_its_inputs_and_leaves_no_state(
    views: tuple[str, ...], calls: Calls, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A model runs on the asked device, anything else on the CPU; room is needed for each column."""
    entry = Corpus.model_validate(
        {"origin": "data/words", "tool": "data/lexicon", "seed": 3, "rows": None, "arithmetic": "native"}
        | {"views": [VIEWS[view] for view in views]}
    )
    given: list[Any] = []

    def run(inputs: Any) -> dict[str, Any]:
        given.append(inputs)
        assert inputs.folders["state"].is_dir()
        (inputs.out / "corpus.tsv").write_text("a\tb\n")
        return {"rows": 1}

    monkeypatch.setattr("harness.stages.corpus.run", run)
    monkeypatch.setattr(stage, "corpus_identity", lambda entry, device: f"{device}".replace(" ", "-"))
    remove, in_place = shutil.rmtree, list[bool]()

    def removed(folder: Path) -> None:
        in_place.append(Path("corpora/own/corpus.json").is_file())
        remove(folder)

    monkeypatch.setattr(stage, "shutil", SimpleNamespace(rmtree=removed))
    is_model = "fill" in views
    identity = "device-cuda" if is_model else "cpu"
    state = stage.CORPUS_RESUME / identity
    state.mkdir(parents=True)
    params: Any = SimpleNamespace(corpora={"own": entry})
    assert stage.make_corpus(params, "own", device="cuda") == Path("corpora/own")
    assert calls.values("check_present.folders") == [("data/words", "data/lexicon")]
    assert calls.values("check_folder.room") == [1000 * (1 + len(views))]
    assert calls.values("check_folder.record") == ["corpus.json"]
    assert state in calls.values("check_plain.folder")
    assert given[0].folders == {"origin": Path("data/words"), "tool": Path("data/lexicon"), "state": state}
    assert given[0].device == ("device cuda" if is_model else "cpu")
    assert given[0].record == {"name": "own"}
    assert not state.exists()
    assert in_place == [True], "kept parts are removed after the corpus is in its place"
    written = read_manifest(Path("corpora/own/corpus.json"), again="")
    del written["files"]
    needs = views != ("copy",)
    assert written == {
        "origin": "data/words",
        "origin_sha256": sha256_of_folder(Path("data/words")),
        "tool": "data/lexicon" if needs else None,
        "tool_sha256": sha256_of_folder(Path("data/lexicon")),
        "seed": 3,
        "rows": 1,
    }
    state.mkdir(parents=True)
    (state / "1").mkdir()
    (state / "1/000000000.json").write_text("{")
    with pytest.raises(InputError, match=r"not JSON .*; delete it"):
        stage.make_corpus(params, "own", device="cuda")


def test_a_teacher_states_the_bytes_of_its_encoder_and_its_corpus(
    calls: Calls, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("backbones/model").mkdir(parents=True)
    Path("backbones/model/file.txt").write_text("weights")
    entry = Teacher(encoder="backbones/model", corpus="data/words", pooling="cls")
    given: list[Any] = []

    def run(inputs: Any) -> None:
        given.append(inputs)
        (inputs.out / "teacher.json").write_text(json.dumps({"files": {}} | dict(inputs.record)))

    monkeypatch.setattr("harness.stages.teacher.run", run)
    calls.replace("harness.commands.stage:compute_on", lambda arithmetic, wanted: "cuda")
    params: Any = SimpleNamespace(teacher=lambda name: entry)
    assert stage.make_teacher(params, "own", device="auto") == Path("teachers/own")
    assert calls.values("check_present.folders") == [("backbones/model", "data/words")]
    assert calls.values("check_folder.record") == ["teacher.json"]
    assert calls.values("check_folder.room") == [1000]
    assert given[0].device == "cuda"
    assert given[0].record == entry.stated() | {
        "encoder_sha256": sha256_of_folder(Path("backbones/model")),
        "corpus_sha256": sha256_of_folder(Path("data/words")),
    }


def test_the_further_seeds_of_a_system_are_collected_from_the_files_of_all_its_seeds(
    calls: Calls, monkeypatch: pytest.MonkeyPatch
) -> None:
    keys = [*(f"own__bert__s{seed}" for seed in (0, 1, 11)), "own__bert-base__s0", "other__bert__s1"]
    runs = {
        key: SimpleNamespace(seed=int(key.rpartition("s")[2]), scores=lambda key: Path(f"{key}.json"))
        for key in keys
    }
    given: list[Any] = []

    def run(inputs: Any) -> None:
        given.append(inputs)
        (inputs.out / "further.json").write_text("{}")

    monkeypatch.setattr("harness.stages.further.run", run)
    params: Any = SimpleNamespace(further={"own__bert": [1, 11]}, runs=runs)
    path = stage.collect_further(params, "own__bert")
    assert path == Path("reports/further/own__bert.json")
    assert path.read_text() == "{}"
    assert given[0].entry == [1, 11]
    assert given[0].folders == {key: Path(f"{key}.json") for key in keys[:3]}
    assert not given[0].out.exists()
    assert calls.values("check_file.path") == [path]


@pytest.mark.parametrize("root", ["data", "elsewhere"])
def test_the_stage_of_data_asks_the_plans_providers_and_copies_from_another_folder(
    root: str, monkeypatch: pytest.MonkeyPatch, calls: Calls, printed: Callable[..., str]
) -> None:
    monkeypatch.setattr(stage, "data_roots", lambda: [Path("first"), Path(root)])
    monkeypatch.setattr(stage, "read_plan", lambda: SimpleNamespace(providers=["mirror"]))
    calls.replace("harness.commands.data:fetch_sources", lambda *given, **more: None)
    printed("stage", "data", "words")
    (asked,) = (arguments for name, arguments in calls.seen if name == "fetch_sources")
    copies = None if root == "data" else Path("data")
    assert asked == {
        "names": ["words"], "directory": Path(root), "providers": ["mirror"], "revision": None,
        "copies": copies,
    }  # fmt: skip


def test_an_evaluation_needs_its_encoder_and_is_alone(
    monkeypatch: pytest.MonkeyPatch, calls: Calls, refused: Callable[..., str], printed: Callable[..., str]
) -> None:
    from contextlib import nullcontext

    plan = SimpleNamespace(run=lambda key: SimpleNamespace(arithmetic="portable"))
    monkeypatch.setattr(stage, "read_plan", lambda: plan)
    monkeypatch.setattr(stage, "compute_on", lambda arithmetic, wanted: "cpu")
    calls.replace("harness.commands.stage:alone", lambda *given, **more: nullcontext())
    calls.replace("harness.commands.stage:evaluate", lambda *given, **more: Path("scores.json"))
    assert "artefacts/own: missing encoder; run `dvc repro train@own`" in refused("stage", "evaluate", "own")
    Path("artefacts/own").mkdir(parents=True)
    assert printed("stage", "evaluate", "own") == "scores.json\n"
    assert calls.values("alone.work") == ["evaluating own"]
    assert calls.values("evaluate.folder") == [Path("artefacts/own")]


@pytest.mark.parametrize("resume", [True, False])
def test_a_training_starts_from_its_state_only_if_asked_and_leaves_none(
    resume: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Room is needed for weights twice in the artefact and six times in the state."""
    monkeypatch.chdir(tmp_path)
    calls = Calls(monkeypatch)
    command = "harness.commands.stage_of_run"
    calls.replace(f"{command}:check_folder", lambda *given, **more: None)
    calls.replace(f"{command}:check_file", lambda *given, **more: None)
    calls.replace(f"{command}:room_of", lambda *paths: 1000)
    monkeypatch.setattr(stage_of_run, "run_identity", lambda params, run, arithmetic: "identity")
    state, other, theirs = (stage_of_run.RESUME / name for name in ("identity", "former", "theirs"))
    for folder, key in ((state, "own"), (other, "own"), (theirs, "another")):
        folder.mkdir(parents=True)
        (folder / stage_of_run.KEPT_OF).write_text(key)
    (state / "weights").write_text("half")
    seen: list[Any] = []

    def perform(inputs: Any) -> dict[str, Any]:
        seen.append((inputs, (state / "weights").exists()))
        (inputs.out / "model").write_text("trained")
        state.mkdir(parents=True, exist_ok=True)
        return {"rows": 3, "selection": {"last_step": 7}}

    monkeypatch.setattr("harness.stages.train.run", perform)
    folders = {"backbone": Path("backbones/b"), "corpus": Path("data/c")}
    run: Any = SimpleNamespace(
        backbone="backbones/b", read_settings=lambda: None, folders=lambda: folders,
        described=lambda key: {"key": key}, arithmetic="native",
    )  # fmt: skip
    params: Any = SimpleNamespace(run=lambda key: run)
    folder = stage_of_run.train(params, "own", Path("out"), device="cpu", resume=resume)
    (inputs, had_state) = seen[0]
    assert had_state is resume
    assert not state.exists()
    assert inputs.folders == {**folders, "pieces": Path(".cache/pieces"), "state": state}
    assert not inputs.out.exists()
    record = read_manifest(folder / "run.json", again="")
    assert (record["key"], record["identity"], record["device"], record["rows"]) == (
        "own",
        "identity",
        "cpu",
        3,
    )
    assert record["arithmetic"] == stage_of_run.arithmetic_used("cpu")
    assert record["versions"] == stage_of_run.library_versions()
    assert [*record["files"]] == ["model"]
    cost = json.loads(Path("reports/costs/own.train.json").read_text())
    assert {name: cost[name] for name in ("steps", "device")} == {"steps": 7, "device": "cpu"}
    assert 0 <= cost["train_seconds"] < 60
    assert calls.values("check_folder.room") == [2000]
    assert calls.values("check_file.room")[0] == 6000
    said = capsys.readouterr().err
    assert said.count("is not continued, delete the folder") == 1
    assert f"sentbench: {other}: a killed training of own with other code, settings or data" in said


def test_a_training_that_runs_already_keeps_its_state(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A second one without --resume is refused before it changes anything."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(stage_of_run, "_check_outputs", lambda *given, **more: None)
    monkeypatch.setattr(stage_of_run, "run_identity", lambda params, run, arithmetic: "identity")
    state = stage_of_run.RESUME / "identity"
    state.mkdir(parents=True)
    (state / "state.json").write_text("{}")

    @contextmanager
    def running(name: str, **more: Any) -> Iterator[None]:
        raise InputError(f"{name}: already running")
        yield

    monkeypatch.setattr(stage_of_run, "alone", running)
    run: Any = SimpleNamespace(backbone="backbones/b", read_settings=lambda: None)
    with pytest.raises(InputError, match="already running"):
        stage_of_run.train(
            SimpleNamespace(run=lambda key: run),
            "own",
            Path("out"),
            device="cpu",
            resume=False,  # type: ignore[arg-type]
        )
    assert (state / "state.json").read_text() == "{}"


@pytest.mark.parametrize("new", [True, False])
@pytest.mark.parametrize(
    ("error", "removed"),
    [
        (NotFiniteError("nan"), True),
        *[(error, False) for error in (OSError(28, "full"), InputError("x"), RuntimeError("x"))],
        *[(error, False) for error in (KeyboardInterrupt(), MemoryError())],
    ],
)
def test_only_a_loss_that_is_not_finite_removes_a_new_state(
    error: BaseException, removed: bool, new: bool, tmp_path: Path
) -> None:
    (tmp_path / "state").mkdir()
    with pytest.raises(type(error)), stage_of_run._removed_after_nan(tmp_path / "state", new):
        raise error
    assert (tmp_path / "state").exists() is not (removed and new)


def test_a_state_that_is_removed_has_its_record_only_while_it_is_whole(tmp_path: Path) -> None:
    """Before each change of the removal; a kill there leaves one that resumes or starts again."""
    ends = 0
    for at in range(20):
        state = tmp_path / str(at)
        (state / "best-3").mkdir(parents=True)
        names = ("state.json", "state-0.pt", "train.jsonl", "best-3/weights", "key")
        for name in names:
            (state / name).write_text(name)
        refusal = Refusal(None, interrupt, at)  # names below a removed folder are relative to it
        with refusing(refusal):
            try:
                stage_of_run.remove_state(state)
            except KeyboardInterrupt:
                ends += 1
                left = {name for name in names if (state / name).exists()}
                assert left == set(names) or "state.json" not in left
                continue
        break
    assert not state.exists()
    assert ends >= len(names)


def interrupt(path: str) -> None:
    raise KeyboardInterrupt
