"""The evaluate command on any folder, cached vectors, and the row without a model."""

import json
import shutil
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from harness.commands.stage_of_run import evaluate
from harness.commands.vectors import OFFLINE
from harness.data.sources import SOURCES
from harness.io import embeddings
from harness.io.files import sha256_of
from harness.models import read as encoders
from harness.models.fast import TRIAL
from harness.paths import VECTORS, stored_vectors
from harness.plan.identity import vectors_identity
from harness.stages.vectors import embedded, load_artefact
from harness.tasks.evaluation import evaluate_stored, evaluate_tasks, unique_texts
from harness.tasks.registry import build_tasks
from methods.core.encoder import SentenceEncoder
from methods.core.folders import load_encoder
from tests.faults.small_project import write_stsb
from tests.harness.tasks.layouts import LAYOUTS
from tests.support import tiny


@pytest.fixture
def workplace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with STS-B of eight pairs a split and twenty queries of TREC QA."""
    monkeypatch.setenv("SENTBENCH_PROVIDERS", "embedded,hub")
    monkeypatch.chdir(tmp_path)
    write_stsb(tmp_path / "data/stsb")
    (tmp_path / "data/trecqa").mkdir()
    LAYOUTS["TRECQA"](tmp_path / "data/trecqa")
    (tmp_path / "data/trecqa/source.json").write_text("{}")
    return tmp_path


def values(said: str) -> dict[tuple[str, str], float]:
    """Returns the scores that a command printed as JSON."""
    return {(score["metric"], score["setting"]): score["value"] for score in json.loads(said)["scores"]}


@pytest.mark.parametrize("pooling", ["cls", "mean"])
def test_a_folder_of_sentence_transformers_has_the_scores_of_the_library(
    pooling: str, workplace: Path, printed: Callable[..., str]
) -> None:
    """Written by that library, read by ours, and compared with its own `encode` under our task."""
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.models import Normalize, Pooling, Transformer

    backbone = Transformer(str(tiny.write_backbone(workplace / "bert")))
    model = SentenceTransformer(
        modules=[backbone, Pooling(16, pooling_mode=pooling), Normalize()], trust_remote_code=False
    )
    model.save(str(workplace / "st"))
    scores = values(printed("evaluate", "st", "--tasks", "STSB", "--device", "cpu", "--json"))
    (task,) = build_tasks(["STSB"], text="senteval")
    expected = {
        (s.metric, s.setting): s.value for s in task.evaluate(lambda texts: model.encode(list(texts)))
    }
    assert set(scores) == set(expected)
    np.testing.assert_allclose(list(scores.values()), [expected[key] for key in scores], atol=5e-3)


def test_tasks_without_their_source_name_those_that_need_no_hub(
    workplace: Path, refused: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SENTBENCH_PROVIDERS", "embedded")
    checkpoint(workplace / "model")
    message = refused("evaluate", "model", "--tasks", "STS12,STSB")
    assert "the tasks STSB,sts-part need neither hub nor mirror; source sts12: not in" in message
    assert {task.source for task in build_tasks(OFFLINE.split(","), text="raw")} == {"stsb"}
    assert "embedded" in SOURCES["stsb"].providers


def test_missing_data_are_refused_before_a_model_is_loaded(
    workplace: Path, refused: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without --tasks the data of seven test sets are needed. A missing folder and a folder without a model
    are refused before the data, and a model that cannot be read once the data are here.
    """
    monkeypatch.setenv("SENTBENCH_PROVIDERS", "embedded")
    loaded: list[Path] = []
    known = encoders.read_encoder

    def read(folder: Path, **options: Any) -> Any:
        loaded.append(folder)
        return known(folder, **options)

    monkeypatch.setattr(encoders, "read_encoder", read)
    for name in ("empty", "other"):
        (workplace / name).mkdir()
    (workplace / "other/config.json").write_text("{}")
    assert "source sickr: not in" in refused("evaluate", "other")
    for name, said in {
        "none": "none: no such folder",
        "empty": "empty: no encoder, expected one of the files config.json",
        "/": "/: no encoder",
        "": "'' is not a model",
    }.items():
        assert said in refused("evaluate", name)
        assert said in refused("evaluate", "other", name)
    assert "other: named twice" in refused("evaluate", "other", "other")
    assert not loaded
    assert "other" in refused("evaluate", "other", "--tasks", "STSB")
    assert loaded == [Path("other")]


