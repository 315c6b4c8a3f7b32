"""`sentbench export`: write results, published numbers and evidence as a data set of Parquet files.

Example: `sentbench export numbers`
"""

from __future__ import annotations

import argparse
import hashlib
from pathlib import Path
from typing import Any

import pandas as pd
import yaml

from harness.disk.files import write_json, write_text
from harness.disk.layouts import Layout
from harness.disk.outputs import new_folder
from harness.facts.evidence.ledger import Ledger, Score, Summary, load_ledger
from harness.facts.published import load_published
from harness.paths import INSTALLED, LEADERBOARDS, PUBLISHED, SCORES, declared, is_project
from harness.report.formats.templates import TEMPLATES, fill_plain
from sentbench import __version__, published, results

TITLE = "Unsupervised sentence embeddings: reported numbers and who measured them again"
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
TERMS = ("column", "extract", "field", "fileObject", "recordSet", "source")
SIGNS = {"int64": "sc:Integer", "Int64": "sc:Integer", "float64": "sc:Float", "bool": "sc:Boolean"}
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
        write_text(folder / "README.md", card())
        write_json(folder / "croissant.json", croissant(folder, tables, __version__))
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


def card() -> str:
    """Returns the card of the data set: its configurations, and what its columns mean."""
    head = {
        "pretty_name": TITLE,
        "language": "en",
        "license": "apache-2.0",
        "task_categories": ["sentence-similarity"],
        "configs": [{"config_name": name, "data_files": f"{name}.parquet"} for name in CONFIGS],
    }
    values = {"head": yaml.safe_dump(head, sort_keys=False), "title": TITLE, "configs": CONFIGS}
    return fill_plain("numbers.md.j2", values, folder=TEMPLATES)


def croissant(folder: Path, tables: dict[str, pd.DataFrame], version: str) -> dict[str, Any]:
    """Returns the metadata of the files in the form of Croissant 1.0 (mlcommons.org/croissant)."""
    files, sets = [], []
    for name, table in tables.items():
        content = (folder / f"{name}.parquet").read_bytes()
        files.append(
            {
                "@type": "cr:FileObject",
                "@id": f"{name}.parquet",
                "contentUrl": f"{name}.parquet",
                "encodingFormat": "application/x-parquet",
                "sha256": hashlib.sha256(content).hexdigest(),
            }
        )
        fields = [
            {
                "@type": "cr:Field",
                "@id": f"{name}/{column}",
                "dataType": SIGNS.get(str(kind), "sc:Text"),
                "source": {"fileObject": {"@id": f"{name}.parquet"}, "extract": {"column": column}},
            }
            for column, kind in table.dtypes.items()
        ]
        sets.append({"@type": "cr:RecordSet", "@id": name, "description": CONFIGS[name], "field": fields})
    return {
        "@context": {
            "@language": "en",
            "@vocab": "https://schema.org/",
            "cr": "http://mlcommons.org/croissant/",
            "sc": "https://schema.org/",
            "dct": "http://purl.org/dc/terms/",
            "conformsTo": "dct:conformsTo",
            "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
            **{name: f"cr:{name}" for name in TERMS},
        },
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "name": "sentbench-numbers",
        "description": TITLE,
        "license": "https://spdx.org/licenses/Apache-2.0",
        "version": version,
        "distribution": files,
        "recordSet": sets,
    }
