"""Semantic textual similarity: the correlation of cosines with human scores.

Text forms. `senteval` is what the papers evaluate: Moses tokens, lower-cased, joined by single blanks. `raw`
is the published sentence without blanks at its ends. SentEval leaves SICK as published, so its two forms
differ in blanks alone. Of STS-B either form can be made from any tier: converting the published sentences
gives SentEval's sentences exactly (all 8,628 pairs; a mirror test), so the order of tiers decides which
source is read.

Ties. Cosines are float64 and rounded to TIED_DECIMALS decimals, so that pairs whose cosines are equal on
paper are tied and do not follow rounding noise.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cache, cached_property, partial
from pathlib import Path

import numpy as np
from scipy.stats import rankdata

from harness.data.sts import ScoredPair, StsbRow, read_pairs_jsonl, read_senteval_sts, read_sick, read_stsb
from harness.errors import InputError
from harness.tasks.interface import Encode, Score
from harness.tasks.vectors import encode_unique

TIED_DECIMALS = 12
PAIRS_ASKED = 16_384
"""Pairs whose texts are asked for in one call, so that a set of any size takes bounded memory."""
_PAIRS_WIDENED = 1024
"""Pairs whose vectors are held in float64 at one time."""
Subsets = dict[str, list[ScoredPair]]


class StsTask:
    """One set of scored pairs. A set of several subsets is also scored subset by subset.

    Settings: `all` one correlation over all pairs; with several subsets also `mean` over them, `wmean`
    weighted by their pairs, and `subset:NAME`. The papers report `all`.
    """

    def __init__(
        self, name: str, source: str, read: Callable[[Path], Subsets], *, folder: Path | None = None
    ) -> None:
        self.name, self.suite, self.sources = name, "sts", (source,)
        self.read, self.folder = read, folder

    @cached_property
    def subsets(self) -> Subsets:
        """The scored pairs of each subset, read once, in the text form of the task."""
        folder = self.folder
        if folder is None:
            from harness.data.download import folder_of

            folder = folder_of(self.sources[0])
        return self.read(folder)

    @property
    def pairs(self) -> list[ScoredPair]:
        """All pairs, subset after subset."""
        return [pair for pairs in self.subsets.values() for pair in pairs]

    def texts(self) -> Iterable[str]:
        for pair in self.pairs:
            yield pair.first
            yield pair.second

    def evaluate(self, encode: Encode) -> list[Score]:
        similarities = cosines_of_pairs(encode, self.pairs, self.name)
        gold = np.array([pair.score for pair in self.pairs])
        sizes = [len(pairs) for pairs in self.subsets.values()]
        scores = []
        for metric, correlation in (("spearman", spearman), ("pearson", pearson)):
            scores.append(Score(self.name, metric, "all", correlation(gold, similarities), len(gold)))
            if len(sizes) > 1:
                ends = np.cumsum(sizes)[:-1]
                parts = zip(np.split(gold, ends), np.split(similarities, ends), strict=True)
                scores += self._by_subset(metric, [correlation(*part) for part in parts], sizes)
        undefined = [score for score in scores if not np.isfinite(score.value)]
        problem = next((score for score in undefined if score.setting not in ("mean", "wmean")), None)
        if problem:
            raise InputError(
                f"{self.name}: {problem.metric} over {problem.setting} is not defined: the cosines or gold "
                f"scores of its {problem.n} pairs are all equal; expected an encoder that tells texts apart"
            )
        return scores

    def _by_subset(self, metric: str, values: list[float], sizes: list[int]) -> list[Score]:
        total = sum(sizes)
        summary = {"mean": float(np.mean(values)), "wmean": float(np.average(values, weights=sizes))}
        return [Score(self.name, metric, setting, value, total) for setting, value in summary.items()] + [
            Score(self.name, metric, f"subset:{subset}", value, size)
            for subset, value, size in zip(self.subsets, values, sizes, strict=True)
        ]


def cosines_of_pairs(encode: Encode, pairs: Sequence[ScoredPair], task: str) -> np.ndarray:
    """Returns the cosine of each pair [N] in float64, rounded to TIED_DECIMALS decimals.

    `encode` is asked once for every PAIRS_ASKED pairs, which is once for each of the field's test sets.
    """
    starts = range(0, len(pairs), PAIRS_ASKED) or (0,)
    return np.concatenate([_cosines(encode, pairs[at : at + PAIRS_ASKED], task) for at in starts])


def _cosines(encode: Encode, pairs: Sequence[ScoredPair], task: str) -> np.ndarray:
    texts = (text for pair in pairs for text in (pair.first, pair.second))
    encoded = encode_unique(encode, texts, task, dtype=None)
    first, second = (encoded.rows(side) for side in ((p.first for p in pairs), (p.second for p in pairs)))
    cosines = np.empty(len(pairs))
    for start in range(0, len(pairs), _PAIRS_WIDENED):
        some = slice(start, start + _PAIRS_WIDENED)
        unit, other = (unit_rows(encoded.matrix[side[some]]) for side in (first, second))
        cosines[some] = np.einsum("nd,nd->n", unit, other)
    return np.round(cosines, TIED_DECIMALS)


def unit_rows(vectors: np.ndarray) -> np.ndarray:
    """Returns the rows [N, d] at unit length in float64; a zero row stays zero (cosine 0, as in SentEval)."""
    wide = np.asarray(vectors, dtype=np.float64)
    lengths = np.sqrt(np.einsum("nd,nd->n", wide, wide))[:, None]
    return np.divide(wide, lengths, out=np.zeros_like(wide), where=lengths > 0)


def pearson(first: np.ndarray, second: np.ndarray) -> float:
    """Returns the linear correlation in [-1, 1]; nan where one of the two is constant."""
    if len(first) < 2 or np.ptp(first) == 0 or np.ptp(second) == 0:
        return float("nan")
    a, b = first - first.mean(), second - second.mean()
    return float(a @ b / np.sqrt((a @ a) * (b @ b)))


def spearman(first: np.ndarray, second: np.ndarray) -> float:
    """Returns the correlation of ranks, tied values sharing their mean rank; nan where one is constant."""
    return pearson(rankdata(first), rankdata(second))


def in_form(text: str, form: str, *, published: bool) -> str:
    """Returns a sentence of a file as the encoder gets it; `published`: the file holds raw sentences.

    A sentence without words becomes a full stop in SentEval's form, as SentEval does.
    """
    if form == "raw":
        return text.strip()
    if published:
        from harness.data.text import senteval_text

        text = senteval_text(text)
    return " ".join(text.split()) or "."


def _formed(pairs: Iterable[ScoredPair], form: str, *, published: bool = False) -> list[ScoredPair]:
    return [
        ScoredPair(
            in_form(pair.first, form, published=published),
            in_form(pair.second, form, published=published),
            pair.score,
        )
        for pair in pairs
    ]


def _read_year(folder: Path, *, form: str) -> Subsets:
    if form == "raw":
        return {"test": _formed(read_pairs_jsonl(folder / "test.jsonl"), form)}
    return {
        name.removeprefix("surprise."): _formed(pairs, form)
        for name, pairs in read_senteval_sts(folder).items()
    }


def year_task(year: str, text: str, *, folder: Path | None = None) -> StsTask:
    """Returns one year, STS12 to STS16. The raw files do not tell subsets apart: setting `all` only."""
    source = year.lower() + ("-raw" if text == "raw" else "")
    return StsTask(year, source, partial(_read_year, form=text), folder=folder)


STSB_FILES = {"train": "train.jsonl", "dev": "validation.jsonl", "test": "test.jsonl"}
STSB_SOURCES = {"senteval": ("stsb-senteval", "stsb"), "raw": ("stsb", "stsb-raw")}


def stsb_source(form: str, tiers: Sequence[str] | None) -> str:
    """Returns which source of STS-B is read: the one in the earliest tier, the form's own files first."""
    from harness.data.download import tier_order
    from harness.data.sources import SOURCES

    order = tier_order(tiers)
    places = [
        min((order.index(tier) for tier in SOURCES[source].tiers if tier in order), default=len(order))
        for source in STSB_SOURCES[form]
    ]
    return STSB_SOURCES[form][int(np.argmin(places))]


