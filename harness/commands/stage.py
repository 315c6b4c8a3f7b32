"""`sentbench stage`: perform one stage of dvc.yaml.

The only door to `harness.stages`: it reads the plan's entry, checks inputs and outputs, sets arithmetic and
device, makes the outputs next to their place, calls the stage and exchanges them. What only orchestrates is
here and in `harness.commands.stage_of_run`, where a change makes no result stale.
"""

import argparse
import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from harness.commands.stage_of_run import evaluate, train, work_folder
from harness.commands.waiting import waiting
from harness.data.augmentation.views import needs_tool, read_views
from harness.errors import InputError, near_matches
from harness.io.files import disk_errors, sha256_of_folder, write_manifest
from harness.io.locks import alone
from harness.io.outputs import check_file, check_folder, new_folder, new_outputs, room_of
from harness.io.records import check_plain, check_present, read_object
from harness.paths import (
    ARTEFACTS,
    BACKBONE_RECORD,
    BACKBONES,
    CORPORA,
    CORPUS_RECORD,
    CORPUS_RESUME,
    DATA,
    FURTHER,
    SOURCE_RECORD,
    TEACHER_RECORD,
    TEACHERS,
    data_roots,
)
from harness.plan.entries import Params
from harness.plan.entry_files import write_entries
from harness.plan.fingerprints import write_code_fingerprints, write_data_fingerprint
from harness.plan.identity import corpus_identity
from harness.plan.params_file import read_params, read_plan
from harness.process import DEVICE, compute_on, compute_with, device_for, quiet, resolve_device
from harness.stages.inputs import StageInputs

CONTINUES = "the same command continues, a training with --resume"
NAMES = ("entries", "data", "fingerprint", "backbone", "corpus", "teacher", "train", "evaluate", "further")
"""The stages, in their order in the pipeline."""
ARGUMENTS = {
    "stage": {"choices": NAMES, "help": "a stage of dvc.yaml"},
    "name": {"nargs": "?", "metavar": "NAME", "help": "its entry in params.yaml"},
    "--out": {"type": Path, "metavar": "DIR", "help": "folder of a training's artefact"},
    "--device": DEVICE,
    "--resume": {"action": "store_true", "help": "continue a training where a killed one stopped"},
    "--data": {"metavar": "READER", "help": "the hashes of what READER of `reads` reads, not those of code"},
}


def execute(arguments: argparse.Namespace) -> None:
    """Performs the stage and prints the paths of its outputs."""
    perform, takes = STAGES[arguments.stage]
    given = {
        "name": arguments.name is not None,
        "--out": arguments.out is not None,
        "--device": arguments.device != DEVICE["default"],
        "--resume": arguments.resume,
        "--data": arguments.data is not None,
    }
    for option, is_given in given.items():
        if is_given and option not in takes:
            raise InputError(f"stage {arguments.stage} takes no {option}")
        if not is_given and option in ("name", "--out") and option in takes:
            raise InputError(f"stage {arguments.stage}: missing {option}")
    for path in perform(arguments):
        print(path)


def make_backbone(params: Params, name: str) -> Path:
    """Writes backbones/NAME. A copied model has the record of its source, others one of their own."""
    entry, folder = _entry(params.backbones, name, "backbone"), BACKBONES / name
    origin = Path(entry.origin)
    check_present(entry.origin, entry.corpus)
    record = SOURCE_RECORD if entry.layers is None and entry.shape is None else BACKBONE_RECORD
    check_folder(folder, record, room=room_of(origin))
    quiet()
    from harness.stages.backbone import run

    folders = {"origin": origin} | ({"centre": entry.centre} if entry.centre else {})
    with disk_errors(folder), new_folder(folder, record) as part:
        run(StageInputs(entry, folders, part))
        if record == BACKBONE_RECORD:
            write_manifest(part / BACKBONE_RECORD, entry.model_dump())
    return folder


def make_corpus(params: Params, name: str, *, device: str = "auto") -> Path:
    """Writes corpora/NAME; a killed call continues with its last part to the same bytes."""
    entry, folder = _entry(params.corpora, name, "corpus"), CORPORA / name
    views = read_views(entry.views, where=f"corpus {name}")
    check_present(entry.origin, entry.tool)
    check_folder(folder, CORPUS_RECORD, room=room_of(Path(entry.origin)) * (1 + len(views)))
    compute_with(entry.arithmetic)
    wanted = device_for(entry.arithmetic, device)
    has_model = any(view.kind in ("generate", "fill") for view in views)
    device = resolve_device(wanted) if has_model else "cpu"
    state = CORPUS_RESUME / corpus_identity(entry, device)
    check_plain(state, again="delete it")
    for kept in sorted(state.rglob("*.json")):
        read_object(kept, again="delete it")
    from harness.stages.corpus import run

    if has_model:
        quiet()
    folders = {"origin": Path(entry.origin), "tool": Path(entry.tool), "state": state}
    with new_folder(folder, CORPUS_RECORD) as part:
        made = run(StageInputs(entry, folders, part, device, {"name": name}))
        stated = {
            "origin": entry.origin,
            "origin_sha256": sha256_of_folder(Path(entry.origin)),
            "tool": entry.tool if any(map(needs_tool, views)) else None,
            "tool_sha256": sha256_of_folder(Path(entry.tool)),
            "seed": entry.seed,
        }
        write_manifest(part / CORPUS_RECORD, stated | made)
    shutil.rmtree(state)
    return folder


