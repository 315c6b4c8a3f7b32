"""Every task of the registry on small files: encoders whose scores theory knows, and vectors that are bad.

Each source is written in its own layout; tasks are built by name, as a command builds them.
"""

import itertools
import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from harness.check.sanity import constant, problems_of, random
from harness.errors import InputError
from harness.evidence.spec import load_specs
from harness.tasks.geometry import POSITIVES, BatchCosines, GeometryTask
from harness.tasks.interface import Encode, Score
from harness.tasks.registry import TASKS, build_tasks
from harness.tasks.reranking import METRICS, RerankingTask, ranking_metrics
from harness.tasks.sts import StsTask
from harness.tasks.sts_sets import PARTS_OF_YEAR
from harness.tasks.transfer import DATA_SETS, ClassificationTask
from tests.harness.tasks.layouts import LAYOUTS, write_sick
from tests.harness.tasks.test_transfer import QUICK, oracle

TABLES = Path(__file__).parents[3] / "leaderboards/tables"
THRESHOLDS = ":positive=4:negative=2:longer=5:closer=2"
NAMES = [name + THRESHOLDS if name.endswith("hard-length") else name for name in TASKS]
LABELLED = {name.lower(): name for name in LAYOUTS}


def scored_pairs(mark: str, count: int = 60) -> list[tuple[str, str, float]]:
    """Pairs of sentences that occur once, gold 0 to 5; in every third pair one has eight words more."""
    rows = []
    for index in range(count):
        longer = " and more" * (4 if index % 3 == 0 else 0)
        rows.append((f"first {mark} {index}", f"second {mark} {index}{longer}", (7 * index % 26) / 5))
    return rows


def write_year(folder: Path) -> None:
    for subset in ("one", "two"):
        pairs = scored_pairs(f"{folder.name} {subset}")
        sentences = "".join(f"{first}\t{second}\n" for first, second, _ in pairs)
        (folder / f"STS.input.{subset}.txt").write_text(sentences, "utf-8")
        (folder / f"STS.gs.{subset}.txt").write_text("".join(f"{gold}\n" for *_, gold in pairs), "utf-8")


def write_stsb(folder: Path) -> None:
    """Every split holds twenty pairs of every subset that a part is rebuilt from."""
    for split in ("train", "dev", "test"):
        lines = [
            f"genre\t{name}\t{mark}\t0\t{gold}\t{first}\t{second}\n"
            for mark, names in PARTS_OF_YEAR.values()
            for name in names
            for first, second, gold in scored_pairs(f"{split} {mark} {name}", 20)
        ]
        (folder / f"sts-{split}.csv").write_text("".join(lines), "utf-8")


def write_raw(folder: Path) -> None:
    for split in ("train", "validation", "test"):
        rows = [
            {"sentence1": first, "sentence2": second, "score": gold}
            for first, second, gold in scored_pairs(f"{folder.name} {split}")
        ]
        (folder / f"{split}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")


def write_source(name: str, root: Path) -> None:
    """Writes a source as if it had been fetched."""
    folder = root / name
    folder.mkdir(parents=True)
    if name in LABELLED:
        LAYOUTS[LABELLED[name]](folder)
    elif name == "wiki1m":
        (folder / "wiki1m.txt").write_text("".join(f"sentence {number}\n" for number in range(300)), "utf-8")
    elif name == "sickr":
        write_sick(folder)
    elif name.endswith("-raw"):
        write_raw(folder)
    elif name.startswith("stsb"):
        write_stsb(folder)
    else:
        write_year(folder)
    (folder / "source.json").write_text("{}", "utf-8")


@pytest.fixture
def task_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], object]:
    """Builds a task by name in a data root that holds its sources; classifiers train for a moment only."""
    monkeypatch.setenv("SENTBENCH_DATA", str(tmp_path))
    monkeypatch.setenv("SENTBENCH_PROVIDERS", "embedded,hub")
    monkeypatch.setitem(DATA_SETS, "SNLI", replace(DATA_SETS["SNLI"], published_rows=90))

    def build(name: str) -> object:
        (task,) = build_tasks([name], text="senteval")
        if not (tmp_path / task.source).is_dir():
            write_source(task.source, tmp_path)
        if isinstance(task, ClassificationTask):
            task.protocol = QUICK
        return task

    return build


@pytest.mark.parametrize("name", NAMES)
def test_constant_random_and_oracle_encoders_score_as_theory_says(
    name: str, task_named: Callable[[str], object]
) -> None:
    task = task_named(name)
    if isinstance(task, StsTask):
        assert problems_of(task) == []
    elif isinstance(task, ClassificationTask):
        check_classification(task)
    elif isinstance(task, RerankingTask):
        check_reranking(task)
    elif isinstance(task, BatchCosines):
        check_batch(task)
    else:
        assert isinstance(task, GeometryTask)
        check_geometry(task)


def check_batch(task: BatchCosines) -> None:
    """Vectors of one direction are all alike; random ones in 64 dimensions have no cosine above 0.7."""
    shares = [{score.value for score in task.evaluate(encode)} for encode in (constant, random(0))]
    assert shares == [{1.0}, {0.0}]


