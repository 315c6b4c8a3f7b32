"""Which stages run again when one line of one module changes: exactly those of this hand-written table.

A new module fails here until it has a line: write down what it must make stale, then look at what it does.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
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
    "harness/tasks/declared/__init__": "evaluate/*",
    "harness/results/__init__": "evaluate/*",
    "harness/rewriting/__init__": "corpus",
    # The one error.
    "methods/core/errors": "train/* evaluate/* teacher backbone corpus",
    "harness/errors": "train/* evaluate/* teacher corpus",
    # From a folder to vectors.
    "methods/core/batching": ENCODING,
    "methods/core/coupling_flow": ENCODING,
    "methods/core/encoder": ENCODING,
    "methods/core/fast/*": ENCODING,
    "methods/core/folders": ENCODING,
    "methods/core/model_files": f"{ENCODING} corpus",
    "methods/core/pooling": ENCODING,
    "methods/core/types": ENCODING,
    "methods/core/word_average": ENCODING,
    "methods/core/saving": ENCODING,
    "methods/core/word_transformer": "backbone",
    # What trains.
    "methods/core/streams": "train/* teacher backbone",
    "methods/core/teachers": "train/* teacher",
    "methods/core/corpus": TRAINING,
    "methods/core/method": TRAINING,
    "methods/core/masked_model": TRAINING,
    "methods/core/networks": TRAINING,
    "methods/core/optimizer": TRAINING,
    "methods/core/pieces": TRAINING,
    "methods/core/resume": TRAINING,
    "methods/core/schedule": TRAINING,
    "methods/core/seals": TRAINING,
    "methods/core/settings": TRAINING,
    "methods/core/train_config": TRAINING,
    "methods/core/trainer": TRAINING,
    # What some methods share.
    "methods/core/distributions": f"{TAUGHT} train/sct",
    "methods/core/dropout": "train/simcse train/ct train/scd train/mirror-bert",
    "methods/core/drophead": "train/mirror-bert",
    "methods/core/grouping": "train/pcl train/sct train/congen",
    "methods/core/heads": f"{CONTRAST} train/simcse train/dclr train/pcl train/una train/modals train/ckd "
    "train/sg-opt train/diffcse train/scd",
    "methods/core/layers": "train/sg-opt",
    "methods/core/losses": f"{CONTRAST} {TAUGHT} train/simcse train/dclr train/pcl train/una train/modals "
    "train/sct train/distill train/sg-opt train/consert train/diffcse train/mirror-bert train/ct train/scd",
    "methods/core/momentum": f"{CONTRAST} train/sct",
    "methods/core/momentum_contrast": CONTRAST,
    "methods/core/queues": f"{CONTRAST} {TAUGHT} train/sct",
    "methods/core/teacher_mapping": f"{TAUGHT} train/sct train/distill",
    "methods/core/teacher_queue": TAUGHT,
    "methods/core/token_edits": "train/moco train/pcl train/dclr",
    # A method is its own affair; nobody trains or scores by the registry.
    **{f"methods/{name.replace('-', '_')}/*": f"train/{name}" for name in METHODS},
    "methods/registry": "",
    # The stages that make numbers.
    "harness/compute/rows": "train/* teacher",
    "harness/compute/train": TRAINING,
    "harness/compute/evaluate": "evaluate/*",
    "harness/compute/backbone": "backbone",
    "harness/compute/probe": "",
    "harness/compute/products": "",
    "harness/results/agreement": "",
    "harness/results/bands": "",
    "harness/compute/teacher": "teacher",
    "harness/compute/corpus": "corpus",
    "harness/compute/pairs": "",
    "harness/rewriting/*": "corpus",
    # Readers. What chooses, brings and converts data is not followed: the bytes it brings are hashed.
    "harness/data/lines": "train/* evaluate/* teacher corpus",
    "harness/data/corpora": "train/* teacher corpus",
    "harness/data/sts": "train/* evaluate/sts evaluate/geometry evaluate/nli",
    "harness/data/text": "train/* evaluate/*",
    "harness/data/classification": "evaluate/transfer evaluate/nli evaluate/reranking",
    "harness/data/nli": "evaluate/nli",
    "harness/data/reranking": "evaluate/reranking",
    "harness/data/wordnet": "corpus",
    "harness/data/archives": "",
    "harness/data/conversions": "",
    "harness/data/download": "",
    "harness/data/hub": "",
    "harness/data/kept_texts": "",
    "harness/data/locks": "",
    "harness/data/sources": "",
    "harness/data/tiers": "",
    "harness/data/wikipedia": "",
    # Tasks; selection needs STS-B and its geometry.
    "harness/tasks/evaluation": "train/* evaluate/*",
    "harness/tasks/interface": "train/* evaluate/*",
    "harness/tasks/vectors": "train/* evaluate/*",
    "harness/tasks/selection": TRAINING,
    "harness/tasks/stsb": "train/* evaluate/sts evaluate/geometry",
    "harness/tasks/stsb_source": "train/* evaluate/sts evaluate/geometry",
    "harness/tasks/sts": "train/* evaluate/sts evaluate/geometry",
    "harness/tasks/text_forms": "train/* evaluate/*",
    "harness/tasks/geometry": "train/* evaluate/geometry",
    "harness/tasks/sts_sets": "evaluate/sts evaluate/geometry",
    "harness/tasks/hard_length": "evaluate/geometry",
    "harness/tasks/transfer": "evaluate/transfer evaluate/nli",
    "harness/tasks/classifier": "evaluate/transfer evaluate/nli",
    "harness/tasks/features": "evaluate/transfer evaluate/nli",
    "harness/tasks/logistic": "evaluate/transfer evaluate/nli",
    "harness/tasks/protocols": "evaluate/transfer evaluate/nli",
    "harness/tasks/nli": "evaluate/nli",
    "harness/tasks/reranking": "evaluate/reranking",
    "harness/tasks/batch_cosines": "",
    "harness/tasks/declared/batch_cosines": "",
    "harness/tasks/declared/geometry": "evaluate/geometry",
    "harness/tasks/declared/hard_length": "evaluate/geometry",
    "harness/tasks/declared/nli": "evaluate/nli",
    "harness/tasks/declared/reranking": "evaluate/reranking",
    "harness/tasks/declared/sts": "evaluate/sts evaluate/geometry",
    "harness/tasks/declared/sts_parts": "evaluate/sts",
    "harness/tasks/declared/transfer": "evaluate/transfer",
    "harness/tasks/registry": "",
    "harness/tasks/cost": "",
    "harness/tasks/mteb_adapter": "",
    "harness/tasks/sentinels": "",
    # What evaluation writes.
    "harness/declarations": "evaluate/* corpus",
    "harness/yaml_files": "evaluate/* corpus",
    "harness/files": "evaluate/* corpus",
    "harness/records": "evaluate/* corpus",
    "harness/outputs": "evaluate/*",
    "harness/exchange": "evaluate/*",
    "harness/paths": "evaluate/*",
    "harness/results/embeddings": "evaluate/*",
    "harness/results/kept_shards": "evaluate/*",
    "harness/results/schema": "evaluate/*",
    "harness/results/shards": "evaluate/*",
    "harness/results/store": "evaluate/*",
    "harness/results/acceptance": "",
    "harness/results/bundles": "",
    "harness/results/contributions": "",
    "harness/results/curves": "",
    "harness/results/plausibility": "",
    "harness/results/signatures": "",
    "harness/results/history": "",
    "harness/results/provenance": "",
    # Paths, flags, plans and pages make nothing run again but the report.
    "harness/cli": "",
    "harness/checkout": "",
    "harness/commands/*": "",
    "harness/device": "",
    "harness/fingerprint": "",
    "harness/identity": "",
    "harness/launch/*": "",
    "harness/layouts": "",
    "harness/locks": "",
    "harness/facts/*": "",
    "harness/plan/*": "",
    "harness/report/*": "",
    "harness/stages/*": "",
    "harness/allocator": "",
    "harness/process": "",
}
"""Module or room -> what must run again, the report left out; the longest pattern that fits counts."""

REPORT = (
    "harness/stages/report",
    "harness/facts/*",
    "harness/report/*",
    # The pairs of test sets by the stored vectors.
    "harness/stages/pair_sets",
    "harness/compute/pairs",
    "harness/compute/__init__",
    "harness/data/lines",
    "harness/data/sts",
    "harness/results/embeddings",
    "harness/results/kept_shards",
    "harness/results/shards",
    "harness/tasks/sts",
    "harness/tasks/vectors",
    # Which runs there are, with the names of methods and tasks, and the settings.
    "harness/process",
    "harness/plan/entries",
    "harness/plan/ladder",
    "harness/plan/names",
    "harness/plan/recipes",
    # What seeds of them take: the runs of a plan with their cost.
    "harness/plan/estimate",
    "harness/plan/inputs",
    "harness/plan/known_runs",
    "harness/plan/prices",
    "harness/plan/resolve",
    "harness/plan/step_times",
    "harness/rewriting/__init__",
    "harness/rewriting/views",
    "methods/core/schedule",
    "methods/registry",
    "methods/core/settings",
    "methods/core/train_config",
    "harness/tasks/interface",
    "harness/tasks/registry",
    "harness/tasks/text_forms",
    "harness/data/text",
    # Reading results and declarations, writing pages.
    "harness/results/bundles",
    "harness/results/contributions",
    "harness/results/curves",
    "harness/results/plausibility",
    "harness/results/provenance",
    "harness/results/schema",
    "harness/results/store",
    "harness/checkout",
    "harness/declarations",
    "harness/errors",
    "harness/exchange",
    "harness/files",
    "harness/fingerprint",
    "harness/identity",
    "harness/layouts",
    "harness/outputs",
    "harness/paths",
    "harness/records",
    "harness/yaml_files",
    "methods/core/errors",
    # The packages of all these.
    "harness/__init__",
    "harness/data/__init__",
    "harness/plan/__init__",
    "harness/results/__init__",
    "harness/stages/__init__",
    "harness/tasks/__init__",
    "harness/tasks/declared/__init__",
    "methods/__init__",
    "methods/core/__init__",
)
"""Modules or rooms that the report is made by."""
NOT_REPORT = (
    "harness/facts/bootstrap",
    "harness/report/formats/annotations",
    "harness/report/formats/scores",
    "harness/report/formats/card",
    "harness/report/formats/deviations",
    "harness/report/formats/moves",
    "harness/report/formats/sections",
    "harness/report/formats/source_table",
    "harness/report/formats/speed_section",
    "harness/report/tables/moves",
    "harness/report/tables/coverage",
)
"""Modules in those rooms that other commands alone use."""

BY_NAME = {
    "harness/cli": "finds commands, which decide no number",
    "harness/launch/extras": "imports a library",
    "harness/report/pages/declared": "finds pages: harness.identity.PAGES",
    "harness/tasks/registry": "finds tasks: harness.identity.evaluation_roots",
    "methods/registry": "finds methods: harness.identity.training_roots",
    "methods/moco/roles": "imports a library",
}
"""Modules that import others by a name in a variable, which no closure follows -> who names these others."""


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
    line = line_of(module)
    assert line is not None, f"{module} has no line in this table; write down what it makes stale"
    patterns = STALE[line].split() + ["report"] * (fits(module, REPORT) and not fits(module, NOT_REPORT))
    for pattern in patterns:
        assert any(fnmatchcase(name, pattern) for name in names), f"{pattern}: no such stage"
    return {name for name in names if fits(name, patterns)}


def fits(name: str, patterns: Sequence[str]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)


def test_a_changed_line_makes_stale_what_the_table_says_and_nothing_else(
    stale: Mapping[str, set[str]],
) -> None:
    names = fingerprints(EVALUATED, code_base())
    assert len(names) == 4 + len(METHODS) + len(EVALUATED)
    assert len(stale) > 150
    wrong = []
    for module, found in stale.items():
        wanted = expected(module, names)
        wrong += [f"{module}: {stage} must not run again" for stage in sorted(found - wanted)]
        wrong += [f"{module}: {stage} must run again" for stage in sorted(wanted - found)]
    assert not wrong, "\n".join(wrong)


def test_every_line_of_the_table_is_needed(stale: Mapping[str, set[str]]) -> None:
    used = {line_of(module) for module in stale}
    assert [pattern for pattern in STALE if pattern not in used] == []
    for pattern in (*REPORT, *NOT_REPORT):
        assert any(fnmatchcase(module, pattern) for module in stale), pattern


def test_every_import_by_name_is_known_to_the_identity() -> None:
    """A further one hides modules from every fingerprint until harness.identity names them."""
    paths = [path for package in PACKAGES for path in (ROOT / package).rglob("*.py")]
    calls = ("import_module(", "__import__(", "exec(", "runpy", "spec_from_file_location")
    found = [path for path in paths if any(call in path.read_text(encoding="utf-8") for call in calls)]
    assert sorted(path.relative_to(ROOT).with_suffix("").as_posix() for path in found) == sorted(BY_NAME)
