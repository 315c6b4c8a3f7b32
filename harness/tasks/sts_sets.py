"""The STS sets in both text forms: the STS benchmark, SemEval 2012 to 2016, SICK, and parts of these."""

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from pathlib import Path

from harness.data.sts import ScoredPair, StsbRow, read_pairs_jsonl, read_senteval_sts, read_sick, read_stsb
from harness.data.text import senteval_texts
from harness.errors import InputError
from harness.tasks.sts import StsTask, Subsets
from harness.tasks.text_forms import in_form

STSB_FILES = {"train": "train.jsonl", "dev": "validation.jsonl", "test": "test.jsonl"}
STSB_SPLITS = {"STSB": "test", "STSB-dev": "dev"}
PARTS_OF_YEAR = {
    "STS12": ("2012test", ("MSRpar", "MSRvid")),
    "STS13": ("2013", ("headlines",)),
    "STS14": ("2014", ("deft-forum", "deft-news", "headlines", "images")),
    "STS15": ("2015", ("answers-forums", "headlines", "images")),
    "STS16": ("2016", ("answer-answer", "headlines")),
}
"""Year -> its mark in STS-B and the subsets that train, dev and test of STS-B contain completely."""
THRESHOLDS = "positive=NUMBER:negative=NUMBER:longer=NUMBER:closer=NUMBER"
"""Arguments of a set of hard length."""


def sts_task(name: str, text: str, source: str, *, folder: Path | None = None) -> StsTask:
    """Returns STS-B test or dev, a yearly set, its pairs within STS-B (`-part`), or a set of SICK.

    SICKR is the test part of SICK, which SentEval does not change; SICKR-mteb is mteb's SICK-R, all 9,927
    pairs. The raw files of a year do not mark subsets, so they have only setting `all`.
    """

    def read(path: Path) -> Subsets:
        if name in STSB_SPLITS:
            split = STSB_SPLITS[name]
            return {split: read_stsb_split(path, split, form=text, source=source)}
        if name.endswith("-part"):
            return _read_part(path, name.removesuffix("-part"), form=text, source=source)
        if name == "SICKR":
            parts = {"test": [row.pair for row in read_sick(path / "SICK_test_annotated.txt")]}
        elif text == "raw" or name == "SICKR-mteb":
            parts = {"test": read_pairs_jsonl(path / "test.jsonl")}
        else:
            years = read_senteval_sts(path)
            parts = {subset.removeprefix("surprise."): pairs for subset, pairs in years.items()}
        return {subset: _in_form(pairs, text) for subset, pairs in parts.items()}

    return StsTask(name, source, read, folder=folder)


def hard_length_task(whole: StsTask, arguments: Sequence[str]) -> StsTask:
    """Returns the pairs of a task with misleading lengths, as one set; its name includes the thresholds.

    arguments: as in THRESHOLDS, in this order.
    Errors: InputError for other arguments, or unless negative is below positive.
    """
    base, given = f"{whole.name}-hard-length", ":".join(arguments)
    number, count = r"=(\d+(?:\.\d+)?)", r"=(\d+)"
    form = rf"positive{number}:negative{number}:longer{count}:closer{count}"
    match = re.fullmatch(form, given, flags=re.ASCII)
    if match is None or not float(match[2]) < float(match[1]):
        raise InputError(
            f"task {base}: thresholds {given!r}, expected {base}:{THRESHOLDS} with negative below positive"
        )
    positive, negative, longer, closer = float(match[1]), float(match[2]), int(match[3]), int(match[4])

    def read(path: Path) -> Subsets:
        pairs = [pair for subset in whole.read(path).values() for pair in subset]
        kept = misleading_lengths(pairs, positive=positive, negative=negative, longer=longer, closer=closer)
        return {"hard": kept}

    return StsTask(f"{base}:{given}", whole.source, read, folder=whole.folder)


