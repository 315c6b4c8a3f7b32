"""The rows of a derived corpus: the sentences of its origin with their views."""

from collections.abc import Sequence
from pathlib import Path

from harness.data.augmentation.augmenters import build_augmenter, column_of, read_columns
from harness.data.augmentation.records import augment_all, count_outcomes
from harness.data.augmentation.views import Copy, Generate, View
from harness.data.corpora import evenly_spaced


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
) -> tuple[list[str], list[dict[str, int]]]:
    """Returns a line for each of `count` rows of `origin` (None: all), and each view's number of outcomes.

    A line is the sentence and its views, after tabs. A killed call continues from `state`. Errors: InputError
    that names the corpus and the view, if a column is missing or too many outputs are bad.
    """
    rows = evenly_spaced(read_columns(origin), count)
    columns, outcomes = [[row[0] for row in rows]], []
    for number, view in enumerate(views, 1):
        where = f"corpus {name}, view {number}"
        texts = column_of(rows, 0 if isinstance(view, Copy) else view.column, where=where)
        augmenter = build_augmenter(view, rows, seed=seed, number=number, tool=tool, device=device)
        records = augment_all(texts, augmenter, state / str(number))
        limit = view.fallback_limit if isinstance(view, Generate) else None
        outcomes.append(count_outcomes(records, limit=limit, where=where))
        columns.append([record.text for record in records])
    return ["\t".join(row) + "\n" for row in zip(*columns, strict=True)], outcomes
