"""ONNX Runtime and OpenVINO as sentence-transformers' backends, in a process with packages of its own."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch

from benchmarks import foreign_backends
from benchmarks.runner import Disagreement, Taken
from harness.errors import InputError

VARIABLE = "SENTBENCH_PEER_PYTHON"
ABSENT = f"ONNX Runtime and OpenVINO: not measured, {VARIABLE} names no Python that has them (docs/speed.md)"


class Backends:
    """A process that waits for a side's name, computes, and says how long that took."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process
        self.software: dict[str, str] = self._answer()

    def _answer(self) -> Any:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise Disagreement(f"{foreign_backends.__file__} ended early; its error output says why")
        return json.loads(line)

    def _ask(self, value: Any) -> Any:
        assert self._process.stdin is not None
        print(json.dumps(value), file=self._process.stdin, flush=True)
        return self._answer()

    def cosines(self, side: str, sets: Sequence[tuple[list[str], list[str]]]) -> Taken:
        """Returns the cosines of every set, and the seconds without the texts' way there and back."""
        self._ask(list(sets))
        return Taken(*self._ask(side))


def name_before_5(settings: Path) -> None:
    """Gives the class of a tokenizer the name that it has before version 5 of transformers."""
    text = settings.read_text(encoding="utf-8")
    settings.write_text(text.replace("TokenizersBackend", "PreTrainedTokenizerFast"), encoding="utf-8")


@contextmanager
def backends(folder: Path, batch: int) -> Iterator[Backends | None]:
    """Yields the process for an encoder's folder; None, and one line is printed, without its Python."""
    python = os.environ.get(VARIABLE)
    if not python:
        print(ABSENT)
        yield None
        return
    if shutil.which(python) is None:
        raise InputError(f"{VARIABLE}={python}: no such program, expected a Python; correct or unset it")
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    with TemporaryDirectory() as place:
        copy = shutil.copytree(folder, Path(place) / "encoder")  # a backend writes its export there
        name_before_5(copy / "tokenizer_config.json")
        words = [python, foreign_backends.__file__, str(copy)]
        words += ["--threads", str(torch.get_num_threads()), "--batch", str(batch)]
        process = subprocess.Popen(
            words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
        )
        with process:
            yield Backends(process)
