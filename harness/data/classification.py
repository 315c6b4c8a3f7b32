"""Readers of SentEval's classification files: MR, CR, SUBJ, MPQA, SST, TREC, MRPC, SICK's labels and SNLI.

Every reader takes the folder of a source and returns its parts: `train`, perhaps `test`, perhaps `dev`.
Lines end only at a line feed: the files contain bytes (0x85) that Python would read as line ends in latin-1,
and SentEval's row counts do not count them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

from harness.data.lines import decoded_lines, tab_separated
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
    """Labelled examples: one text or two each, and the position of each one's label in `classes`."""

    texts: list[tuple[str, ...]]
    labels: list[int]
    classes: tuple[str, ...]


Parts = dict[str, Examples]


def read_lines(path: Path, encoding: str) -> list[str]:
    """Returns the lines of `path`. Errors: InputError for a missing, undecodable or empty file."""
    lines = [line for _, line in decoded_lines(path, encoding)]
    if not lines:
        raise InputError(f"{path} is empty; expected one example per line; fetch the data set again")
    return lines


def class_number(label: str, classes: Sequence[str], where: str) -> int:
    """Returns the position of `label` in `classes`; InputError, which names `where`, for any other label."""
    if label not in classes:
        hint = near_matches(label, list(classes))
        raise InputError(
            f"{where}: label {label!r} is outside the set; expected one of {', '.join(classes)}{hint}"
        )
    return list(classes).index(label)


def _polarity(folder: Path, *, positive: str, negative: str) -> Parts:
    """Returns one part `train` from two latin-1 files of one class each: class 1, then class 0."""
    examples = Examples([], [], BINARY)
    for label, name in ((1, positive), (0, negative)):
        lines = read_lines(folder / name, "latin-1")
        examples.texts.extend((line,) for line in lines)
        examples.labels.extend([label] * len(lines))
    return {"train": examples}


def _table(
    folder: Path, *, files: Mapping[str, str], label: int, texts: Sequence[int], fewest: int, skip: int = 0
) -> Parts:
    """Returns the parts in tab-separated UTF-8 files without quoting: label and texts are of these columns.

    files: of each part. fewest: columns of a line. skip: lines of a header.
    """
    parts = {}
    for part, name in files.items():
        examples = Examples([], [], BINARY)
        for number, fields in tab_separated(folder / name, fewest, skip=skip):
            examples.texts.append(tuple(fields[column] for column in texts))
            examples.labels.append(class_number(fields[label], BINARY, f"{folder / name}: line {number}"))
        parts[part] = examples
    return parts


def _trec(folder: Path) -> Parts:
    """Returns TREC question types: `COARSE:fine question` in latin-1; the fine type is dropped."""
    parts = {}
    for part, name in (("train", "train_5500.label"), ("test", "TREC_10.label")):
        examples = Examples([], [], QUESTION_TYPES)
        for number, line in enumerate(read_lines(folder / name, "latin-1"), start=1):
            where = f"{folder / name} line {number}"
            label, colon, rest = line.strip().partition(":")
            fine, blank, question = rest.partition(" ")
            if not (colon and fine and blank):
                raise InputError(f"{where} is not `TYPE:fine question`; fetch the data set again")
            examples.texts.append((question,))
            examples.labels.append(class_number(label, QUESTION_TYPES, where))
        parts[part] = examples
    return parts


def _sick_entailment(folder: Path) -> Parts:
    """Returns SICK pairs with their entailment label."""
    parts = {}
    for part, name in _SICK_FILES.items():
        rows = read_sick(folder / name)
        parts[part] = Examples(
            [(row.first, row.second) for row in rows],
            [SICK_CLASSES.index(row.entailment) for row in rows],
            SICK_CLASSES,
        )
    return parts


def _snli(folder: Path) -> Parts:
    """Returns SNLI pairs from three parallel files a part: s1 and s2 in latin-1, and labels."""
    parts = {}
    for part in ("train", "dev", "test"):
        first, second = (read_lines(folder / f"{side}.{part}", "latin-1") for side in ("s1", "s2"))
        labels = read_lines(folder / f"labels.{part}", "utf-8")
        if not len(first) == len(second) == len(labels):
            raise InputError(
                f"{folder}: s1.{part}, s2.{part} and labels.{part} have {len(first)}, {len(second)} and "
                f"{len(labels)} lines; expected equal counts, so fetch the data set again"
            )
        numbers = [
            class_number(label, SNLI_CLASSES, f"{folder / f'labels.{part}'} line {i}")
            for i, label in enumerate(labels, start=1)
        ]
        parts[part] = Examples(list(zip(first, second, strict=True)), numbers, SNLI_CLASSES)
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
        fewest=2,
    ),
    "TREC": _trec,
    "MRPC": partial(
        _table,
        files={part: f"msr_paraphrase_{part}.txt" for part in ("train", "test")},
        label=0,
        texts=(3, 4),
        fewest=5,
        skip=1,
    ),
    "SICK-E": _sick_entailment,
    "SNLI": _snli,
}
"""Task -> the reader of its folder."""
