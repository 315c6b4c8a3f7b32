"""STS tasks: correlations, settings, text forms, sources and bad input, without a network."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from harness.data.sts import ScoredPair
from harness.errors import InputError
from harness.tasks import sts
from harness.tasks.evaluation import evaluate_tasks
from harness.tasks.interface import Score
from harness.tasks.registry import build_tasks
from harness.tasks.sts import StsTask, cosines_of_pairs, pearson, spearman, unit_rows
from harness.tasks.sts_sets import PARTS_OF_YEAR, read_stsb_split
from harness.tasks.text_forms import in_form
from tests.harness.tasks.layouts import declared_task

ANGLES = {"east": 0.0, "ne": 45.0, "north": 90.0, "west": 180.0}


def by_angle(texts: Sequence[str]) -> np.ndarray:
    turned = np.deg2rad([ANGLES[text] for text in texts])
    return np.stack([np.cos(turned), np.sin(turned)], axis=1)


def task_of(**subsets: list[tuple[str, str, float]]) -> StsTask:
    read = {name: [ScoredPair(*pair) for pair in pairs] for name, pairs in subsets.items()}
    return StsTask("toy", "none", lambda folder: read, folder=Path())


def values(scores: list[Score]) -> dict[tuple[str, str], float]:
    return {(score.metric, score.setting): score.value for score in scores}


B = [("east", "east", 5.0), ("east", "north", 1.0), ("east", "west", 3.0)]


def test_correlations_and_means_over_subsets_worked_by_hand() -> None:
    """Cosines of b's pairs are 1, 0, -1; gold 5, 1, 3. Ranks 3 2 1 against 3 1 2: 1 - 6 * 2 / (3 * 8) = 0.5.

    Pearson: gold minus its mean is 2, -2, 0; the product sum is 2; lengths sqrt(2), sqrt(8): 0.5. Subset a
    (2 pairs) is ordered as gold: 1. mean (1 + 0.5) / 2 = 0.75, wmean (2 * 1 + 3 * 0.5) / 5 = 0.7.
    """
    scores = task_of(one=B).evaluate(by_angle)
    assert [score[:3] for score in scores] == [("toy", "spearman", "all"), ("toy", "pearson", "all")]
    assert [(score.value, score.n) for score in scores] == 2 * [(pytest.approx(0.5), 3)]
    actual = values(task_of(a=[("east", "east", 4.0), ("east", "west", 2.0)], b=B).evaluate(by_angle))
    expected = {"subset:a": 1.0, "subset:b": 0.5, "mean": 0.75, "wmean": 0.7}
    for setting, value in expected.items():
        assert actual["spearman", setting] == pytest.approx(value)
    assert len(actual) == 2 * 5


def test_spearman_and_pearson_have_their_names_and_each_setting_counts_its_pairs() -> None:
    """Cosines 1, h, 0 with h = sqrt(1/2), gold 5, 1, 0: one order, so Spearman 1.

    Pearson: gold minus its mean is 3, -1, -2, whose product sum with the cosines is 3 - h; squares sum to 14
    and to 1.5 - (1 + h)^2 / 3. Subset b is of two pairs in gold's order.
    """
    a = [("east", "east", 5.0), ("east", "ne", 1.0), ("east", "north", 0.0)]
    h = np.sqrt(0.5)
    expected = (3 - h) / np.sqrt(14 * (1.5 - (1 + h) ** 2 / 3))
    (spearman_of_a, pearson_of_a) = task_of(a=a).evaluate(by_angle)
    assert (spearman_of_a.metric, spearman_of_a.value) == ("spearman", pytest.approx(1.0))
    assert (pearson_of_a.metric, pearson_of_a.value) == ("pearson", pytest.approx(expected))
    scores = task_of(a=a, b=a[1:]).evaluate(by_angle)
    sizes = {"all": 5, "mean": 5, "wmean": 5, "subset:a": 3, "subset:b": 2}
    assert {(score.metric, score.setting): score.n for score in scores} == {
        (metric, setting): size for metric in ("spearman", "pearson") for setting, size in sizes.items()
    }


def test_all_is_one_correlation_over_the_pairs_of_every_subset() -> None:
    pairs = [("east", "east", 4.0), ("east", "ne", 1.0), ("north", "west", 3.0), ("east", "west", 2.0)]
    split = values(task_of(a=pairs[:2], b=pairs[2:]).evaluate(by_angle))
    whole = values(task_of(one=pairs).evaluate(by_angle))
    assert split["spearman", "all"] == whole["spearman", "all"] != split["spearman", "mean"]
    assert split["pearson", "all"] == whole["pearson", "all"]


def test_correlations_equal_scipys_on_tied_data() -> None:
    rng = np.random.default_rng(0)
    first, second = rng.integers(0, 6, 300).astype(float), rng.normal(size=300).round(1)
    assert spearman(first, second) == pytest.approx(stats.spearmanr(first, second).statistic, abs=1e-12)
    assert pearson(first, second) == pytest.approx(stats.pearsonr(first, second).statistic, abs=1e-12)


def test_a_large_set_is_asked_for_in_parts_and_has_the_same_cosines(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten pairs, four at a time: every pair has the text `shared`, so it is asked for three times."""
    rng = np.random.default_rng(0)
    pairs = [ScoredPair("shared", f"other {number}", 0.0) for number in range(10)]
    vectors = {text: rng.normal(size=5).astype(np.float16) for pair in pairs for text in pair[:2]}
    asked: list[int] = []

    def encode(texts: Sequence[str]) -> np.ndarray:
        asked.append(len(texts))
        return np.stack([vectors[text] for text in texts])

    whole = cosines_of_pairs(encode, pairs, "toy")
    monkeypatch.setattr(sts, "PAIRS_ENCODED", 4)
    monkeypatch.setattr(sts, "_PAIRS_WIDENED", 3)
    np.testing.assert_array_equal(cosines_of_pairs(encode, pairs, "toy"), whole)
    assert asked == [11, 5, 5, 3]
    monkeypatch.setattr(sts, "PAIRS_ENCODED", 5)
    monkeypatch.setattr(sts, "_PAIRS_WIDENED", 5)
    asked.clear()
    np.testing.assert_array_equal(cosines_of_pairs(encode, pairs, "toy"), whole)
    assert asked == [6, 6], "two parts that are exactly full, and none after them"


