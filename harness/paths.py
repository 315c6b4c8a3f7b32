"""Where everything of a project lies, relative to its folder; the one home of each of these paths."""

from __future__ import annotations

import os
from pathlib import Path

import platformdirs

PARAMS = Path("params.yaml")
RECIPES = Path("recipes")

LEADERBOARDS = Path("leaderboards")
TABLES = LEADERBOARDS / "tables"
PUBLISHED = LEADERBOARDS / "published"
AUDIT = LEADERBOARDS / "audit"
REFERENCE_LOSSES = LEADERBOARDS / "reference_losses.yaml"
CONTRIBUTED = LEADERBOARDS / "contributed"
STEP_TIMES = LEADERBOARDS / "step-times.yaml"
SOURCE_PAGE = Path("harness/data/SOURCES.md")

DATA = Path("data")
BACKBONES = Path("backbones")
CORPORA = Path("corpora")
TEACHERS = Path("teachers")
ARTEFACTS = Path("artefacts")
EMBEDDINGS = Path("embeddings")
ENTRIES = Path(".entries")
FINGERPRINTS = Path(".fingerprints")
DATA_HASHES = FINGERPRINTS / "data"

REPORTS = Path("reports")
SCORES = REPORTS / "scores"
CURVES = REPORTS / "curves"
COSTS = REPORTS / "costs"
MEASUREMENTS = REPORTS / "benchmarks.json"

SOURCE_RECORD = "source.json"
BACKBONE_RECORD = "backbone.json"
CORPUS_RECORD, CORPUS_ROWS = "corpus.json", "corpus.tsv"
TEACHER_RECORD = "teacher.json"
RUN_RECORD, RUN_LOG, LAST_WEIGHTS = "run.json", "train.jsonl", "last"
STORE_RECORD = "meta.json"

_CACHE = Path(".cache")
PIECES = _CACHE / "pieces"
VECTORS = _CACHE / "vectors"
RESUME = _CACHE / "resume"
CALIBRATION = _CACHE / "calibration.json"
CORPUS_RESUME = RESUME / "corpora"


def is_project(folder: Path = Path()) -> bool:
    """Returns whether a folder holds a plan: commands write data, caches and logs in such a folder only."""
    plan = folder / PARAMS
    return plan.is_file() and any(
        line.startswith("plan:") for line in plan.open(encoding="utf-8", errors="replace")
    )


def cache() -> Path:
    """Returns the folder for what can be fetched or computed again: the project's, else the user's own."""
    if is_project():
        return _CACHE
    return platformdirs.user_cache_path("sentbench", appauthor=False)


def made_texts() -> Path:
    """Returns the folder of texts that were brought into another form."""
    return cache() / "texts"


def data_roots() -> list[Path]:
    """Returns the folders in which a source may lie; one that lies in none is fetched into the last.

    SENTBENCH_DATA names the only one. Outside a project `data` is read, and the user's cache is written.
    """
    named = os.environ.get("SENTBENCH_DATA")
    if named:
        return [Path(named)]
    return [DATA] if is_project() else [DATA, cache() / DATA]
