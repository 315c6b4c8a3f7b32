"""The goals of the benchmarks on each machine, as a section of the document on speed."""

from __future__ import annotations

from harness.report.measurements import Goal, Machine, Measurements, goals, plain

HEADING = "## Goals and machines"
INTRO = """Written by `sentbench readmes` from `reports/benchmarks.json`, medians over rounds. At least: how
many times ours is as fast as the other tool. At most: what ours takes, in a unit or in times of the other.
The last row is GFLOP/s of fp32 products by oneDNN, which our layers call, and by torch's default. The
report's Speed page explains each missed goal by a profile, and shows ranges, rounds and threads."""
WORDS = {True: " met", False: " **missed**", None: ""}


def to_speed_section(measured: Measurements) -> str:
    """Returns the section with its heading: a row a goal, a column a machine."""
    titles = [machine.title for machine in measured.machines]
    rows = [["", "goal", *titles], [":--", "--:", *["--:"] * len(titles)]]
    rows += [_row(goal, titles) for goal in goals(measured)]
    rows.append(["products by oneDNN / by torch", "", *map(_products, measured.machines)])
    lines = [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join([HEADING, "", INTRO, "", *lines]) + "\n"


def _row(goal: Goal, titles: list[str]) -> list[str]:
    """Returns a row; a machine that did not measure it has no figure there."""
    cells = ["–"] * len(titles)
    for title, found in goal.outcomes.items():
        cells[titles.index(title)] = f"{plain(found.value)}{WORDS[found.met]}"
    return [goal.name, goal.asked, *cells]


def _products(machine: Machine) -> str:
    rates = machine.products
    return f"{rates.onednn.median:.0f} / {rates.torch.median:.0f}" if rates else "not measured"