def test_cosines_equal_a_loop_over_pairs_and_ignore_length() -> None:
    rng = np.random.default_rng(1)
    vectors = {name: rng.normal(size=5) for name in "abcd"}
    unit = {name: vector / np.linalg.norm(vector) for name, vector in vectors.items()}
    pairs = [ScoredPair("a", "b", 1.0), ScoredPair("c", "d", 2.0), ScoredPair("a", "d", 2.0)]
    for scale in (1.0, 1e-6, 1e6):
        actual = cosines_of_pairs(
            lambda texts, s=scale: np.stack([s * vectors[t] for t in texts]), pairs, "toy"
        )
        np.testing.assert_allclose(actual, [unit[p.first] @ unit[p.second] for p in pairs], atol=1e-11)


def test_cosines_equal_on_paper_are_tied() -> None:
    """(1,1,1) with (1,1,0) and (2,2,2) with (0,3,3) have the cosine sqrt(2/3), whatever rounding does."""
    rows = [[1, 1, 1], [1, 1, 0], [2, 2, 2], [0, 3, 3], [7, 7, 7], [0.1, 0, 0.1]]
    vectors = dict(zip("abcdef", rows, strict=True))
    pairs = [ScoredPair("a", "b", 1.0), ScoredPair("c", "d", 2.0), ScoredPair("e", "f", 3.0)]
    actual = cosines_of_pairs(lambda texts: np.array([vectors[text] for text in texts], float), pairs, "toy")
    assert len(set(actual)) == 1


@pytest.mark.parametrize(("apart", "tied"), [(3e-13, True), (3e-12, False)])
def test_cosines_are_tied_up_to_the_twelfth_decimal(apart: float, tied: bool) -> None:
    def at(cosine: float) -> list[float]:
        return [cosine, np.sqrt(1 - cosine**2)]

    vectors = {"axis": [1.0, 0.0], "one": at(0.5), "other": at(0.5 + apart)}
    pairs = [ScoredPair("axis", "one", 1.0), ScoredPair("axis", "other", 2.0)]
    actual = cosines_of_pairs(lambda texts: np.array([vectors[text] for text in texts]), pairs, "toy")
    assert (actual[0] == actual[1]) == tied


def test_a_zero_vector_has_cosine_zero() -> None:
    assert unit_rows(np.array([[0.0, 0.0], [3.0, 4.0]])).tolist() == [[0.0, 0.0], [0.6, 0.8]]


def test_scores_do_not_depend_on_the_precision_of_narrow_cones() -> None:
    """Vectors near one direction: in half precision cosines would collapse, in float64 they do not."""
    rng = np.random.default_rng(2)
    base = rng.normal(size=64)
    vectors = {str(i): (base + 0.1 * rng.normal(size=64)).astype(np.float16) for i in range(200)}
    pairs = [(str(2 * i), str(2 * i + 1), float(rng.uniform(0, 5))) for i in range(100)]
    task = task_of(one=pairs)
    half = values(task.evaluate(lambda texts: np.stack([vectors[t] for t in texts])))
    full = values(task.evaluate(lambda texts: np.stack([vectors[t].astype(np.float64) for t in texts])))
    assert half == full


def test_a_subset_without_spread_in_gold_is_refused() -> None:
    pairs = [("east", "east", 2.0), ("east", "north", 2.0)]
    with pytest.raises(InputError, match="subset:b"):
        task_of(a=[("east", "east", 1.0), ("east", "west", 2.0)], b=pairs).evaluate(by_angle)


def test_text_forms() -> None:
    assert in_form("  It's  \u201cfine\u201d. ", "raw") == "It's  \u201cfine\u201d."
    assert in_form("A dog 's  tail .", "senteval") == "A dog 's tail ."
    assert in_form("  ", "senteval") == "."


