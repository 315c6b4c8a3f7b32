"""All paths of a project, relative to its folder.

Declarations are read from the project that a command runs in, otherwise from the installed package, and from
folders outside the repository, which `harness.include` adds before a command runs.
"""

import os
from pathlib import Path

import platformdirs

from harness.errors import InputError

INSTALLED = Path(__file__).resolve().parents[1]
"""The parent folder of this package: a checkout, or site-packages with the declarations of a wheel."""

PARAMS = Path("params.yaml")
RECIPES = Path("recipes")

LEADERBOARDS = Path("leaderboards")
TABLES = LEADERBOARDS / "tables"
PUBLISHED = LEADERBOARDS / "published"
AUDIT = LEADERBOARDS / "audit"
FIRST_LOSSES = LEADERBOARDS / "first_losses.yaml"
HOURS = LEADERBOARDS / "hours.yaml"
SOURCE_PAGE = Path("harness/data/SOURCES.md")
SPEED_PAGE = Path("docs/speed.md")
WEEKEND_PAGE = Path("docs/weekend.md")

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
FURTHER = REPORTS / "further"
"""The scores of the seeds that `launch --first-seeds` leaves out, one file for each system."""
FURTHER_RUNS = Path(".further")
"""What the evaluations of these seeds write, by system."""
COSTS = REPORTS / "costs"
MEASUREMENTS = REPORTS / "benchmarks.json"

FILE_RECORD = "files.json"
"""Record of a folder that needs no other."""
SOURCE_RECORD = "source.json"
BACKBONE_RECORD = "backbone.json"
CORPUS_RECORD, CORPUS_ROWS = "corpus.json", "corpus.tsv"
TEACHER_RECORD = "teacher.json"
RUN_RECORD, RUN_LOG, LAST_WEIGHTS = "run.json", "train.jsonl", "last"

_CACHE = Path(".cache")
PIECES = _CACHE / "pieces"
VECTORS = _CACHE / "vectors"
RESUME = _CACHE / "resume"
COMMITTED = _CACHE / "committed"
CORPUS_RESUME = RESUME / "corpora"


INCLUDE = "SENTBENCH_INCLUDE"
"""Environment variable with folders, separated as in PATH; inherited by child processes."""
FOLDERS: list[Path] = []
"""Folders with the layout of this repository: recipes, published numbers and tables are read from them."""
MODULES: dict[str, Path] = {}
"""Included module or package -> its path without the ending; part of a run's identity if imported."""
TASK_MODULES: list[str] = []
"""Modules of installed packages that declare TASKS."""


def stored_vectors(key: str) -> Path:
    """Returns the file with the vectors of a run."""
    return EMBEDDINGS / f"{key}.safetensors"


def is_project(folder: Path = Path()) -> bool:
    """Returns whether a folder has a plan; commands write data, caches and logs only in such folders."""
    plan = folder / PARAMS
    return plan.is_file() and any(
        line.startswith("plan:") for line in plan.open(encoding="utf-8", errors="replace")
    )


def cache() -> Path:
    """Returns the cache folder: the project's in a project, otherwise the user's."""
    if is_project():
        return _CACHE
    return platformdirs.user_cache_path("sentbench", appauthor=False)


def made_texts() -> Path:
    """Returns the folder of converted texts."""
    return cache() / "texts"


def data_roots() -> list[Path]:
    """Returns the folders that are searched for a source; a missing one is fetched into the last.

    SENTBENCH_DATA replaces them. Outside a project `data` is read, and the user's cache is written.
    """
    named = os.environ.get("SENTBENCH_DATA")
    if named:
        return [Path(named)]
    return [DATA] if is_project() else [DATA, cache() / DATA]


def is_checkout() -> bool:
    """Returns whether the current folder has declarations."""
    return is_project() or (LEADERBOARDS.is_dir() and RECIPES.is_dir())


def declared(path: Path) -> Path:
    """Returns the path of a declaration: of the project in a checkout, otherwise of the installed package."""
    ours = path.parts[:1] in (LEADERBOARDS.parts, RECIPES.parts)
    return INSTALLED / path if ours and not is_checkout() else path


def need_checkout(work: str) -> None:
    """Raises InputError, which names the work, unless the current folder is a project's."""
    if not is_checkout():
        raise InputError(f"{work}: run this in a checkout of the project")


def declarations_of(folder: Path) -> list[Path]:
    """Returns the YAML files of a folder of declarations, then of the included folders.

    Errors: InputError if the first folder has none.
    """
    from harness.io.declarations import list_declarations  # avoids pydantic when tasks are listed

    return [*list_declarations(folder), *own_files(folder.name, "*.yaml")]


def own_files(room: str, pattern: str) -> list[Path]:
    """Returns the files of a pattern in ROOM of each included folder, by folder and name."""
    return [path for folder in FOLDERS for path in sorted((folder / room).glob(pattern))]
