"""Comparison of two states of all scores: differences, and which scores moved."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from statistics import fmean
from typing import Literal, NamedTuple

from harness.evidence.moved import Answer, Band, answer_of, band_of, is_watched, worst
from harness.evidence.schema import ResultFile, ScoreName

Outcome = Answer | Literal["added", "removed"]


class ScoreKey(NamedTuple):
    """Key of a score: a system on a task, by one metric."""

    system: str
    backbone: str
    task: str
    metric: str
    setting: str
    selection: str
    text: str

    @property
    def title(self) -> str:
        """The task, with the setting and the selection unless they are the usual ones."""
        usual = ("all", "best-dev")
        return ", ".join([self.task, *(part for part in (self.setting, self.selection) if part not in usual)])


class Scored(NamedTuple):
    """A score of one run in points, with the identity of its weights."""

    points: float
    weights: str
    trained: bool
    recipe: str
    name: ScoreName


@dataclass(frozen=True)
class Move:
    """One score before and after, raw units, mean over the seeds that both sides have, or over all if they
    share none; `seeds` counts both sides.

    band: of these seeds before, in points; None if a side is missing. outcome: the worst of the seeds.
    recipe_changed: the two sides do not run the same recipe.
    """

    key: ScoreKey
    before: float | None
    after: float | None
    seeds: tuple[int, int]
    band: Band | None
    outcome: Outcome
    recipe_changed: bool

    @property
    def change(self) -> float | None:
        """After minus before, None if a side is missing."""
        return None if self.before is None or self.after is None else self.after - self.before

    @property
    def went_down(self) -> bool:
        """Whether the score moved and is lower."""
        return self.outcome == "moved" and (self.change or 0.0) < 0


def moves_between(before: Iterable[ResultFile], after: Iterable[ResultFile]) -> list[Move]:
    """Returns one move for every watched score of either side, the largest change first."""
    old, new = _sides(before), _sides(after)
    moves = [_move(key, old.get(key, {}), new.get(key, {})) for key in dict.fromkeys([*old, *new])]
    return sorted(moves, key=lambda move: (-abs(move.change or 0.0), move.key))


def machine_changes(before: Iterable[ResultFile], after: Iterable[ResultFile]) -> str:
    """Describes the number of runs with another arithmetic or device than before; empty if none."""
    old = {result.run.key: result.provenance for result in before}
    pairs = Counter(
        (name, getattr(old[result.run.key], name) or "native", getattr(result.provenance, name) or "native")
        for result in after
        if result.run.key in old
        for name in ("arithmetic", "device")
    )
    return "; ".join(
        f"{name} of {count} runs: {former} before, {present} after"
        for (name, former, present), count in sorted(pairs.items())
        if former != present
    )


def _sides(results: Iterable[ResultFile]) -> dict[ScoreKey, dict[int, Scored]]:
    """Returns the watched scores by key and seed."""
    sides: dict[ScoreKey, dict[int, Scored]] = {}
    for result in results:
        run, text = result.run, result.provenance.text
        for score in result.scores:
            if is_watched(score.name):
                task, metric, setting, selection = score.name
                key = ScoreKey(run.id, run.backbone, task, metric, setting, selection, text)
                weights, trained = result.provenance.encoder_sha256, result.selection.last_step > 0
                scored = Scored(100 * score.value, weights, trained, run.recipe, score.name)
                sides.setdefault(key, {})[run.seed] = scored
    return sides


def _move(key: ScoreKey, old: Mapping[int, Scored], new: Mapping[int, Scored]) -> Move:
    counts = len(old), len(new)
    both = old.keys() & new.keys()
    if both:
        old, new = ({seed: side[seed] for seed in side if seed in both} for side in (old, new))
    before, after = (
        fmean(score.points for score in side.values()) / 100 if side else None for side in (old, new)
    )
    if before is None or after is None:
        return Move(key, before, after, counts, None, "added" if before is None else "removed", False)
    band = band_of([score.points for score in old.values()])
    recipes = {score.recipe for score in old.values()}, {score.recipe for score in new.values()}
    outcome = worst(_answer(old.get(seed), score, band) for seed, score in new.items())
    return Move(key, before, after, counts, band, outcome, recipes[0] != recipes[1])


def _answer(old: Scored | None, new: Scored, band: Band) -> Answer:
    """Returns the answer for the score of a seed; a new seed's score must be in the band."""
    if old is None:
        return "within seed noise" if band.holds(new.points) else "moved"
    other = old.trained and old.weights != new.weights
    return answer_of(new.name, old.points, new.points, band=band, other_weights=other)
