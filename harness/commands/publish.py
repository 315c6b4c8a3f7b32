"""`sentbench publish`: make a sentence-transformers folder with a model card, and upload it."""

import argparse
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from harness.commands.publish_files import (
    card_header,
    check_upload,
    complete_weights,
    reported_values,
    upload,
    write_hub_results,
    write_model_meta,
    write_mteb,
)
from harness.data.sources import SOURCES
from harness.errors import InputError, near_matches
from harness.evidence.history import git_state
from harness.evidence.schema import ResultFile
from harness.evidence.store import read_result
from harness.io.artefacts import read_artefact
from harness.io.outputs import check_folder, new_folder, room_of
from harness.paths import ARTEFACTS, BACKBONES, FILE_RECORD, LAST_WEIGHTS, RUN_LOG
from harness.plan.entries import Params, Run
from harness.plan.params_file import read_params
from harness.process import quiet
from harness.report.formats.card import licence_of, median_seed, render_card

LEFT_OUT = shutil.ignore_patterns(LAST_WEIGHTS, RUN_LOG)
ARGUMENTS = {
    "runs": {"nargs": "+", "metavar": "RUN", "help": "runs of one system, or the system for all"},
    "--out": {"type": Path, "metavar": "DIR", "help": "default: published/ and the first RUN"},
    "--to": {"metavar": "NAME/REPO", "help": "upload it to this repository of the hub"},
    "--licence": {"help": "licence of the weights; default: of the backbone's source"},
}


def execute(arguments: argparse.Namespace) -> None:
    """Writes the folder, prints a summary, and uploads it if a repository is given."""
    if arguments.to is not None:
        check_upload(arguments.to)
    out = arguments.out or Path("published") / arguments.runs[0]
    print(publish(read_params(), arguments.runs, out, licence=arguments.licence, name=arguments.to))
    if arguments.to is not None:
        print(upload(out, arguments.to))


def publish(
    params: Params, names: Sequence[str], out: Path, *, licence: str | None = None, name: str | None = None
) -> str:
    """Writes the folder `out` for runs or systems `names` and returns a summary of one line. The weights are
    of the seed with the median dev score; card and result files cover all seeds. name: the target repository,
    for mteb's declaration of the model. Errors: InputError for an unknown run, runs of several systems, a run
    without scores or artefact, an encoder that sentence-transformers cannot express, or if `out` is a file or
    a foreign folder.
    """
    check_folder(out, FILE_RECORD)
    runs = {key: params.run(key) for key in named_runs(params, names)}
    results = [_scores_of(run, key) for key, run in runs.items() if run.is_first or run.scores(key).is_file()]
    chosen = median_seed(results)
    folder = _loadable(ARTEFACTS / chosen.run.key)
    check_folder(out, FILE_RECORD, room=room_of(folder))
    from methods.core.folders import load_encoder

    with new_folder(out, FILE_RECORD) as part:
        mode = part.stat().st_mode  # of this process's umask; a copied folder has the artefact's
        shutil.copytree(folder, part, ignore=LEFT_OUT, dirs_exist_ok=True)
        for copied in (part, *filter(Path.is_dir, part.rglob("*"))):
            copied.chmod(mode)
        quiet()
        run = params.run(chosen.run.key)
        completed = complete_weights(part)
        written, reason = write_mteb(results, folder, part / "mteb")
        commit, dirty = git_state()
        encoder = load_encoder(folder)
        values = _card_values(params, run, licence) | {
            "mteb": written,
            "no_mteb": reason,
            "pooler": completed,
            "tokens": encoder.input_limit,
            "width": encoder.dim,
            "commit": commit,
            "dirty": dirty,
            "reported": reported_values(run.id, chosen.run.backbone),
        }
        values["header"] = card_header(results, chosen, values)
        write_hub_results(chosen, part)
        write_model_meta(part, name or f"sentbench/{run.id}", values)
        settings = {**{f"method.{k}": v for k, v in run.config.items()}, **run.train}
        text = render_card(results, settings=settings, values=values)
        (part / "README.md").write_text(text, encoding="utf-8")
    left_out = f" ({len(runs) - len(results)} further seeds were not evaluated here)" * (
        len(runs) > len(results)
    )
    return f"{out}: {len(results)} seeds of {chosen.run.id}{left_out}, {len(written)} MTEB result files"


def named_runs(params: Params, names: Sequence[str]) -> list[str]:
    """Returns the run keys of names: a run, or a system for all its runs; all must be of one system."""
    keys: dict[str, None] = {}
    for name in names:
        meant = [key for key, run in params.runs.items() if name in (key, run.id)]
        if not meant:
            known = [*dict.fromkeys(run.id for run in params.runs.values()), *params.runs]
            raise InputError(
                f"run {name!r} is not in params.yaml, expected a run or a system of the plan"
                f"{near_matches(name, known)}; see `sentbench list runs`"
            )
        keys.update(dict.fromkeys(meant))
    systems = {(params.run(key).id, params.run(key).backbone_name) for key in keys}
    if len(systems) != 1:
        shown = ", ".join(f"{system} on {backbone}" for system, backbone in sorted(systems))
        raise InputError(f"runs of {len(systems)} systems ({shown}); publish each separately")
    return list(keys)


def _scores_of(run: Run, key: str) -> ResultFile:
    path = run.scores(key)
    if not path.is_file():
        raise InputError(f"{path}: missing scores; run `dvc repro evaluate@{key}`")
    return read_result(path)


def _loadable(folder: Path) -> Path:
    if not folder.is_dir():
        raise InputError(f"{folder}: missing artefact of the run; run `dvc repro`")
    if not (folder / "modules.json").is_file():
        raise InputError(
            f"{folder}: no modules.json, sentence-transformers cannot express this encoder without our "
            f"code (a pooling over layers, or word vectors); publish a run with pooling cls or mean"
        )
    read_artefact(folder)
    return folder


def _card_values(params: Params, run: Run, licence: str | None) -> dict[str, Any]:
    origin, corpus = _origin(params, run), Path(run.corpus).name
    origin_licence = SOURCES[origin].licence if origin in SOURCES else "not known"
    licence_id, licence_name = licence_of(licence or origin_licence)
    return {
        "name": f"{run.id} on {run.backbone_name}",
        "pooling": run.pooling,
        "max_length": run.config.get("max_length", "any number of"),
        "plan": " ".join(params.plan),
        "origin": origin,
        "origin_licence": origin_licence,
        "corpus": corpus,
        "corpus_licence": SOURCES[corpus].licence if corpus in SOURCES else "made from another source",
        "licence": licence_id,
        "licence_name": licence_name,
    }


def _origin(params: Params, run: Run) -> str:
    """Returns the source of a run's backbone."""
    folder = run.backbone
    while Path(folder).parent == BACKBONES:
        name = Path(folder).name
        if name not in params.backbones:
            raise InputError(f"{folder}: not among `backbones` of params.yaml, so its licence is unknown")
        folder = params.backbones[name].origin
    return Path(folder).name
