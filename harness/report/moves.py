"""Comparison of two states of all scores: moved scores, differences, and their presentation."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from statistics import fmean
from typing import Any, Literal, NamedTuple

from harness.evidence.moved import Answer, Band, answer_of, band_of, worst
from harness.evidence.schema import ResultFile, ScoreName
from harness.evidence.system_pairs import HEADLINE
from harness.report.formats.markdown import escape

Outcome = Answer | Literal["added", "removed"]


class ScoreKey(NamedTuple):
    """Key of a score: a system on a task, by one metric."""

    system: str
    backbone: str
    task: str
    metric: str
    selection: str
    text: str


class Scored(NamedTuple):
    """A score of one run in points, with the identity of its weights."""

    points: float
    weights: str
    trained: bool
    recipe: str
    name: ScoreName


@dataclass(frozen=True)
class Move:
    """One score before and after, raw units, mean over seeds; `seeds` counts both sides.

    band: of the seeds before, in points; None if a side is missing. outcome: the worst of the seeds.
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


def compare(before: Iterable[ResultFile], after: Iterable[ResultFile]) -> list[Move]:
    """Returns one move for every headline score (setting `all`) of either side, the largest change first."""
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
    """Returns the headline scores by key and seed."""
    sides: dict[ScoreKey, dict[int, Scored]] = {}
    for result in results:
        run, text = result.run, result.provenance.text
        for score in result.scores:
            if score.metric in HEADLINE and score.setting == "all":
                key = ScoreKey(run.id, run.backbone, score.task, score.metric, score.selection, text)
                weights, trained = result.provenance.encoder_sha256, result.selection.last_step > 0
                scored = Scored(100 * score.value, weights, trained, run.recipe, score.name)
                sides.setdefault(key, {})[run.seed] = scored
    return sides


def _move(key: ScoreKey, old: Mapping[int, Scored], new: Mapping[int, Scored]) -> Move:
    before, after = (
        fmean(score.points for score in side.values()) / 100 if side else None for side in (old, new)
    )
    counts = len(old), len(new)
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


def summary(moves: Sequence[Move]) -> str:
    """Returns one line with the number of compared scores by outcome."""
    counts = Counter(move.outcome for move in moves)
    both = len(moves) - counts["added"] - counts["removed"]
    down = sum(move.went_down for move in moves)
    parts = [f"{counts['moved'] - down} up and {down} down" if counts["moved"] else "none moved"]
    names: tuple[Outcome, ...] = ("within seed noise", "equal to rounding", "identical", "added", "removed")
    parts += [f"{counts[name]} {name}" for name in names if counts[name]]
    return f"{both} {'score' if both == 1 else 'scores'} compared: {', '.join(parts)}"


def to_json(moves: Sequence[Move], names: tuple[str, str]) -> dict[str, Any]:
    """Returns the comparison as plain values, raw units."""
    entries = [
        {**move.key._asdict(), **{k: v for k, v in asdict(move).items() if k != "key"}, "change": move.change}
        for move in moves
    ]
    return {"before": names[0], "after": names[1], "summary": summary(moves), "moves": entries}


def to_pull_request(moves: Sequence[Move], names: tuple[str, str]) -> str:
    """Returns the comparison as Markdown: moved scores in a table, the others folded."""
    moved = [move for move in moves if move.outcome == "moved"]
    quiet = [move for move in moves if move.outcome in ("within seed noise", "equal to rounding")]
    lines = [f"**{summary(moves)}** ({escape(names[0])} → {escape(names[1])})", ""]
    if moved:
        lines += [*_table(moved), ""]
    if quiet:
        folded = "<details><summary>Changed within seed noise or rounding</summary>"
        lines += [folded, "", *_table(quiet), "", "</details>", ""]
    for outcome in ("added", "removed"):
        selected = [move for move in moves if move.outcome == outcome]
        systems = dict.fromkeys(f"{move.key.system}@{move.key.backbone}" for move in selected)
        if systems:
            lines.append(f"{outcome.capitalize()}: {len(selected)} scores of {escape(', '.join(systems))}.")
    return "\n".join(lines).rstrip() + "\n"


def _table(moves: Sequence[Move]) -> list[str]:
    lines = [
        "| System | Task | Before | After | Change | Seeds before | Answer | Seeds |",
        "| :-- | :-- | --: | --: | --: | :-: | :-- | :-: |",
    ]
    for move in moves:
        key = move.key
        changed = " (recipe changed)" if move.recipe_changed else ""
        task = key.task if key.selection == "best-dev" else f"{key.task}, {key.selection}"
        before, after, change = (100 * (value or 0.0) for value in (move.before, move.after, move.change))
        band = "" if move.band is None else f"{move.band.low:.2f} to {move.band.high:.2f}"
        name = escape(f"{key.system}@{key.backbone}") + changed
        lines.append(
            f"| {name} | {escape(task)} | {before:.2f} | {after:.2f} | {change:+.2f} | {band} | "
            f"{move.outcome} | {move.seeds[0]}, {move.seeds[1]} |"
        )
    return lines
