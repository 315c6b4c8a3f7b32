"""Re-ranking: candidates ordered by cosine similarity to a query; MAP, P@1, P@5 and MRR.

Ties. Candidates of equal similarity have no order. With the order of the file, a constant encoder would score
1 if relevant candidates come first. There are two settings:

* `expected`, the plain name of a group (`all`, `mean`): each metric is its exact expectation over all orders
  of tied candidates. Cosines are float64 and count as equal when they agree to TIED_DECIMALS decimals. A
  constant encoder scores at chance level.
* `protocol`, as `all/protocol`, `mean/protocol`: the order in the code of the published numbers, for sets
  that have one (AskUbuntu and SciDocs, by USEB). Similarities are compared in single precision, as in
  that code. A constant encoder has the score of BM25's order on AskUbuntu.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from math import comb
from pathlib import Path
from typing import Literal

import numpy as np

from harness.data.download import folder_of
from harness.data.reranking import Queries, RankingQuery
from harness.errors import InputError
from harness.tasks.evaluation import Encoded, encode_unique
from harness.tasks.interface import Encode, Score
from harness.tasks.text_forms import in_form

TIED_DECIMALS = 12
METRICS = ("map", "p@1", "p@5", "mrr")
Ties = Literal["expected", "protocol"]


class RerankingTask:
    """One re-ranking set; its groups of queries are settings, averaged without weights as `mean`."""

    def __init__(
        self,
        name: str,
        read: Callable[[Path], Queries],
        text: str,
        source: str,
        *,
        folder: Path | None = None,
    ) -> None:
        self.name, self.source, self.read, self.text, self.folder = name, source, read, text, folder

    @cached_property
    def queries(self) -> Queries:
        """The queries of every group, read once, in the text form of the task."""
        folder = self.folder or folder_of(self.source)
        return {
            group: [self._in_form(query) for query in queries] for group, queries in self.read(folder).items()
        }

    def texts(self) -> Iterable[str]:
        for queries in self.queries.values():
            for query in queries:
                yield query.text
                yield from query.candidates

    def evaluate(self, encode: Encode) -> list[Score]:
        encoded = encode_unique(encode, self.texts(), self.name)
        return ranking_scores(self, lambda queries: (_similarities(encoded, query) for query in queries))

    def _in_form(self, query: RankingQuery) -> RankingQuery:
        asked, *candidates = (in_form(text, self.text) or "." for text in (query.text, *query.candidates))
        return query._replace(text=asked, candidates=tuple(candidates))


def ranking_scores(
    task: RerankingTask, similarities: Callable[[Sequence[RankingQuery]], Iterable[np.ndarray]]
) -> list[Score]:
    """Returns the scores of a ranking of the task's queries; `similarities` yields one array per query."""
    scores = []
    given = {group: list(similarities(queries)) for group, queries in task.queries.items()}
    ordered = all(query.tie_order is not None for queries in task.queries.values() for query in queries)
    wanted: tuple[Ties, ...] = ("expected", "protocol") if ordered else ("expected",)
    for ties in wanted:
        sizes = {group: len(queries) for group, queries in task.queries.items()}
        means = {}
        for group, queries in task.queries.items():
            asked = zip(given[group], queries, strict=True)
            means[group] = np.mean([ranking_metrics(*one, ties=ties) for one in asked], axis=0)
        if len(means) > 1:
            sizes["mean"], means["mean"] = sum(sizes.values()), np.mean(list(means.values()), axis=0)
        suffix = "" if ties == "expected" else f"/{ties}"
        scores += [
            Score(task.name, metric, group + suffix, float(value), sizes[group])
            for group, values in means.items()
            for metric, value in zip(METRICS, values, strict=True)
        ]
    return scores


def bm25_scores(task: RerankingTask) -> list[Score]:
    """Returns the scores of BM25 with the term statistics of all candidates of a query group.

    bm25s supplies the ranking function with its default constants; words are its tokens, lower-cased and
    without a stop list or stemming.
    """
    return ranking_scores(task, _bm25_similarities)


