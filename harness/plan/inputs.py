"""Inputs of a set of runs: data, corpora, backbones and teachers."""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from harness import paths
from harness.data.sources import SOURCES, source_named
from harness.errors import InputError, near_matches
from harness.plan.entries import Params, Run
from harness.plan.recipes import BACKBONE_FILE, CORPUS_FILE, DeclaredBackbone, DeclaredCorpus
from harness.process import Arithmetic


def with_needs(
    runs: dict[str, Run],
    names: list[str],
    providers: list[str],
    declared: Mapping[str, DeclaredBackbone],
    derived: Mapping[str, DeclaredCorpus],
) -> Params:
    """Returns the plan: the runs with every source, backbone, corpus and teacher they need.

    `declared` are the backbones and `derived` the corpora that recipes/ declares.
    """
    teachers = _teachers_of(runs.values(), declared)
    backbones: dict[str, Any] = {}
    wanted = {path for run in runs.values() for path in (run.backbone, run.parent)}
    for path in sorted(wanted | {teacher["encoder"] for teacher in teachers.values()}):
        if Path(path).parent == paths.BACKBONES:
            _add_backbone(backbones, Path(path).name, declared, derived)
    corpora: dict[str, Any] = {}
    for entry in backbones.values():
        add_corpus(corpora, entry["corpus"], derived, "portable")
    for run in runs.values():
        add_corpus(corpora, run.corpus, derived, run.arithmetic)
    reads = _reads_of(runs.values(), providers)
    folders = {entry[need] for entry in backbones.values() for need in ("origin", "corpus")}
    folders |= {run.corpus for run in runs.values()}
    folders |= {entry[need] for entry in corpora.values() for need in ("origin", "tool")}
    sources = {Path(folder).name for folder in folders if Path(folder).parent == paths.DATA}
    sources = sources.union(*reads.values())
    return Params.model_validate(
        {
            "plan": names,
            "providers": providers,
            "sources": {name: {"entry": _entry_hash(name)} for name in sorted(sources)},
            "backbones": backbones,
            "corpora": corpora,
            "teachers": dict(sorted(teachers.items())),
            "reads": dict(link for reader, read in reads.items() for link in _chain(reader, read)),
            "further": _further(runs),
            "runs": {key: run.model_dump() for key, run in runs.items()},
        }
    )


def _further(runs: Mapping[str, Run]) -> dict[str, list[int]]:
    """Returns the seeds that `launch --first-seeds` leaves out, by SYSTEM__BACKBONE."""
    further: dict[str, list[int]] = {}
    for key, run in runs.items():
        if not run.is_first:
            further.setdefault(key.removesuffix(f"__s{run.seed}"), []).append(run.seed)
    return further


def narrowed(runs: Mapping[str, Run], shown: Sequence[str], providers: Sequence[str]) -> dict[str, Run]:
    """Returns the runs without tasks whose data neither the tasks `shown` nor selection read.

    A plan of tables thus requires only the data of their columns. A run keeps its tasks if none would remain.
    """
    from harness.tasks.registry import SELECTION, members, sources_of

    narrowed_runs: dict[str, Run] = {}
    for key, run in runs.items():
        read = partial(sources_of, text=run.text, providers=providers)
        needed, tasks = set(read([*shown, *SELECTION])), list[str]()
        for name in run.tasks:
            kept = [part for part in members(name) if needed.issuperset(read([part]))]
            tasks += [name] if len(kept) == len(members(name)) else kept
        narrowed_runs[key] = run.model_copy(update={"tasks": tasks or run.tasks})
    return narrowed_runs


def _teachers_of(runs: Iterable[Run], declared: Mapping[str, DeclaredBackbone]) -> dict[str, dict[str, Any]]:
    """Returns the entries of teachers/ENCODER__CORPUS that runs name as their parent. A teacher is portable
    if any portable run reads it.
    """
    teachers: dict[str, dict[str, Any]] = {}
    for run in runs:
        folder = Path(run.parent)
        if folder.parent == paths.TEACHERS:
            encoder = folder.name.removesuffix("__" + Path(run.corpus).name)
            entry: dict[str, Any] = {"encoder": f"{paths.BACKBONES}/{encoder}", "corpus": run.corpus}
            entry["pooling"] = declared[encoder].pooling if encoder in declared else None
            teachers.setdefault(folder.name, entry | {"arithmetic": "native"})
            if run.arithmetic == "portable":
                teachers[folder.name]["arithmetic"] = "portable"
    return teachers


