"""`sentbench export`: write results, published numbers and evidence as a data set of Parquet files.

Example: `sentbench export numbers`
"""

import argparse
import json
from pathlib import Path

import pandas as pd

from harness.disk.files import sha256_of, write_json, write_text
from harness.disk.layouts import Layout
from harness.disk.outputs import new_folder
from harness.facts.evidence.ledger import Ledger, Score, Summary, load_ledger
from harness.facts.published import load_published
from harness.paths import INSTALLED, LEADERBOARDS, PUBLISHED, SCORES, declared, is_project
from harness.report.formats.templates import fill
from sentbench import __version__, published, results

CONFIGS = {
    "results": "Scores of runs of this project: a row for each run, task, metric and setting; in raw units.",
    "published": "Numbers that papers report, one row for each cell of a table, as printed.",
    "evidence": "What others measured of the same systems, one row for each run or summary, in points.",
}
"""The tables, each a configuration of the data set."""
EXPORT = Layout(
    "exported numbers", {"croissant.json": ("recordSet",), "evidence.parquet": ()}, ("README.md", "*.parquet")
)
EVIDENCE_COLUMNS = (
    *("system", "kind", "column", "run", "value", "mean", "sd", "n", "low", "high", "by", "source", "link"),
    *("file", "differs", "not_counted", "code", "seed", "batch", "learning_rate", "epochs", "precision"),
)
TYPES = {"int64": "sc:Integer", "Int64": "sc:Integer", "float64": "sc:Float", "bool": "sc:Boolean"}
"""Types of Croissant by those of pandas; all others are texts."""
ARGUMENTS = {"out": {"type": Path, "metavar": "DIR"}}


def execute(arguments: argparse.Namespace) -> None:
    """Writes a Parquet file for each table, a card that `datasets` reads, and Croissant metadata."""
    scores = SCORES if is_project() else INSTALLED / SCORES
    ledger = load_ledger(declared(LEADERBOARDS / "evidence"), load_published(declared(PUBLISHED)))
    tables = {"results": results(scores), "published": published(), "evidence": evidence(ledger)}
    with new_folder(arguments.out, EXPORT) as folder:
        for name, table in tables.items():
            with (folder / f"{name}.parquet").open("wb") as file:  # pyarrow takes no path that is not UTF-8
                table.to_parquet(file, index=False)
        sha256 = {name: sha256_of(folder / f"{name}.parquet") for name in tables}
        values = {
            "configs": CONFIGS,
            "version": __version__,
            "types": TYPES,
            "tables": tables,
            "sha256": sha256,
        }
        write_text(folder / "README.md", fill("numbers.md.j2", values))
        write_json(folder / "croissant.json", json.loads(fill("croissant.json.j2", values)))
    rows = ", ".join(f"{len(table):,} rows of {name}" for name, table in tables.items())
    print(f"{arguments.out}: {rows}; `datasets.load_dataset({str(arguments.out)!r}, 'evidence')` reads it")


def evidence(ledger: Ledger) -> pd.DataFrame:
    """Returns a row for each run that others report, or for a summary of runs; columns EVIDENCE_COLUMNS."""
    rows = []
    for study in ledger.studies:
        settings = study.settings
        about = {
            **study.model_dump(include={"system", "kind", "source", "file", "differs"}),
            **settings.model_dump(include={"code", "batch", "learning_rate", "epochs", "precision"}),
            "by": ledger.measured_by(study),
            "link": study.link,
            "not_counted": study.not_counted,
        }
        for column, score in study.scores.items():
            for run, values in enumerate(rows_of(score), 1):
                seed = settings.seeds[run - 1] if run <= len(settings.seeds) and "value" in values else None
                rows.append({**about, "column": column, "run": run, "seed": seed, **values})
    whole = ("run", "n", "seed", "batch", "epochs")
    return pd.DataFrame(rows, columns=EVIDENCE_COLUMNS).astype(dict.fromkeys(whole, "Int64"))


def rows_of(score: Score) -> list[dict[str, float | None]]:
    """Returns what a study says of a column: a value for each run, or one summary."""
    if isinstance(score, Summary):
        return [score.model_dump(exclude_none=True)]
    return [{"value": value} for value in (score if isinstance(score, list) else [score])]
