"""The rows of a derived corpus: the sentences of its origin with views made of them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from harness.augmentation.augmenters import Columns, build_augmenter, column_of, read_columns
from harness.augmentation.records import Augmented, augment_all, count_outcomes
from harness.augmentation.views import Copy, Generate, View


class Derived(NamedTuple):
    """Sentences, for each view its records in their order, and for each view how many had which outcome."""

    sentences: list[str]
    views: list[list[Augmented]]
    outcomes: list[dict[str, int]]


def derive_rows(
    name: str,
    views: Sequence[View],
    *,
    origin: Path,
    tool: Path,
    seed: int,
    count: int | None,
    state: Path,
    device: str,
) -> Derived:
    """Returns `count` rows of `origin` (None: all) with their views; a killed call goes on from `state`.

    Errors: InputError that names the corpus and the view, if a column is missing or too many outputs are bad.
    """
    rows = evenly_spaced(read_columns(origin), count)
    made, outcomes = [], []
    for number, view in enumerate(views, 1):
        where = f"corpus {name}, view {number}"
        texts = column_of(rows, 0 if isinstance(view, Copy) else view.column, where=where)
        augmenter = build_augmenter(view, rows, seed=seed, number=number, tool=tool, device=device)
        records = augment_all(texts, augmenter, state / str(number))
        limit = view.fallback_limit if isinstance(view, Generate) else None
        outcomes.append(count_outcomes(records, limit=limit, where=where))
        made.append(records)
    return Derived([row[0] for row in rows], made, outcomes)


def evenly_spaced(rows: Columns, count: int | None) -> Columns:
    """Returns `count` of the rows at even distances, the first among them; all where there are no more."""
    if count is None or count >= len(rows):
        return rows
    return [rows[index * len(rows) // count] for index in range(count)]


def write_rows(path: Path, derived: Derived) -> None:
    """Writes one line a row: the sentence, then its views, after tabs."""
    with path.open("w", encoding="utf-8", newline="\n") as file:
        for sentence, *records in zip(derived.sentences, *derived.views, strict=True):
            file.write("\t".join((sentence, *(record.text for record in records))) + "\n")
