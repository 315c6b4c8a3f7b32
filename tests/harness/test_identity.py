"""Which stages run again when one line of one module changes: exactly those of this hand-written table.

A new module fails here until it has a line: write down what it must make stale, then look at what it does.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from fnmatch import fnmatchcase
from pathlib import Path

import pytest

from harness.identity import PACKAGES, ROOT, code_base, fingerprints
from methods.registry import METHODS

EVALUATED = {
    "sts": ["STSB", "sts-part"],
    "geometry": ["geometry-dev", "STS12-hard-length:positive=4:negative=2:longer=5:closer=2"],
    "transfer": ["MR"],
    "nli": ["SNLI"],
    "reranking": ["AskUbuntu"],
}
"""A run of each kind of task."""
ENCODING = "train/* evaluate/* teacher backbone"
TRAINING = "train/*"
CONTRAST = "train/moco train/pt-bert"
TAUGHT = "train/ckd train/congen"

STALE: dict[str, str] = {
    # Every import of a module runs the files of the packages above it.
    "harness/__init__": "train/* evaluate/* teacher backbone corpus",
    "methods/__init__": "train/* evaluate/* teacher backbone corpus",
    "methods/core/__init__": "train/* evaluate/* teacher backbone corpus",
    "harness/compute/__init__": "train/* evaluate/* teacher backbone corpus",
    "harness/data/__init__": "train/* evaluate/* teacher corpus",
    "harness/tasks/__init__": "train/* evaluate/*",
    "harness/results/__init__": "evaluate/*",
    "harness/rewriting/__init__": "corpus",
    # The one error.
    "methods/core/errors": "train/* evaluate/* teacher backbone corpus",
    "harness/errors": "train/* evaluate/* teacher corpus",
    # From a folder to vectors.
    "methods/core/batching": ENCODING,
    "methods/core/encoder": ENCODING,
    "methods/core/folders": ENCODING,
    "methods/core/linear": ENCODING,
    "methods/core/packed": ENCODING,
    "methods/core/pooling": ENCODING,
    "methods/core/word_average": ENCODING,
    # What trains.
    "methods/core/corpus": "train/* teacher",
    "methods/core/interface": "train/* teacher",
    "methods/core/parents": "train/* teacher",
    "methods/core/streams": "train/* teacher",
    "methods/core/optimizer": TRAINING,
    "methods/core/schedule": TRAINING,
    "methods/core/trainer": TRAINING,
    # What some methods share.
    "methods/core/distributions": f"{TAUGHT} train/sct",
    "methods/core/grouping": "train/pcl train/sct train/congen",
    "methods/core/heads": f"{CONTRAST} train/simcse train/dclr train/pcl train/una train/modals",
    "methods/core/losses": f"{CONTRAST} {TAUGHT} train/simcse train/dclr train/pcl train/una train/modals "
    "train/sct train/distill",
    "methods/core/mapping": f"{TAUGHT} train/sct train/distill",
    "methods/core/momentum": f"{CONTRAST} train/sct",
    "methods/core/momentum_contrast": CONTRAST,
    "methods/core/queues": f"{CONTRAST} {TAUGHT} train/sct",
    "methods/core/teacher_queue": TAUGHT,
    "methods/core/views": "train/moco train/pcl train/dclr",
    # A method is its own affair; nobody trains or scores by the registry.
    **{f"methods/{name.replace('-', '')}/*": f"train/{name}" for name in METHODS},
    "methods/registry": "",
    # The stages that make numbers.
    "harness/compute/rows": "train/* teacher",
    "harness/compute/selection": TRAINING,
    "harness/compute/train": TRAINING,
    "harness/compute/evaluate": "evaluate/*",
    "harness/compute/backbone": "backbone",
    "harness/compute/teacher": "teacher",
    "harness/compute/corpus": "corpus",
    "harness/rewriting/*": "corpus",
    # Readers. What chooses, brings and converts data is not followed: the bytes it brings are hashed.
    "harness/data/lines": "train/* evaluate/* teacher corpus",
    "harness/data/corpora": "train/* teacher corpus",
    "harness/data/sts": "train/* evaluate/sts evaluate/geometry evaluate/nli",
    "harness/data/text": "train/* evaluate/sts evaluate/geometry",
    "harness/data/classification": "evaluate/transfer evaluate/nli evaluate/reranking",
    "harness/data/nli": "evaluate/nli",
    "harness/data/reranking": "evaluate/reranking",
    "harness/data/wordnet": "corpus",
    "harness/data/archives": "",
    "harness/data/conversions": "",
    "harness/data/download": "",
    "harness/data/sources": "",
    "harness/data/tiers": "",
    "harness/data/wikipedia": "",
    # Tasks; selection needs those of STS-B.
    "harness/tasks/interface": "train/* evaluate/*",
    "harness/tasks/vectors": "train/* evaluate/*",
    "harness/tasks/sts": "train/* evaluate/sts evaluate/geometry",
    "harness/tasks/geometry": "train/* evaluate/geometry",
    "harness/tasks/transfer": "evaluate/transfer evaluate/nli evaluate/reranking",
    "harness/tasks/classifier": "evaluate/transfer evaluate/nli evaluate/reranking",
    "harness/tasks/features": "evaluate/transfer evaluate/nli evaluate/reranking",
    "harness/tasks/logistic": "evaluate/transfer evaluate/nli evaluate/reranking",
    "harness/tasks/protocols": "evaluate/transfer evaluate/nli evaluate/reranking",
    "harness/tasks/nli": "evaluate/nli",
    "harness/tasks/reranking": "evaluate/reranking",
    "harness/tasks/cost": "",
    "harness/tasks/mteb_adapter": "",
    "harness/tasks/sentinels": "",
    # What evaluation writes.
    "harness/files": "evaluate/* corpus",
    "harness/results/embeddings": "evaluate/*",
    "harness/results/schema": "evaluate/*",
    "harness/results/shards": "evaluate/*",
    "harness/results/store": "evaluate/*",
    "harness/results/history": "",
    "harness/results/provenance": "",
    # Paths, flags, plans and pages make nothing run again but the report.
    "harness/cli": "",
    "harness/commands/*": "",
    "harness/declarations": "",
    "harness/fingerprint": "",
    "harness/identity": "",
    "harness/plan/*": "",
    "harness/report/*": "",
    "harness/stages/*": "",
}
"""Module or room -> what must run again, the report left out; the longest pattern that fits counts."""

REPORT = (
    "harness/stages/report",
    "harness/stages/pages",
    "harness/report/*",
    "harness/plan/*",
    "harness/declarations",
    "harness/results/*",
    "methods/registry",
)
NOT_REPORT = ("harness/report/compare", "harness/report/formats/card", "harness/results/history")
"""Modules that the report is made by, and those of their rooms that serve other commands."""


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("project")
    for package in PACKAGES:
        shutil.copytree(ROOT / package, folder / package, ignore=shutil.ignore_patterns("__pycache__"))
    return folder


@pytest.fixture(scope="module")
def stale(copy: Path) -> Mapping[str, set[str]]:
    """Module -> the names of the fingerprints that differ when a line of it changes."""
    before, found = fingerprints(EVALUATED, code_base(copy)), {}
    for path in sorted(copy.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        path.write_text(f"{text}\nCHANGED = 1\n", encoding="utf-8")
        after = fingerprints(EVALUATED, code_base(copy))
        path.write_text(text, encoding="utf-8")
        name = path.relative_to(copy).with_suffix("").as_posix()
        found[name] = {stage for stage in before if before[stage] != after[stage]}
    return found


def line_of(module: str) -> str | None:
    fitting = [pattern for pattern in STALE if fnmatchcase(module, pattern)]
    return max(fitting, key=len, default=None)


def expected(module: str, names: Mapping[str, object]) -> set[str]:
    pattern = line_of(module)
    assert pattern is not None, f"{module} has no line in this table; write down what it makes stale"
    patterns = STALE[pattern].split()
    for pattern in patterns:
        assert any(fnmatchcase(name, pattern) for name in names), f"{pattern}: no such stage"
    return {name for name in names if any(fnmatchcase(name, pattern) for pattern in patterns)}


def test_a_changed_line_makes_stale_what_the_table_says_and_nothing_else(
    stale: Mapping[str, set[str]],
) -> None:
    names = fingerprints(EVALUATED, code_base())
    assert len(names) == 4 + len(METHODS) + len(EVALUATED)
    assert len(stale) > 150
    wrong = {}
    for module, found in stale.items():
        wanted = expected(module, names)
        if found - {"report"} != wanted:
            wrong[module] = {"wrongly stale": found - wanted, "wrongly kept": wanted - found}
    assert wrong == {}


def test_every_line_of_the_table_is_needed(stale: Mapping[str, set[str]]) -> None:
    used = {line_of(module) for module in stale}
    assert [pattern for pattern in STALE if pattern not in used] == []