def ranking_metrics(
    similarities: np.ndarray, query: RankingQuery, *, ties: Ties = "expected"
) -> tuple[float, ...]:
    """Returns METRICS of a query; `ties` is the order of candidates of equal similarity.

    Source: USEB's definitions; average precision divides by all relevant documents, as trec_eval does, and
    P@5 by 5 even if there are fewer candidates.
    Errors: InputError if the similarities are not one number for each candidate.
    """
    if similarities.shape != (len(query.candidates),) or not np.isfinite(similarities).all():
        raise InputError(
            f"similarities of query {query.text!r} are not {len(query.candidates)} finite numbers, "
            "one for each candidate; check the ranking function"
        )
    comparable = np.round(similarities, TIED_DECIMALS)
    if ties == "protocol":
        comparable = _in_protocol_order(similarities, query)
    groups = list(_tied_groups(comparable, np.asarray(query.relevant)))
    average = sum(_precision_sum(*group) for group in groups) / query.positives
    at_1, at_5 = (sum(_relevant_above(cut, *group) for group in groups) / cut for cut in (1, 5))
    first = next((group for group in groups if group[3]), None)
    return average, at_1, at_5, _reciprocal_rank(*first) if first else 0.0


def _in_protocol_order(similarities: np.ndarray, query: RankingQuery) -> np.ndarray:
    """Returns numbers without ties that order the candidates as the published protocol does [n]."""
    first_to_last = np.array(query.tie_order)
    ranking = first_to_last[np.argsort(-similarities[first_to_last].astype(np.float32), kind="stable")]
    falling = np.empty(len(ranking))
    falling[ranking] = -np.arange(len(ranking))
    return falling


def _tied_groups(similarities: np.ndarray, relevant: np.ndarray) -> Iterator[tuple[int, int, int, int]]:
    """Yields (ranked, above, size, hits) of each run of equal similarities, best first.

    `ranked` and `above` count candidates and relevant candidates above the run, `size` and `hits` within it.
    """
    _, run = np.unique(-similarities, return_inverse=True)
    ranked = relevant_above = 0
    for size, hits in zip(np.bincount(run), np.bincount(run, weights=relevant), strict=True):
        yield ranked, relevant_above, int(size), int(hits)
        ranked, relevant_above = ranked + int(size), relevant_above + int(hits)


def _precision_sum(ranked: int, above: int, size: int, hits: int) -> float:
    """Returns the expected sum of precisions at the relevant candidates of a run.

    Rank j of the run is relevant with probability hits/size, and then each of the j - 1 ranks before it
    with probability (hits - 1)/(size - 1).
    """
    before = (hits - 1) / (size - 1) if size > 1 else 0.0
    ranks = range(1, size + 1)
    return hits / size * sum((above + 1 + (j - 1) * before) / (ranked + j) for j in ranks)


def _relevant_above(cut: int, ranked: int, above: int, size: int, hits: int) -> float:
    """Returns the expected number of relevant candidates of a run among the first `cut` of the ranking."""
    return hits / size * min(max(cut - ranked, 0), size)


def _reciprocal_rank(ranked: int, above: int, size: int, hits: int) -> float:
    """Returns the expected 1/rank of the first relevant candidate if it is in this run.

    It is at rank j if all others are behind it: in C(size - j, hits - 1) of C(size, hits) orders.
    """
    ranks = range(1, size - hits + 2)
    return sum(comb(size - j, hits - 1) / (ranked + j) for j in ranks) / comb(size, hits)


def _similarities(encoded: Encoded, query: RankingQuery) -> np.ndarray:
    """Returns the cosines of a query to its candidates in float64; 0 for zero vectors."""
    rows = encoded.rows((query.text, *query.candidates))
    vectors = encoded.matrix[rows].astype(np.float64)
    norms = np.sqrt((vectors**2).sum(axis=1, keepdims=True))
    unit = np.divide(vectors, norms, out=np.zeros_like(vectors), where=norms > 0)
    return (unit[1:] * unit[0]).sum(axis=1)  # row by row: equal vectors give equal sums, unlike a product


def _bm25_similarities(queries: Sequence[RankingQuery]) -> Iterator[np.ndarray]:
    try:
        import bm25s
    except ImportError as error:
        raise InputError("BM25 needs the package bm25s; `pip install bm25s`") from error

    documents = list(dict.fromkeys(text for query in queries for text in query.candidates))
    number = {text: i for i, text in enumerate(documents)}
    index = bm25s.BM25()
    index.index(bm25s.tokenize(documents, stopwords=None, show_progress=False), show_progress=False)
    for query in queries:
        words = bm25s.tokenize([query.text], stopwords=None, return_ids=False, show_progress=False)[0]
        yield index.get_scores(words)[[number[text] for text in query.candidates]].astype(np.float64)
