"""What a set of runs needs besides itself: data, corpora, backbones and teachers."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from harness import paths
from harness.errors import InputError, near_matches
from harness.plan.entries import Params, Run

BACKBONES, CORPORA = "backbones.yaml", "corpora.yaml"


def with_needs(
    runs: dict[str, Run],
    names: list[str],
    tiers: list[str],
    declared: Mapping[str, Any],
    derived: Mapping[str, Any],
) -> Params:
    """Returns the plan: the runs with every source, backbone, corpus and teacher they need.

    `declared` are the backbones and `derived` the corpora that recipes/ declares.
    """
    from harness.data.sources import SOURCES

    teachers = {}
    for run in runs.values():
        _check_method(run.method)
        if Path(run.parent).parent == paths.TEACHERS:
            name = Path(run.parent).name
            encoder = name.removesuffix("__" + Path(run.corpus).name)
            pooling = declared.get(encoder, {}).get("pooling")
            teachers[name] = {
                "encoder": f"{paths.BACKBONES}/{encoder}",
                "corpus": run.corpus,
                "pooling": pooling,
            }
    wanted = {run.backbone for run in runs.values()} | {run.parent for run in runs.values()}
    wanted |= {entry["encoder"] for entry in teachers.values()}
    backbones: dict[str, Any] = {}
    for path in sorted(wanted):
        if Path(path).parent == paths.BACKBONES:
            _add_backbone(backbones, Path(path).name, declared)
    reads = _reads_of(runs.values(), tiers)
    corpora: dict[str, Any] = {}
    for run in runs.values():
        _add_corpus(corpora, run.corpus, derived)
    folders = {entry["origin"] for entry in backbones.values()} | {run.corpus for run in runs.values()}
    folders |= {entry[need] for entry in corpora.values() for need in ("origin", "tool")}
    folders |= {f"{paths.DATA}/{name}" for name in set().union(*reads.values())}
    sources = {path for path in folders if Path(path).parent == paths.DATA}
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
            "reads": dict(link for reader, found in reads.items() for link in _chain(reader, found)),
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
        backbones[name] = {"origin": f"{paths.BACKBONES}/{entry['cut']}", "layers": entry["layers"]}
    else:
        backbones[name] = {"origin": f"{paths.DATA}/{entry['source']}", "layers": None}


def corpus_folder(name: str, derived: Mapping[str, Any]) -> str:
    """Returns where a corpus lies: corpora/NAME if recipes declare it as derived, else data/NAME."""
    return f"{paths.CORPORA}/{name}" if name in derived else f"{paths.DATA}/{name}"


def _add_corpus(
    corpora: dict[str, Any], path: str, derived: Mapping[str, Any], *, users: tuple[str, ...] = ()
) -> None:
    """Adds a derived corpus and, before it, those it is made from; a source's folder adds nothing."""
    from harness.data.sources import SOURCES
    from harness.rewriting.views import needs_tool, read_views

    name = Path(path).name
    if Path(path).parent != paths.CORPORA or name in corpora:
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


def _reads_of(runs: Iterable[Run], tiers: Sequence[str]) -> dict[str, list[str]]:
    """Returns reader -> the sources it reads, sorted: selection and evaluation for each form of text."""
    from harness.tasks.registry import SELECTION, sources_of

    reads: dict[str, set[str]] = {}
    for run in runs:
        for reader, tasks in (("selection", SELECTION), ("evaluation", run.tasks)):
            found = sources_of(tasks, text=run.text, tiers=tiers)
            reads.setdefault(f"{reader}-{run.text}", set()).update(found)
    return {reader: sorted(found) for reader, found in sorted(reads.items())}


def _chain(reader: str, sources: Sequence[str]) -> Iterator[tuple[str, dict[str, str]]]:
    """Yields the links over a reader's sources, one a source; the last has the reader's name."""
    after = f"{paths.DATA}/{sources[0]}"
    for number, source in enumerate(sources, 1):
        name = reader if number == len(sources) else f"{reader}-{number}"
        yield name, {"source": f"{paths.DATA}/{source}", "after": after}
        after = (paths.DATA_HASHES / f"{name}.txt").as_posix()


def _check_method(method: str) -> None:
    from methods.registry import METHODS

    if method not in METHODS:
        raise InputError(f"method {method!r} is not known{near_matches(method, sorted(METHODS))}")