def misleading_lengths(
    pairs: Iterable[ScoredPair], *, positive: float, negative: float, longer: int, closer: int
) -> list[ScoredPair]:
    """Returns the pairs with misleading lengths: similar pairs of unequal length, dissimilar pairs of equal
    length.

    Source: PT-BERT section 4.4. Pairs are kept if gold >= positive and their word counts differ by more than
    `longer`, or if gold <= negative and their word counts differ by less than `closer`; words are
    separated by blanks. The paper states 5 and 2 for the lengths, but not the thresholds of the gold scores.
    """
    kept = []
    for pair in pairs:
        difference = abs(len(pair.first.split()) - len(pair.second.split()))
        if (pair.score >= positive and difference > longer) or (
            pair.score <= negative and difference < closer
        ):
            kept.append(pair)
    return kept


def read_stsb_split(folder: Path, split: str, *, form: str, source: str) -> list[ScoredPair]:
    """Returns the pairs of STS-B train, dev or test in a text form."""
    return [row.pair for row in _stsb_rows(folder, split, form=form, source=source)]


def _stsb_rows(folder: Path, split: str, *, form: str, source: str) -> tuple[StsbRow, ...]:
    """Returns the rows of STS-B train, dev or test in a text form; rows of stsb-raw have no origin.

    Files are cached per process until they change, because yearly sets and their hard pairs share them.
    """
    path = folder / (STSB_FILES[split] if source == "stsb-raw" else f"sts-{split}.csv")
    state = path.stat() if path.is_file() else None
    version = (state.st_ino, state.st_mtime_ns, state.st_size) if state else None
    return _stsb_split(folder, split, form, source, version)


@lru_cache(maxsize=8)
def _stsb_split(
    folder: Path, split: str, form: str, source: str, version: tuple[int, int, int] | None
) -> tuple[StsbRow, ...]:
    """Returns the rows of a file in this version, None for no file; see `_stsb_rows`."""
    if source == "stsb-raw":
        rows = [StsbRow(pair, "", "") for pair in read_pairs_jsonl(folder / STSB_FILES[split])]
    else:
        rows = read_stsb(folder / f"sts-{split}.csv")
    pairs = [row.pair for row in rows]
    if source == "stsb" and form != "raw":
        texts = senteval_texts([text for pair in pairs for text in (pair.first, pair.second)])
        converted = zip(pairs, texts[::2], texts[1::2], strict=True)
        pairs = [pair._replace(first=first, second=second) for pair, first, second in converted]
    in_form = zip(rows, _in_form(pairs, form), strict=True)
    return tuple(row._replace(pair=pair) for row, pair in in_form)


def _read_part(folder: Path, year: str, *, form: str, source: str) -> Subsets:
    """Returns the subsets of a year that STS-B contains completely.

    2012: MSRpar 750, MSRvid 750 (of 3,108; missing SMTeuroparl, OnWN, SMTnews).
    2013: headlines 750 (of 1,500; missing FNWN, OnWN).
    2014: deft-forum 450, deft-news 300, headlines 750, images 750 (of 3,750; missing OnWN, tweet-news).
    2015: answers-forums 375, headlines 750, images 750 (of 3,000; missing answers-students, belief).
    2016: answer-answer 254, headlines 249 (of 1,186; missing plagiarism, postediting, question-question).
    Rows marked 2012train or 2017 belong to no test set of 2012 to 2016 and are skipped.
    """
    mark, names = PARTS_OF_YEAR[year]
    rows = [row for split in STSB_FILES for row in _stsb_rows(folder, split, form=form, source=source)]
    return {name: [row.pair for row in rows if (row.year, row.file) == (mark, name)] for name in names}


def _in_form(pairs: Iterable[ScoredPair], form: str) -> list[ScoredPair]:
    return [
        pair._replace(first=in_form(pair.first, form), second=in_form(pair.second, form)) for pair in pairs
    ]
