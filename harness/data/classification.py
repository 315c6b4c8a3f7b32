"""Readers of SentEval's classification files: MR, CR, SUBJ, MPQA, SST, TREC, MRPC, SICK's labels and SNLI.

Every reader takes the folder of a source and returns its parts: `train`, optionally `test` and `dev`.
Lines end only at a line feed: the files contain bytes (0x85) that Python would read as line ends in latin-1,
and SentEval's row counts do not count them.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

from harness.data.lines import read_lines, tab_separated
from harness.data.sts import read_sick
from harness.errors import InputError, near_matches

BINARY = ("0", "1")
QUESTION_TYPES = ("ABBR", "DESC", "ENTY", "HUM", "LOC", "NUM")
SICK_CLASSES = ("CONTRADICTION", "NEUTRAL", "ENTAILMENT")
SNLI_CLASSES = ("entailment", "neutral", "contradiction")
SNLI_TRAIN_ROWS = 549_367
"""Rows of SNLI's training set without the pairs that have no gold label."""
_SICK_FILES = {"train": "SICK_train.txt", "dev": "SICK_trial.txt", "test": "SICK_test_annotated.txt"}


class Examples(NamedTuple):
    """Labelled examples: one or two texts each, and the index of each label in `classes`."""

    texts: list[tuple[str, ...]]
    labels: list[int]
    classes: tuple[str, ...]


Parts = dict[str, Examples]


Labelled = Iterable[tuple[tuple[str, ...], str, str]]
"""Texts of an example, its label, and file and line for messages."""


def examples_of(rows: Labelled, classes: Sequence[str]) -> Examples:
    """Returns examples with the positions of their labels. Errors: InputError for an unknown label."""
    examples = Examples([], [], tuple(classes))
    for texts, label, where in rows:
        if label not in classes:
            raise InputError(
                f"{where}: unknown label {label!r}, expected one of {', '.join(classes)}"
                f"{near_matches(label, list(classes))}"
            )
        examples.texts.append(texts)
        examples.labels.append(examples.classes.index(label))
    return examples


def _polarity(folder: Path, *, positive: str, negative: str) -> Parts:
    """Returns one part `train` from two latin-1 files of one class each: class 1, then class 0."""
    sides = {"1": read_lines(folder / positive, "latin-1"), "0": read_lines(folder / negative, "latin-1")}
    rows = (((line,), label, "") for label, lines in sides.items() for line in lines)
    return {"train": examples_of(rows, BINARY)}


def _table(
    folder: Path, *, files: Mapping[str, str], label: int, texts: Sequence[int], skip: int = 0
) -> Parts:
    """Returns the parts in tab-separated UTF-8 files without quoting. label, texts: column numbers. files:
    one for each part. skip: number of header lines.
    """
    fewest = 1 + max(label, *texts)

    def rows(path: Path) -> Labelled:
        for number, fields in tab_separated(path, fewest, skip=skip):
            yield tuple(fields[column] for column in texts), fields[label], f"{path}: line {number}"

    return {part: examples_of(rows(folder / name), BINARY) for part, name in files.items()}


def _trec(folder: Path) -> Parts:
    """Returns TREC question types: `COARSE:fine question` in latin-1; the fine type is dropped."""

    def rows(path: Path) -> Labelled:
        for number, line in enumerate(read_lines(path, "latin-1"), start=1):
            where = f"{path} line {number}"
            label, colon, rest = line.strip().partition(":")
            fine, blank, question = rest.partition(" ")
            if not (colon and fine and blank):
                raise InputError(f"{where} is not `TYPE:fine question`; fetch the data set again")
            yield (question,), label, where

    files = {"train": "train_5500.label", "test": "TREC_10.label"}
    return {part: examples_of(rows(folder / name), QUESTION_TYPES) for part, name in files.items()}


def _sick_entailment(folder: Path) -> Parts:
    """Returns SICK pairs with their entailment label."""

    def rows(path: Path) -> Labelled:
        return (((row.pair.first, row.pair.second), row.entailment, "") for row in read_sick(path))

    return {part: examples_of(rows(folder / name), SICK_CLASSES) for part, name in _SICK_FILES.items()}


def _snli(folder: Path) -> Parts:
    """Returns SNLI pairs from three parallel files a part: s1 and s2 in latin-1, and labels."""
    parts = {}
    for part in ("train", "dev", "test"):
        first, second = (read_lines(folder / f"{side}.{part}", "latin-1") for side in ("s1", "s2"))
        labels = read_lines(folder / f"labels.{part}", "utf-8")
        if not len(first) == len(second) == len(labels):
            raise InputError(
                f"{folder}: s1.{part}, s2.{part} and labels.{part} have {len(first)}, {len(second)} and "
                f"{len(labels)} lines; fetch the data set again"
            )
        where = (f"{folder / f'labels.{part}'} line {number}" for number in range(1, 1 + len(labels)))
        rows = zip(zip(first, second, strict=True), labels, where, strict=True)
        parts[part] = examples_of(rows, SNLI_CLASSES)
    return parts


READERS: Mapping[str, Callable[[Path], Parts]] = {
    "MR": partial(_polarity, positive="rt-polarity.pos", negative="rt-polarity.neg"),
    "CR": partial(_polarity, positive="custrev.pos", negative="custrev.neg"),
    "SUBJ": partial(_polarity, positive="subj.objective", negative="subj.subjective"),  # as in SentEval
    "MPQA": partial(_polarity, positive="mpqa.pos", negative="mpqa.neg"),
    "SST": partial(
        _table,
        files={part: f"sentiment-{part}" for part in ("train", "dev", "test")},
        label=1,
        texts=(0,),
    ),
    "TREC": _trec,
    "MRPC": partial(
        _table,
        files={part: f"msr_paraphrase_{part}.txt" for part in ("train", "test")},
        label=0,
        texts=(3, 4),
        skip=1,
    ),
    "SICK-E": _sick_entailment,
    "SNLI": _snli,
}
"""Task -> the reader of its folder."""
