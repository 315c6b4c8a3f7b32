"""Identities of stages: hashes of the code, entries and inputs that determine their outputs.

The code of a stage is its file of `harness.stages` and `harness.process`, which sets the arithmetic, with
all their imports; a training adds its method's module, an evaluation adds the modules that declare the run's
tasks. Registries name these modules as text, which is not an import, so they are added here.
"""

from __future__ import annotations

import hashlib
import json
import platform
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.errors import InputError
from harness.io.files import sha256_of, sha256_of_folder
from harness.io.fingerprint import CodeBase
from harness.io.records import check_present, read_object
from harness.paths import (
    INSTALLED,
    LAST_WEIGHTS,
    MODULES,
    RUN_LOG,
    RUN_RECORD,
    TEACHER_RECORD,
    TEACHERS,
)
from harness.process import X86_64, in_effect
from harness.tasks.registry import declaring_modules
from methods.registry import METHODS

if TYPE_CHECKING:
    from harness.plan.entries import Corpus, Params, Run

PACKAGES = ("harness", "methods")
BORDERS = ("harness.data.download", "harness.data.kept_texts", "harness.data.sources")
"""Modules that choose and fetch data. They are not followed: fetched bytes are hashed themselves, and
derived texts are cached by everything that determines them."""
ARITHMETIC = "harness.process"
TRAIN = ("harness.stages.train", ARITHMETIC)
EVALUATE = ("harness.stages.evaluate", ARITHMETIC)
FIXED_STAGES: dict[str, tuple[str, ...]] = {
    name: (f"harness.stages.{name}", ARITHMETIC) for name in ("backbone", "corpus", "teacher", "further")
}
"""Stages whose code is the same for all their entries -> the modules it starts from."""
REPORT, PAGES = "harness.stages.report", "harness.report.pages"
"""The stage of the report, and the package of its pages."""
ENCODER = ("harness.stages.vectors", ARITHMETIC)
"""The modules that compute an artefact's vectors, and so import all code from texts to vectors."""
WRITTEN_BESIDE = (LAST_WEIGHTS, RUN_RECORD, RUN_LOG)
"""Files that training writes next to an encoder and that do not affect its vectors."""
LIBRARIES = ("torch", "transformers", "tokenizers", "numpy", "scipy")


def library_versions() -> dict[str, str]:
    """Returns the versions of the libraries that affect a number."""
    return {name: version(name) for name in LIBRARIES}


def code_base(root: Path = INSTALLED) -> CodeBase:
    """Returns the code that is running, or a copy of it below another folder."""
    return CodeBase(root, PACKAGES, borders=BORDERS, own=MODULES if root == INSTALLED else None)


def training_roots(method: str) -> tuple[str, ...]:
    """Returns the modules whose imports determine the weights of a method's runs."""
    return (*TRAIN, METHODS[method])


def evaluation_roots(tasks: Sequence[str]) -> tuple[str, ...]:
    """Returns the modules whose imports determine the scores of these tasks and suites."""
    return (*EVALUATE, *declaring_modules(tasks))


def run_code(method: str, tasks: Sequence[str], code: CodeBase | None = None) -> str:
    """Returns the sha256 of the code that trains a method's runs and evaluates them on these tasks.

    code: the code that is running, for several calls.
    """
    roots = (*training_roots(method), *evaluation_roots(tasks))
    return (code or code_base()).fingerprint(roots)


def report_roots(code: CodeBase | None = None) -> tuple[str, ...]:
    """Returns the modules whose imports determine the report."""
    folder = (code or code_base()).root / PAGES.replace(".", "/")
    pages = sorted(path.stem for path in folder.glob("*.py") if path.stem != "__init__")
    return (REPORT, *(f"{PAGES}.{page}" for page in pages))


