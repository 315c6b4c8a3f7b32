"""The pairs of an STS set with misleading lengths: similar of unequal, dissimilar of equal length."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from harness.data.sts import ScoredPair
from harness.errors import InputError, near_matches
from harness.tasks.sts import StsTask, Subsets


def misleading_lengths(
    pairs: Iterable[ScoredPair], *, positive: float, negative: float, longer: int, closer: int
) -> list[ScoredPair]:
    """Returns the pairs with misleading lengths: similar ones of unequal, dissimilar ones of equal length.

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


THRESHOLDS: dict[str, Callable[[str], float]] = {
    "positive": float,
    "negative": float,
    "longer": int,
    "closer": int,
}


def read_thresholds(name: str, arguments: Sequence[str]) -> dict[str, float]:
    """Returns the thresholds of `positive=4`, `negative=3`, `longer=5`, `closer=2`: all four, each once.

    Errors: InputError for a missing, repeated or unknown threshold, one that is not a number, or negative not
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


def hard_length_task(whole: StsTask, arguments: Sequence[str]) -> StsTask:
    """Returns the pairs of a task whose lengths mislead, as one set; its name carries the thresholds.

    Errors: those of `read_thresholds`.
    """
    base = f"{whole.name}-hard-length"
    thresholds = read_thresholds(base, arguments)
    name = ":".join([base, *(f"{key}={thresholds[key]:g}" for key in THRESHOLDS)])

    def read(path: Path) -> Subsets:
        pairs = [pair for subset in whole.read(path).values() for pair in subset]
        return {"hard": misleading_lengths(pairs, **thresholds)}  # type: ignore[arg-type]

    return StsTask(name, whole.source, read, folder=whole.folder)
