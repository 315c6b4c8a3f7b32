"""A project of one run of a tiny encoder, on which every writing command runs in a second."""

import copy
import json
import shutil
from functools import cache
from pathlib import Path
from typing import Any

from harness.io.files import sha256_of
from tests.support import tiny
from tests.support.leaderboards import write_leaderboards
from tests.support.plan import small_plan
from tests.support.sources import made_up_source
from tests.support.yaml_files import dump_yaml

ROOT = Path(__file__).parents[2]
PLANNED, RUN = "simcse-small__words-50d__s0", "simcse-small__minilm-l2__s0"
"""The run of the small plan whose settings are taken, and the project's own, on another backbone."""


def train(run: str, *options: str) -> list[str]:
    """Returns the command that trains a run."""
    return ["stage", "train", run, "--out", f"artefacts/{run}", "--device", "cpu", *options]


TRAIN, EVALUATE = train(RUN), ["stage", "evaluate", RUN, "--device", "cpu"]
TINY = made_up_source({"mirror": {"folder": "words"}}, lines=300)
PUBLISH, FETCH = ["publish", RUN, "--out", "card"], ["data", "fetch", "tiny", "--providers", "mirror"]


def write_project(folder: Path) -> Path:
    """Writes plan, code, STS-B of eight pairs a split, a corpus and a backbone; returns the folder.

    A small leaderboard is next to it and is linked from it, so that copies of the project are quick.
    """
    folder.mkdir(parents=True)
    for room in ("harness", "methods", "recipes"):
        (folder / room).symlink_to(ROOT / room)
    leaderboards = folder.with_name(f"{folder.name}-leaderboards")
    (folder / "leaderboards").symlink_to(write_leaderboards(leaderboards).resolve())
    write_stsb(folder / "data/stsb")
    (folder / "data/words").mkdir()
    (folder / "data/words/words.txt").write_text("".join(f"{row.text}\n" for row in tiny.rows()))
    tiny.write_backbone(folder / "backbones/minilm-l2")
    params = copy.deepcopy(_plan_of_one_run())
    run = params["runs"][PLANNED] | {"backbone": "backbones/minilm-l2"}
    run |= {"corpus": "data/words", "parent": "data/words", "tasks": ["STSB"], "weights": "best-dev"}
    run["train"] |= {"steps": 2, "batch_size": 8, "eval_every": 1, "save_every": 1}
    params |= {"runs": {RUN: run}, "sources": {}, "corpora": {}, "teachers": {}}
    source = "data/minilm-l6"
    params["backbones"] = {"minilm-l2": {"origin": source, "corpus": source, "layers": None}}
    (folder / "params.yaml").write_text(dump_yaml(params, sort_keys=False))
    return folder


@cache
def _plan_of_one_run() -> dict[str, Any]:
    params: dict[str, Any] = small_plan()
    return params | {"runs": {PLANNED: params["runs"][PLANNED]}}


def write_stsb(folder: Path) -> None:
    """Writes a fetched STS-B of eight pairs a split with gold scores from 0 to 4.9."""
    folder.mkdir(parents=True)
    for split in ("train", "dev", "test"):
        (folder / f"sts-{split}.csv").write_text(tiny.stsb())
    write_source_record(folder)


def write_source_record(folder: Path) -> None:
    """Writes the source.json of a fetched source, with the hash of every file."""
    files = {path.name: {"rows": None, "sha256": sha256_of(path)} for path in sorted(folder.iterdir())}
    (folder / "source.json").write_text(
        json.dumps({"name": folder.name, "provider": "mirror", "files": files})
    )


def copy_project(original: Path, folder: Path) -> Path:
    """Replaces `folder` by a copy of `original`; returns it."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(original, folder, symlinks=True)
    return folder
