"""Transfer and inference tasks end to end on small files: order, texts, sanity checks, bad input."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from harness.data.classification import Examples
from harness.tasks import logistic
from harness.tasks.classifier import Outcome
from harness.tasks.logistic import SENTEVAL, ClassifierProtocol, Features
from harness.tasks.registry import SUITES
from harness.tasks.transfer import DATA_SETS, ClassificationTask, f1_of_class_one
from tests.harness.tasks import plain_loop
from tests.harness.tasks.layouts import LAYOUTS, declared_task

TASKS = (*SUITES["transfer"], *SUITES["nli"])
QUICK = replace(SENTEVAL, folds=3, grid=(1e-4, 1e-2), learning_rate=5e-2, max_epochs=16)


def small(name: str, folder: Path, text: str = "senteval") -> ClassificationTask:
    LAYOUTS[name](folder)
    task = declared_task(name, text, protocol=QUICK, folder=folder)
    assert isinstance(task, ClassificationTask)
    return task


def oracle(task: ClassificationTask, texts: Sequence[str]) -> np.ndarray:
    """The label's own axis for a first text, ones for a second: both pair features then hold the label."""
    known = {
        text: (label, side)
        for part in task.parts.values()
        for pair, label in zip(part.texts, part.labels, strict=True)
        for side, text in enumerate(pair)
    }
    rows = [np.ones(6) if side else 4 * np.eye(6)[label] for label, side in map(known.__getitem__, texts)]
    return np.array(rows, dtype=np.float32)


@pytest.mark.parametrize("name", TASKS)
def test_scores_name_the_protocol_and_count_their_rows(name: str, tmp_path: Path) -> None:
    task = small(name, tmp_path)
    scores = task.evaluate(lambda texts: oracle(task, texts))
    expected = ["accuracy", "dev-accuracy"] + (["f1"] if name == "MRPC" else [])
    assert [score.metric for score in scores] == expected
    sizes = {part: len(examples.labels) for part, examples in task.parts.items()}
    counted = [sizes.get("test", sizes["train"]), sizes.get("dev", sizes["train"])]
    assert [score.n for score in scores[:2]] == counted
    setting = "senteval/reduced-train" if name == "SNLI" else "senteval"
    assert {(score.task, score.setting) for score in scores} == {(name, setting)}


def test_a_task_is_classified_under_senteval_s_protocol_for_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SentEval's defaults as the papers set them; SNLI has one tiny penalty, and checks dev every epoch."""
    asked = []

    def classify(*given: object, protocol: ClassifierProtocol, classes: int) -> Outcome:
        asked.append(protocol)
        return Outcome(1.0, 1.0, None)

    monkeypatch.setattr("harness.tasks.classifier.classify", classify)
    for name in ("CR", "SNLI"):
        LAYOUTS[name](tmp_path)
        declared_task(name, folder=tmp_path).evaluate(lambda texts: np.ones((len(texts), 2)))
    grid = (1e-5, 1e-4, 1e-3, 1e-2)
    assert asked[0] == ClassifierProtocol(
        10, grid, 1e-3, 64, tenacity=5, epoch_size=4, max_epochs=200, seed=1111
    )
    assert asked[1] == replace(asked[0], grid=(1e-9,), epoch_size=1, max_epochs=15)


