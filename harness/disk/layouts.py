"""What is in each folder that this project writes; harness/disk/outputs.py replaces no other folder."""

from __future__ import annotations

from collections.abc import Iterable

from harness.disk.outputs import Layout
from harness.paths import (
    CORPUS_RECORD,
    CORPUS_ROWS,
    LAST_WEIGHTS,
    RUN_LOG,
    RUN_RECORD,
    STORE_RECORD,
    TEACHER_RECORD,
)


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
"""What transformers may write for a model and its tokenizer."""

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
"""What an exported encoder may consist of."""

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
"""The files of a backbone are those of any Hugging Face folder: one that is there is never replaced."""
CORPUS = Layout("a derived corpus", {CORPUS_RECORD: ("origin", "views"), CORPUS_ROWS: ()})
TEACHER = Layout(
    "a teacher's vectors", {TEACHER_RECORD: ("rows", "views", "dim"), "texts.npy": (), "vectors.npy": ()}
)
ENTRIES = Layout("the entries of a plan", {"plan.json": ()}, ("*/*.json",))
STORE = Layout("stored vectors", {STORE_RECORD: ("format", "precision")}, ("*-*.npy",))
KEPT_TABLES = ("small", "small-*", "runs-*", "public-*", "*-table*", "*-fig*", "own-*")
TABLES = Layout(
    "the tables of a report",
    {"results.csv": (), **{f"una-table1.{suffix}": () for suffix in ("md", "tex", "txt")}},
    (
        *(f"{name}.{suffix}" for name in KEPT_TABLES for suffix in ("md", "tex", "txt", "csv", "json")),
        "results.csv",
        "metrics/*.json",
    ),
)
PAGES = Layout("the pages of a report", {"audit.html": (), "claims.html": ()}, ("*.html", "*.svg", "*.csv"))
PAPERS = Layout("the papers' pages of a report", {"pcl.html": (), "una.html": ()}, ("*.html",))
