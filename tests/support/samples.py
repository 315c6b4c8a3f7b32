"""The samples of every method, and the folders and rows on which they are built."""

from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import torch

from methods.core.method import Method
from methods.core.rows import Row
from methods.core.words import WordAverageEncoder
from methods.registry import METHODS
from tests.support import tiny
from tests.support.tiny import Sample


def samples_of(name: str) -> list[Sample]:
    """Returns the samples that the tests of a method declare."""
    package = METHODS[name].split(".")[1]
    result: list[Sample] = import_module(f"tests.methods.{package}.sample").SAMPLES
    return result


def refused_by(name: str) -> list[tuple[dict[str, Any], str]]:
    """Returns the changes of the first sample that a method refuses, each with its message."""
    package = METHODS[name].split(".")[1]
    return getattr(import_module(f"tests.methods.{package}.sample"), "REFUSED", [])


class SampleInputs(NamedTuple):
    """The folders and rows a sample is built on."""

    backbone: Path
    parent: Path | None
    rows: list[Row]


class SampleFolders:
    """Every backbone and parent that a sample may name, written once below a folder."""

    def __init__(self, top: Path) -> None:
        self.rows = tiny.rows(augmentations=2)
        self.backbones = {"bert": tiny.write_backbone(top / "bert"), "words": write_words(top / "words")}
        self.parents = {
            kind: tiny.write_parent(top / str(kind), kind, self.rows)
            for kind in (None, "teacher", "encoder", "generator")
        }

    def of(self, sample: Sample) -> SampleInputs:
        """Returns the folders and rows of a sample."""
        return SampleInputs(self.backbones[sample.backbone], self.parents[sample.parent], self.rows)


def make(sample: Sample, base: SampleInputs, seed: int = 3) -> Method:
    """Returns the sample's method with weights drawn from the seed."""
    return tiny.build(sample, base.backbone, parent=base.parent, seed=seed)


def folder_bytes(folder: Path) -> dict[str, bytes]:
    """Returns the bytes of every file below a folder by its relative name."""
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def write_words(folder: Path) -> Path:
    """Writes random vectors of the tiny words as a folder of word vectors."""
    vectors = torch.randn(len(tiny.WORDS), 16, generator=torch.Generator().manual_seed(5))
    WordAverageEncoder(vectors, tiny.WORDS).save(folder)
    return folder
