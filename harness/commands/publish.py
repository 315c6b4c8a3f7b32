"""`sentbench publish`: make a sentence-transformers folder with a model card, and upload it.

Example: `sentbench publish simcse-small --out published/simcse-small`
"""

from __future__ import annotations

import argparse
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from harness.commands.publish_files import (
    WEIGHTS,
    card_header,
    check_upload,
    complete_weights,
    reported_values,
    upload,
    write_hub_results,
    write_model_meta,
)
from harness.data.sources import SOURCES
from harness.disk.inputs import read_artefact
from harness.disk.layouts import PUBLISHED
from harness.disk.locks import alone
from harness.disk.outputs import check_folder, new_folder, room_of
from harness.errors import InputError, near_matches
from harness.paths import ARTEFACTS, BACKBONES, LAST_WEIGHTS, RUN_LOG, SCORES
from harness.plan.entries import Params, Run, read_params
from harness.process import quiet
from harness.report.formats.card import licence_of, median_seed, render_card
from harness.results.history import git_state
from harness.results.schema import ResultFile
from harness.results.store import read_result

LEFT_OUT = shutil.ignore_patterns(LAST_WEIGHTS, RUN_LOG)
SEEDS = "seeds"
MTEB_TASKS = {
    **{f"STS{year}": (f"STS{year}", f"sts{year}-raw") for year in range(12, 17)},
    "STSB": ("STSBenchmark", "stsb-raw"),
    "SICKR-mteb": ("SICK-R", "sickr-raw"),
}
"""Task -> mteb's task, and the source whose files are those of mteb's data set."""
ARGUMENTS = {
    "runs": {"nargs": "+", "metavar": "RUN", "help": "runs of one system, or the system for all"},
    "--out": {"type": Path, "metavar": "DIR", "help": "default: published/ and the first RUN"},
    "--to": {"metavar": "NAME/REPO", "help": "upload it to this repository of the hub"},
    "--licence": {"help": "licence of the weights; default: that of the backbone's source"},
}


def execute(arguments: argparse.Namespace) -> None:
    """Writes the folder, prints what is in it, and uploads it if a repository is named."""
    if arguments.to is not None:
        check_upload(arguments.to)
    out = arguments.out or Path("published") / arguments.runs[0]
    print(publish(read_params(), arguments.runs, out, licence=arguments.licence, name=arguments.to))
    if arguments.to is not None:
        print(upload(out, arguments.to))


def publish(
    params: Params, names: Sequence[str], out: Path, *, licence: str | None = None, name: str | None = None
) -> str:
    """Writes the folder `out` for runs or systems `names` and returns what is in it, in one line.

    The weights of the seed with the median dev score are at the top level, those of the others in seeds/N.
    name: the repository that it is for, for mteb's declaration of the model.
    Errors: InputError for an unknown run, runs of several systems, a run without scores or artefact, an
    encoder that sentence-transformers cannot express, or an `out` that is a file or a foreign folder.
    """
    check_folder(out, PUBLISHED)
    keys = runs_of(params, names)
    results = [_scores_of(key) for key in keys]
    folders = {key: _loadable(ARTEFACTS / key) for key in keys}
    check_folder(out, PUBLISHED, room=room_of(*folders.values()))
    chosen = median_seed(results)
    with alone(f"publishing {out}"), new_folder(out, PUBLISHED) as part:
        shutil.copytree(folders[chosen.run.key], part, ignore=LEFT_OUT, dirs_exist_ok=True)
        others = []
        for result in results:
            if result.run.key != chosen.run.key:
                others.append(f"`{SEEDS}/{result.run.seed}`")
                shutil.copytree(folders[result.run.key], part / others[-1].strip("`"), ignore=LEFT_OUT)
        quiet()
        completed = [complete_weights(path.parent) for path in sorted(part.rglob(WEIGHTS))]
        written, reason = write_mteb(results, part / "mteb")
        values = _card_values(params, keys, licence)
        values |= {"others": others, "mteb": written, "no_mteb": reason, "pooler": any(completed)}
        values["commit"], values["dirty"] = git_state()
        run = params.run(chosen.run.key)
        reported = values["reported"] = reported_values(run.id, chosen.run.backbone)
        values["header"] = card_header(results, chosen, values, _data_sets(chosen), reported)
        if written:
            write_hub_results(chosen, _mteb_scores(chosen), _data_sets(chosen, mteb=True), part)
        write_model_meta(part, name or f"sentbench/{run.id}", values)
        settings = {**{f"method.{k}": v for k, v in run.config.items()}, **run.train}
        text = render_card(results, settings=settings, values=values)
        (part / "README.md").write_text(text, encoding="utf-8")
    return f"{out}: {len(keys)} seeds of {chosen.run.id}, {len(written)} MTEB result files"


def _data_sets(result: ResultFile, *, mteb: bool = False) -> dict[str, tuple[str, str]]:
    """Returns the hub's repository and commit of the data of each task, or of mteb's task, scored on them."""
    found = {}
    for task, (name, source) in MTEB_TASKS.items():
        hub = SOURCES[source].providers.get("hub") if source in result.provenance.data_sha256 else None
        if hub is not None and hub.repo:
            found[name if mteb else task] = (hub.repo, hub.revision or "main")
    return found


