"""A comparison of two states of all scores as one line, as JSON and for a pull request."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from harness.evidence.moves import Move, Outcome
from harness.report.formats.markdown import escape


def summary(moves: Sequence[Move]) -> str:
    """Returns one line with the number of compared scores by outcome."""
    counts = Counter(move.outcome for move in moves)
    both = len(moves) - counts["added"] - counts["removed"]
    down = sum(move.went_down for move in moves)
    parts = [f"{counts['moved'] - down} up and {down} down" if counts["moved"] else "none moved"]
    names: tuple[Outcome, ...] = ("within seed noise", "equal to rounding", "identical", "added", "removed")
    parts += [f"{counts[name]} {name}" for name in names if counts[name]]
    return f"{both} {'score' if both == 1 else 'scores'} compared: {', '.join(parts)}"


def moves_json(moves: Sequence[Move], names: tuple[str, str]) -> dict[str, Any]:
    """Returns the comparison as plain values: scores in raw units, the band of a score in points."""
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
        before, after, change = (100 * (value or 0.0) for value in (move.before, move.after, move.change))
        band = "" if move.band is None else f"{move.band.low:.2f} to {move.band.high:.2f}"
        name = escape(f"{key.system}@{key.backbone}") + changed
        lines.append(
            f"| {name} | {escape(key.title)} | {before:.2f} | {after:.2f} | {change:+.2f} | {band} | "
            f"{move.outcome} | {move.seeds[0]}, {move.seeds[1]} |"
        )
    return lines
