"""A project with every kind of file that commands read, and the commands that read them."""

import errno
import shutil
from contextlib import chdir
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

from harness.cli import main
from tests.faults.small_project import (
    EVALUATE,
    PUBLISH,
    ROOT,
    RUN,
    TRAIN,
    train,
    write_project,
    write_source_record,
)
from tests.support.plan import small_plan
from tests.support.yaml_files import dump_yaml, load_yaml

DERIVE = ["stage", "corpus", "views", "--device", "cpu"]
SCORES = (f"reports/scores/{RUN}.json",)


class Reader(NamedTuple):
    """A command with the files that it reads, as patterns below the project.

    checksummed: the command compares their hashes, so every lost or flipped bit must be detected.
    interrupted: the command was stopped before and left its state. slow: it takes seconds. Declared files
    are damaged in test_declared_files.py, encoder folders of users in test_model_folders.py.
    """

    command: list[str]
    files: tuple[str, ...]
    checksummed: bool = False
    interrupted: bool = False
    slow: bool = False


WEIGHTS = "model.safetensors"
ENCODER = ("config.json", WEIGHTS, "tokenizer.json", "tokenizer_config.json")
ENCODER += ("modules.json", "1_Pooling/config.json", "sentbench.json")


def below(folder: str, *names: str) -> tuple[str, ...]:
    """Returns the paths of files in a folder."""
    return tuple(f"{folder}/{name}" for name in names)


READERS = {
    "artefact, evaluated": Reader(
        EVALUATE, below(f"artefacts/{RUN}", "run.json", "train.jsonl", f"last/{WEIGHTS}", *ENCODER)
    ),
    "artefact, published": Reader(PUBLISH, below(f"artefacts/{RUN}", "run.json", *ENCODER), True),
    "parts of a derived corpus": Reader(
        DERIVE, (".cache/resume/corpora/*/1/*.json",), True, interrupted=True
    ),
    "stored vectors, completed": Reader(EVALUATE, (f"embeddings/{RUN}.safetensors",), True),
    "resume state": Reader(
        train(RUN, "--resume"),
        below(".cache/resume/*", "state.json", "state-?.pt", "train.jsonl", f"best-*/{WEIGHTS}"),
        True,
        interrupted=True,
    ),
    "source, evaluated": Reader(
        EVALUATE, below("data/stsb", "source.json", "sts-test.csv", "sts-dev.csv"), True
    ),
    "source, trained on": Reader(TRAIN, below("data/words", "source.json", "words.txt")),
    "source, checked": Reader(
        ["data", "check", "tiny"], below("data/tiny", "source.json", "words.txt"), True
    ),
    "scores, compared": Reader(["compare", "reports/scores", "before", "--json"], SCORES, True),
    "scores, published": Reader(PUBLISH, SCORES, True),
    "scores, checked": Reader(["check", "--against", "reports/scores"], SCORES, True),
    "scores, reported": Reader(["report"], SCORES, True, slow=True),
    "records of the report": Reader(
        ["report"],
        (
            f"artefacts/{RUN}/run.json",
            *below("reports", f"curves/{RUN}.json", f"costs/{RUN}.train.json", "benchmarks.json"),
        ),
        checksummed=True,
        slow=True,
    ),
}
"""Between the other stages DVC compares all files."""


def write_everything(folder: Path) -> Path:
    """Writes the project, runs the commands that create its files, and returns its folder."""
    write_project(folder)
    (folder / "methods").unlink()
    (folder / "data/tiny").mkdir()
    (folder / "data/tiny/words.txt").write_text("one\ntwo\nthree\n")
    for name in ("words", "tiny"):
        write_source_record(folder / "data" / name)
    (folder / "params.yaml").write_text(dump_yaml(_params(folder), sort_keys=False))
    with chdir(folder):
        for command in (TRAIN, EVALUATE):
            assert main(command) == 0
    shutil.copytree(folder / "reports/scores", folder / "before")
    shutil.copy(ROOT / "reports/benchmarks.json", folder / "reports")
    shutil.copy(ROOT / "README.md", folder)
    return folder


def _params(folder: Path) -> dict[str, Any]:
    params: dict[str, Any] = load_yaml((folder / "params.yaml").read_text())
    params["runs"][RUN]["weights"] = "both"
    views = small_plan()["corpora"]["wiki-small-views"]
    params["corpora"] = {"views": {**views, "origin": "data/words", "tool": "data/words", "rows": None}}
    return params


def interrupt(command: list[str]) -> None:
    """Runs a command that fails when it moves its result, and so leaves its intermediate state."""
    with patch("harness.io.outputs.exchange", side_effect=OSError(errno.EROFS, "Read-only file system", "x")):
        assert main(command) == 2