def runs_of(params: Params, names: Sequence[str]) -> list[str]:
    """Returns the run keys that names ask for: a run, or a system for all its runs; one system in all."""
    systems: dict[str, list[str]] = {}
    for key, run in params.runs.items():
        systems.setdefault(run.id, []).append(key)
    keys: dict[str, None] = {}
    for name in names:
        if name not in params.runs and name not in systems:
            known = [*systems, *params.runs]
            raise InputError(
                f"run {name!r} is not in params.yaml, expected a run or a system of the plan"
                f"{near_matches(name, known)}; see `sentbench list runs`"
            )
        keys.update(dict.fromkeys([name] if name in params.runs else systems[name]))
    found = {(params.run(key).id, params.run(key).backbone_name) for key in keys}
    if len(found) != 1:
        shown = ", ".join(f"{system} on {backbone}" for system, backbone in sorted(found))
        raise InputError(f"runs of {len(found)} systems ({shown}), expected one; publish each separately")
    return list(keys)


def _scores_of(key: str) -> ResultFile:
    path = SCORES / f"{key}.json"
    if not path.is_file():
        raise InputError(f"{path}: no scores, a card needs them; run `dvc repro evaluate@{key}`")
    return read_result(path)


def _loadable(folder: Path) -> Path:
    if not folder.is_dir():
        raise InputError(f"{folder}: no such folder, expected the run's artefact; run `dvc repro`")
    if not (folder / "modules.json").is_file():
        raise InputError(
            f"{folder}: no modules.json, sentence-transformers cannot express this encoder without code of "
            f"ours (a pooling over layers, or word vectors); publish a run with pooling cls or mean"
        )
    read_artefact(folder)
    return folder


def _card_values(params: Params, keys: Sequence[str], licence: str | None) -> dict[str, Any]:
    run = params.run(keys[0])
    origin, corpus = _origin(params, run), Path(run.corpus).name
    origin_licence = SOURCES[origin].licence if origin in SOURCES else "not known"
    stated = licence_of(licence or origin_licence)
    return {
        "name": f"{run.id} on {run.backbone_name}",
        "pooling": run.pooling,
        "max_length": run.config.get("max_length", "any number of"),
        "plan": " ".join(params.plan),
        "origin": origin,
        "origin_licence": origin_licence,
        "corpus": corpus,
        "corpus_licence": SOURCES[corpus].licence if corpus in SOURCES else "made from another source",
        "licence": stated.id,
        "licence_name": stated.name,
    }


def _origin(params: Params, run: Run) -> str:
    """Returns the source a run's backbone is made from."""
    folder = run.backbone
    while Path(folder).parent == BACKBONES:
        name = Path(folder).name
        if name not in params.backbones:
            raise InputError(
                f"{folder}: not among `backbones` of params.yaml, its licence is not known; plan it"
            )
        folder = params.backbones[name].origin
    return Path(folder).name


def write_mteb(results: Sequence[ResultFile], out: Path) -> tuple[list[str], str]:
    """Writes mteb's result files of scores of raw text; returns the tasks, and why if there is none.

    Only scores of files that are those of mteb's pinned data set revision count. Each seed is an experiment
    of the model, whose revision is made from the encoder's bytes.
    """
    if results[0].provenance.text != "raw":
        return [], "the runs were evaluated on SentEval's text, and MTEB scores raw sentences"
    tasks: dict[str, None] = {}
    for result in results:
        for name, scores in _mteb_scores(result).items():
            _write_task(result, name, scores, out, alone=len(results) == 1)
            tasks[name] = None
    reason = "" if tasks else "no task of the runs is one of MTEB's with the same files"
    return list(tasks), reason


def _mteb_scores(result: ResultFile) -> dict[str, dict[str, float]]:
    """Returns cosine_spearman and cosine_pearson of the best-dev weights by mteb's task."""
    found: dict[str, dict[str, float]] = {}
    for score in result.scores:
        name, source = MTEB_TASKS.get(score.task, ("", ""))
        if source in result.provenance.data_sha256 and (score.setting, score.selection) == (
            "all",
            "best-dev",
        ):
            found.setdefault(name, {})[f"cosine_{score.metric}"] = score.value
    return {name: scores for name, scores in found.items() if "cosine_spearman" in scores}


def _write_task(result: ResultFile, name: str, scores: dict[str, float], out: Path, *, alone: bool) -> None:
    import mteb
    from mteb.results import TaskResult

    from harness.tasks.mteb_adapter import as_mteb_model, identity_of
    from methods.core.folders import load_encoder

    task = mteb.get_task(name)
    _check_revision(name, task.metadata.revision)
    run = result.run
    label, revision = identity_of(f"{run.id}__{run.backbone}", result.provenance.encoder_sha256)
    encoder = load_encoder(ARTEFACTS / run.key)
    experiment = {} if alone else {"seed": run.seed}
    model = as_mteb_model(encoder, name=label, revision=revision, experiment=experiment)
    values = {**scores, "main_score": scores["cosine_spearman"]}
    found = TaskResult.from_task_results(task, {"test": {"default": values}}, evaluation_time=None)
    mteb.ResultCache(out).save_to_cache(found, model.mteb_model_meta)


def _check_revision(name: str, wanted: str) -> None:
    """Raises InputError unless our files of mteb's task `name` are those of the revision it is scored on."""
    source = next(source for known, source in MTEB_TASKS.values() if known == name)
    hub = SOURCES[source].providers.get("hub")
    if hub is None or hub.revision != wanted:
        raise InputError(
            f"source {source}: revision {hub.revision if hub else None}, mteb scores {name} on {wanted}; "
            "align the sources table before publishing"
        )
