"""Recorded numbers: our scores, published numbers and verdicts."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from harness.errors import InputError
from sentbench.encoders import folder_of, shown, text_of

if TYPE_CHECKING:
    import pandas as pd

    from harness.evidence.judged import Judged
    from harness.evidence.studies import Study

ABOUT_ROW = ("table", "row", "system", "variant", "backbone", "source", "work", "seeds")
PUBLISHED_COLUMNS = (*ABOUT_ROW, "column", "value", "metric")
EVIDENCE_COLUMNS = (
    *("system", "kind", "column", "run", "value", "mean", "sd", "n", "low", "high", "by", "source", "link"),
    *("file", "differs", "not_counted", "code", "seed", "batch", "learning_rate", "epochs", "precision"),
)


def results(folder: str | Path | None = None) -> pd.DataFrame:
    """Returns the recorded scores, one row each, in raw units.

    folder: of result files; default: the results of the current checkout.
    Columns: key, id, method, variant, backbone, seed, recipe, identity, task, metric, setting, selection,
    text, value, n.
    Errors: InputError outside a checkout without a folder, or for a damaged file.
    """
    from harness.evidence.further import read_recorded
    from harness.evidence.store import read_results, to_frame
    from harness.paths import need_checkout

    if folder is None:
        need_checkout("the table of results")
        return to_frame(read_recorded().results)
    return to_frame(read_results(folder_of(folder, "result files").glob("*.json")))


def published(table: str | None = None) -> pd.DataFrame:
    """Returns the published numbers of a table or figure, or of all, one row each.

    Columns: table (`paper/table2`), row (its key, which `verify` takes), system, variant, backbone, source
    (`this-paper`, `re-run` by its authors, or `cited` from work), seeds (NA if not stated), column, value in
    points (a setting or a count as it is), as printed also if it is a misprint, and metric.
    Errors: InputError with near matches for an unknown table.
    """
    import pandas as pd

    from harness.evidence.published import known_name, load_published
    from harness.paths import PUBLISHED, declared

    wanted = None if table is None else text_of(table, "table")
    known = load_published(declared(PUBLISHED))
    if wanted is not None:
        known_name(wanted, known.tables, "table")
    rows = []
    for number in known.numbers.values():
        if wanted in (None, number.table):
            row = known.row(number.table, number.row)
            rows.append(
                (number.table, number.row, row.system, row.variant, row.backbone, number.origin, number.work,
                 number.seeds, number.column, number.printed, number.metric)
            )  # fmt: skip
    return pd.DataFrame(rows, columns=PUBLISHED_COLUMNS).astype({"seeds": "Int64"})


def evidence(system: str | None = None) -> pd.DataFrame:
    """Returns independent measurements of a system or of all: a row per run or summary, in points.

    system: `simcse@bert-base-uncased`. Columns: system, kind (how the study relates to the reported number),
    column, run (its number in the study), value of a run, or mean, sd, n, low and high of a summary; by,
    source, link and file (who, and where), differs and not_counted (why a verdict omits it); code, seed,
    batch, learning_rate, epochs and precision of the training, if stated.
    Errors: InputError with near matches for an unknown system.
    """
    import pandas as pd

    from harness.evidence.ledger import load_ledger
    from harness.evidence.published import known_name, load_published
    from harness.paths import LEADERBOARDS, PUBLISHED, declared

    wanted = None if system is None else text_of(system, "system")
    ledger = load_ledger(declared(LEADERBOARDS / "evidence"), load_published(declared(PUBLISHED)))
    if wanted is not None:
        wanted = known_name(wanted, {study.system for study in ledger.studies}, "system with evidence")
    rows = [
        row
        for study in ledger.studies
        if wanted in (None, study.system)
        for row in rows_of_study(study, by=ledger.measured_by(study))
    ]
    whole = ("run", "n", "seed", "batch", "epochs")
    return pd.DataFrame(rows, columns=EVIDENCE_COLUMNS).astype(dict.fromkeys(whole, "Int64"))


def rows_of_study(study: Study, *, by: str) -> list[dict[str, object]]:
    """Returns a row for each run of a study, or for its summary of runs; keys of EVIDENCE_COLUMNS."""
    from harness.evidence.studies import Summary

    settings = study.settings
    description = {
        **study.model_dump(include={"system", "kind", "source", "file", "differs"}),
        **settings.model_dump(include={"code", "batch", "learning_rate", "epochs", "precision"}),
        "by": by,
        "link": study.link,
    }
    rows = []
    for column, score in study.scores.items():
        description |= {"column": column, "not_counted": study.not_counted_in(column)}
        if isinstance(score, Summary):
            rows.append({**description, "run": 1, **score.model_dump(exclude_none=True)})
            continue
        for run, value in enumerate(score if isinstance(score, list) else [score], 1):
            seed = settings.seeds[run - 1] if run <= len(settings.seeds) else None
            rows.append({**description, "run": run, "seed": seed, "value": value})
    return rows


def verify(table: str, row: str, column: str) -> list[Judged]:
    """Returns the verdicts on a reported number, for every row of this name (one for each backbone).

    Each has `number` (`value` in points), `verdict` (`by`, `level` and `draw`), `text` (the verdict in
    words), `values` (our seeds in points), `others` (independent measurements) and `plan` (seeds, GPU hours
    and command for a conclusive verdict); `describe` returns its text. Our seeds come from the current
    checkout.
    Errors: InputError with near matches for an unknown table, row or column, or a cell without a number.
    """
    from harness.report.assembly.tables import judged_in

    return judged_in(text_of(table, "table"), text_of(row, "row"), text_of(column, "column"))


def describe(judged: Judged) -> str:
    """Returns a verdict as the text that `sentbench verify` prints.

    Errors: InputError if it is not an element of the list that `verify` returns.
    """
    from harness.evidence.judged import Judged
    from harness.report.formats.judged import judged_text

    if not isinstance(judged, Judged):
        raise InputError(f"{shown(judged)} is not an element of the list that verify returns")
    return judged_text(judged)
