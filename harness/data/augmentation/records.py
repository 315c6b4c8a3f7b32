"""The output of an augmenter per row, kept in parts so that a killed run continues."""

from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np

from harness.errors import InputError
from harness.io.files import write_record
from harness.io.records import read_object
from methods.core.files import DIGEST
from methods.core.progress import progress_bar

PART = 2048
"""Rows of one part: the work that a killed run loses at most, and the pool from which batches are formed."""

RECORDS = "records"
"""Entry of a part's file: its records in the order of the rows."""

Outcome = Literal["augmented", "unchanged", "empty", "runaway"]
FALLBACKS: tuple[Outcome, ...] = ("empty", "runaway")
"""Outcomes that keep the input instead of the model's output."""


class Augmented(NamedTuple):
    """The text of one row and its outcome."""

    text: str
    outcome: Outcome


Augmenter = Callable[[Sequence[int], Sequence[str]], list[Augmented]]
"""(ids, texts) -> one augmentation for each, in their order."""


def row_generator(seed: int, view: int, row: int) -> np.random.Generator:
    """Returns the generator of a row, keyed by the corpus' seed, the view's number and the row's id."""
    return np.random.Generator(np.random.Philox(key=seed, counter=[0, 0, view, row]))


def joined_lines(text: str) -> str:
    """Returns the text with every run of white space as one blank, for a file of lines and tabs."""
    return " ".join(text.split())


def judged(text: str, made: str, *, runaway: bool = False) -> Augmented:
    """Returns `made`, or `text` itself if `made` is empty or ran away."""
    made = joined_lines(made)
    if runaway or not made:
        return Augmented(text, "runaway" if made else "empty")
    return Augmented(made, "unchanged" if made == text else "augmented")


def augment_all(
    texts: Sequence[str], augmenter: Augmenter, folder: Path, *, part: int = PART
) -> list[Augmented]:
    """Returns one augmentation per row; existing parts in `folder` are reused. folder: named by the
    identity of the corpus, see `harness.plan.identity.corpus_identity`. Errors: InputError for a damaged
    part.
    """
    records: list[Augmented] = []
    with progress_bar(len(texts), "rows") as bar:
        for start in range(0, len(texts), part):
            ids = range(start, min(start + part, len(texts)))
            path = folder / f"{start:09d}.json"
            if not path.is_file():
                write_record(path, {RECORDS: augmenter(ids, [texts[row] for row in ids])})
            kept = read_object(path, DIGEST, RECORDS, again="remove the file")[RECORDS]
            records += (Augmented(*record) for record in kept)
            bar.update(len(ids))
    return records


def count_outcomes(records: Sequence[Augmented], *, limit: float | None, where: str) -> dict[str, int]:
    """Returns the number of rows by outcome.

    Errors: InputError if more than the share `limit` are empty or ran away: the tool does not fit the texts.
    """
    counts = Counter(record.outcome for record in records)
    fallen = sum(counts[outcome] for outcome in FALLBACKS)
    if limit is not None and fallen > limit * len(records):
        raise InputError(
            f"{where}: {fallen} of {len(records)} outputs are empty or run away, expected a share of at most "
            f"{limit}; check the model's files or raise fallback_limit in recipes/corpora.yaml"
        )
    return dict(sorted(counts.items()))
