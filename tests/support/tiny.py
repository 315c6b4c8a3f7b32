"""A two-layer BERT of width 16 with a real word-piece tokenizer, and everything a few-step run needs."""

import atexit
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch

from benchmarks import stand_ins
from benchmarks.stand_ins import SPECIAL as SPECIAL
from benchmarks.stand_ins import TRAIN as TRAIN
from benchmarks.stand_ins import WORDS as WORDS
from benchmarks.stand_ins import rows as rows
from methods.core import streams
from methods.core.encoder import SentenceEncoder
from methods.core.method import Method
from methods.core.networks import Networks
from methods.core.rows import Row
from methods.core.teachers import write_teacher
from methods.core.trainer import TrainConfig, Trainer
from methods.core.types import Batch, Encoder


class Sample(NamedTuple):
    """One configuration of a method that every law is tested on.

    parent: None, "encoder" (a frozen tiny encoder), "teacher" (vectors of the tiny corpus) or "generator" (a
    tiny masked language model).
    zero_gradients: names of trained parameters that a fact of the paper says receive exactly zero gradient.
    """

    method: str
    label: str
    config: Mapping[str, Any]
    parent: str | None = None
    backbone: str = "bert"
    trained: bool = True
    export_tolerance: float = 1e-5
    portable: bool = True
    zero_gradients: tuple[str, ...] = ()


def write_backbone(folder: Path, **settings: Any) -> Path:
    """Writes a backbone as benchmarks.stand_ins does; those of one process with equal settings are copies.

    torch draws afterwards what it draws after the first.
    """
    made, state = _written(tuple(sorted(settings.items())))
    shutil.copytree(made, folder, dirs_exist_ok=True, copy_function=shutil.copyfile)
    torch.set_rng_state(state)
    return folder


@cache
def _written(settings: tuple[tuple[str, Any], ...]) -> tuple[Path, torch.Tensor]:
    top = Path(tempfile.mkdtemp(prefix="sentbench-tests-"))
    atexit.register(shutil.rmtree, top, ignore_errors=True)
    return stand_ins.write_backbone(top / "backbone", **dict(settings)), torch.get_rng_state()


def stsb(texts: int = 16) -> str:
    """Returns pairs in the layout of STS-B with gold scores from 0 to 4.9."""
    made = rows(texts)
    return "".join(
        f"main-captions\tMSRvid\t2012test\t{k}\t{0.7 * (k % 8):.1f}\t{first.text}\t{second.text}\n"
        for k, (first, second) in enumerate(zip(made[::2], made[1::2], strict=True))
    )


def write_parent(folder: Path, kind: str | None, corpus: Sequence[Row]) -> Path | None:
    """Writes the parent a sample asks for and returns its folder."""
    if kind is None:
        return None
    if kind == "generator":
        return write_backbone(folder / kind, seed=8, masked_model=True)
    plain = write_backbone(folder / "plain", seed=7)
    from methods.core.folders import load_encoder

    encoder: Any = load_encoder(plain, pooling="mean")
    folder = folder / "parent"
    folder.mkdir(parents=True)
    if kind == "teacher":
        write_teacher(folder, encoder, corpus, {"teacher": "tiny"})
    else:
        encoder.save(folder)
    return folder


def build(
    sample: Sample, backbone: Path, *, parent: Path | None, seed: int = 3, pooling: str = "mean"
) -> Method:
    """Returns the sample's method with weights drawn from the seed."""
    from methods.registry import load_method

    method = load_method(sample.method)
    torch.manual_seed(streams.torch_seed(seed, streams.INITIALISE))
    return method(
        method.Config.model_validate(sample.config), Networks(backbone, pooling=pooling, parent=parent)
    )


def changed(
    sample: Sample, backbone: Path, *, parent: Path | None = None, pooling: str = "mean", **changes: Any
) -> Any:
    """Returns the sample's method in training mode, with other values of some settings."""
    sample = sample._replace(config={**sample.config, **changes})
    return build(sample, backbone, parent=parent, pooling=pooling).train()


def collate(method: Method, chosen: Sequence[Row], *, step: int = 0) -> Batch:
    """Returns the batch of prepared rows at a step, as a run of seed 3 draws it."""
    return method.collate(chosen, step=step, rng=streams.generator(3, streams.COLLATE, step))


def batch_of(
    method: Method, count: int = 6, *, start: int = 0, step: int = 0, corpus: Sequence[Row] | None = None
) -> Batch:
    """Prepares a method on a corpus and returns the batch of its first rows, or of those from a start."""
    return collate(method, method.prepare(corpus or rows())[start : start + count], step=step)


def dev_score(encoder: Encoder) -> dict[str, float]:
    """Returns a cheap stand-in for a dev score that depends on all weights."""
    first, second = encoder.encode(["the man runs", "a cat sleeps under the tree"])
    return {"score": float(np.dot(first, second))}


def trainer(method: Method, folder: Path, *, seed: int = 3, **train: Any) -> Trainer:
    """Returns a trainer of a few steps that writes a resume point whenever it may."""
    config = TrainConfig.model_validate({**TRAIN, **train})
    return Trainer(method, config, seed, dev_score, folder, seconds_between=0.0)


def sentence_encoder(folder: Path, pooling: str = "mean") -> SentenceEncoder:
    """Returns the encoder of a tiny backbone in training mode."""
    return Networks(folder, pooling=pooling).new_encoder()
