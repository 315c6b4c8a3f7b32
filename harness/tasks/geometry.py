"""The shape of an embedding space: alignment, uniformity, anisotropy; and the pairs whose lengths mislead.

Vectors are brought to unit length first, always: figures made without that step do not compare.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path

import numpy as np

from harness.data.sts import ScoredPair, StsbRow
from harness.errors import InputError, near_matches
from harness.tasks.interface import Encode, Score
from harness.tasks.sts import PARTS, StsTask, part_task, read_stsb_split, stsb_source, unit_rows, year_task
from harness.tasks.vectors import encode_unique

POSITIVE_ABOVE = 4.0
"""Pairs of STS-B with a gold score above this are the positives of SimCSE's figure and those after it."""
SPLITS = {
    "geometry-dev": ("dev",),
    "geometry-test": ("test",),
    "geometry-whole": ("train", "dev", "test"),
}
_ROWS = 1024  # rows of the distance matrix held at once


def alignment(first: np.ndarray, second: np.ndarray) -> float:
    """Returns the mean squared distance of positive pairs on the unit sphere; lower is closer.

    Source: Wang and Isola 2020, eq. 1 with exponent 2; SimCSE uses pairs of STS-B with a gold score above 4.
    Shapes: first [N, d], second [N, d].
    Facts: equals 2 - 2 * mean cosine; in [0, 4]; 0 if each pair has one direction.
    Errors: InputError without pairs.
    """
    if not len(first) or first.shape != second.shape:
        raise InputError(
            f"alignment of {first.shape} and {second.shape}: expected two arrays [N, d] of positive pairs; "
            "take a set that has pairs with a high score"
        )
    difference = unit_rows(first) - unit_rows(second)
    return float(np.einsum("nd,nd->n", difference, difference).mean())


def uniformity(vectors: np.ndarray) -> float:
    """Returns the log of the mean of exp(-2 |x - y|^2) over unordered pairs of rows on the unit sphere.

    Source: Wang and Isola 2020, eq. 2 with t = 2. PT-BERT prints it without the logarithm; we keep it.
    Shapes: vectors [N, d]; needs N * 1024 numbers of memory.
    Facts: 0 if all rows have one direction; -8 for two opposite rows; lower is more spread.
    Errors: InputError for fewer than two rows.
    """
    count = _at_least_two(vectors)
    unit = unit_rows(vectors)
    total = 0.0
    for start in range(0, count, _ROWS):
        block = unit[start : start + _ROWS]
        rest = unit[start:]  # [R, d]: rows before `start` have met this block already
        kernel = np.exp(4.0 * np.minimum(block @ rest.T, 1.0) - 4.0)  # |x - y|^2 = 2 - 2 x.y
        total += float(kernel[:, len(block) :].sum())
        total += float(np.triu(kernel[:, : len(block)], k=1).sum())
    return float(np.log(total / (count * (count - 1) / 2)))


def anisotropy(vectors: np.ndarray) -> float:
    """Returns the mean cosine over all pairs of different rows; 0 for directions without a preference.

    The sum over pairs is (|sum of unit rows|^2 - N) / 2, so the exact mean costs no more than a sample.
    Shapes: vectors [N, d]. Facts: 1 if all rows have one direction; at least -1 / (N - 1).
    Errors: InputError for fewer than two rows, or a zero row.
    """
    count = _at_least_two(vectors)
    unit = unit_rows(vectors)
    if not unit.any(axis=1).all():
        raise InputError("anisotropy: a vector is zero, expected directions; leave such texts out")
    total = unit.sum(axis=0)
    return float((total @ total - count) / (count * (count - 1)))


def _at_least_two(vectors: np.ndarray) -> int:
    if vectors.ndim != 2 or len(vectors) < 2:
        raise InputError(f"vectors of shape {vectors.shape}: expected [N, d] with N of 2 or more; add texts")
    return len(vectors)


class GeometryTask:
    """Alignment of the positive pairs of STS-B, uniformity and anisotropy of its distinct sentences.

    Metrics `alignment`, `uniformity`, `anisotropy`; setting `all`; n counts pairs for alignment, else texts.
    """

    suite = "geometry"

    def __init__(
        self,
        name: str,
        text: str,
        *,
        tiers: Sequence[str] | None = None,
        folder: Path | None = None,
    ) -> None:
        self.name, self.text, self.folder = name, text, folder
        self.sources = (stsb_source(text, tiers),)

    def rows(self) -> list[StsbRow]:
        """Returns the rows of the splits, in the text form of the task."""
        from harness.data.download import folder_of

        source = self.sources[0]
        folder = self.folder or folder_of(source)
        return [
            row
            for split in SPLITS[self.name]
            for row in read_stsb_split(folder, split, form=self.text, source=source)
        ]

    def texts(self) -> Iterable[str]:
        for row in self.rows():
            yield row.first
            yield row.second

    def evaluate(self, encode: Encode) -> list[Score]:
        rows = self.rows()
        positive = [row for row in rows if row.score > POSITIVE_ABOVE]
        encoded = encode_unique(encode, self.texts(), self.name, dtype=np.float64)
        vectors = encoded.matrix
        zero = ~vectors.any(axis=1)
        if zero.any():
            raise InputError(
                f"{self.name}: {int(zero.sum())} of {len(vectors)} vectors are zero and have no direction; "
                "expected none, so this encoder has no geometry on these texts"
            )
        first, second = (
            vectors[encoded.rows(side)]
            for side in ((row.first for row in positive), (row.second for row in positive))
        )
        return [
            Score(self.name, "alignment", "all", alignment(first, second), len(positive)),
            Score(self.name, "uniformity", "all", uniformity(vectors), len(vectors)),
            Score(self.name, "anisotropy", "all", anisotropy(vectors), len(vectors)),
        ]


