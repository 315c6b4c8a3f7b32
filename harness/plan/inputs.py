"""What a set of runs needs besides itself: data, backbones, teachers, and the code that identifies it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from harness.data.sources import SOURCES, source_named
from harness.errors import InputError, near_matches
from harness.plan.entries import Params, Run
from harness.plan.recipes import BACKBONES, CORPORA, DeclaredBackbone, DeclaredCorpus

SELECTION_TASK = "STSB-dev"


def with_needs(
    runs: dict[str, Run],
    names: list[str],
    tiers: list[str],
    declared: Mapping[str, DeclaredBackbone],
    derived: Mapping[str, DeclaredCorpus],
) -> Params:
    """Returns the plan: the runs with every source, backbone, corpus, teacher and fingerprint they need.

    `declared` are the backbones and `derived` the corpora that recipes/ declares.
    """
    teachers = _teachers_of(runs.values(), declared)
    backbones: dict[str, Any] = {}
    wanted = {path for run in runs.values() for path in (run.backbone, run.parent)}
    for path in sorted(wanted | {teacher["encoder"] for teacher in teachers.values()}):
        if path.startswith("backbones/"):
            _add_backbone(backbones, Path(path).name, declared)
    corpora: dict[str, Any] = {}
    for run in runs.values():
        add_corpus(corpora, run.corpus, derived)
    reads = _reads_of(runs.values(), tiers)
    folders = {entry["origin"] for entry in backbones.values()} | {run.corpus for run in runs.values()}
    folders |= {entry[need] for entry in corpora.values() for need in ("origin", "tool")}
    sources = {Path(folder).name for folder in folders if folder.startswith("data/")}
    sources = sources.union(*reads.values())
    return Params.model_validate(
        {
            "plan": names,
            "tiers": tiers,
            "sources": {name: {"entry": _entry_hash(name)} for name in sorted(sources)},
            "backbones": backbones,
            "corpora": corpora,
            "teachers": dict(sorted(teachers.items())),
            "code": dict(sorted(_code_of(runs.values(), corpora).items())),
            "reads": reads,
            "runs": {key: run.model_dump() for key, run in runs.items()},
        }
    )


def _teachers_of(runs: Iterable[Run], declared: Mapping[str, DeclaredBackbone]) -> dict[str, dict[str, Any]]:
    """Returns the entries of teachers/ENCODER__CORPUS that runs name as their parent."""
    teachers = {}
    for run in runs:
        if run.parent.startswith("teachers/"):
            name = Path(run.parent).name
            encoder = name.removesuffix("__" + Path(run.corpus).name)
            pooling = declared[encoder].pooling if encoder in declared else None
            teachers[name] = {"encoder": f"backbones/{encoder}", "corpus": run.corpus, "pooling": pooling}
    return teachers


def _reads_of(runs: Iterable[Run], tiers: Sequence[str]) -> dict[str, list[str]]:
    """Returns the sources that selection and evaluation of these runs read."""
    from harness.tasks import sources_of

    reads: dict[str, set[str]] = {"selection": set(), "evaluation": set()}
    for run in runs:
        reads["selection"] |= set(sources_of([SELECTION_TASK], text=run.text, tiers=tiers))
        reads["evaluation"] |= set(sources_of(run.tasks, text=run.text, tiers=tiers))
    return {name: sorted(found) for name, found in reads.items()}


def _code_of(runs: Iterable[Run], corpora: Mapping[str, Any]) -> dict[str, dict[str, str]]:
    """Returns the folders of code that runs, teachers' vectors, derived corpora and scores depend on."""
    code = {run.method: {"code": _package(run.method), "base": "methods/core"} for run in runs}
    code["tasks"] = {"code": "harness/tasks", "base": "harness/data"}
    code["teacher"] = {"code": "methods/pooled", "base": "methods/core"}
    if corpora:
        code["corpora"] = {"code": "harness/rewriting", "base": "harness/data"}
    return code


def _add_backbone(
    backbones: dict[str, Any],
    name: str,
    declared: Mapping[str, DeclaredBackbone],
    *,
    users: tuple[str, ...] = (),
) -> None:
    """Adds a backbone and, before it, the one it is cut from."""
    if name not in declared:
        raise InputError(
            f"backbone {name!r} is not in recipes/{BACKBONES}{near_matches(name, list(declared))}"
        )
    if name in users:
        raise InputError(
            f"backbone {name!r} of recipes/{BACKBONES} is cut from itself, by way of {', '.join(users)}; "
            "correct its cut"
        )
    entry = declared[name]
    if entry.cut is None:
        backbones[name] = {"origin": f"data/{entry.source}", "layers": None}
    else:
        _add_backbone(backbones, entry.cut, declared, users=(*users, name))
        backbones[name] = {"origin": f"backbones/{entry.cut}", "layers": entry.layers}


def corpus_folder(name: str, derived: Mapping[str, DeclaredCorpus]) -> str:
    """Returns where a corpus lies: corpora/NAME if recipes declare it as derived, else data/NAME."""
    return f"corpora/{name}" if name in derived else f"data/{name}"


def add_corpus(
    corpora: dict[str, Any],
    path: str,
    derived: Mapping[str, DeclaredCorpus],
    *,
    users: tuple[str, ...] = (),
) -> None:
    """Adds a derived corpus and, before it, those it is made from; a source's folder adds nothing."""
    from harness.rewriting.views import needs_tool, read_views

    name = Path(path).name
    if not path.startswith("corpora/") or name in corpora:
        return
    where = f"corpus {name!r} of recipes/{CORPORA}"
    if name in SOURCES:
        raise InputError(f"{where} has the name of a source; rename it")
    if name in users:
        raise InputError(
            f"{where} is made from itself, by way of {', '.join(users)}; correct its origin or tool"
        )
    entry = derived[name]
    views = read_views(entry.views, where=where)
    if any(needs_tool(view) for view in views) != (entry.tool is not None):
        raise InputError(f"{where}: `tool` stands where a view uses one and nowhere else; add or remove it")
    folders = {
        "origin": corpus_folder(entry.origin, derived),
        "tool": corpus_folder(entry.tool or entry.origin, derived),
    }
    for folder in folders.values():
        add_corpus(corpora, folder, derived, users=(*users, name))
    corpora[name] = {**entry.model_dump(), **folders}


def _entry_hash(name: str) -> str:
    """Returns the hash of a source's entry in the sources table."""
    entry = source_named(name)
    text = json.dumps(entry, default=lambda value: getattr(value, "__dict__", str(value)), sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _package(method: str) -> str:
    from methods import METHODS

    if method not in METHODS:
        raise InputError(f"method {method!r} is not known{near_matches(method, sorted(METHODS))}")
    return "/".join(METHODS[method].split(".")[:2])