@cache
def _formed_stsb(path: Path, form: str, source: str) -> list[StsbRow]:
    if source == "stsb-raw":
        pairs = read_pairs_jsonl(path)
        return [StsbRow(*pair, "", "", "") for pair in _formed(pairs, form)]
    published = source == "stsb"
    return [
        row._replace(
            first=in_form(row.first, form, published=published),
            second=in_form(row.second, form, published=published),
        )
        for row in read_stsb(path)
    ]


def read_stsb_split(folder: Path, split: str, *, form: str, source: str) -> list[StsbRow]:
    """Returns the rows of STS-B train, dev or test in a text form; of stsb-raw without their origin."""
    name = STSB_FILES[split] if source == "stsb-raw" else f"sts-{split}.csv"
    return _formed_stsb(folder / name, form, source)


def _scored(rows: Iterable[StsbRow]) -> list[ScoredPair]:
    return [ScoredPair(row.first, row.second, row.score) for row in rows]


def _stsb_task(name: str, split: str, text: str, *, tiers: Sequence[str] | None = None) -> StsTask:
    source = stsb_source(text, tiers)

    def read(folder: Path) -> Subsets:
        return {split: _scored(read_stsb_split(folder, split, form=text, source=source))}

    return StsTask(name, source, read)


def _read_sick(folder: Path, *, form: str) -> Subsets:
    rows = read_sick(folder / "SICK_test_annotated.txt")
    return {"test": _formed((ScoredPair(row.first, row.second, row.relatedness) for row in rows), form)}


