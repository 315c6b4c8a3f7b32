"""Checks of a plan that find errors of later stages early, from declarations."""

from collections.abc import Collection
from pathlib import Path
from typing import Any

from harness.data.sources import INCLUDED, Source, source_named
from harness.errors import InputError
from harness.paths import ARTEFACTS, BACKBONES, CORPORA, TEACHERS
from harness.plan.entries import Params, Run

STATES_POOLING = "modules.json"
"""The file of a backbone's folder with its pooling."""
PARENTS = {"encoder": "an encoder, `run` or `backbone`", "teacher": "a teacher's vectors, `teacher`"}
"""Kind of a parent -> its description, with the keys of a recipe that name it."""


def check_runs(params: Params, *, checked: Collection[str] = ()) -> None:
    """Checks every system once, and the providers of all data. checked: recipe hashes of runs that were
    checked before, so that torch is not loaded for these. Errors: InputError with the run, for a setting,
    task, parent, corpus or backbone that its training or evaluation would refuse; for a teacher without a
    stated pooling; for a source without any of the plan's providers.
    """
    seen = set(checked)
    for run in params.runs.values():
        if run.recipe_hash() not in seen:
            seen.add(run.recipe_hash())
            _check_run(params, run)
    for name, teacher in params.teachers.items():
        if teacher.pooling is None:
            _check_pooling_is_stated(params, teacher.encoder, where=f"teacher {name}")
    for name in params.sources:
        if not set(source_named(name).providers) & {INCLUDED, *params.providers}:
            raise InputError(
                f"source {name}: comes from {', '.join(source_named(name).providers)}, the plan has "
                f"providers {', '.join(params.providers)}; add a provider to the recipe or use other data"
            )


def _check_run(params: Params, run: Run) -> None:
    from harness.tasks.registry import build_tasks

    method, config, settings = run.read_settings()
    where = f"run {run.id}"
    if settings.steps != 0 and not method.is_trained():
        raise InputError(f"{where}: {run.method} is not trained; set `steps: 0`")
    build_tasks(run.tasks, text=run.text, providers=params.providers)
    _check_backbone(params, run, method.word_vectors, where)
    _check_pooling(params, run, where)
    _check_parent(params, run, config.parent_kind, where)
    _check_corpus(params, run, max(config.columns), where)


def _check_backbone(params: Params, run: Run, word_vectors: str, where: str) -> None:
    is_vectors = _is_word_vectors(params, run.backbone)
    if (word_vectors, is_vectors) in (("refused", True), ("needed", False)):
        kinds = {True: "word vectors", False: "a transformer"}
        raise InputError(
            f"{where}: {run.backbone_name} is {kinds[is_vectors]}, {run.method} expects "
            f"{kinds[not is_vectors]}"
        )


def _check_pooling(params: Params, run: Run, where: str) -> None:
    from methods.core.pooling import check_pooling

    if run.pooling is None:
        _check_pooling_is_stated(params, f"{BACKBONES}/{run.backbone_name}", where=where)
        return
    try:
        check_pooling(run.pooling)
    except InputError as error:
        raise InputError(f"{where}: {error}; correct the recipe") from None


def _check_pooling_is_stated(params: Params, backbone: str, *, where: str) -> None:
    name = Path(backbone).name
    source = _origin_of(params, backbone) if params.backbones[name].layers is None else None
    if source is None or (source.kind != "vectors" and STATES_POOLING not in source.files):
        raise InputError(
            f"{where}: pooling is null, and backbone {name} states none; add a pooling to the recipe"
        )


def _check_parent(params: Params, run: Run, kind: Any, where: str) -> None:
    if kind is None:
        return
    if run.parent_folder is None:
        raise InputError(f"{where}: {run.method} needs {PARENTS[kind]} as `parent`")
    actual = "teacher" if run.parent_folder.parent == TEACHERS else "encoder"
    if actual != kind:
        raise InputError(
            f"{where}: parent {run.parent} is {PARENTS[actual]}, {run.method} expects {PARENTS[kind]}"
        )
    if kind == "encoder" and _is_word_vectors(params, run.parent):
        raise InputError(
            f"{where}: parent {run.parent} averages word vectors, {run.method} expects a transformer"
        )


def _check_corpus(params: Params, run: Run, augmentations: int, where: str) -> None:
    name, derived = Path(run.corpus).name, Path(run.corpus).parent == CORPORA
    source = None if derived else source_named(name)
    if source is not None and source.kind != "corpus":
        raise InputError(f"{where}: corpus {name} is a source of {source.kind}, expected a corpus")
    if derived:
        available = len(params.corpora[name].views)
    elif source is not None and not any(file.endswith(".tsv") for file in source.files):
        available = 0
    else:
        return  # the columns of a fetched table are known only after the download
    if available < augmentations:
        raise InputError(
            f"{where}: corpus {name} has {available or 'no'} augmentations, {run.method} reads "
            f"{augmentations} of every sentence"
        )


def _is_word_vectors(params: Params, folder: str) -> bool:
    """Returns whether an encoder averages the word vectors of its backbone, trained or not."""
    if Path(folder).parent == ARTEFACTS:
        return _is_word_vectors(params, params.runs[Path(folder).name].backbone)
    made = params.backbones.get(Path(folder).name) if Path(folder).parent == BACKBONES else None
    if made is not None and made.shape is not None:
        return False  # a BERT built over word vectors
    return _origin_of(params, folder).kind == "vectors"


def _origin_of(params: Params, folder: str) -> Source:
    """Returns the source of backbones/NAME, through all cuts."""
    if Path(folder).parent == BACKBONES:
        return _origin_of(params, params.backbones[Path(folder).name].origin)
    source = source_named(Path(folder).name)
    if source.kind not in ("backbone", "vectors"):
        raise InputError(
            f"backbone from source {source.name}: a source of {source.kind}, expected a model or word vectors"
        )
    return source
