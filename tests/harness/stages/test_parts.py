"""Stages part by part, without networks: what a report and an evaluation read, write, say and return."""

import json
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from harness.data.augmentation.records import Augmented
from harness.evidence.schema import ResultFile
from harness.io.embeddings import kept_name
from harness.io.files import write_record
from harness.stages import backbone, corpus, evaluate, report, train, vectors
from harness.stages.inputs import StageInputs
from tests.support.recording import Calls
from tests.support.results import raw_result


def result(key: str, identity: str = "i") -> ResultFile:
    made = raw_result(key)
    made["run"] |= {"key": key, "identity": identity}
    return ResultFile.model_validate(made)


def plan(*further: str) -> Any:
    """Runs a, b and c; further seeds are not first ones."""
    runs = {key: SimpleNamespace(is_first=key not in further) for key in ("a", "b", "c")}
    return SimpleNamespace(runs=runs, plan=["small"], further={})


def test_a_score_is_missing_stale_or_not_planned() -> None:
    results = [result("a", "1" * 64), result("x", "1" * 64), result("c", "3" * 64)]
    identities = {"a": "2" * 64, "b": "1" * 64, "c": "3" * 64, "x": "9"}
    missing, orphan, stale = report.score_problems(results, plan(), identities)
    assert missing == "missing: run 'b' is planned but has no scores; run `dvc repro`"
    assert orphan == "orphan: scores of 'x', which is not planned; delete the file"
    assert stale == (
        f"stale: scores of 'a' have identity {'1' * 12}, the run is now {'2' * 12}; run `dvc repro`"
    )
    assert report.score_problems(results[2:], plan("a", "b"), {}) == []


def test_further_seeds_are_left_out_or_lack_scores() -> None:
    params = plan()
    params.further = {"own__b": [3, 4], "left__b": [3], "whole__b": [7]}
    scored = {"own__b__s3", "whole__b__s7", "left__b__s3"}
    lines = report.further_problems(params, scored, ["left__b", "unplanned__b"])
    assert len(lines) == 2
    assert "left__b" in lines[0]
    assert lines[1] == "missing: the further seeds of own__b have no scores; `sentbench launch` trains them"
    params.further = {"whole__b": [7]}
    assert report.further_problems(params, scored, []) == []


def test_the_identity_of_an_artefact_is_read_and_a_link_to_nothing_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for key in ("a", "b"):
        Path("artefacts", key).mkdir(parents=True)
    write_record(Path("artefacts/a/run.json"), {"identity": "1"})
    assert report.present_identities(plan()) == {"a": "1"}
    Path("artefacts/b/run.json").symlink_to("nothing")
    with pytest.raises(report.InputError, match=r"b/run\.json: not a regular file; train the run again"):
        report.present_identities(plan())


