"""Every setting of an entry of the plan arrives at the function that uses it, in each view of its own."""

from pathlib import Path
from typing import Any

import pytest

from harness.data.augmentation.records import Augmented
from harness.data.augmentation.views import Copy, Edit, Fill, Generate
from harness.stages import backbone, corpus, evaluate, teacher
from harness.stages.inputs import StageInputs
from tests.harness.stages.test_corpus import EDIT, FILL, GENERATE
from tests.support.recording import Calls, Reached

VIEWS: list[dict[str, Any]] = [
    {**GENERATE, "fallback_limit": 0.25},
    {**GENERATE, "fallback_limit": 0.75, "column": 1},
    FILL,
    {"kind": "copy", "source": "origin", "column": 1},
    {**EDIT, "kind": "swap"},
]


class Entry:
    """An entry with these values."""

    def __init__(self, **values: Any) -> None:
        vars(self).update(values)


def augmented(texts: list[str], *given: Any) -> list[Augmented]:
    return [Augmented(text, "augmented") for text in texts]


def inputs(tmp_path: Path, entry: Entry, **record: Any) -> StageInputs:
    folders = {name: tmp_path / name for name in ("origin", "tool", "state", "encoder", "corpus", "artefact")}
    return StageInputs(entry, folders, tmp_path, "cuda", record)


def test_every_setting_of_a_derived_corpus_arrives(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls, stage = Calls(monkeypatch), "harness.stages.corpus"
    rows = [(f"text {n}", f"view {n}") for n in range(8)]
    calls.replace(f"{stage}:read_columns", lambda folder: rows)
    calls.replace(f"{stage}:build_augmenter", lambda *given, **more: None)
    calls.replace(
        f"{stage}:augment_all", lambda texts, *given: [Augmented(text, "augmented") for text in texts]
    )
    calls.replace(f"{stage}:count_outcomes", lambda *given, **more: {})
    made = corpus.run(inputs(tmp_path, Entry(views=VIEWS, rows=4, seed=7), name="mine"))
    views = calls.values("build_augmenter.view")
    assert [type(view) for view in views] == [Generate, Generate, Fill, Copy, Edit]
    assert [view.model_dump() for view in views] == VIEWS
    assert calls.values("build_augmenter.number") == [1, 2, 3, 4, 5]
    assert calls.values("build_augmenter.seed") == [7] * 5
    assert calls.values("build_augmenter.device") == ["cuda"] * 5
    assert calls.values("build_augmenter.tool") == [tmp_path / "tool"] * 5
    assert calls.values("count_outcomes.limit") == [0.25, 0.75, None, None, None]
    assert [texts[0] for texts in calls.values("augment_all.texts")] == [
        *("text 0", "view 0", "text 0", "text 0", "text 0")
    ]
    assert calls.values("augment_all.folder") == [tmp_path / "state" / str(n) for n in range(1, 6)]
    assert all("mine" in where for where in calls.values("count_outcomes.where"))
    assert made["rows"] == 4
    assert [{**view, "outcomes": {}} for view in VIEWS] == made["views"]


@pytest.mark.parametrize("pooling", [None, "cls"])
def test_every_setting_of_a_teacher_arrives(
    pooling: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls, stage = Calls(monkeypatch), "harness.stages.teacher"
    placed: list[str] = []
    calls.replace(f"{stage}:read_corpus", lambda folder: ["row"])
    calls.replace(f"{stage}:read_encoder", lambda folder, **more: Entry(to=placed.append))
    calls.replace(f"{stage}:write_teacher", lambda *given: None)
    teacher.run(inputs(tmp_path, Entry(pooling=pooling), teacher="record"))
    assert calls.values("read_encoder.pooling") == [pooling]
    assert calls.values("read_encoder.folder") == [tmp_path / "encoder"]
    assert calls.values("read_corpus.corpus") == [tmp_path / "corpus"]
    assert placed == ["cuda"]
    assert calls.values("write_teacher.rows") == [["row"]]
    assert calls.values("write_teacher.description") == [{"teacher": "record"}]


def test_every_setting_of_a_backbone_arrives(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls, stage = Calls(monkeypatch), "harness.stages.backbone"
    calls.replace(f"{stage}:load_word_average", lambda folder: "words")
    calls.replace(f"{stage}:read_corpus", lambda folder: [Entry(text="a text")])
    calls.replace(f"{stage}:centred", lambda words, texts, *, vocabulary: [*texts])
    calls.replace(f"{stage}:word_transformer", lambda words, **shape: "made")
    calls.replace(f"{stage}:save_encoder", lambda *given: None)
    names = ("copies", "layers", "heads", "inner", "positions", "dropout", "start", "pooling", "seed")
    shape = {"vocabulary": 9} | {name: number for number, name in enumerate(names, 20)}
    entry = Entry(layers=None, shape=Entry(model_dump=lambda: shape))
    plain = inputs(tmp_path, entry)
    centred = StageInputs(entry, {**plain.folders, "centre": tmp_path / "there"}, tmp_path)
    for given in (plain, centred):
        backbone.run(given)
    first, second = (arguments for name, arguments in calls.seen if name == "word_transformer")
    assert {name: value for name, value in first.items() if name in shape} == shape
    assert next(iter(first.values())) == "words"
    assert next(iter(second.values())) == ["a text"]
    assert calls.values("centred.vocabulary") == [9]
    assert calls.values("read_corpus.corpus") == [tmp_path / "there"]
    calls.replace(f"{stage}:load_encoder", lambda folder, **more: "encoder")
    calls.replace(f"{stage}:cut_layers", lambda encoder, layers: "cut")
    calls.replace(f"{stage}:save_backbone", lambda *given: None)
    backbone.run(inputs(tmp_path, Entry(layers=3, shape=None)))
    assert calls.values("cut_layers.layers") == [3]


@pytest.mark.parametrize("weights", ["best-dev", "last", "both"])
def test_every_setting_of_an_evaluation_arrives(
    weights: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls, stage = Calls(monkeypatch), "harness.stages.evaluate"
    calls.replace(f"{stage}:build_tasks", lambda names, *, text: ["task"])
    calls.replace(f"{stage}:weights_of", None)
    with pytest.raises(Reached):
        evaluate.run(inputs(tmp_path, Entry(tasks=["STSB", "sts"], text="raw", weights=weights)))
    assert calls.values("build_tasks.names") == [["STSB", "sts"]]
    assert calls.values("build_tasks.text") == ["raw"]
    assert calls.values("weights_of.wanted") == [weights]
    assert calls.values("weights_of.folder") == [tmp_path / "artefact"]