def make_teacher(params: Params, name: str, *, device: str = "auto") -> Path:
    """Writes teachers/NAME."""
    entry, folder = params.teacher(name), TEACHERS / name
    device = compute_on(entry.arithmetic, device)
    check_present(entry.encoder, entry.corpus)
    folders = {"encoder": Path(entry.encoder), "corpus": Path(entry.corpus)}
    check_folder(folder, TEACHER_RECORD, room=room_of(folders["corpus"]))
    quiet()
    from harness.stages.teacher import run

    stated = entry.stated() | {f"{part}_sha256": sha256_of_folder(origin) for part, origin in folders.items()}
    with disk_errors(folder), new_folder(folder, TEACHER_RECORD) as part:
        run(StageInputs(entry, folders, part, device, stated))
    return folder


def collect_further(params: Params, name: str) -> Path:
    """Writes reports/further/NAME.json, the scores of the further seeds of a system."""
    from harness.stages.further import RECORD, run

    seeds = _entry(params.further, name, "system with further seeds")
    path = FURTHER / f"{name}.json"
    runs = {key: entry for key, entry in params.runs.items() if key == f"{name}__s{entry.seed}"}
    check_file(path)
    folders = {key: entry.scores(key) for key, entry in runs.items()}
    with work_folder(name) as made, new_outputs({path: None}) as new:
        run(StageInputs(seeds, folders, made))
        shutil.move(made / RECORD, new[path])
    return path


def _entry(entries: Mapping[str, Any], name: str, kind: str) -> Any:
    if name not in entries:
        raise InputError(
            f"{kind} {name!r} is not in params.yaml, expected one of {', '.join(entries) or 'none'}"
            f"{near_matches(name, list(entries))}"
        )
    return entries[name]


def _data(arguments: argparse.Namespace) -> Sequence[Path]:
    """Fetches the source, or copies it from the folder of SENTBENCH_DATA, so no file is downloaded twice."""
    from harness.commands.data import fetch_sources

    folder = data_roots()[-1]
    copies = DATA if folder != DATA else None
    fetch_sources([arguments.name], directory=folder, providers=read_plan().providers, copies=copies)
    return ()


def _train(arguments: argparse.Namespace) -> Sequence[Path]:
    params = read_plan()
    with waiting("loading libraries"):
        device = compute_on(params.run(arguments.name).arithmetic, arguments.device)
    return [train(params, arguments.name, arguments.out, device=device, resume=arguments.resume)]


def _evaluate(arguments: argparse.Namespace) -> Sequence[Path]:
    params, key = read_plan(), arguments.name
    with waiting("loading libraries"):
        device = compute_on(params.run(key).arithmetic, arguments.device)
    folder = ARTEFACTS / key
    if not folder.is_dir():
        raise InputError(f"{folder}: missing encoder; run `dvc repro train@{key}`")
    with alone(f"evaluating {key}"):
        return [evaluate(params, key, folder, device=device)]


def _fingerprint(arguments: argparse.Namespace) -> Sequence[Path]:
    params = read_plan()
    if arguments.data is not None:
        return [write_data_fingerprint(params, arguments.data)]
    return write_code_fingerprints(params)


STAGES: Mapping[str, tuple[Callable[[argparse.Namespace], Sequence[Path]], tuple[str, ...]]] = {
    "entries": (lambda arguments: [write_entries(read_params())], ()),
    "data": (_data, ("name",)),
    "fingerprint": (_fingerprint, ("--data",)),
    "backbone": (lambda arguments: [make_backbone(read_plan(), arguments.name)], ("name",)),
    "corpus": (
        lambda arguments: [make_corpus(read_params(), arguments.name, device=arguments.device)],
        ("name", "--device"),
    ),
    "teacher": (
        lambda arguments: [make_teacher(read_plan(), arguments.name, device=arguments.device)],
        ("name", "--device"),
    ),
    "train": (_train, ("name", "--out", "--device", "--resume")),
    "evaluate": (_evaluate, ("name", "--device")),
    "further": (lambda arguments: [collect_further(read_params(), arguments.name)], ("name",)),
}
"""Stage -> what performs it and returns the paths of its outputs, and the arguments that it takes."""
