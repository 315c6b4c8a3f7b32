"""Stage `mteb`: any encoder folder under mteb's tasks, with results that no other model can be taken for.

A run's results lie below its system's name, a revision made from the run's identity and the bytes of the
encoder, and its seed as mteb's experiment. Any other folder's name carries the first digits of its revision.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from harness.data.tiers import mirror_folder
from harness.errors import InputError
from harness.files import sha256_of
from harness.outputs import check_addition
from harness.stages.train import DESCRIPTION, quiet, resolve_device
from harness.tasks.cost import count_parameters
from harness.tasks.mteb_adapter import LOCAL_STS, MtebScore, as_mteb_model, identity_of, run_mteb

DEFAULT_TASKS = tuple(LOCAL_STS)
WEIGHTS_AND_SETTINGS = (".json", ".safetensors", ".txt", ".model")


class Identity(NamedTuple):
    """What mteb files the results of one encoder under; `experiment` is a folder below the revision."""

    name: str
    revision: str
    experiment: dict[str, Any]


def run_folder(
    folder: Path, tasks: Sequence[str], *, out: Path, pooling: str | None = None, device: str = "auto"
) -> tuple[Identity, list[MtebScore]]:
    """Returns how mteb knows the encoder of `folder`, and its score of each task, in the order asked for.

    A task that the mirror has a copy of is scored on the copy and marked `local`; others take the hub's data.
    Errors: InputError for a bad folder, an unknown task, or data that cannot be had.
    """
    from methods.core.folders import load_encoder

    if not tasks:
        raise InputError("no mteb task is named, expected at least one, for example STSBenchmark")
    check_addition(out)
    quiet()
    encoder = load_encoder(folder, pooling=pooling)
    encoder.to(resolve_device(device))
    identity = mteb_identity(folder, pooling=pooling)
    model = as_mteb_model(
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


def mteb_identity(folder: Path, *, pooling: str | None = None) -> Identity:
    """Returns the identity of a folder's encoder; equal for a copy of a run, whatever the copy is called."""
    about = _description(folder)
    digest = hashlib.sha256(encoder_sha256(folder).encode())
    digest.update(str(about.get("identity")).encode())
    experiment = {"seed": about["seed"]} if about else {}
    if pooling is not None:
        experiment["pooling"] = pooling
    label = f"{about['id']}__{about['backbone']}" if about else folder.resolve().name
    name, revision = identity_of(label, digest.hexdigest())
    return Identity(name if about else f"{name}-{revision[:8]}", revision, experiment)


def encoder_sha256(folder: Path) -> str:
    """Returns one sha256 of everything that decides the vectors: weights, tokenizer, pooling, layers.

    Logs, cards and the weights of another selection (`last/`) do not count.
    """
    digest = hashlib.sha256()
    for file in sorted(path for path in folder.rglob("*") if path.suffix in WEIGHTS_AND_SETTINGS):
        place = file.relative_to(folder)
        if place.parts[0] != "last" and place.name != DESCRIPTION:
            digest.update(f"{place.as_posix()}\0{sha256_of(file)}\n".encode())
    return digest.hexdigest()


def _copies(tasks: Sequence[str]) -> list[str]:
    """Returns the tasks whose data the mirror holds, unless the order of tiers asks the hub first."""
    from harness.data.download import tier_order

    mirror, order = mirror_folder(), tier_order(None)
    if mirror is None or "mirror" not in order or order.index("mirror") > [*order, "hub"].index("hub"):
        return []
    held = [name for name, place in LOCAL_STS.items() if (mirror / "mteb" / place / "test.jsonl").is_file()]
    return [name for name in tasks if name in held]


def _description(folder: Path) -> dict[str, Any]:
    """Returns what a run's artefact says about itself; nothing for any other folder."""
    place = folder / DESCRIPTION
    if not place.is_file():
        return {}
    about: dict[str, Any] = json.loads(place.read_text(encoding="utf-8"))
    if not {"id", "backbone", "identity", "seed"} <= set(about):
        raise InputError(f"{place}: not the description of a run, expected id, backbone, identity and seed")
    return about
