"""What moved between two sets of scores, as one line, as plain values, and as Markdown for a pull request."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from harness.report.formats.markdown import escape
from harness.report.tables.moves import Move


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
    gone = [move for move in moves if move.outcome in ("added", "removed")]
    lines = [f"**{summary(moves)}** ({escape(names[0])} → {escape(names[1])})", ""]
    judged = len(moved) + len(quiet)
    if moved:
        lines += [*_table(moved), ""]
        lines += [
            f"At 95 % about {0.05 * judged:.1f} of {judged} changed scores pass their noise by chance.",
            "",
        ]
    if quiet:
        lines += [
            "<details><summary>Changed within noise</summary>",
            "",
            *_table(quiet),
            "",
            "</details>",
            "",
        ]
    for outcome in ("added", "removed"):
        systems = dict.fromkeys(f"{m.key.system}@{m.key.backbone}" for m in gone if m.outcome == outcome)
        if systems:
            count = sum(move.outcome == outcome for move in gone)
            lines.append(f"{outcome.capitalize()}: {count} scores of {escape(', '.join(systems))}.")
    return "\n".join(lines).rstrip() + "\n"


def _table(moves: Sequence[Move]) -> list[str]:
    """The moves in points."""
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
