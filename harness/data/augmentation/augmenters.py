"""Build the function that makes a view, from its settings."""

from collections.abc import Sequence
from pathlib import Path

from harness.data.augmentation.edits import Synonyms, edit_text
from harness.data.augmentation.records import Augmented, Augmenter, joined_lines, judged, row_generator
from harness.data.augmentation.views import Copy, Edit, Fill, Generate, View
from harness.data.corpora import read_corpus
from harness.errors import InputError

Columns = list[tuple[str, ...]]
"""For each row its sentence and its views, each on one line."""


def read_columns(corpus: Path) -> Columns:
    """Returns sentence and views of every row of a corpus folder."""
    return [tuple(joined_lines(text) for text in row.columns) for row in read_corpus(corpus)]


def column_of(rows: Columns, column: int, *, where: str) -> list[str]:
    """Returns one column of every row. Errors: InputError if the corpus has fewer columns."""
    if column >= len(rows[0]):
        raise InputError(
            f"{where}: column {column} of a corpus with {len(rows[0]) - 1} views; use a number from 0 to "
            f"{len(rows[0]) - 1}"
        )
    return [row[column] for row in rows]


def build_augmenter(
    view: View, rows: Columns, *, seed: int, number: int, tool: Path, device: str
) -> Augmenter:
    """Returns the function that makes `view` of rows' texts; models are loaded here.

    seed: the corpus' seed. number: of the view, from 1. tool: folder of the tool.
    """
    if isinstance(view, Generate):
        from harness.data.augmentation.models import Generator

        return Generator(tool, view, device=device)
    if isinstance(view, Fill):
        from harness.data.augmentation.models import Filler

        return Filler(tool, view, seed=seed, number=number, device=device)
    if isinstance(view, Copy):
        column = _copied(view, rows, number=number, tool=tool)
        return lambda ids, texts: [judged(text, column[row]) for row, text in zip(ids, texts, strict=True)]
    synonyms = _synonyms(view, tool)

    def edit(ids: Sequence[int], texts: Sequence[str]) -> list[Augmented]:
        generators = (row_generator(seed, number, row) for row in ids)
        return [
            judged(text, edit_text(text, view, rng, synonyms))
            for text, rng in zip(texts, generators, strict=True)
        ]

    return edit


def _synonyms(view: Edit, tool: Path) -> Synonyms:
    if view.kind not in ("synonym", "insert"):
        return lambda word: ()
    from harness.data.wordnet import WordNet

    return WordNet(tool).synonyms


def _copied(view: Copy, rows: Columns, *, number: int, tool: Path) -> list[str]:
    source = rows
    if view.source == "tool":
        source = read_columns(tool)
        differ = [
            row for row, (ours, theirs) in enumerate(zip(rows, source, strict=False)) if ours[0] != theirs[0]
        ]
        if differ or len(rows) != len(source):
            first = differ[0] if differ else min(len(rows), len(source))
            raise InputError(
                f"{tool}: its sentences differ from the origin's, first at row {first}; "
                "make both from one corpus"
            )
    return column_of(source, view.column, where=f"view {number}")
