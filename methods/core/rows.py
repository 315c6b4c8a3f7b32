"""The rows of a corpus, which readers of data make and methods train on."""

from typing import NamedTuple

Column = int
"""Text of a row: TEXT is the sentence itself, p its p-th augmentation, as in recipes/corpora.yaml."""

TEXT, FIRST_AUGMENTATION = 0, 1


class Row(NamedTuple):
    """One training example: a sentence and its augmentations.

    `index` is the row's number in the whole corpus and the key of everything that is kept per row.
    """

    index: int  # type: ignore[assignment]  # hides tuple.index, which no one calls on a row
    text: str
    augmentations: tuple[str, ...] = ()

    @property
    def columns(self) -> tuple[str, ...]:
        """All texts of the row, by column."""
        return (self.text, *self.augmentations)