def fingerprints(evaluated: Mapping[str, Sequence[str]], code: CodeBase) -> dict[str, str]:
    """Returns the sha256 of the code of every stage: STAGE, train/METHOD, and evaluate/KEY for each run.

    evaluated: the tasks and suites of each run.
    """
    roots = stage_roots(evaluated, code)
    known = {modules: code.fingerprint(modules) for modules in set(roots.values())}
    return {name: known[modules] for name, modules in roots.items()}


def stage_roots(evaluated: Mapping[str, Sequence[str]], code: CodeBase) -> dict[str, tuple[str, ...]]:
    """Returns the root modules of every stage's code, by the names of `fingerprints`."""
    roots = {**FIXED_STAGES, "report": report_roots(code)}
    roots |= {f"train/{method}": training_roots(method) for method in METHODS}
    return roots | {f"evaluate/{key}": evaluation_roots(tasks) for key, tasks in evaluated.items()}


def run_identity(params: Params, run: Run, arithmetic: str) -> str:
    """Returns the sha256 of everything that determines a run: code, settings, data, parents.

    arithmetic: the arithmetic of its training, as `arithmetic_used` returns it. Errors: InputError if a
    folder that the run needs is missing, or of another teacher than planned.
    """
    parent, entry = Path(run.parent), run.training_entry()
    needs = sorted({run.backbone, run.corpus, run.parent, *params.folders_read(f"selection-{run.text}")})
    code = code_base().fingerprint(training_roots(run.method))
    check_present(*needs)
    if parent.parent == TEACHERS:
        _check_teacher(parent, params.teacher(parent.name).stated())
    inputs = {path: sha256_of_folder(Path(path)) for path in needs}
    return _sha256({"code": code, "entry": entry, "inputs": inputs, "arithmetic": arithmetic})


def _check_teacher(folder: Path, planned: Mapping[str, str]) -> None:
    """Raises InputError for vectors that were made from another entry of the plan."""
    again = f"make them again with `sentbench stage teacher {folder.name}`"
    stated = read_object(folder / TEACHER_RECORD, *planned, again=again)
    for part, wanted in planned.items():
        if stated[part] != wanted:
            raise InputError(f"{folder}: vectors of {part} {stated[part]}, the plan's is {wanted}; {again}")


def arithmetic_used(device: str) -> str:
    """Returns the settings that determine the last digits of results on a device."""
    if in_effect() == "portable" and device == "cpu":
        machine = platform.machine()
        return "portable" if machine in X86_64 else f"portable on {machine}"
    return "native"


def corpus_identity(entry: Corpus, device: str) -> str:
    """Returns the sha256 of everything that determines a derived corpus; parts of another identity are not
    reused."""
    return _sha256(
        {
            "code": code_base().fingerprint(FIXED_STAGES["corpus"]),
            "entry": entry.model_dump(),
            "inputs": [sha256_of_folder(Path(entry.origin)), sha256_of_folder(Path(entry.tool))],
            "versions": library_versions(),
            "device": device,
            "arithmetic": arithmetic_used(device),
        }
    )


def vectors_identity(folder: Path, *, device: str) -> str:
    """Returns the sha256 of everything that determines an artefact's vectors: files, code, libraries.

    Weights below `last/` and the records of training do not count.
    """
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    names = {path: path.relative_to(folder) for path in files}
    return _sha256(
        {
            "files": {
                name.as_posix(): sha256_of(path)
                for path, name in names.items()
                if name.parts[0] not in WRITTEN_BESIDE
            },
            "code": code_base().fingerprint(ENCODER),
            "versions": library_versions(),
            "device": device,
            "arithmetic": in_effect(),
        }
    )


def encoder_hash(folder: Path) -> str:
    """Returns the sha256 of the encoder's weights; a folder may hold other runs' weights below `last/`."""
    for name in ("model.safetensors", "transformer/model.safetensors", "vectors.safetensors"):
        if (folder / name).is_file():
            return sha256_of(folder / name)
    return sha256_of_folder(folder)


def _sha256(parts: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()
