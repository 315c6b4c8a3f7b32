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

STUDENT = "distill-small__minilm-l2__s0"
VIEWS = "sct-small__minilm-l2__s0"
SHALLOW = "simcse-small__first__s0"
TEACHER = "minilm-l2__words"
DERIVE = ["stage", "corpus", "views", "--device", "cpu"]
SCORES = (f"reports/scores/{RUN}.json",)


class Reader(NamedTuple):
    """A command with the files that it reads, as patterns below the project.

    checksummed: the command compares their hashes, so every lost or flipped bit must be detected; between
    stages DVC compares them. interrupted: the
    command was stopped before and left its state.
    slow: it takes seconds. Declared files are damaged in test_declared_files.py, encoder folders of users in
    test_model_folders.py.
    """

    command: list[str]
    files: tuple[str, ...]
    checksummed: bool = False
    interrupted: bool = False
    slow: bool = False


WEIGHTS = "model.safetensors"
TRANSFORMER = ("config.json", WEIGHTS, "tokenizer.json", "tokenizer_config.json")
ENCODER = (*TRANSFORMER, "modules.json", "1_Pooling/config.json", "sentbench.json")


def below(folder: str, *names: str) -> tuple[str, ...]:
    """Returns the paths of files in a folder."""
    return tuple(f"{folder}/{name}" for name in names)


READERS = {
    "backbone": Reader(TRAIN, below("backbones/minilm-l2", *TRANSFORMER)),
    # a stage that only copies takes any bytes: DVC has compared them with those of the stage before
    "copied backbone": Reader(["stage", "backbone", "copied"], below("data/model", "source.json")),
    "cut backbone": Reader(["stage", "backbone", "cut"], below("data/model", "source.json", *TRANSFORMER)),
    "backbone that was cut, trained": Reader(
        train(SHALLOW), below("backbones/first", "backbone.json", *TRANSFORMER)
    ),
    "artefact, evaluated": Reader(
        EVALUATE, below(f"artefacts/{RUN}", "run.json", "train.jsonl", f"last/{WEIGHTS}", *ENCODER)
    ),
    "artefact, published": Reader(PUBLISH, below(f"artefacts/{RUN}", "run.json", *ENCODER), True),
    "vectors of a teacher": Reader(
        train(STUDENT), below(f"teachers/{TEACHER}", "vectors.npy", "texts.npy", "teacher.json")
    ),
    "derived corpus": Reader(train(VIEWS), below("corpora/views", "corpus.tsv", "corpus.json")),
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
    "source, taught": Reader(["stage", "teacher", TEACHER], below("data/words", "source.json", "words.txt")),
    "source, rewritten": Reader(DERIVE, below("data/words", "source.json", "words.txt")),
    "source, checked": Reader(
        ["data", "check", "tiny"], below("data/tiny", "source.json", "words.txt"), True
    ),
    "scores, compared": Reader(["compare", "reports/scores", "before", "--json"], SCORES, True),
    "scores, published": Reader(PUBLISH, SCORES, True),
    "scores, checked": Reader(["check", "--against", "reports/scores"], SCORES, True),
    "scores, reported": Reader(["report"], SCORES, True, slow=True),
    "entries of the plan": Reader(["stage", "entries"], (".entries/plan.json", f".entries/runs/{RUN}.json")),
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


def write_everything(folder: Path) -> Path:
    """Writes the project, runs the commands that create its files, and returns its folder."""
    write_project(folder)
    (folder / "methods").unlink()
    shutil.copytree(folder / "backbones/minilm-l2", folder / "data/model")
    (folder / "data/tiny").mkdir()
    (folder / "data/tiny/words.txt").write_text("one\ntwo\nthree\n")
    for name in ("words", "model", "tiny"):
        write_source_record(folder / "data" / name)
    (folder / "params.yaml").write_text(dump_yaml(_params(folder), sort_keys=False))
    with chdir(folder):
        made = [["stage", "teacher", TEACHER], DERIVE, ["stage", "backbone", "first"], ["stage", "entries"]]
        for command in (TRAIN, EVALUATE, *made):
            assert main(command) == 0
    shutil.copytree(folder / "reports/scores", folder / "before")
    shutil.copy(ROOT / "reports/benchmarks.json", folder / "reports")
    shutil.copy(ROOT / "README.md", folder)
    return folder


def _params(folder: Path) -> dict[str, Any]:
    plan = small_plan()
    planned = plan["runs"]
    params: dict[str, Any] = load_yaml((folder / "params.yaml").read_text())
    runs = params["runs"]
    runs[RUN]["weights"] = "both"
    short = {name: runs[RUN][name] for name in ("corpus", "tasks", "weights", "train")}
    views = {"corpus": "corpora/views", "parent": "corpora/views"}
    runs[STUDENT] = {**planned[STUDENT.replace("minilm-l2", "words-50d")], **short}
    runs[STUDENT] |= {"backbone": runs[RUN]["backbone"], "parent": f"teachers/{TEACHER}"}
    runs[SHALLOW] = {**runs[RUN], "backbone": "backbones/first"}
    runs[VIEWS] = {**planned[VIEWS.replace("minilm-l2", "words-50d")], **short, **views}
    runs[VIEWS]["backbone"] = runs[RUN]["backbone"]
    augmentations = plan["corpora"]["wiki-small-views"]
    params["corpora"] = {
        "views": {**augmentations, "origin": "data/words", "tool": "data/words", "rows": None}
    }
    params["teachers"] = {
        TEACHER: {"encoder": "backbones/minilm-l2", "corpus": "data/words"}
        | {"pooling": "mean", "arithmetic": "portable"}
    }
    params["backbones"] |= {
        "copied": {"origin": "data/model", "corpus": "data/model", "layers": None},
        "cut": {"origin": "data/model", "corpus": "data/model", "layers": 1},
        "first": {"origin": "data/model", "corpus": "data/model", "layers": 1},
    }
    return params


def interrupt(command: list[str]) -> None:
    """Runs a command that fails when it moves its result, and so leaves its intermediate state."""
    with patch("harness.io.outputs.exchange", side_effect=OSError(errno.EROFS, "Read-only file system", "x")):
        assert main(command) == 2
