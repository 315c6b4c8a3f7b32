"""Folders that trials make once: backbones and teachers' vectors, kept in the cache for later trials."""

import hashlib
import json
import shutil
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from harness.commands.stage import make_backbone, make_teacher
from harness.io.files import sha256_of_folder
from harness.io.outputs import new_folder
from harness.paths import BACKBONE_RECORD, BACKBONES, TEACHER_RECORD, TEACHERS
from harness.plan.entries import Params
from harness.plan.identity import FIXED_STAGES, arithmetic_used, code_base, library_versions


def kept_backbone(params: Params, name: str, kept: Path) -> None:
    """Makes backbones/NAME, or copies it from `kept`, where an earlier trial with the same code, libraries,
    entry and data has left it. A copy of a whole model is made from its source.
    """
    entry = params.backbones[name]
    if entry.layers is None and entry.shape is None:
        make_backbone(params, name)
        return
    identity = _identity("backbone", entry.model_dump(), entry.origin, entry.corpus)
    _make_or_copy(
        BACKBONES / name, kept / BACKBONES / identity, BACKBONE_RECORD, lambda: make_backbone(params, name)
    )


def kept_teacher(params: Params, name: str, kept: Path) -> None:
    """Makes teachers/NAME, or copies it from `kept`, where an earlier trial with the same code, libraries,
    encoder and corpus has left it.
    """
    entry = params.teacher(name)
    identity = _identity("teacher", entry.model_dump(), entry.encoder, entry.corpus)
    _make_or_copy(
        TEACHERS / name,
        kept / TEACHERS / identity,
        TEACHER_RECORD,
        lambda: make_teacher(params, name, device="cpu"),
    )


def _identity(stage: str, entry: Mapping[str, Any], *inputs: str) -> str:
    """Returns the sha256 of everything that determines what a stage makes of these folders."""
    parts = {
        "code": code_base().fingerprint(FIXED_STAGES[stage]),
        "entry": entry,
        "inputs": [sha256_of_folder(Path(folder)) for folder in inputs],
        "versions": library_versions(),
        "arithmetic": arithmetic_used("cpu"),
    }
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def _make_or_copy(folder: Path, kept: Path, record: str, make: Callable[[], Path]) -> None:
    if kept.is_dir():
        print(f"sentbench: {folder}: of an earlier trial", file=sys.stderr, flush=True)
        _copy(kept, folder, record)
        return
    _copy(make(), kept, record)


def _copy(origin: Path, target: Path, record: str) -> None:
    with new_folder(target, record) as part:
        shutil.copytree(origin, part, dirs_exist_ok=True)
