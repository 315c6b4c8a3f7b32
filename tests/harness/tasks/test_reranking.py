"""Re-ranking metrics: worked orders, ties against every permutation, sanity checks, BM25, bad input."""

import itertools
import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from harness.data.reranking import SCIDOCS_SUBTASKS, RankingQuery, read_scidocs
from harness.tasks.interface import Score
from harness.tasks.reranking import METRICS, RerankingTask, bm25_scores, ranking_metrics
from tests.harness.tasks.layouts import LAYOUTS, declared_task


def query(*relevant: int, positives: int | None = None) -> RankingQuery:
    flags = tuple(map(bool, relevant))
    texts = tuple(f"candidate {i}" for i in range(len(flags)))
    return RankingQuery("query", texts, flags, sum(flags) if positives is None else positives)


def metrics_of_order(relevant: Sequence[bool], positives: int) -> tuple[float, ...]:
    """The four metrics of one strict order, by their definitions."""
    actual, precisions, first = 0, [], 0.0
    for rank, hit in enumerate(relevant, start=1):
        if hit:
            actual += 1
            precisions.append(actual / rank)
            first = first or 1 / rank
    return sum(precisions) / positives, float(relevant[0]), sum(relevant[:5]) / 5, first


def mean_over_orders(similarities: Sequence[float], asked: RankingQuery) -> np.ndarray:
    """The mean of the metrics over every permutation that sorts the similarities."""
    rows = [
        metrics_of_order([asked.relevant[i] for i in order], asked.positives)
        for order in itertools.permutations(range(len(similarities)))
        if all(similarities[a] >= similarities[b] for a, b in itertools.pairwise(order))
    ]
    return np.mean(rows, axis=0)


WORKED = {
    "no, yes, no, yes, no, yes: AP (1/2 + 2/4 + 3/6) / 3, P@5 2/5, RR 1/2": (
        [0.9, 0.8, 0.7, 0.6, 0.5, 0.4], query(0, 1, 0, 1, 0, 1), (0.5, 0, 0.4, 0.5),
    ),
    "one of two tied: first half the time, AP = RR = (1 + 1/2) / 2, P@1 1/2": (
        [0, 0], query(1, 0), (0.75, 0.5, 0.2, 0.75),
    ),
    "one of two relevant documents can be ranked, and is first: AP 1/2": (
        [2, 1], query(1, 0, positives=2), (0.5, 1, 0.2, 1),
    ),
    "no relevant candidate": ([2, 1], query(0, 0, positives=1), (0, 0, 0, 0)),
}  # fmt: skip


@pytest.mark.parametrize("case", WORKED)
def test_metrics_are_those_worked_by_hand(case: str) -> None:
    similarities, asked, expected = WORKED[case]
    assert ranking_metrics(np.array(similarities, float), asked) == pytest.approx(expected)


@pytest.mark.parametrize("seed", range(12))
def test_tied_metrics_are_the_mean_over_all_orders(seed: int) -> None:
    """Seven candidates with similarities of three values: each set of ties against all 5,040 permutations."""
    rng = np.random.default_rng(seed)
    relevant = rng.random(7) < 0.4
    relevant[rng.integers(7)] = True
    asked = query(*relevant, positives=int(relevant.sum()) + seed % 2)
    similarities = rng.integers(0, 3, 7) / 2
    expected = mean_over_orders(similarities, asked)
    np.testing.assert_allclose(ranking_metrics(similarities, asked), expected, atol=1e-12)


@pytest.mark.parametrize(("apart", "average"), [(3e-13, 0.75), (3e-12, 0.5)])
def test_similarities_are_tied_up_to_the_twelfth_decimal(apart: float, average: float) -> None:
    """The relevant candidate is the lower one by `apart`: tied it is first half the time, otherwise
    second."""
    assert ranking_metrics(np.array([0.5, 0.5 + apart]), query(1, 0))[0] == pytest.approx(average)


def small(name: str, folder: Path, text: str = "raw") -> RerankingTask:
    LAYOUTS[name](folder)
    task = declared_task(name, text, folder=folder)
    assert isinstance(task, RerankingTask)
    return task


def scores_of(scores: Sequence[Score], setting: str) -> tuple[float, ...]:
    chosen = {score.metric: score.value for score in scores if score.setting == setting}
    return tuple(chosen[metric] for metric in METRICS)


def test_scidocs_reports_its_four_subtasks_and_their_plain_mean(tmp_path: Path) -> None:
    """One cite query more does not weigh more: the mean is over sub-tasks, not over queries."""
    task = small("SciDocs", tmp_path)
    task.queries["cite"].append(task.queries["cite"][0])
    rng = np.random.default_rng(0)
    scores = task.evaluate(lambda texts: rng.standard_normal((len(texts), 4)))
    groups = [scores_of(scores, group) for group in ("cite", "cocite", "coview", "coread")]
    np.testing.assert_allclose(scores_of(scores, "mean"), np.mean(groups, axis=0))
    sizes = {"cite": 4, "cocite": 3, "coview": 3, "coread": 3, "mean": 13}
    sizes |= {f"{setting}/protocol": size for setting, size in sizes.items()}
    assert {score.setting: score.n for score in scores} == sizes


def test_cosine_ignores_length_and_is_zero_for_a_zero_vector(tmp_path: Path) -> None:
    """Positives point along the query at any length, negatives are zero vectors: cosine 1 against 0."""
    task = small("TRECQA", tmp_path)

    def encode(texts: Sequence[str]) -> np.ndarray:
        return np.array([[len(text) * (not text.startswith("bad")), 0.0] for text in texts], dtype=np.float16)

    assert scores_of(task.evaluate(encode), "all") == pytest.approx((1, 1, 0.4, 1))


