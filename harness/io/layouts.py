"""Layouts of the folders that this project writes; `outputs` replaces only folders of these layouts.

A folder between two stages has a record with the checksum of every file; `check_inputs` verifies it.
"""

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from harness.errors import InputError
from harness.io.files import sha256_of_folder
from harness.io.records import check_plain, read_manifest
from harness.paths import (
    ARTEFACTS,
    BACKBONE_RECORD,
    BACKBONES,
    CORPORA,
    CORPUS_RECORD,
    CORPUS_ROWS,
    DATA,
    LAST_WEIGHTS,
    RUN_LOG,
    RUN_RECORD,
    SOURCE_RECORD,
    TEACHER_RECORD,
    TEACHERS,
)
from methods.core.files import FILES


class Layout(NamedTuple):
    """One kind of output folder.

    label: for messages. marker_files: files that identify it, each with the keys that its JSON object must
    have (no keys: any bytes).
    names: patterns of the paths of all other files that it may hold, part by part: `*` does not cross a `/`.
    """

    label: str
    marker_files: Mapping[str, tuple[str, ...]]
    names: tuple[str, ...] = ()


RECORDS = {
    ARTEFACTS: (RUN_RECORD, "train the run again"),
    CORPORA: (CORPUS_RECORD, "make it again with `sentbench stage corpus {}`"),
    TEACHERS: (TEACHER_RECORD, "make them again with `sentbench stage teacher {}`"),
    BACKBONES: (BACKBONE_RECORD, "remove the folder and make it with `sentbench stage backbone {}`"),
    DATA: (SOURCE_RECORD, "remove the folder and run `sentbench data fetch {}`"),
}
"""Room of the project -> the record of its folders, and the command that makes a folder again."""
STATED = {ARTEFACTS: ("key", "selection"), CORPORA: (FILES,), BACKBONES: (FILES,)}
"""Room -> required keys of its records."""
MADE_FROM = ("encoder", "corpus")
"""Folders whose hash a teacher's record states."""


def below(*folders: str, names: Iterable[str]) -> tuple[str, ...]:
    """Returns the patterns `names` for files of each of the folders."""
    return tuple(f"{folder}/{name}" for folder in folders for name in names)


TRANSFORMER = (
    "config.json",
    "generation_config.json",
    "model.safetensors",
    "model-*-of-*.safetensors",
    "model.safetensors.index.json",
    "tokenizer.json",
    "tokenizer_config.json",
    "special_tokens_map.json",
    "added_tokens.json",
    "vocab.txt",
    "vocab.json",
    "merges.txt",
    "sentencepiece.bpe.model",
    "spiece.model",
    "chat_template.jinja",
)
"""Files that transformers may write for a model and its tokenizer."""

ENCODER = (
    *TRANSFORMER,
    *below("transformer", names=TRANSFORMER),
    *below("[0-9]_*", names=("config.json", "model.safetensors")),
    "modules.json",
    "sentbench.json",
    "sentbench-modules.json",
    "vectors.safetensors",
    "output.safetensors",
)
"""Files of an exported encoder."""

ARTEFACT = Layout(
    "the artefact of a run",
    {RUN_RECORD: ("key", "identity")},
    (*ENCODER, *below(LAST_WEIGHTS, names=ENCODER), RUN_LOG),
)
PUBLISHED = Layout(
    "a published folder",
    {"README.md": (), "sentbench.json": ("format", "kind")},
    (
        *ENCODER,
        *below("seeds/*", names=(*ENCODER, RUN_RECORD)),
        RUN_RECORD,
        "mteb/model_meta.py",
        ".eval_results/*.yaml",
        *below("mteb/results/*/*", "mteb/results/*/*/experiments/*", names=("*.json", "*.jsonl")),
    ),
)
BACKBONE = Layout("a backbone", {})
"""A backbone has the files of any Hugging Face folder, so an existing one is never replaced."""
CORPUS = Layout("a derived corpus", {CORPUS_RECORD: ("origin", "views"), CORPUS_ROWS: ()})
TEACHER = Layout(
    "a teacher's vectors", {TEACHER_RECORD: ("rows", "views", "dim"), "texts.npy": (), "vectors.npy": ()}
)
ENTRIES = Layout("the entries of a plan", {"plan.json": ()}, ("*/*.json",))
KEPT_TABLES = ("small", "small-*", "runs-*", "public-*", "*-table*", "*-fig*", "own-*")
TABLES = Layout(
    "the tables of a report",
    {"results.csv": (), **{f"una-table1.{suffix}": () for suffix in ("csv", "md", "tex")}},
    (
        *(f"{name}.{suffix}" for name in KEPT_TABLES for suffix in ("md", "tex", "txt", "csv", "json")),
        "results.csv",
        "metrics/*.json",
    ),
)
PAGES = Layout("the pages of a report", {"methods.html": (), "search.js": ()}, ("*.html", "*.svg", "*.csv"))
"""Every report has these two files; others depend on its results."""
PAPERS = Layout("the papers' pages of a report", {"pcl.html": (), "una.html": ()}, ("*.html",))


def read_artefact(folder: Path) -> dict[str, Any]:
    """Returns the description of a run's folder.

    Errors: InputError if the folder is not one of ours, or a file is not the one that training wrote.
    """
    record, again = RECORDS[ARTEFACTS]
    if not os.path.lexists(folder / record):
        raise InputError(f"{folder}: missing {record}; train the run first")
    check_plain(folder, again=again)
    return read_manifest(folder / record, *STATED[ARTEFACTS], again=again)


def check_inputs(*folders: str, teacher: Mapping[str, str] | None = None) -> None:
    """Raises InputError if an input folder of a stage is missing or changed.

    teacher: the plan's entry of the teacher among them; its vectors must have been made from that entry.
    """
    for folder in map(Path, folders):
        if not folder.is_dir():
            raise InputError(f"{folder}: missing input folder; make it with `dvc repro`")
        record, again = RECORDS.get(folder.parent, (SOURCE_RECORD, "make it again with `dvc repro`"))
        again = again.format(folder.name)
        check_plain(folder, again=again)
        for name in dict.fromkeys((record, SOURCE_RECORD)):  # a copied backbone has the record of its source
            needed = name == record and folder.parent in (ARTEFACTS, CORPORA, TEACHERS)
            if not needed and not os.path.lexists(folder / name):
                continue
            manifest = read_manifest(folder / name, *STATED.get(folder.parent, ()), again=again)
            if folder.parent != TEACHERS or teacher is None:
                continue
            for part, planned in teacher.items():
                if manifest.get(part) != planned:
                    raise InputError(
                        f"{folder}: vectors of {part} {manifest.get(part)}, the plan's is {planned}; {again}"
                    )
                if part in MADE_FROM and manifest.get(f"{part}_sha256") != sha256_of_folder(Path(planned)):
                    raise InputError(f"{folder}: {part} {planned} has changed since; {again}")
