"""`sentbench mteb`: score an encoder folder on tasks of mteb.

The results of a run are filed under its system's name, a revision computed from the run's identity and the
encoder's bytes, and its seed as mteb's experiment. The name of any other folder ends in the first
digits of its revision.

"""

from __future__ import annotations

import argparse
import hashlib
import json
import logging
import os
import sys
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from harness.commands import JSON, POOLING, check_encoder_folder, name_list
from harness.errors import InputError
from harness.io.files import sha256_of
from harness.io.outputs import check_addition
from harness.io.records import read_object
from harness.paths import LAST_WEIGHTS, RUN_LOG, RUN_RECORD, cache
from harness.process import DEVICE, compute_with, quiet, resolve_device

if TYPE_CHECKING:
    from harness.tasks.mteb_adapter import MtebScore

HUB = "https://huggingface.co"
LOGS = (
    RUN_RECORD,
    RUN_LOG,
    LAST_WEIGHTS,
    "README.md",
    "trainer_state.json",
    "runs",
    "eval",
    ".cache",
    ".git",
)
"""Files and folders at the top of an encoder's folder that do not count: logs, cards, other weights."""
ARGUMENTS = {
    "folder": {"type": Path, "metavar": "DIR"},
    "--tasks": {"help": "mteb's names, comma-separated; default: its seven English STS sets"},
    "--out": {
        "type": Path,
        "metavar": "DIR",
        "help": "results are added to it; default: mteb below the cache",
    },
    "--pooling": POOLING,
    "--device": DEVICE,
    "--json": JSON,
}


def execute(arguments: argparse.Namespace) -> None:
    """Prints the identity that the results are filed under, and one line per score."""
    compute_with("native")
    check_encoder_folder(arguments.folder)
    out = arguments.out or cache() / "mteb"
    check_addition(out)
    from harness.tasks.mteb_adapter import LOCAL_STS

    names = list(LOCAL_STS) if arguments.tasks is None else name_list(arguments.tasks)
    if len(_copies(names)) < len(names) and not hub_answers():
        os.environ["HF_HUB_OFFLINE"] = "1"  # use cached files instead of waiting for the hub
    identity, scores = run_folder(
        arguments.folder, names, out=out, pooling=arguments.pooling, device=arguments.device
    )
    output = {**identity._asdict(), "scores": [score._asdict() for score in scores]}
    if arguments.json:
        print(json.dumps(output))
        return
    print(f"{identity.name} revision {identity.revision}")
    for score in scores:
        origin = f"data {score.data_revision}"
        print(f"{score.task:<28} {score.metric:<18} {score.value:8.4f}  {origin}  {score.file}")


class Identity(NamedTuple):
    """Identity under which mteb files an encoder's results; `experiment` is a folder below the revision."""

    name: str
    revision: str
    experiment: dict[str, Any]


def run_folder(
    folder: Path, tasks: Sequence[str], *, out: Path, pooling: str | None = None, device: str = "auto"
) -> tuple[Identity, list[MtebScore]]:
    """Returns the identity of the encoder of `folder` in mteb, and its score of each task in the given order.

    A task with a copy in the mirror is scored on that copy and marked `local`; others use the hub's data.
    Errors: InputError for a bad folder, an unknown task, or unavailable data.
    """
    from harness.data.providers import mirror_folder
    from harness.models.read import read_encoder
    from harness.tasks.mteb_adapter import MtebModel, count_parameters, run_mteb
    from methods.core.words import WordAverageEncoder

    if not tasks:
        raise InputError("name at least one mteb task, for example STSBenchmark")
    quiet()
    for library in ("mteb", "huggingface_hub", "datasets"):
        logging.getLogger(library).setLevel(logging.ERROR)
    warnings.filterwarnings("ignore", module="mteb")
    encoder = read_encoder(folder, pooling=pooling)
    encoder.to(resolve_device(device))
    by_words = isinstance(encoder, WordAverageEncoder)  # takes no other pooling
    identity = mteb_identity(folder, pooling=None if by_words else pooling)
    model = MtebModel(
        encoder,
        name=identity.name,
        revision=identity.revision,
        experiment=identity.experiment,
        parameters=count_parameters(encoder),
    )
    copies = _copies(tasks)
    mirror, bar = mirror_folder(), sys.stderr.isatty()
    scores = run_mteb(model, [name for name in tasks if name not in copies], out=out, progress=bar)
    if copies and mirror is not None:
        scores += run_mteb(model, copies, out=out, local=mirror / "mteb", progress=bar)
    return identity, sorted(scores, key=lambda score: list(tasks).index(score.task))


def hub_answers(seconds: float = 5.0) -> bool:
    """Returns whether the hub, or its mirror HF_ENDPOINT, answers within this time."""
    address = os.environ.get("HF_ENDPOINT") or HUB
    try:
        with urlopen(Request(address, method="HEAD"), timeout=seconds):
            return True
    except HTTPError:
        return True
    except (OSError, ValueError):
        return False


def mteb_identity(folder: Path, *, pooling: str | None = None) -> Identity:
    """Returns the identity of a folder's encoder, equal for every copy of a run."""
    from harness.tasks.mteb_adapter import identity_of

    record, entry = folder / RUN_RECORD, dict[str, Any]()
    if record.is_file():
        entry = read_object(record, "id", "backbone", "identity", "seed", again="train the run again")
    digest = hashlib.sha256(encoder_sha256(folder).encode())
    digest.update(str(entry.get("identity")).encode())
    experiment = {"seed": entry["seed"]} if entry else {}
    if pooling is not None:
        experiment["pooling"] = pooling
    label = f"{entry['id']}__{entry['backbone']}" if entry else folder.resolve().name
    name, revision = identity_of(label, digest.hexdigest())
    return Identity(name if entry else f"{name}-{revision[:8]}", revision, experiment)


def encoder_sha256(folder: Path) -> str:
    """Returns one sha256 of every file of a folder but LOGS: any other file may change its vectors."""
    digest = hashlib.sha256()
    for file in sorted(path for path in folder.rglob("*") if path.is_file()):
        inside = file.relative_to(folder)
        if inside.parts[0] not in LOGS:
            digest.update(f"{inside.as_posix()}\0{sha256_of(file)}\n".encode())
    return digest.hexdigest()


def _copies(tasks: Sequence[str]) -> list[str]:
    """Returns the tasks with data in the mirror, unless the hub precedes it in the order of providers."""
    from harness.data.download import provider_order
    from harness.data.providers import mirror_folder
    from harness.tasks.mteb_adapter import LOCAL_STS

    mirror, order = mirror_folder(), provider_order(None)
    if mirror is None or "mirror" not in order or order.index("mirror") > [*order, "hub"].index("hub"):
        return []
    held = [name for name, sts in LOCAL_STS.items() if (mirror / "mteb" / sts / "test.jsonl").is_file()]
    return [name for name in tasks if name in held]