def test_bm25_ranks_shared_rare_words_first_and_ties_without_a_shared_word() -> None:
    """Of "red fox" and "cat" one candidate has a word, so BM25 is right; nothing shares one with "zebra"."""
    first = RankingQuery("red fox", ("a red fox runs", "a dog sleeps", "a cat eats"), (True, False, False), 1)
    second = RankingQuery("cat", ("a dog sleeps", "a cat eats", "a red fox runs"), (False, True, False), 1)
    none = RankingQuery("zebra", ("a dog", "a cat"), (True, False), 1)
    for queries, expected in (([first, second], (1, 1, 0.2, 1)), ([none], (0.75, 0.5, 0.2, 0.75))):
        task = RerankingTask("one", lambda folder, q=queries: {"all": q}, "raw", "none", folder=Path())
        assert scores_of(bm25_scores(task), "all") == pytest.approx(expected)


def test_ties_follow_the_protocol_worked_by_hand() -> None:
    """Similarities 1, 2, 1, 1 and ties in the order 3, 2, 1, 0: the ranking is 1, 3, 2, 0.

    Candidates 0 and 2 are relevant, at ranks 4 and 3: AP = (1/3 + 2/4) / 2 = 5/12, P@5 = 2/5, RR = 1/3.
    """
    asked = query(1, 0, 1, 0)._replace(tie_order=(3, 2, 1, 0))
    similarities = np.array([1.0, 2.0, 1.0, 1.0])
    assert ranking_metrics(similarities, asked, ties="protocol") == pytest.approx((5 / 12, 0, 0.4, 1 / 3))
    assert ranking_metrics(similarities, asked) != ranking_metrics(similarities, asked, ties="protocol")


@pytest.mark.parametrize("seed", range(8))
def test_ties_of_scidocs_are_ordered_as_in_trec_eval(seed: int, tmp_path: Path) -> None:
    """Similarities of four values, some apart by less than single precision can tell; ids in both cases."""
    import pytrec_eval

    rng = np.random.default_rng(seed)
    judged = {f"{'Dd'[i % 2]}{rng.integers(1000)}-{i}": int(rng.random() < 0.4) for i in range(12)}
    judged["last"] = 1
    corpus = {key: {"title": f"title {key}"} for key in ("q", *judged)}
    parts = {name: {"q": judged} for name in SCIDOCS_SUBTASKS}
    (tmp_path / "data.json").write_text(json.dumps({"corpus": corpus, "test": parts}))
    (asked,) = read_scidocs(tmp_path)["cite"]
    similarities = rng.integers(0, 4, len(judged)) / 4 + rng.choice([0, 1e-9], len(judged))
    run = dict(zip(judged, similarities.tolist(), strict=True))
    theirs = pytrec_eval.RelevanceEvaluator({"q": judged}, {"map", "P_5", "recip_rank"}).evaluate({"q": run})
    average, _, at_5, reciprocal = ranking_metrics(similarities, asked, ties="protocol")
    assert (average, at_5, reciprocal) == pytest.approx(
        tuple(theirs["q"][name] for name in ("map", "P_5", "recip_rank"))
    )


def test_every_grade_above_zero_of_scidocs_is_relevant(tmp_path: Path) -> None:
    judged = {"a": 0, "b": 1, "c": 2, "d": 3}
    corpus = {key: {"title": f"title {key}"} for key in ("q", *judged)}
    parts = {name: {"q": judged} for name in SCIDOCS_SUBTASKS}
    (tmp_path / "data.json").write_text(json.dumps({"corpus": corpus, "test": parts}))
    (asked,) = read_scidocs(tmp_path)["cite"]
    assert (asked.relevant, asked.positives) == ((False, True, True, True), 3)


def test_a_constant_encoder_scores_bm25_under_the_protocol_of_askubuntu_and_chance_in_expectation(
    tmp_path: Path,
) -> None:
    """The small file puts its four similar questions first in BM25's order: AP 1, P@5 4/5; and then last.

    Last, at ranks 17 to 20: AP = (1/17 + 2/18 + 3/19 + 4/20) / 4, P@5 = 0, RR = 1/17.
    """
    task = small("AskUbuntu", tmp_path)
    scores = task.evaluate(lambda texts: np.ones((len(texts), 2)))
    assert scores_of(scores, "all/protocol") == pytest.approx((1, 1, 0.8, 1))
    text = (tmp_path / "test.txt").read_text()
    falling, rising = (" ".join(f"{i}.5" for i in range(*ends)) for ends in ((20, 0, -1), (1, 21)))
    assert falling in text
    (tmp_path / "test.txt").write_text(text.replace(falling, rising))
    turned = declared_task("AskUbuntu", folder=tmp_path).evaluate(lambda texts: np.ones((len(texts), 2)))
    last = (1 / 17 + 2 / 18 + 3 / 19 + 4 / 20) / 4
    assert scores_of(turned, "all/protocol") == pytest.approx((last, 0, 0, 1 / 17))
    assert scores_of(turned, "all") == pytest.approx(scores_of(scores, "all"))


def test_a_set_without_a_published_protocol_has_the_expectation_only(tmp_path: Path) -> None:
    task = small("TRECQA", tmp_path)
    assert {score.setting for score in task.evaluate(lambda texts: np.ones((len(texts), 2)))} == {"all"}