def check_classification(task: ClassificationTask) -> None:
    """Classes have equal shares: constant and random give one share, vectors that hold the label give 1."""
    share = 1 / len(task.parts["train"].classes)
    assert task.evaluate(lambda texts: oracle(task, texts))[0].value == 1.0
    assert task.evaluate(constant)[0].value == pytest.approx(share, abs=1e-4)
    score = task.evaluate(random(seed=1))[0]
    assert abs(score.value - share) < 4 * np.sqrt(share * (1 - share) / score.n)


def check_reranking(task: RerankingTask) -> None:
    """Constant gives the mean over all ranks of the positives, the oracle gives 1."""
    queries = [query for group in task.queries.values() for query in group]
    good = {query.text for query in queries}
    good |= {t for query in queries for t, hit in zip(query.candidates, query.relevant, strict=True) if hit}
    axes = np.eye(2)
    actual = task.evaluate(lambda texts: np.stack([axes[0 if text in good else 1] for text in texts]))
    assert {score.value for score in actual if score.metric == "map"} == {1.0}
    size, hits = len(queries[0].candidates), sum(queries[0].relevant)  # of all queries of the small sets
    placings = itertools.combinations(range(size), hits)
    asked = (queries[0]._replace(relevant=tuple(i in at for i in range(size))) for at in placings)
    chance = np.mean([ranking_metrics(-np.arange(size, dtype=float), labels) for labels in asked], axis=0)
    by_metric = dict(zip(METRICS, chance, strict=True))
    for score in task.evaluate(constant):
        if not score.setting.endswith("/protocol"):
            assert score.value == pytest.approx(by_metric[score.metric], abs=1e-12)


def check_geometry(task: GeometryTask) -> None:
    """One direction: 0, 0, 1. Random directions in 64 dimensions: alignment 2, uniformity log E exp(4c - 4)
    with c of variance 1/64, close to -4 + 16/128, anisotropy 0.
    """
    positive = sum(POSITIVES["all"](row.score) for row in task.rows)
    assert values(task, constant) == pytest.approx((0.0, 0.0, 1.0), abs=1e-9)
    alignment, uniformity, anisotropy = values(task, random(seed=2))
    assert alignment == pytest.approx(2.0, abs=4 * 2 / np.sqrt(64 * positive))
    assert uniformity == pytest.approx(-4 + 16 / 128, abs=0.02)
    assert anisotropy == pytest.approx(0.0, abs=0.005)


def values(task: GeometryTask, encode: Encode) -> tuple[float, ...]:
    return tuple(score.value for score in task.evaluate(encode) if score.setting == "all")


def nan(texts: Sequence[str]) -> np.ndarray:
    vectors = np.ones((len(texts), 3))
    vectors[-1, 1] = np.nan
    return vectors


BAD_VECTORS: dict[str, tuple[Encode, str]] = {
    "nan": (nan, "1 of .* vectors are not finite, the first for"),
    "one short": (lambda texts: np.ones((len(texts) - 1, 3)), r"shape \[.*\] for .* texts; expected"),
    "no width": (lambda texts: np.ones(len(texts)), r"shape \[.*\] for .* texts; expected"),
    "of two lengths": (
        lambda texts: [[1.0], *([[1.0, 2.0]] * (len(texts) - 1))],  # type: ignore[dict-item, return-value]
        "must return one array of numbers",
    ),
}


@pytest.mark.parametrize("name", NAMES)
def test_texts_are_asked_for_once_and_bad_vectors_are_one_clear_line(
    name: str, task_named: Callable[[str], Any]
) -> None:
    task, asked = task_named(name), list[str]()
    task.evaluate(lambda texts: (asked.extend(texts), random(seed=0)(texts))[1])
    assert sorted(asked) == sorted(set(task.texts()))
    for encode, said in BAD_VECTORS.values():
        with pytest.raises(InputError, match=said) as refusal:
            task.evaluate(encode)
        assert "\n" not in str(refusal.value)
        assert str(refusal.value).startswith(name.partition(":")[0])


def test_every_column_of_every_table_names_a_score_that_its_task_gives(
    task_named: Callable[[str], object],
) -> None:
    """Metric and setting of a column are spelled as the task spells them, or its cells would stay empty."""
    columns = [
        column
        for spec in load_specs(TABLES).values()
        for column in [*spec.columns, *spec.parts]
        if column.task is not None
    ]
    given: dict[str, set[tuple[str, str]]] = {}
    for name in sorted({str(column.task) for column in columns}):
        scores: list[Score] = task_named(name).evaluate(random(seed=0))  # type: ignore[attr-defined]
        given[name] = {(score.metric, score.setting) for score in scores}
    given["SNLI"].add(("accuracy", "senteval/reduced-train"))
    wrong = {
        (column.task, column.metric, column.setting)
        for column in columns
        if (column.metric, column.setting) not in given[str(column.task)]
    }
    assert not wrong
    assert len(columns) > 150