def test_converted_stsb_equals_the_senteval_file(tmp_path: Path) -> None:
    raw, tokenised = tmp_path / "raw", tmp_path / "senteval"
    raw.mkdir()
    tokenised.mkdir()
    head = "main-captions\tMSRvid\t2012test\t0001\t2.5\t"
    (raw / "sts-dev.csv").write_text(head + "A girl's dog, sitting.\tDon't go!\n", encoding="utf-8")
    (tokenised / "sts-dev.csv").write_text(
        head + "a girl 's dog , sitting .\tdon 't go !\n", encoding="utf-8"
    )
    assert read_stsb_split(raw, "dev", form="senteval", source="stsb") == read_stsb_split(
        tokenised, "dev", form="senteval", source="stsb-senteval"
    )


PARTS_BY_HAND = {
    "STS12": ("2012test", ["MSRpar", "MSRvid"]),
    "STS13": ("2013", ["headlines"]),
    "STS14": ("2014", ["deft-forum", "deft-news", "headlines", "images"]),
    "STS15": ("2015", ["answers-forums", "headlines", "images"]),
    "STS16": ("2016", ["answer-answer", "headlines"]),
}
"""Year -> its mark in STS-B, and the subsets that STS-B has whole, in their order."""


@pytest.mark.parametrize("year", PARTS_BY_HAND)
def test_a_part_has_the_rows_of_its_year_and_subsets_from_every_split(year: str, tmp_path: Path) -> None:
    """Every split has a row of every year with every file name; headlines and images are of several years."""
    years = ("2012train", "2012test", "2013", "2014", "2015", "2016", "2017")
    names = [*dict.fromkeys(name for _, actual in PARTS_BY_HAND.values() for name in actual), "OnWN"]
    for split in ("train", "dev", "test"):
        lines = [f"g\t{name}\t{mark}\t0\t2.5\t{split} {mark} {name}\tb\n" for mark in years for name in names]
        (tmp_path / f"sts-{split}.csv").write_text("".join(lines))
    task = declared_task(f"{year}-part", "raw", folder=tmp_path)
    mark, subsets = PARTS_BY_HAND[year]
    assert {name: [pair.first for pair in pairs] for name, pairs in task.subsets.items()} == {
        name: [f"{split} {mark} {name}" for split in ("train", "dev", "test")] for name in subsets
    }
    assert list(task.subsets) == subsets


@pytest.fixture
def data_of_the_mirror(
    mirror: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SENTBENCH_DATA", str(tmp_path_factory.getbasetemp() / "mirror-data"))
    monkeypatch.setenv("SENTBENCH_PROVIDERS", "mirror")


SIZES = {"STS12": 3108, "STS13": 1500, "STS14": 3750, "STS15": 3000, "STS16": 1186, "STSB": 1379}
SIZES |= {"SICKR-mteb": 9927, "STSB-dev": 1500, "SICKR": 4927}


@pytest.mark.mirror
@pytest.mark.usefixtures("data_of_the_mirror")
@pytest.mark.parametrize("form", ["senteval", "raw"])
def test_test_sets_have_their_published_sizes(form: str) -> None:
    tasks = build_tasks(list(SIZES), text=form)
    assert {task.name: len(task.pairs) for task in tasks if isinstance(task, StsTask)} == SIZES


@pytest.mark.mirror
@pytest.mark.usefixtures("data_of_the_mirror")
@pytest.mark.parametrize("year", PARTS_OF_YEAR)
def test_parts_rebuilt_from_stsb_are_whole_subsets_of_their_year(year: str) -> None:
    assert len(PARTS_OF_YEAR) == 5
    part, whole = build_tasks([f"{year}-part", year], text="senteval")
    assert isinstance(part, StsTask)
    assert isinstance(whole, StsTask)
    for name, pairs in part.subsets.items():
        assert sorted(pair[:3] for pair in pairs) == sorted(pair[:3] for pair in whole.subsets[name]), name
    assert set(part.subsets) == set(PARTS_OF_YEAR[year][1])


PUBLISHED = {"STS12": 72.37, "STS13": 80.60, "STS14": 75.59, "STS15": 85.39, "STS16": 78.99}
PUBLISHED |= {"STSB": 82.03, "SICKR-mteb": 77.58}
"""Spearman of all-MiniLM-L6-v2 on raw text as the public results of mteb state it."""


@pytest.mark.mirror
@pytest.mark.slow
@pytest.mark.usefixtures("data_of_the_mirror")
@pytest.mark.parametrize("name", PUBLISHED)
def test_a_public_model_has_its_published_score(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from harness.data.download import folder_of
    from methods.core.folders import load_encoder

    monkeypatch.setenv("SENTBENCH_PROVIDERS", "embedded,mirror")
    encoder = load_encoder(folder_of("minilm-l6"), pooling="mean")
    scores = values(evaluate_tasks(build_tasks([name], text="raw"), encoder.encode))
    assert 100 * scores["spearman", "all"] == pytest.approx(PUBLISHED[name], abs=0.03)