def _read_sick_mteb(folder: Path, *, form: str) -> Subsets:
    return {"test": _formed(read_pairs_jsonl(folder / "test.jsonl"), form)}


def _sickr(text: str) -> StsTask:
    return StsTask("SICKR", "sickr", partial(_read_sick, form=text))


def _sickr_mteb(text: str) -> StsTask:
    return StsTask("SICKR-mteb", "sickr-raw", partial(_read_sick_mteb, form=text))


PARTS = {
    "STS12": ("2012test", ("MSRpar", "MSRvid")),
    "STS13": ("2013", ("headlines",)),
    "STS14": ("2014", ("deft-forum", "deft-news", "headlines", "images")),
    "STS15": ("2015", ("answers-forums", "headlines", "images")),
    "STS16": ("2016", ("answer-answer", "headlines")),
}
"""Year -> its mark in STS-B and the subsets that STS-B holds whole, across its train, dev and test."""


def part_task(year: str, text: str, *, tiers: Sequence[str] | None = None) -> StsTask:
    """Returns the subsets of a year that STS-B's rows rebuild, each whole: every pair with its score.

    2012: MSRpar 750, MSRvid 750 (of 3,108; missing SMTeuroparl, OnWN, SMTnews).
    2013: headlines 750 (of 1,500; missing FNWN, OnWN).
    2014: deft-forum 450, deft-news 300, headlines 750, images 750 (of 3,750; missing OnWN, tweet-news).
    2015: answers-forums 375, headlines 750, images 750 (of 3,000; missing answers-students, belief).
    2016: answer-answer 254, headlines 249 (of 1,186; missing plagiarism, postediting, question-question).
    Rows marked 2012train or 2017 belong to no test set of 2012 to 2016 and are left out.
    """
    source = "stsb" if text == "raw" else stsb_source(text, tiers)  # stsb-raw does not name origins

    def read(folder: Path) -> Subsets:
        mark, names = PARTS[year]
        rows = [
            row for split in STSB_FILES for row in read_stsb_split(folder, split, form=text, source=source)
        ]
        return {name: _scored(row for row in rows if (row.year, row.file) == (mark, name)) for name in names}

    return StsTask(f"{year}-part", source, read)


STS_TASKS: dict[str, Callable[..., StsTask]] = {
    **{year: partial(year_task, year) for year in PARTS},
    "SICKR": _sickr,
    "SICKR-mteb": _sickr_mteb,
}
"""Task name to factory; called with the text form."""
STSB_TASKS: dict[str, Callable[..., StsTask]] = {
    "STSB": partial(_stsb_task, "STSB", "test"),
    "STSB-dev": partial(_stsb_task, "STSB-dev", "dev"),
}
PART_TASKS: dict[str, Callable[..., StsTask]] = {f"{year}-part": partial(part_task, year) for year in PARTS}
"""Task name to factory; called with the text form and, where sources are to be chosen, the order of tiers."""
