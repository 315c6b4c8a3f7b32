"""The test sets of SemEval 2012 to 2016 and of SICK as scored pairs; and what STS-B holds of each year."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path

from harness.data.sts import ScoredPair, read_pairs_jsonl, read_senteval_sts, read_sick
from harness.tasks.sts import StsTask, Subsets
from harness.tasks.stsb import STSB_FILES, read_stsb_split, scored
from harness.tasks.text_forms import in_form

PARTS = {
    "STS12": ("2012test", ("MSRpar", "MSRvid")),
    "STS13": ("2013", ("headlines",)),
    "STS14": ("2014", ("deft-forum", "deft-news", "headlines", "images")),
    "STS15": ("2015", ("answers-forums", "headlines", "images")),
    "STS16": ("2016", ("answer-answer", "headlines")),
}
"""Year -> its mark in STS-B and the subsets that STS-B holds whole, across its train, dev and test."""


def sts_task(name: str, text: str, source: str, *, folder: Path | None = None) -> StsTask:
    """Returns a yearly set, what STS-B holds of one (`-part`), or a set of SICK.

    SICKR is the test part of SICK, which SentEval leaves as published; SICKR-mteb is mteb's SICK-R, all 9,927
    pairs. The raw files of a year do not mark subsets: only setting `all`.
    """
    read: Callable[..., Subsets]
    if name.endswith("-part"):
        read = partial(_read_part, year=name.removesuffix("-part"), source=source)
    elif name == "SICKR":
        read = _read_sick
    else:
        read = _read_jsonl if text == "raw" or name == "SICKR-mteb" else _read_year
    return StsTask(name, source, partial(read, form=text), folder=folder)


def _read_part(folder: Path, *, form: str, year: str, source: str) -> Subsets:
    """Returns the subsets of a year that STS-B's rows rebuild, each whole: every pair with its score.

    2012: MSRpar 750, MSRvid 750 (of 3,108; missing SMTeuroparl, OnWN, SMTnews).
    2013: headlines 750 (of 1,500; missing FNWN, OnWN).
    2014: deft-forum 450, deft-news 300, headlines 750, images 750 (of 3,750; missing OnWN, tweet-news).
    2015: answers-forums 375, headlines 750, images 750 (of 3,000; missing answers-students, belief).
    2016: answer-answer 254, headlines 249 (of 1,186; missing plagiarism, postediting, question-question).
    Rows marked 2012train or 2017 belong to no test set of 2012 to 2016 and are left out.
    """
    mark, names = PARTS[year]
    rows = [row for split in STSB_FILES for row in read_stsb_split(folder, split, form=form, source=source)]
    return {name: scored(row for row in rows if (row.year, row.file) == (mark, name)) for name in names}


def _read_year(folder: Path, *, form: str) -> Subsets:
    return {
        name.removeprefix("surprise."): _in_form(pairs, form)
        for name, pairs in read_senteval_sts(folder).items()
    }


def _read_sick(folder: Path, *, form: str) -> Subsets:
    rows = read_sick(folder / "SICK_test_annotated.txt")
    return {"test": _in_form((ScoredPair(row.first, row.second, row.relatedness) for row in rows), form)}


def _read_jsonl(folder: Path, *, form: str) -> Subsets:
    return {"test": _in_form(read_pairs_jsonl(folder / "test.jsonl"), form)}


def _in_form(pairs: Iterable[ScoredPair], form: str) -> list[ScoredPair]:
    def formed(text: str) -> str:
        return in_form(text, form, published=False)

    return [ScoredPair(formed(pair.first), formed(pair.second), pair.score) for pair in pairs]