def misleading_lengths(
    pairs: Iterable[ScoredPair], *, positive: float, negative: float, longer: int, closer: int
) -> list[ScoredPair]:
    """Returns the pairs that length alone gets wrong: similar ones of unlike length, dissimilar ones of like.

    Source: PT-BERT section 4.4. Kept are pairs with gold >= positive whose word counts differ by more than
    `longer`, and pairs with gold <= negative whose word counts differ by less than `closer`; words are
    separated by blanks. The paper states 5 and 2 for the lengths and nothing for the gold scores.
    """
    kept = []
    for pair in pairs:
        difference = abs(len(pair.first.split()) - len(pair.second.split()))
        if (pair.score >= positive and difference > longer) or (
            pair.score <= negative and difference < closer
        ):
            kept.append(pair)
    return kept


THRESHOLDS: dict[str, Callable[[str], float]] = {
    "positive": float,
    "negative": float,
    "longer": int,
    "closer": int,
}


def read_thresholds(name: str, arguments: Sequence[str]) -> dict[str, float]:
    """Returns the thresholds of `positive=4`, `negative=3`, `longer=5`, `closer=2`: all four, each once.

    Errors: InputError for a missing, repeated or unknown threshold, one that is no number, or negative not
    below positive.
    """
    example = ":".join(f"{key}=NUMBER" for key in THRESHOLDS)
    found: dict[str, float] = {}
    for argument in arguments:
        key, _, value = argument.partition("=")
        if key not in THRESHOLDS or key in found:
            problem = "given twice" if key in found else f"not known{near_matches(key, list(THRESHOLDS))}"
            raise InputError(f"task {name}: threshold {key!r} is {problem}, expected {name}:{example}")
        try:
            found[key] = THRESHOLDS[key](value)
        except ValueError:
            raise InputError(
                f"task {name}: {key}={value!r} is no {THRESHOLDS[key].__name__}, expected {name}:{example}"
            ) from None
    missing = [key for key in THRESHOLDS if key not in found]
    if missing:
        raise InputError(
            f"task {name}: no threshold {missing[0]!r}, expected {name}:{example}; state all four"
        )
    if not found["negative"] < found["positive"]:
        raise InputError(
            f"task {name}: negative={found['negative']:g} is not below positive={found['positive']:g}; "
            "expected two separate ranges of gold scores"
        )
    return found


def hard_length_task(
    year: str, text: str, *, arguments: Sequence[str], folder: Path | None = None
) -> StsTask:
    """Returns the pairs of a year whose lengths mislead, as one set; its name carries the thresholds."""
    return _hard_subset(f"{year}-hard-length", year_task(year, text, folder=folder), arguments)


def hard_part_task(
    year: str, text: str, *, arguments: Sequence[str], tiers: Sequence[str] | None = None
) -> StsTask:
    """Returns the same of the part of a year that STS-B carries."""
    return _hard_subset(f"{year}-part-hard-length", part_task(year, text, tiers=tiers), arguments)


def _hard_subset(base: str, whole: StsTask, arguments: Sequence[str]) -> StsTask:
    thresholds = read_thresholds(base, arguments)
    name = ":".join([base, *(f"{key}={thresholds[key]:g}" for key in THRESHOLDS)])

    def read(path: Path) -> dict[str, list[ScoredPair]]:
        pairs = [pair for subset in whole.read(path).values() for pair in subset]
        return {"hard": misleading_lengths(pairs, **thresholds)}  # type: ignore[arg-type]

    return StsTask(name, whole.sources[0], read, folder=whole.folder)


GEOMETRY_TASKS: dict[str, Callable[..., GeometryTask]] = {
    name: partial(GeometryTask, name) for name in SPLITS
}
"""Task name to factory; called with the text form and the order of tiers."""
HARD_TASKS: dict[str, Callable[..., StsTask]] = {
    f"{year}-hard-length": partial(hard_length_task, year) for year in PARTS
}
HARD_PART_TASKS: dict[str, Callable[..., StsTask]] = {
    f"{year}-part-hard-length": partial(hard_part_task, year) for year in PARTS
}
"""Task name to factory; called with the text form and the thresholds as `key=number`."""
