"""The ratios of evaluation and training on each machine, as a section of the document on speed."""

from __future__ import annotations

from harness.report.measurements import Headline, Machine, Measurements, headlines

HEADING = "## Measured machines"
INTRO = """Written by `sentbench readmes` from `reports/benchmarks.json`: the speed relative to the other
tool, median over rounds. The last row is GFLOP/s of fp32 products by oneDNN, which our layers call, and by
torch's default. The report's Speed page shows the number of rounds and threads of each figure."""


def to_speed_section(measured: Measurements) -> str:
    """Returns the section with its heading: a row a ratio, a column a machine, and the lowest of each row."""
    machines = measured.machines
    titles = [machine.title for machine in machines]
    rows = [["", *titles, "lowest"], ["---", *["---:"] * (len(titles) + 1)]]
    rows += [_ratios(headline, titles) for headline in headlines(measured)]
    rows.append(["products by oneDNN / by torch", *map(_products, machines), ""])
    lines = [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join([HEADING, "", INTRO, "", *lines]) + "\n"


def _ratios(headline: Headline, titles: list[str]) -> list[str]:
    """Returns a row; a machine that did not measure it has no figure there."""
    found = [f"{headline.ratios[title]:.2f}" if title in headline.ratios else "–" for title in titles]
    return [f"{headline.result}: {headline.peer}", *found, f"{headline.lowest:.2f}"]


def _products(machine: Machine) -> str:
    rates = machine.products
    return f"{rates.onednn.median:.0f} / {rates.torch.median:.0f}" if rates else "not measured"
