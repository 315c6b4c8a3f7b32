"""The tables of our runs: their selection for the page of runs, and notes on their numbers."""

from collections.abc import Iterable, Mapping

from harness.report.tables.model import Table
from harness.report.tables.rows import TRAINED, UNTRAINED

SMALL = "small"
OTHERS = "runs-sts"
STS = (SMALL, OTHERS)
"""Tables of semantic textual similarity: of the small plan's runs, and of all others."""
SMALL_TABLES = (*STS, "small-transfer", "small-pairs", "small-geometry")
"""Tables of runs on their page, each only if it has a run."""
PUBLIC = "public-models"
"""The table of public encoders, behind these."""
IN_PAPERS_FORM = "small-sts"
"""The table of the small plan in the form of a paper's main table, the last one."""
EVERY = "all"
"""The plan name of every paper's runs."""


def small_notes(small: Table | None) -> tuple[str, ...]:
    """Returns the notes on the small leaderboard: scale, and systems without training."""
    trained = [row for row in (small.rows if small else ()) if row.group == TRAINED]
    names = sorted({row.title.partition("@")[2] for row in trained if row.cells[-1].value is not None})
    backbones = f" ({', '.join(names)})" if names else ""
    encoders = "small encoders" if len(names) > 1 else "one small encoder"
    return (
        f"Small-scale: {encoders}{backbones}, a few thousand sentences, seconds a run. It shows whether a "
        "loss learns from its positives and that changes are seen; it does not tell the order of methods in "
        "their papers' setting.",
        *_without_training(small),
    )


def _without_training(small: Table | None) -> list[str]:
    """Returns a sentence on the best system without training on a trained one's encoder, if there is one.

    By the last column, the average.
    """
    scored = [row for row in (small.rows if small else ()) if row.cells[-1].value is not None]
    trained = {row.title: row.cells[-1].value or 0.0 for row in scored if row.group == TRAINED}
    encoders = {title.partition("@")[2] for title in trained}
    others = {
        row.title: row.cells[-1].value or 0.0
        for row in scored
        if row.group == UNTRAINED and row.title.partition("@")[2] in encoders
    }
    if not others:
        return []
    best = max(others, key=others.__getitem__)
    below = sum(value < others[best] for value in trained.values())
    return [
        f"Without training, {best} has an average of {others[best]:.2f}, above the means of {below} of "
        f"{len(trained)} trained systems and controls."
    ]


def tables_of_plan(names: Iterable[str], tables: Mapping[str, Table]) -> list[Table]:
    """Returns the tables that a plan of these names fills. A paper's name means all of its tables, `small`
    the tables of its page, any other name the table of that key; figures may be written out.
    """
    wanted = [name.replace("/figure", "/fig") for name in names]
    return [table for key, table in tables.items() if any(_wants(name, key) for name in wanted)]


def _wants(name: str, key: str) -> bool:
    if name == EVERY:
        return "/" in key
    return (
        key == name or key.startswith(f"{name}/") or (name == SMALL and key in SMALL_TABLES and key != OTHERS)
    )


def missing_cells(table: Table) -> int:
    """Returns the number of a table's planned cells without a value."""
    return sum(cell.value is None and cell.wanted for _, _, cell in table.cells())


def has_values(table: Table) -> bool:
    """Returns whether a run filled any cell."""
    return any(cell.value is not None for _, _, cell in table.cells())