@pytest.mark.parametrize(
    ("strict", "problem", "missing", "code"),
    [(False, True, 2, 0), (True, False, 0, 0), (True, True, 0, 1), (True, False, 2, 1)],
)
def test_a_report_is_checked_written_and_summed_up(
    strict: bool, problem: bool, missing: int, code: int, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    """Only folders are checked against their records; metrics are of the first seeds."""
    calls, seen = Calls(monkeypatch), dict[str, Any]()
    results = [result("a"), result("c"), result("x")]
    recorded = SimpleNamespace(results=results, left_out=["left"])
    stage = "harness.stages.report"
    kept: list[bool] = []

    def read_recorded(*, kept: Any) -> Any:
        seen["kept"] = [kept(made.run, None) for made in results]
        return recorded

    monkeypatch.setattr(report, "read_recorded", read_recorded)
    for name in ("check_plain", "check_folder", "write_report"):
        calls.replace(f"{stage}:{name}", lambda *given, **more: None)
    for name, answer in {
        "present_identities": {}, "score_problems": ["problem"] * problem, "further_problems": [],
        "build_tables": {"t": SimpleNamespace(key="t")}, "text_files": {"index.md": "text"},
        "metrics_files": {"tables/m": "m"}, "render_pages": {"index.html": "page"}, "missing_cells": missing,
        "tables_of_plan": [SimpleNamespace(key="t")], "settled_lines": ["settled"],
        "report_content": SimpleNamespace(notes=["note"]), "evidence_of": "evidence",
    }.items():  # fmt: skip
        calls.replace(f"{stage}:{name}", lambda *given, answer=answer, **more: answer)
    assert report.report(plan("c"), {}, strict=strict) == code
    folders = ["tables", "pages", "papers"]
    assert calls.values("check_folder.path") == [Path("reports", name) for name in folders]
    assert calls.values("check_folder.record") == ["files.json"] * 3
    assert calls.values("check_plain.folder") == [Path("reports")]
    assert [[made.run.key for made in given] for given in calls.values("metrics_files.results")] == [["a"]]
    assert [[made.run.key for made in given] for given in calls.values("evidence_of.results")] == [["a", "c"]]
    assert [len(given) for given in calls.values("score_problems.results")] == [3]
    assert calls.values("further_problems.scored") == [{"a", "c", "x"}]
    assert calls.values("further_problems.left_out") == [["left"]]
    assert calls.values("write_report.files") == [
        {"index.md": "text", "tables/m": "m", "index.html": "page"},
    ]
    assert calls.values("text_files.notes") == [["note"]]
    assert seen["kept"] == [True, True, False]
    lines = ["problem"] * problem + ([f"missing: {missing} cells of table t"] if missing else [])
    shown = capsys.readouterr().out.splitlines()
    assert shown == [*lines, "settled", f"reports/index.html: 1 tables, 2 runs, {int(problem)} problems"]
    recorded.results = results[2:]
    with pytest.raises(report.InputError, match="reports/scores: no scores of the plan; run `dvc repro`"):
        report.report(plan(), {}, strict=False)
    assert not kept


@pytest.mark.parametrize(
    ("wanted", "has_last", "names"),
    [
        ("best-dev", True, ["best-dev"]),
        ("last", True, ["last"]),
        ("both", True, ["best-dev", "last"]),
        ("last", False, ["best-dev"]),
        ("both", False, ["best-dev"]),
    ],
)
def test_the_wanted_weights_are_scored_and_those_of_one_selection_are_stored(
    wanted: str, has_last: bool, names: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An untrained encoder has no last weights."""
    folder = tmp_path / "artefact"
    (folder / "last").mkdir(parents=True) if has_last else folder.mkdir()
    lines = [{"step": 1, "loss": 0.5}, {"step": 1, "evaluation": True, "score": 1 / 3}]
    (folder / "train.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    made = raw_result()
    artefact = {**made["run"], "selection": made["selection"], "more": 1}
    calls, opened = Calls(monkeypatch), list[Any]()

    @contextmanager
    def embedded(load: Any, tasks: Any, **options: Any) -> Any:
        opened.append((load, options))
        yield SimpleNamespace(encode="encode")

    score = {"task": "STSB", "metric": "spearman", "setting": "all", "value": 0.5, "n": 9}
    monkeypatch.setattr(evaluate, "embedded", embedded)
    calls.replace("harness.stages.evaluate:build_tasks", lambda names, *, text: ["task"])
    monkeypatch.setattr(
        evaluate, "evaluate_stored", lambda tasks, encode: [SimpleNamespace(_asdict=lambda: score)]
    )
    entry = SimpleNamespace(tasks=["STSB"], text="raw", weights=wanted)
    folders = {"artefact": folder, "pieces": tmp_path / "pieces", "vectors": tmp_path / "kept"}
    record = {"artefact": artefact, "provenance": made["provenance"]}
    evaluate.run(StageInputs(entry, folders, tmp_path, "cuda", record, vectors_key=lambda path: path.name))
    weights = [folder / "last" if name == "last" else folder for name in names]
    stored = [name == "best-dev" or wanted == "last" for name in names]
    for (load, options), path, is_stored in zip(opened, weights, stored, strict=True):
        assert (load.args, load.keywords) == ((path, "cuda"), {"pieces": tmp_path / "pieces"})
        assert options == {
            "path": tmp_path / "vectors.safetensors" if is_stored else None,
            "cache": tmp_path / "kept",
            "identity": path.name,
        }
    written = json.loads((tmp_path / "scores.json").read_text())
    assert [entry["selection"] for entry in written["scores"]] == names
    assert written["run"] == {**made["run"]}
    (line,) = json.loads((tmp_path / "curves.json").read_text())["evaluations"]
    assert line == {"step": 1, "evaluation": True, "score": 0.3333333333}
    assert json.loads((tmp_path / "losses.json").read_text())["losses"]


@pytest.mark.parametrize("cached", [True, False])
def test_a_model_is_loaded_once_and_not_at_all_if_its_vectors_are_kept(
    cached: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    loads: list[dict[str, Any]] = []

    class Model:
        def encode(self, texts: Any, **options: Any) -> np.ndarray:
            loads.append(options)
            return np.ones((len(texts), 2))

    def load() -> Any:
        loads.append({})
        return Model()

    monkeypatch.setattr(vectors, "unique_texts", lambda tasks: ["a", "b"])
    cache = tmp_path / "kept" if cached else None
    for number in range(2):
        path = tmp_path / str(number)
        with vectors.embedded(load, [], path=path, cache=cache, identity="own", batch_size=3) as store:
            assert store.encode(["b"]).tolist() == [[1.0, 1.0]]
            assert store.path == path
    once = [{}, {"progress": True, "batch_size": 3}]
    assert loads == (once if cached else once * 2)
    if cache is not None:
        assert [path.name for path in cache.iterdir()] == [kept_name("own", ["a", "b"])]
    with vectors.embedded(load, []) as store:
        assert store.path.is_file()
    assert not store.path.exists(), "a temporary file"
    assert loads[-1] == {"progress": True}


@pytest.mark.parametrize(
    ("weights", "total", "has_last"),
    [("best-dev", 9, False), ("last", 9, True), ("both", 9, True), ("both", 0, False)],
)
def test_a_training_writes_its_selected_encoder_its_log_and_the_last_one_if_it_is_scored(
    weights: str, total: int, has_last: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    state, out = tmp_path / "state", tmp_path / "out"
    for name in ("best", "last"):
        (state / name).mkdir(parents=True)
        (state / name / "weights").write_text(name)
    (state / "train.jsonl").write_text("log")
    out.mkdir()
    fitted: list[Any] = []
    trainer = SimpleNamespace(
        fit=fitted.append, best_folder=state / "best", folder=SimpleNamespace(last=state / "last"),
        plan=SimpleNamespace(total=total), config=SimpleNamespace(precision="bf16"),
        record=SimpleNamespace(best_step=3, best=0.5, step=9, last=0.4, initial=0.1),
    )  # fmt: skip
    monkeypatch.setattr(train, "build", lambda inputs: trainer)
    monkeypatch.setattr(train, "rows_of", lambda entry, corpus: ["r", corpus.name])
    entry = SimpleNamespace(weights=weights)
    record = train.run(StageInputs(entry, {"state": state, "corpus": Path("words")}, out))
    assert record == {
        "rows": 2,
        "precision": "bf16",
        "selection": {
            "best_step": 3, "best_dev": 0.5, "last_step": 9, "last_dev": 0.4, "initial_dev": 0.1,
        },
    }  # fmt: skip
    assert fitted == [["r", "words"]]
    assert ((out / "weights").read_text(), (out / "train.jsonl").read_text()) == ("best", "log")
    assert (out / "last/weights").exists() is has_last


def test_a_copied_model_has_every_file_and_a_corpus_a_line_for_each_row(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("origin/in", "out"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "origin/in/a").write_text("x")
    entry = SimpleNamespace(shape=None, layers=None, views=[], rows=2, seed=0)
    backbone.run(StageInputs(entry, {"origin": tmp_path / "origin"}, tmp_path / "out"))
    assert (tmp_path / "out/in/a").read_text() == "x"
    monkeypatch.setattr(corpus, "read_columns", lambda folder: [("ä",), ("b",), ("c",), ("d",)])
    view = {"kind": "copy", "source": "origin", "column": 0}
    entry.views = [view, view]
    monkeypatch.setattr(corpus, "build_augmenter", lambda *given, number, **more: number)
    monkeypatch.setattr(
        corpus,
        "augment_all",
        lambda texts, number, folder: [Augmented(f"{t}{number}", "augmented") for t in texts],
    )
    folders = {"origin": tmp_path, "tool": tmp_path, "state": tmp_path}
    corpus.run(StageInputs(entry, folders, tmp_path, record={"name": "own"}))
    assert (tmp_path / "corpus.tsv").read_bytes() == "ä\tä1\tä2\nc\tc1\tc2\n".encode()