def test_bm25_is_a_row_without_a_model(
    workplace: Path, refused: Callable[..., str], printed: Callable[..., str]
) -> None:
    """Queries share their number with all their candidates alike: every ranking is chance between 0 and 1."""
    pytest.importorskip("bm25s")
    scores = values(printed("evaluate", "bm25", "--tasks", "TRECQA", "--json"))
    assert set(scores) == {("map", "all"), ("p@1", "all"), ("p@5", "all"), ("mrr", "all")}
    assert 0 < scores["map", "all"] < 1
    assert "is not a re-ranking task" in refused("evaluate", "bm25", "--tasks", "STSB")
    assert "bm25 with --pooling" in refused("evaluate", "bm25", "--tasks", "TRECQA", "--pooling", "mean")


def test_bm25_is_checked_before_the_model_beside_it_is_opened(
    workplace: Path, refused: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    checkpoint(workplace / "model")
    monkeypatch.setattr(encoders, "read_encoder", None)
    both = ("evaluate", "model", "bm25", "--tasks")
    assert "bm25: STSB is not a re-ranking task" in refused(*both, "STSB")
    assert "bm25 with --batch-size" in refused(*both, "TRECQA", "--batch-size", "8")


@pytest.fixture
def encoded(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Every text that a transformer encodes in the test, without those that a loaded model is tried on."""
    seen: list[str] = []
    plain = SentenceEncoder.encode

    def encode(self: SentenceEncoder, texts: Sequence[str], **options: Any) -> np.ndarray:
        seen.extend(texts if texts != TRIAL else [])
        return plain(self, texts, **options)

    monkeypatch.setattr(SentenceEncoder, "encode", encode)
    return seen


def checkpoint(folder: Path, *, seed: int = 0) -> Path:
    backbone = tiny.write_backbone(folder.with_name(f"backbone-{seed}"), seed=seed)
    load_encoder(backbone, pooling="mean").save(folder)
    return folder


def test_stored_vectors_give_the_scores_of_vectors_in_memory(
    workplace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rounded to half precision in memory; on disk five texts at a time, read task by task."""
    folder, tasks = checkpoint(workplace / "model"), build_tasks(["STSB", "TRECQA"], text="senteval")
    model = load_encoder(folder)
    monkeypatch.setattr(embeddings, "CHUNK", 5)
    model_in_fives = {
        text: vector
        for start in range(0, len(unique_texts(tasks)), 5)
        for batch in [unique_texts(tasks)[start : start + 5]]
        for text, vector in zip(batch, model.encode(batch).astype(np.float16), strict=True)
    }
    expected = evaluate_tasks(tasks, lambda texts: np.stack([model_in_fives[text] for text in texts]))
    with embedded(partial(load_artefact, folder, "cpu"), tasks) as store:
        assert evaluate_stored(tasks, store.encode) == expected
        path = store.path
    assert not path.exists()


@pytest.mark.parametrize("stated", [8, 12, None])
def test_a_run_is_evaluated_with_texts_as_long_as_its_tokenizer_states(
    stated: int | None, tmp_path: Path
) -> None:
    """As every other command reads its encoder: the file of the tokenizer may state less than the network."""
    encoder = tiny.sentence_encoder(tiny.write_backbone(tmp_path / "bert"))
    encoder.save(tmp_path / "model")
    settings = tmp_path / "model/tokenizer_config.json"
    content = json.loads(settings.read_text())
    if stated:
        settings.write_text(json.dumps(content | {"model_max_length": stated}))
    text = ["a dog runs " * 30]
    vectors = load_artefact(tmp_path / "model", "cpu").encode(text)
    expected = encoders.read_encoder(tmp_path / "model", pooling=None).encode(text)
    np.testing.assert_array_equal(vectors, expected)
    longest = load_encoder(tmp_path / "model").encode(text)
    assert (vectors == longest).all() == (stated is None)


def test_a_task_reads_its_own_vectors_only(workplace: Path) -> None:
    tasks = build_tasks(["STSB", "TRECQA"], text="senteval")
    asked: list[list[str]] = []

    def encode(texts: Sequence[str]) -> np.ndarray:
        asked.append(list(texts))
        return np.random.default_rng(0).normal(size=(len(texts), 4))

    evaluate_stored(tasks, encode)
    assert asked == [unique_texts([task]) for task in tasks]


def test_a_second_evaluation_of_an_unchanged_checkpoint_encodes_no_text(
    workplace: Path, encoded: list[str]
) -> None:
    """A further task encodes all texts, and so do other weights."""
    (first, second), cache = build_tasks(["STSB", "TRECQA"], text="senteval"), workplace / "kept"
    folder = checkpoint(workplace / "model")

    def evaluated(tasks: Sequence[Any]) -> list[str]:
        encoded.clear()
        load, identity = partial(load_artefact, folder, "cpu"), vectors_identity(folder, device="cpu")
        with embedded(load, tasks, cache=cache, identity=identity) as store:
            evaluate_stored(tasks, store.encode)
        return list(encoded)

    assert evaluated([first]) == unique_texts([first])
    assert evaluated([first]) == []
    assert evaluated([second, first]) == unique_texts([second, first])
    assert evaluated([second, first]) == []
    checkpoint(folder, seed=1)
    assert evaluated([first]) == unique_texts([first])


def run_of(folder: Path) -> Any:
    """Writes the training's record next to a checkpoint; returns a plan with only this run."""
    named = dict.fromkeys(("id", "variant", "backbone", "recipe", "identity"), "made-up")
    named["method"] = "simcse"  # its code is hashed
    selection = dict.fromkeys(("best_step", "last_step"), 1) | dict.fromkeys(
        ("best_dev", "last_dev", "initial_dev"), 0.5
    )
    settings = {"versions": {}, "device": "cpu", "precision": "fp32", "text": "senteval"}
    settings["arithmetic"] = "native"
    record = {"key": folder.name, "seed": 0, **named, **settings, "selection": selection}
    (folder / "run.json").write_text(json.dumps(record))
    (folder / "train.jsonl").write_text("")
    run = SimpleNamespace(
        tasks=["STSB"], text="senteval", weights="best-dev", arithmetic="native", outputs="reports"
    )
    run.scores = lambda key: Path(run.outputs, "scores", f"{key}.json")
    return SimpleNamespace(run=lambda key: run)


def test_a_run_whose_outputs_the_pipeline_deleted_is_evaluated_again_without_its_model(
    workplace: Path, encoded: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """Best and last weights, to the same bytes; damaged vectors and vectors of other texts are not used."""
    folder = checkpoint(workplace / "made-up")
    checkpoint(folder / "last", seed=1)
    plan = run_of(folder)
    run = plan.run("made-up")
    run.weights = "both"

    def evaluated() -> tuple[str, str]:
        encoded.clear()
        shutil.rmtree("embeddings", ignore_errors=True)
        scores = evaluate(plan, "made-up", folder, device="cpu").read_text()
        return scores, sha256_of(stored_vectors("made-up"))

    texts = unique_texts(build_tasks(["STSB"], text="senteval"))
    once = evaluated()
    assert encoded == [*texts, *texts]
    assert evaluated() == once
    assert encoded == []
    first, second = sorted(VECTORS.iterdir())
    first.write_bytes(second.read_bytes())
    assert evaluated() == once
    assert encoded == texts
    messages = [line for line in capsys.readouterr().err.splitlines() if "damaged" in line]
    assert messages == [f"{first}: damaged; its vectors were computed again"]
    run.tasks = ["STSB", "TRECQA"]
    evaluated()
    assert encoded == 2 * unique_texts(build_tasks(run.tasks, text="senteval"))