@pytest.mark.parametrize("name", TASKS)
def test_a_task_combines_its_vectors_as_senteval_does(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """u = (1, 2) for every first text, v = (3, -1) for every second one; the last feature is the constant."""
    given: list[Features] = []

    def classify(features: Features, *more: object, **options: object) -> Outcome:
        given.append(features)
        return Outcome(1.0, 1.0, None)

    monkeypatch.setattr("harness.tasks.classifier.classify", classify)
    task = small(name, tmp_path)
    seconds = {texts[1] for part in task.parts.values() for texts in part.texts if len(texts) == 2}
    task.evaluate(lambda texts: np.array([[3, -1] if text in seconds else [1, 2] for text in texts]))
    of_pairs = {"MRPC": [2, 3, 3, -2], "SICK-E": [2, 3, 3, -2], "SNLI": [1, 2, 3, -1, 3, -2, 2, 3]}
    expected = [[*of_pairs.get(name, [1, 2]), 1.0]]
    assert np.unique(given[0].take(torch.arange(60)).numpy(), axis=0).tolist() == expected


def test_a_training_part_is_reduced_if_it_has_fewer_rows_than_published(tmp_path: Path) -> None:
    """The small training part has 90 rows. SNLI's has 550,152 pairs, of which 785 have no gold label."""
    LAYOUTS["SNLI"](tmp_path)
    for published, setting in ((89, "senteval"), (90, "senteval"), (91, "senteval/reduced-train")):
        dataset = replace(DATA_SETS["SNLI"], published_rows=published)
        assert ClassificationTask(dataset, "raw", "snli", folder=tmp_path).setting() == setting
    assert DATA_SETS["SNLI"].published_rows == 550_152 - 785
    assert {name for name, dataset in DATA_SETS.items() if dataset.published_rows} == {"SNLI"}


def test_examples_are_sorted_as_senteval_sorts_them(tmp_path: Path) -> None:
    """Words first, then the label; equal keys stay in file order, positives before negatives."""
    (tmp_path / "custrev.pos").write_text("b b\na\nc c\n")
    (tmp_path / "custrev.neg").write_text("z\n\nd d\n")
    part = declared_task("CR", "senteval", folder=tmp_path).parts["train"]
    assert part.texts == [(".",), ("z",), ("a",), ("d d",), ("b b",), ("c c",)]
    assert part.labels == [0, 0, 1, 0, 1, 1]


PAIR_FILES = {
    "MRPC": ("msr_paraphrase_{part}.txt", "{label}\t1\t2\t{first}\t{second}\n", "Quality\ti\ti\ts\ts\n"),
    "SICK-E": (
        "SICK_{part}.txt",
        "1\t{first}\t{second}\t3\t{label}\n",
        "pair_ID\tsentence_A\tsentence_B\trelatedness_score\tentailment_judgment\n",
    ),
}
"""Task -> its files, the layout of a line, and the first line."""


@pytest.mark.parametrize(
    ("name", "part", "file_part"),
    [
        ("MRPC", "train", "train"),
        ("MRPC", "test", "test"),
        ("SICK-E", "train", "train"),
        ("SICK-E", "dev", "trial"),
        ("SICK-E", "test", "test_annotated"),
    ],
)
def test_pairs_are_sorted_as_senteval_sorts_them(
    name: str, part: str, file_part: str, tmp_path: Path
) -> None:
    """Words of the first text, of the second, then the number of the label; equal keys stay in file order.

    The sum of both lengths would put `a3` before `b1`, the second text first `c1` before `a1`. The labels of
    SICK are numbered 0, 1, 2 and do not rise with their names.
    """
    low, high = {"MRPC": ("0", "1"), "SICK-E": ("CONTRADICTION", "ENTAILMENT")}[name]
    middle = {"MRPC": "1", "SICK-E": "NEUTRAL"}[name]
    given = [
        *[("c1 c c", "x", low), ("b1 b", "x", low), ("a3", "x x x x", low)],
        *[("a2", "x x", high), ("a1", "x x", middle), ("a0", "x x", low), ("b0 again", "y", low)],
    ]
    file, line, head = PAIR_FILES[name]
    LAYOUTS[name](tmp_path)
    lines = (line.format(first=first, second=second, label=label) for first, second, label in given)
    (tmp_path / file.format(part=file_part)).write_text(head + "".join(lines), "utf-8")
    examples = declared_task(name, folder=tmp_path).parts[part]
    marks = [first.split()[0] for first, _ in examples.texts]
    tied = ["a2", "a1"] if name == "MRPC" else ["a1", "a2"]
    assert marks == ["a0", *tied, "a3", "b1", "b0", "c1"]
    numbers = {"MRPC": [0, 1, 1], "SICK-E": [0, 1, 2]}[name]
    assert examples.labels == [*numbers, 0, 0, 0, 0]


FILES = {
    "MR": ["rt-polarity.neg", "rt-polarity.pos"],
    "CR": ["custrev.neg", "custrev.pos"],
    "SUBJ": ["subj.subjective", "subj.objective"],
    "MPQA": ["mpqa.neg", "mpqa.pos"],
}
"""Task -> the files of class 0 and of class 1, as SentEval reads them."""
CLASSES = {
    "SST": ["0", "1"],
    "TREC": ["ABBR", "DESC", "ENTY", "HUM", "LOC", "NUM"],
    "MRPC": ["0", "1"],
    "SICK-E": ["CONTRADICTION", "NEUTRAL", "ENTAILMENT"],
    "SNLI": ["entailment", "neutral", "contradiction"],
}
"""Task -> its labels in the order in which SentEval numbers them."""


@pytest.mark.parametrize("name", TASKS)
def test_classes_have_the_numbers_of_senteval(name: str, tmp_path: Path) -> None:
    """The number of a class decides its initial weights and the order of equally long examples."""
    part = small(name, tmp_path).parts["train"]
    assert set(part.labels) == set(range(len(part.classes)))
    if name in FILES:
        files = {(texts[0].split()[0], label) for texts, label in zip(part.texts, part.labels, strict=True)}
        assert files == {(file, number) for number, file in enumerate(FILES[name])}
    else:
        assert list(part.classes) == CLASSES[name]


def test_snli_is_sorted_by_the_second_text_and_then_by_the_name_of_the_label() -> None:
    """Names sort contradiction < entailment < neutral, which is not the order of their numbers 2, 0, 1."""
    texts = [("a a", "x"), ("a", "y"), ("a", "y"), ("a", "y"), ("a", "y y")]
    task = ClassificationTask(DATA_SETS["SNLI"], "raw", "snli")
    ordered = task._ordered(Examples(texts, [0, 1, 0, 2, 2], ("entailment", "neutral", "contradiction")))
    assert ordered.labels == [2, 0, 1, 0, 2]
    assert [first for first, _ in ordered.texts] == ["a", "a", "a", "a a", "a"]


@pytest.mark.parametrize("limit", [0, 1 << 30], ids=["computed late", "held"])
def test_pair_features_equal_sentevals(limit: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """u = (1, 2), v = (3, -1): |u - v| = (2, 3), u * v = (3, -2); the last feature is the constant."""
    monkeypatch.setattr(logistic, "DENSE_BYTES", limit)
    vectors, rows = torch.tensor([[1.0, 2.0], [3.0, -1.0], [0.0, 0.0]]), torch.tensor([1, 0, 1])
    sides = [torch.tensor([0, 2]), torch.tensor([1, 0])]
    for combine, expected in (
        (logistic.difference_and_product, [[1, 2, 0, 0, 1], [2, 3, 3, -2, 1]]),
        (logistic.both_product_and_difference, [[0, 0, 1, 2, 0, 0, 1, 2, 1], [1, 2, 3, -1, 3, -2, 2, 3, 1]]),
    ):
        actual = Features(vectors, sides, combine)
        assert actual.width == len(expected[0])
        assert actual.take(rows).tolist() == [expected[0], expected[1], expected[0]]


def test_mrpc_equals_the_plain_loop_on_the_same_features(tmp_path: Path) -> None:
    task = small("MRPC", tmp_path)
    rng = np.random.default_rng(0)
    vectors = {text: rng.standard_normal(4).astype(np.float32) for text in set(task.texts())}
    parts = []
    for part in ("train", "test"):
        a, b = (
            np.array([vectors[text] for text in side]) for side in zip(*task.parts[part].texts, strict=True)
        )
        parts += [np.c_[np.abs(a - b), a * b], np.array(task.parts[part].labels)]
    dev, test, predicted = plain_loop.train_test(*parts, 2, QUICK)
    scores = task.evaluate(lambda texts: np.array([vectors[text] for text in texts]))
    f1 = round(100 * f1_of_class_one(predicted, parts[3]), 2)
    assert [round(100 * score.value, 2) for score in scores] == [test, dev, f1]


def test_f1_is_the_harmonic_mean_of_precision_and_recall() -> None:
    """Three named, two of them right, four gold: 2 * 2 / (3 + 4) = 4/7."""
    gold, predicted = np.array([1, 1, 1, 1, 0, 0]), np.array([1, 1, 0, 0, 1, 0])
    assert f1_of_class_one(predicted, gold) == pytest.approx(4 / 7)
    assert f1_of_class_one(np.zeros(2), np.zeros(2)) == 0.0
