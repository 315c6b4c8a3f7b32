"""Readers of the two sentence-pair inference sets: SICK's entailment labels and SNLI in SentEval's layout."""

from __future__ import annotations

from pathlib import Path

from harness.data.classification import Examples, Parts, class_number, read_lines
from harness.data.sts import read_sick
from harness.errors import InputError

SICK_CLASSES = ("CONTRADICTION", "NEUTRAL", "ENTAILMENT")
SNLI_CLASSES = ("entailment", "neutral", "contradiction")
SNLI_TRAIN_ROWS = 549_367
"""Rows of SNLI's training set without the pairs that have no gold label."""

_SICK_FILES = {"train": "SICK_train.txt", "dev": "SICK_trial.txt", "test": "SICK_test_annotated.txt"}


def read_sick_entailment(folder: Path) -> Parts:
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


def read_snli(folder: Path) -> Parts:
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
