"""`sentbench compare`: show what moved between two sets of scores.

Example: `sentbench compare HEAD reports/scores --fail-on down --format github`
"""

import argparse
import json
from collections.abc import Sequence

from harness.commands import FORMAT, JSON, format_of
from harness.plan.stale import warn_if_stale
from harness.report.formats.markdown import Level, annotation
from harness.report.moves import Move, compare, machine_changes, summary, to_json, to_pull_request
from harness.results.history import results_of

FAILS = {"nothing": (), "down": ("down",), "moved": ("up", "down"), "gone": ("up", "down", "removed")}
"""Choice of --fail-on -> the outcomes that make the exit code 1."""
ARGUMENTS = {
    "before": {"metavar": "A", "help": "a git revision, or a folder of score files"},
    "after": {"metavar": "B", "help": "a git revision, or a folder of score files"},
    "--fail-on": {
        "choices": list(FAILS),
        "default": "nothing",
        "help": "exit code 1 if a score went down beyond noise, moved either way, or moved or is gone",
    },
    "--device": {"choices": ("cpu", "cuda"), "help": "only runs that were trained on this device"},
    "--json": JSON,
    "--format": FORMAT,
}


def execute(arguments: argparse.Namespace) -> int:
    """Prints the moves as Markdown, JSON or annotations; returns 1 if `--fail-on` finds one."""
    form = format_of(arguments)
    warn_if_stale()
    names = arguments.before, arguments.after
    before, after = (
        [r for r in results_of(name) if arguments.device in (None, r.provenance.device)] for name in names
    )
    moves, changed = compare(before, after), machine_changes(before, after)
    failing = FAILS[arguments.fail_on]
    if form == "json":
        print(json.dumps({**to_json(moves, names), "arithmetic": changed}))
    elif form == "github":
        print("\n".join(annotated(moves, failing)))
    else:
        print(to_pull_request(moves, names), end="")
        if changed:
            print(f"\nThe {changed}.")
    return int(any(move.outcome in failing for move in moves))


def annotated(moves: Sequence[Move], failing: Sequence[str]) -> list[str]:
    """Returns an annotation for each score that moved beyond noise or is gone, and the summary."""
    found = []
    for move in moves:
        if move.outcome not in ("up", "down", "removed"):
            continue
        key = move.key
        change = "is gone" if move.change is None else f"{100 * move.change:+.2f} points"
        noise = "" if move.noise is None else f", noise \u00b1{100 * move.noise:.2f}"
        level: Level = "error" if move.outcome in failing else "warning"
        title = f"{key.system}@{key.backbone} {key.task}: {move.outcome}"
        found.append(annotation(level, title, f"{key.metric} {change}{noise} ({key.selection})"))
    return [*found, annotation("notice", "scores compared", summary(moves))]
