"""Readers of re-ranking sets: AskUbuntu and SciDocs in USEB's layout, TREC QA as JSON lines."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from harness.data.lines import read_lines, tab_separated
from harness.errors import InputError

SCIDOCS_SUBTASKS = ("cite", "cocite", "coview", "coread")


class RankingQuery(NamedTuple):
    """A query with its candidates; `positives` counts relevant documents, ranked or not.

    `tie_order` are positions of candidates: the order that the code of the published numbers gives to
    candidates of equal similarity, None without a published protocol.
    """

    text: str
    candidates: tuple[str, ...]
    relevant: tuple[bool, ...]
    positives: int
    tie_order: tuple[int, ...] | None = None


Queries = dict[str, list[RankingQuery]]


def read_trecqa(folder: Path) -> Queries:
    """Returns TREC QA answer selection: one object per line with `query`, `positive` and `negative` texts."""
    path = folder / "test.jsonl"
    queries = []
    for number, line in enumerate(read_lines(path, "utf-8"), start=1):
        where = f"{path}: line {number}"
        try:
            row = json.loads(line)
            text, positive, negative = row["query"], row["positive"], row["negative"]
        except (json.JSONDecodeError, TypeError, KeyError):
            raise InputError(
                f"{where} is not an object with query, positive and negative; fetch it again"
            ) from None
        relevant = (True,) * len(positive) + (False,) * len(negative)
        candidates = tuple(candidate.strip() for candidate in (*positive, *negative))
        queries.append(_checked(RankingQuery(text.strip(), candidates, relevant, len(positive)), where))
    return {"all": queries}


def read_askubuntu(folder: Path) -> Queries:
    """Returns AskUbuntu titles: 20 candidates a query, with their BM25 scores in the last column.

    Ties: USEB sorts the candidates by BM25 and then, stably, by similarity, so ties keep BM25's order. Lines
    without a relevant question are skipped as in USEB: 186 of 200 test queries remain.
    """
    titles = {fields[0]: fields[1] for _, fields in tab_separated(folder / "text_tokenized.txt", 2)}
    path = folder / "test.txt"
    queries = []
    for number, (query, relevants, pool, column, *_) in tab_separated(path, 4):
        where = f"{path}: line {number}"
        similar, candidates = set(relevants.split()), pool.split()
        if not similar:
            continue
        for question in sorted({query, *candidates}.difference(titles)):
            raise InputError(f"{where}: question {question} has no title in text_tokenized.txt")
        for question in sorted(similar.difference(candidates)):
            raise InputError(f"{where}: {question} is similar but not a candidate")
        relevant = tuple(candidate in similar for candidate in candidates)
        texts = tuple(titles[candidate] for candidate in candidates)
        scores = _bm25_column(column, len(candidates), where)
        by_bm25 = tuple(sorted(range(len(candidates)), key=lambda i: -scores[i]))
        queries.append(_checked(RankingQuery(titles[query], texts, relevant, sum(relevant), by_bm25), where))
    return {"all": queries}


def read_scidocs(folder: Path) -> Queries:
    """Returns the four SciDocs sub-tasks on titles.

    As in USEB, queries without a title are skipped and candidates without a title are not ranked, but still
    count as positives if relevant.
    Ties: trec_eval, which USEB calls, puts documents of equal similarity in descending order of their ids.
    """
    path = folder / "data.json"
    try:
        content = json.loads("\n".join(read_lines(path, "utf-8")))
        corpus, judged = content["corpus"], {name: content["test"][name] for name in SCIDOCS_SUBTASKS}
    except (json.JSONDecodeError, TypeError, KeyError) as error:
        raise InputError(
            f"{path} has no corpus or no test part with {', '.join(SCIDOCS_SUBTASKS)}; fetch it again"
        ) from error
    titles = {key: (paper.get("title") or "").strip() for key, paper in corpus.items()}
    return {name: _scidocs_queries(judged[name], titles, f"{path} test/{name}") for name in judged}


def _scidocs_queries(
    judged: Mapping[str, Mapping[str, Any]], titles: Mapping[str, str], where: str
) -> list[RankingQuery]:
    queries = []
    for key, documents in judged.items():
        if not titles.get(key):
            continue
        titled = [document for document in documents if titles.get(document)]
        texts = tuple(titles[document] for document in titled)
        relevant = tuple(documents[document] > 0 for document in titled)
        positives = sum(1 for judgement in documents.values() if judgement > 0)
        by_id = tuple(sorted(range(len(titled)), key=lambda i: titled[i].encode(), reverse=True))
        query = RankingQuery(titles[key], texts, relevant, positives, by_id)
        queries.append(_checked(query, f"{where} query {key}"))
    return queries


def _bm25_column(field: str, count: int, where: str) -> tuple[float, ...]:
    try:
        scores = tuple(float(score) for score in field.split())
    except ValueError as error:
        raise InputError(f"{where}: the last field is not a list of BM25 scores; fetch it again") from error
    if len(scores) != count:
        raise InputError(f"{where} has {len(scores)} BM25 scores for {count} candidates")
    return scores


def _checked(query: RankingQuery, where: str) -> RankingQuery:
    if not query.candidates:
        raise InputError(f"{where} has an empty candidate list; remove the query")
    if not query.positives:
        raise InputError(f"{where} has no positive; remove the query")
    return query


READERS: Mapping[str, Callable[[Path], Queries]] = {
    "AskUbuntu": read_askubuntu,
    "SciDocs": read_scidocs,
    "TRECQA": read_trecqa,
}
"""Task -> the reader of its folder."""
