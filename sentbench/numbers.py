"""Recorded numbers: our scores, published numbers, and what is known about each."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from harness.errors import InputError
from sentbench.encoders import folder_of, shown, text_of

if TYPE_CHECKING:
    import pandas as pd

    from harness.report.verification import Verification

ABOUT_ROW = ("table", "row", "system", "variant", "backbone", "source", "work", "seeds")
PUBLISHED_COLUMNS = (*ABOUT_ROW, "column", "value", "metric", "scale")


def results(folder: str | Path | None = None) -> pd.DataFrame:
    """Returns the recorded scores, one row each, in raw units.

    folder: a folder of result files; default: that of the current checkout.
    Columns: key, id, method, variant, backbone, seed, recipe, identity, task, metric, setting, selection,
    text, value, n.
    Errors: InputError outside a checkout without a folder, or for a damaged file.
    """
    from harness.paths import SCORES, need_checkout
    from harness.results.store import read_scores

    if folder is None:
        need_checkout("the table of results")
    return read_scores(SCORES if folder is None else folder_of(folder, "result files"))


def published(table: str | None = None) -> pd.DataFrame:
    """Returns the published numbers of one table or figure, or of all, one row each.

    Columns: table (`paper/table2`), row (its key, which `verify` takes), system, variant, backbone, source
    (`this-paper`, `re-run` by its authors, or `cited` from work), seeds (NA where the paper does not say),
    column, value as printed, metric, scale (reported value = raw value x scale).
    Errors: InputError with near matches for an unknown table.
    """
    import pandas as pd

    from harness.facts.published import known_name, load_published
    from harness.paths import PUBLISHED, declared

    wanted = None if table is None else text_of(table, "table")
    tables = load_published(declared(PUBLISHED)).tables
    chosen = tables if wanted is None else {wanted: tables[known_name(wanted, tables, "table")]}
    rows = [
        (key, row.key, row.system, row.variant, row.backbone, row.source, row.work, row.seeds, column, value,
         reported.metric, reported.scale)
        for key, reported in chosen.items()
        for row, column, value in reported.cells()
    ]  # fmt: skip
    return pd.DataFrame(rows, columns=PUBLISHED_COLUMNS).astype({"seeds": "Int64"})


def verify(table: str, row: str, column: str) -> list[Verification]:
    """Returns what is known of a reported number, for every row of this name (one for each backbone).

    Each has `reported`, `verdict` (the answer in words), `values` (our seeds in points), `others` (who
    measured it) and `plan` (the seeds, GPU hours and command that would settle it); `describe` puts one into
    words. Our seeds are those of the current checkout; there are none elsewhere.
    Errors: InputError with near matches for an unknown table, row or column, or a cell without a number.
    """
    from harness.assembly.tables import verifications

    return verifications(text_of(table, "table"), text_of(row, "row"), text_of(column, "column"))


def describe(found: Verification) -> str:
    """Returns what is known of a reported number as the lines that `sentbench verify` prints.

    Errors: InputError if it is not one of the values in the list that `verify` returns.
    """
    from harness.report.verification import Verification, to_text

    if not isinstance(found, Verification):
        raise InputError(f"{shown(found)} is not a verification, expected one of those that verify returns")
    return to_text(found)
