"""Stages that run again after a change of a module: its dependents, within the limits of its room."""

import shutil
from collections.abc import Mapping
from fnmatch import fnmatchcase
from pathlib import Path

import pytest

from harness.paths import INSTALLED as ROOT
from harness.plan.identity import PACKAGES, code_base, fingerprints, stage_roots
from methods.registry import METHODS

EVALUATED = {
    "sts": ["STSB", "sts-part"],
    "geometry": ["geometry-dev", "STS12-hard-length:positive=4:negative=2:longer=5:closer=2"],
    "transfer": ["MR"],
    "nli": ["SNLI"],
    "reranking": ["AskUbuntu"],
}
"""A run of each kind of task."""
ANY = "train/* evaluate/* teacher backbone corpus further"
ROOMS = {
    "methods/*": "",
    "methods/__init__": ANY,
    "methods/registry": "train/*",
    "methods/core/*": ANY,
    **{f"methods/{name.replace('-', '_')}/*": f"train/{name}" for name in METHODS},
    "harness/*": "",
    "harness/__init__": ANY,
    "harness/errors": ANY,
    "harness/process": ANY,
    "harness/stages/*": ANY,
    "harness/models/*": "train/* backbone teacher",
    "harness/data/*": ANY,
    "harness/io/*": "evaluate/* corpus further",
    "harness/io/__init__": ANY,
    "harness/io/records": ANY,
    "harness/paths": "evaluate/* further",
    "harness/evidence/*": "evaluate/* further",
    "harness/data/augmentation/*": "corpus",
    "harness/tasks/*": "train/* evaluate/*",
}
"""Module or room -> the most that a changed line may make stale, the report left out; the longest counts."""
MODULES = {
    "methods/core/encoder": "train/* evaluate/* teacher backbone",
    "methods/core/trainer": "train/*",
    "methods/core/queues": "train/moco train/pt-bert train/ckd train/congen train/sct",
    "harness/process": ANY,
    "harness/stages/train": "train/*",
    "harness/stages/evaluate": "evaluate/*",
    "harness/stages/vectors": "evaluate/*",
    "harness/stages/backbone": "backbone",
    "harness/stages/teacher": "teacher",
    "harness/stages/corpus": "corpus",
    "harness/stages/further": "further",
    "harness/stages/inputs": ANY,
    "harness/commands/stage": "",  # what surrounds the stages
    "harness/commands/stage_of_run": "",
    "harness/plan/entries": "",  # an entry counts by its values
    "harness/data/corpora": "train/* teacher backbone corpus evaluate/geometry",
    "harness/evidence/store": "evaluate/* further",
    "harness/evidence/further": "further",
    "harness/evidence/curves": "evaluate/*",
    "harness/tasks/selection": "train/*",
    "harness/tasks/sts_sets": "train/* evaluate/sts evaluate/geometry",
    "harness/tasks/declared/nli": "evaluate/nli",
    "harness/tasks/declared/own": "",
    "harness/tasks/registry": "evaluate/*",
    "harness/data/reranking": "evaluate/reranking",
    "harness/data/wordnet": "corpus",
    "harness/data/download": "",  # the bytes that it brings are hashed instead
}
"""Modules of each kind -> the stages that a changed line makes stale, without the report."""
REPORT = (
    *("harness/report/assembly/tables", "harness/report/assembly/content"),
    *("harness/plan/resolve", "harness/report/pages/compare", "harness/report/verdicts"),
    *("harness/evidence/store", "harness/stages/report", "methods/core/train_config"),
)
NOT_REPORT = (
    *("harness/commands/*", "harness/launch/*", "harness/stages/train", "harness/stages/evaluate"),
    *("harness/stages/vectors", "harness/report/formats/card", "methods/core/trainer", "methods/moco/*"),
)
"""Modules or rooms that the report is made by, and that it is not."""

BY_NAME = {
    "harness/command_line": "finds commands, which decide no number",
    "harness/launch/libraries": "imports libraries",
    "harness/include": "imports included methods: harness.paths.MODULES, which closures follow",
    "harness/report/pages/render": "finds pages: harness.plan.identity.PAGES",
    "harness/tasks/registry": "finds tasks: harness.plan.identity.evaluation_roots",
    "methods/registry": "finds methods: harness.plan.identity.training_roots",
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
    """Module -> the names of the fingerprints over code that it is part of."""
    code = code_base(copy)
    parts = {stage: set(code.closure(roots)) for stage, roots in stage_roots(EVALUATED, code).items()}
    return {
        path.relative_to(copy).with_suffix("").as_posix(): {
            stage for stage, files in parts.items() if path in files
        }
        for path in sorted(copy.rglob("*.py"))
    }


def named(patterns: str) -> set[str]:
    """Returns the fingerprints, but for the report's, that fit one of several patterns."""
    names = stage_roots(EVALUATED, code_base()).keys() - {"report"}
    fitting = {
        pattern: {name for name in names if fnmatchcase(name, pattern)} for pattern in patterns.split()
    }
    assert all(fitting.values()), patterns
    return set().union(*fitting.values())


def test_a_changed_line_changes_the_fingerprints_over_its_module(
    copy: Path, stale: Mapping[str, set[str]]
) -> None:
    before = fingerprints(EVALUATED, code_base(copy))
    for module in sorted(stale)[::40]:
        path = copy / f"{module}.py"
        text = path.read_text(encoding="utf-8")
        path.write_text(f"{text}\nCHANGED = 1\n", encoding="utf-8")
        after = fingerprints(EVALUATED, code_base(copy))
        path.write_text(text, encoding="utf-8")
        assert {stage for stage in before if before[stage] != after[stage]} == stale[module], module


def test_a_changed_line_makes_no_more_stale_than_its_room_may(stale: Mapping[str, set[str]]) -> None:
    assert len(stale) > 150
    allowed = {room: named(patterns) for room, patterns in ROOMS.items()}
    wrong = []
    for module, actual in stale.items():
        room = max((room for room in ROOMS if fnmatchcase(module, room)), key=len)
        wrong += [f"{module}: {stage} must not run again" for stage in actual - allowed[room] - {"report"}]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("module", MODULES)
def test_a_changed_line_makes_its_dependents_stale(module: str, stale: Mapping[str, set[str]]) -> None:
    assert stale[module] - {"report"} == named(MODULES[module])


@pytest.mark.parametrize("name", METHODS)
def test_every_module_of_a_method_makes_its_runs_stale_or_none(
    name: str, stale: Mapping[str, set[str]]
) -> None:
    package = f"methods/{name.replace('-', '_')}"
    assert stale[f"{package}/method"] == {f"train/{name}"}
    assert stale["methods/core/method"] >= {f"train/{name}"}


def test_the_report_is_written_again_if_its_content_may_change(stale: Mapping[str, set[str]]) -> None:
    for module, actual in stale.items():
        if any(fnmatchcase(module, pattern) for pattern in (*REPORT, *NOT_REPORT)):
            assert ("report" in actual) is any(fnmatchcase(module, pattern) for pattern in REPORT), module


def test_every_import_by_name_is_known_to_the_identity() -> None:
    """A further one hides modules from every fingerprint until harness.plan.identity names them."""
    paths = [path for package in PACKAGES for path in (ROOT / package).rglob("*.py")]
    calls = ("import_module(", "__import__(", "exec(", "runpy", "spec_from_file_location")
    actual = [path for path in paths if any(call in path.read_text(encoding="utf-8") for call in calls)]
    assert sorted(path.relative_to(ROOT).with_suffix("").as_posix() for path in actual) == sorted(BY_NAME)
