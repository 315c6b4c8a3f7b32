"""Two sets of scores: what moved, by how much, and whether that is more than noise."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, NamedTuple

from harness.facts import statistics
from harness.facts.comparisons import Noise, noise_of
from harness.report.system_pairs import HEADLINE, SAME
from harness.results.schema import ResultFile

Outcome = Literal["unchanged", "within noise", "up", "down", "added", "removed"]


class ScoreKey(NamedTuple):
    """What a score is of: a system on a task, by one metric."""

    system: str
    backbone: str
    task: str
    metric: str
    selection: str
    text: str


@dataclass(frozen=True)
class Move:
    """One score before and after, raw units, mean over seeds; `seeds` counts both sides.

    noise: half-width of the 95 % interval of the change, None where a side is missing. kind: where that noise
    comes from. recipe_changed: the two sides do not run the same recipe.
    """

    key: ScoreKey
    before: float | None
    after: float | None
    seeds: tuple[int, int]
    noise: float | None
    kind: Noise | Literal[""]
    outcome: Outcome
    recipe_changed: bool

    @property
    def change(self) -> float | None:
        """After minus before, None where a side is missing."""
        return None if self.before is None or self.after is None else self.after - self.before


class _Side(NamedTuple):
    values: dict[int, float]
    recipes: frozenset[str]
    pairs: int


def compare(before: Iterable[ResultFile], after: Iterable[ResultFile]) -> list[Move]:
    """Returns one move for every headline score (setting `all`) of either side, the largest change first."""
    old, new = _sides(before), _sides(after)
    moves = [_move(key, old.get(key), new.get(key)) for key in dict.fromkeys([*old, *new])]
    return sorted(moves, key=lambda move: (-abs(move.change or 0.0), move.key))


def machine_changes(before: Iterable[ResultFile], after: Iterable[ResultFile]) -> str:
    """Returns how many runs have another arithmetic or device than before, which moves digits; "" if none."""
    old = {result.run.key: result.provenance for result in before}
    pairs = Counter(
        (name, getattr(old[result.run.key], name) or "native", getattr(result.provenance, name) or "native")
        for result in after
        if result.run.key in old
        for name in ("arithmetic", "device")
    )
    return "; ".join(
        f"{name} of {count} runs: {one} before, {two} after"
        for (name, one, two), count in sorted(pairs.items())
        if one != two
    )


def _sides(results: Iterable[ResultFile]) -> dict[ScoreKey, _Side]:
    found: dict[ScoreKey, _Side] = {}
    for result in results:
        run = result.run
        for score in result.scores:
            if score.metric in HEADLINE and score.setting == "all":
                key = ScoreKey(
                    run.id, run.backbone, score.task, score.metric, score.selection, result.provenance.text
                )
                side = found.setdefault(key, _Side({}, frozenset(), score.n))
                values = {**side.values, run.seed: score.value}
                found[key] = _Side(values, side.recipes | {run.recipe}, min(side.pairs, score.n))
    return found


def _move(key: ScoreKey, old: _Side | None, new: _Side | None) -> Move:
    if old is None or new is None:
        mean = [None if side is None else statistics.mean(list(side.values.values())) for side in (old, new)]
        counts = (len(old.values) if old else 0, len(new.values) if new else 0)
        return Move(key, mean[0], mean[1], counts, None, "", "added" if old is None else "removed", False)
    first, second = list(old.values.values()), list(new.values.values())
    noise, kind = noise_of(first, second, metric=key.metric, pairs=min(old.pairs, new.pairs))
    change = statistics.mean(second) - statistics.mean(first)
    same = old.values.keys() == new.values.keys() and all(
        abs(new.values[seed] - value) <= SAME for seed, value in old.values.items()
    )
    outcome: Outcome = "up" if change > 0 else "down"
    if same:
        outcome = "unchanged"
    elif abs(change) <= max(noise, SAME):
        outcome = "within noise"
    return Move(
        key, statistics.mean(first), statistics.mean(second), (len(first), len(second)), noise, kind, outcome,
        old.recipes != new.recipes,
    )  # fmt: skip