def _reads_of(runs: Iterable[Run], providers: Sequence[str]) -> dict[str, list[str]]:
    """Returns reader -> the sources it reads, sorted: selection and evaluation for each form of text."""
    from harness.tasks.registry import SELECTION, sources_of

    reads: dict[str, set[str]] = {}
    evaluated = {(run.text, tuple(run.tasks)) for run in runs}
    for text, tasks in evaluated:
        for reader, read in (("selection", SELECTION), ("evaluation", tasks)):
            names = sources_of(read, text=text, providers=providers)
            reads.setdefault(f"{reader}-{text}", set()).update(names)
    return {reader: sorted(names) for reader, names in sorted(reads.items())}


def _add_backbone(
    backbones: dict[str, Any],
    name: str,
    declared: Mapping[str, DeclaredBackbone],
    derived: Mapping[str, DeclaredCorpus],
) -> None:
    if name not in declared:
        raise InputError(
            f"backbone {name!r} is not in recipes/{BACKBONE_FILE}{near_matches(name, list(declared))}"
        )
    entry = declared[name]
    if entry.cut is not None:
        _add_backbone(backbones, entry.cut, declared, derived)
        origin = f"{paths.BACKBONES}/{entry.cut}"
    else:
        origin = f"{paths.DATA}/{entry.words or entry.source}"
    corpus = origin if entry.centre is None else corpus_folder(entry.centre, derived)
    backbones[name] = {"origin": origin, "corpus": corpus, "layers": entry.layers, "shape": entry.shape}


def corpus_folder(name: str, derived: Mapping[str, DeclaredCorpus]) -> str:
    """Returns the folder of a corpus: corpora/NAME if recipes declare it as derived, otherwise data/NAME."""
    return f"{paths.CORPORA}/{name}" if name in derived else f"{paths.DATA}/{name}"


def add_corpus(
    corpora: dict[str, Any], path: str, derived: Mapping[str, DeclaredCorpus], arithmetic: Arithmetic
) -> None:
    """Adds a derived corpus after the corpora it depends on; ignores the folder of a source.

    arithmetic: of the run that reads it; a corpus that any portable run reads is portable.
    """
    from harness.data.augmentation.views import needs_tool, read_views

    name = Path(path).name
    added = corpora.get(name, {}).get("arithmetic")
    if Path(path).parent != paths.CORPORA or added in ("portable", arithmetic):
        return
    where = f"corpus {name!r} of recipes/{CORPUS_FILE}"
    if name in SOURCES:
        raise InputError(f"{where} has the name of a source; rename it")
    entry = derived[name]
    views = read_views(entry.views, where=where)
    if any(needs_tool(view) for view in views) != (entry.tool is not None):
        raise InputError(f"{where}: `tool` is required exactly if a view uses one; add or remove it")
    folders = {
        "origin": corpus_folder(entry.origin, derived),
        "tool": corpus_folder(entry.tool or entry.origin, derived),
    }
    for folder in folders.values():
        add_corpus(corpora, folder, derived, arithmetic)
    corpora[name] = {**entry.model_dump(), **folders, "arithmetic": arithmetic}


def _entry_hash(name: str) -> str:
    entry = source_named(name)
    text = json.dumps(entry, default=lambda value: getattr(value, "__dict__", str(value)), sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _chain(reader: str, sources: Sequence[str]) -> Iterator[tuple[str, dict[str, str]]]:
    """Yields a link for each of a reader's sources; the last link has the reader's name."""
    after = f"{paths.DATA}/{sources[0]}"
    for number, source in enumerate(sources, 1):
        name = reader if number == len(sources) else f"{reader}-{number}"
        yield name, {"source": f"{paths.DATA}/{source}", "after": after}
        after = (paths.DATA_HASHES / f"{name}.txt").as_posix()
