"""What a set of runs needs besides itself: data, backbones, teachers, and the code that identifies it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from harness.errors import InputError, near_matches
from harness.plan.entries import Params, Run

BACKBONES, CORPORA = "backbones.yaml", "corpora.yaml"
SELECTION_TASK = "STSB-dev"


def with_needs(
    runs: dict[str, Run],
    names: list[str],
    tiers: list[str],
    declared: Mapping[str, Any],
    derived: Mapping[str, Any],
) -> Params:
    """Returns the plan: the runs with every source, backbone, corpus, teacher and fingerprint they need.

    `declared` are the backbones and `derived` the corpora that recipes/ declares.
    """
    from harness.data.sources import SOURCES
    from harness.tasks.registry import sources_of

    teachers = {}
    for run in runs.values():
        if run.parent.startswith("teachers/"):
            name = Path(run.parent).name
            encoder = name.removesuffix("__" + Path(run.corpus).name)
            pooling = declared.get(encoder, {}).get("pooling")
            teachers[name] = {"encoder": f"backbones/{encoder}", "corpus": run.corpus, "pooling": pooling}
    wanted = {run.backbone for run in runs.values()} | {run.parent for run in runs.values()}
    wanted |= {entry["encoder"] for entry in teachers.values()}
    backbones: dict[str, Any] = {}
    for path in sorted(wanted):
        if path.startswith("backbones/"):
            _add_backbone(backbones, Path(path).name, declared)
    reads: dict[str, set[str]] = {"selection": set(), "evaluation": set()}
    for run in runs.values():
        reads["selection"] |= set(sources_of([SELECTION_TASK], text=run.text, tiers=tiers))
        reads["evaluation"] |= set(sources_of(run.tasks, text=run.text, tiers=tiers))
    corpora: dict[str, Any] = {}
    for run in runs.values():
        _add_corpus(corpora, run.corpus, derived)
    paths = {entry["origin"] for entry in backbones.values()} | {run.corpus for run in runs.values()}
    paths |= {entry[need] for entry in corpora.values() for need in ("origin", "tool")}
    paths |= {f"data/{name}" for name in set().union(*reads.values())}
    sources = {path for path in paths if path.startswith("data/")}
    code = {run.method: {"code": _package(run.method), "base": "methods/core"} for run in runs.values()}
    code["tasks"] = {"code": "harness/tasks", "base": "harness/data"}
    code["teacher"] = {"code": "methods/pooled", "base": "methods/core"}
    if corpora:
        code["corpora"] = {"code": "harness/rewriting", "base": "harness/data"}
    return Params.model_validate(
        {
            "plan": names,
            "tiers": tiers,
            "sources": {
                Path(path).name: {"entry": _entry_hash(SOURCES, Path(path).name)} for path in sorted(sources)
            },
            "backbones": backbones,
            "corpora": corpora,
            "teachers": dict(sorted(teachers.items())),
            "code": dict(sorted(code.items())),
            "reads": {name: sorted(found) for name, found in reads.items()},
            "runs": {key: run.model_dump() for key, run in runs.items()},
        }
    )


def _add_backbone(backbones: dict[str, Any], name: str, declared: Mapping[str, Any]) -> None:
    if name not in declared:
        raise InputError(
            f"backbone {name!r} is not in recipes/{BACKBONES}{near_matches(name, list(declared))}"
        )
    entry = declared[name]
    if "cut" in entry:
        _add_backbone(backbones, entry["cut"], declared)
        backbones[name] = {"origin": f"backbones/{entry['cut']}", "layers": entry["layers"]}
    else:
        backbones[name] = {"origin": f"data/{entry['source']}", "layers": None}


def corpus_folder(name: str, derived: Mapping[str, Any]) -> str:
    """Returns where a corpus lies: corpora/NAME if recipes declare it as derived, else data/NAME."""
    return f"corpora/{name}" if name in derived else f"data/{name}"


def _add_corpus(
    corpora: dict[str, Any], path: str, derived: Mapping[str, Any], *, users: tuple[str, ...] = ()
) -> None:
    """Adds a derived corpus and, before it, those it is made from; a source's folder adds nothing."""
    from harness.data.sources import SOURCES
    from harness.rewriting.views import needs_tool, read_views

    name = Path(path).name
    if not path.startswith("corpora/") or name in corpora:
        return
    where = f"corpus {name!r} of recipes/{CORPORA}"
    if name in SOURCES:
        raise InputError(f"{where} has the name of a source; rename it")
    if name in users:
        raise InputError(
            f"{where} is made from itself, by way of {', '.join(users)}; mend its origin or tool"
        )
    entry = {"tool": derived[name].get("origin"), "rows": None, **derived[name]}
    if wrong := {"origin", "tool", "seed", "rows", "views"} ^ set(entry):
        raise InputError(f"{where}: keys {', '.join(sorted(wrong))} are missing or unknown; mend them")
    views = read_views(entry["views"], where=where)
    if any(needs_tool(view) for view in views) != ("tool" in derived[name]):
        raise InputError(f"{where}: `tool` stands where a view uses one and nowhere else; add or remove it")
    for need in ("origin", "tool"):
        entry[need] = corpus_folder(entry[need], derived)
        _add_corpus(corpora, entry[need], derived, users=(*users, name))
    corpora[name] = entry


def _entry_hash(sources: Mapping[str, Any], name: str) -> str:
    if name not in sources:
        raise InputError(f"source {name!r} is not in the sources table{near_matches(name, list(sources))}")
    text = json.dumps(
        sources[name], default=lambda value: getattr(value, "__dict__", str(value)), sort_keys=True
    )
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _package(method: str) -> str:
    from methods.registry import METHODS

    if method not in METHODS:
        raise InputError(f"method {method!r} is not known{near_matches(method, sorted(METHODS))}")
    return "/".join(METHODS[method].split(".")[:2])
