"""The teacher of a trial: the parent of its system, and the teacher's vectors, kept for later trials."""

import hashlib
import json
import shutil
import sys
from pathlib import Path

from pydantic import ValidationError

from harness.commands.stage import make_teacher
from harness.errors import InputError, near_matches
from harness.io.files import sha256_of_folder
from harness.io.outputs import new_folder
from harness.paths import TEACHER_RECORD, TEACHERS
from harness.plan.checks import PARENTS
from harness.plan.entries import Params
from harness.plan.identity import FIXED_STAGES, arithmetic_used, code_base, library_versions
from harness.plan.recipes import Parent, Recipe, System, load_backbones
from methods.registry import load_method

EXAMPLES = {"teacher": "minilm-l6", "encoder": "simcse-small"}
"""Kind of a parent -> a name that `--teacher` takes."""


def with_teacher(own: System, name: str | None, small: Recipe, *, corpus: str | None = None) -> System:
    """Returns the system of a method with the parent that its settings ask for; unchanged without one.

    name: the encoder whose vectors the method learns, or for a method that reads an encoder, a backbone or a
    system of the small plan. corpus: of teachers, default: the system's own.
    Errors: InputError for a missing name, and for one that the method cannot use.
    """
    try:
        kind = load_method(own.method).Config.model_validate(own.config).parent_kind
    except ValidationError:
        return own  # the check of the plan names the setting
    if kind is None:
        if name is not None:
            raise InputError(f"--teacher {name}: {own.method} reads none: parent_kind of its Config is None")
        return own
    if name is None:
        what = PARENTS[kind].partition(",")[0]
        raise InputError(f"{own.method} needs {what}: name it, for example --teacher {EXAMPLES[kind]}")
    backbones = load_backbones()
    known = [*backbones, *(small.systems if kind == "encoder" else ())]
    if name not in known:
        raise InputError(
            f"--teacher {name}: expected a backbone, or for a method that reads an encoder a "
            f"system of the small plan{near_matches(name, known)}"
        )
    if kind == "encoder":
        parent = Parent(backbone=name) if name in backbones else Parent(run=name)
        return own.model_copy(update={"parent": parent})
    return own.model_copy(update={"parent": Parent(teacher=name), "corpus": corpus or own.corpus})


def corpus_of_teachers(small: Recipe) -> str | None:
    """Returns the corpus of the small plan's systems with a teacher, so own methods compare with these."""
    taught = (system.corpus for system in small.systems.values() if system.parent and system.parent.teacher)
    return next(taught, None)


def kept_teacher(params: Params, name: str, folder: Path) -> None:
    """Makes teachers/NAME, or copies it from `folder`, where an earlier trial with the same code, libraries,
    encoder and corpus has left it.
    """
    entry = params.teacher(name)
    parts = {
        "code": code_base().fingerprint(FIXED_STAGES["teacher"]),
        "entry": entry.model_dump(),
        "inputs": [sha256_of_folder(Path(entry.encoder)), sha256_of_folder(Path(entry.corpus))],
        "versions": library_versions(),
        "arithmetic": arithmetic_used("cpu"),
    }
    kept = folder / hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()
    if not kept.is_dir():
        print(f"sentbench: computing the vectors of {name}, once", file=sys.stderr, flush=True)
        made = make_teacher(params, name, device="cpu")
        _copied(made, kept)
        return
    print(f"sentbench: {TEACHERS / name}: vectors of an earlier trial", file=sys.stderr, flush=True)
    _copied(kept, TEACHERS / name)


def _copied(origin: Path, target: Path) -> None:
    with new_folder(target, TEACHER_RECORD) as part:
        shutil.copytree(origin, part, dirs_exist_ok=True)
