"""Two sets of scores: what moved, by how much, whether that is more than noise, and how a reader is told."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal, NamedTuple

from harness.facts import statistics
from harness.facts.comparisons import Noise, noise_of
from harness.report.formats.markdown import escape
from harness.report.system_pairs import HEADLINE, SAME
from harness.results.schema import ResultFile, RunRecord, ScoreRecord

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


def compare(before: Iterable[ResultFile], after: Iterable[ResultFile]) -> list[Move]:
    """Returns one move for every headline score (setting `all`) of either side, the largest change first."""
    old, new = _sides(before), _sides(after)
    moves = [_move(key, old.get(key, []), new.get(key, [])) for key in dict.fromkeys([*old, *new])]
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


def _sides(results: Iterable[ResultFile]) -> dict[ScoreKey, list[tuple[RunRecord, ScoreRecord]]]:
    found: dict[ScoreKey, list[tuple[RunRecord, ScoreRecord]]] = {}
    for result in results:
        run, text = result.run, result.provenance.text
        for score in result.scores:
            if score.metric in HEADLINE and score.setting == "all":
                key = ScoreKey(run.id, run.backbone, score.task, score.metric, score.selection, text)
                found.setdefault(key, []).append((run, score))
    return found


def _move(
    key: ScoreKey, old: list[tuple[RunRecord, ScoreRecord]], new: list[tuple[RunRecord, ScoreRecord]]
) -> Move:
    first, second = ({run.seed: score.value for run, score in side} for side in (old, new))
    before, after = (statistics.mean([*side.values()]) if side else None for side in (first, second))
    counts = len(first), len(second)
    if before is None or after is None:
        outcome: Outcome = "added" if before is None else "removed"
        return Move(key, before, after, counts, None, "", outcome, recipe_changed=False)
    pairs = min(score.n for _, score in (*old, *new))
    noise, kind = noise_of([*first.values()], [*second.values()], metric=key.metric, pairs=pairs)
    changed = {run.recipe for run, _ in old} != {run.recipe for run, _ in new}
    outcome = _outcome(first, second, after - before, noise)
    return Move(key, before, after, counts, noise, kind, outcome, changed)


def _outcome(old: Mapping[int, float], new: Mapping[int, float], change: float, noise: float) -> Outcome:
    if old.keys() == new.keys() and all(abs(new[seed] - value) <= SAME for seed, value in old.items()):
        return "unchanged"
    if abs(change) <= max(noise, SAME):
        return "within noise"
    return "up" if change > 0 else "down"


def summary(moves: Sequence[Move]) -> str:
    """Returns one line: how many scores were compared and what became of them."""
    found = Counter(move.outcome for move in moves)
    beyond = found["up"] + found["down"]
    both = len(moves) - found["added"] - found["removed"]
    parts = [f"{found['up']} up and {found['down']} down beyond noise" if beyond else "none beyond noise"]
    parts += [f"{found[name]} {name}" for name in ("within noise", "unchanged") if found[name]]
    parts += [f"{found[name]} {name}" for name in ("added", "removed") if found[name]]
    return f"{both} {'score' if both == 1 else 'scores'} compared: {', '.join(parts)}"


def to_json(moves: Sequence[Move], names: tuple[str, str]) -> dict[str, Any]:
    """Returns the comparison as plain values, raw units."""
    entries = [
        {**move.key._asdict(), **{k: v for k, v in asdict(move).items() if k != "key"}, "change": move.change}
        for move in moves
    ]
    return {"before": names[0], "after": names[1], "summary": summary(moves), "moves": entries}


def to_pull_request(moves: Sequence[Move], names: tuple[str, str]) -> str:
    """Returns the comparison as Markdown: what moved in a table, what did not folded away."""
    moved = [move for move in moves if move.outcome in ("up", "down")]
    quiet = [move for move in moves if move.outcome == "within noise"]
    lines = [f"**{summary(moves)}** ({escape(names[0])} → {escape(names[1])})", ""]
    if moved:
        judged = len(moved) + len(quiet)
        chance = f"At 95 % about {0.05 * judged:.1f} of {judged} changed scores pass their noise by chance."
        lines += [*_table(moved), "", chance, ""]
    if quiet:
        folded = "<details><summary>Changed within noise</summary>"
        lines += [folded, "", *_table(quiet), "", "</details>", ""]
    for outcome in ("added", "removed"):
        some = [move for move in moves if move.outcome == outcome]
        systems = dict.fromkeys(f"{move.key.system}@{move.key.backbone}" for move in some)
        if systems:
            lines.append(f"{outcome.capitalize()}: {len(some)} scores of {escape(', '.join(systems))}.")
    return "\n".join(lines).rstrip() + "\n"


def _table(moves: Sequence[Move]) -> list[str]:
    lines = [
        "| System | Task | Before | After | Change | Noise | Seeds |",
        "| :-- | :-- | --: | --: | --: | --: | :-: |",
    ]
    for move in moves:
        key = move.key
        changed = " (recipe changed)" if move.recipe_changed else ""
        task = key.task if key.selection == "best-dev" else f"{key.task}, {key.selection}"
        before, after, change, noise = (
            100 * (value or 0.0) for value in (move.before, move.after, move.change, move.noise)
        )
        name = escape(f"{key.system}@{key.backbone}") + changed
        lines.append(
            f"| {name} | {escape(task)} | {before:.2f} | {after:.2f} | {change:+.2f} | "
            f"±{noise:.2f} {move.kind} | {move.seeds[0]}, {move.seeds[1]} |"
        )
    return lines
