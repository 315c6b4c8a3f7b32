"""Seconds of one training step of every method on a backbone with random weights.

    python -m benchmarks.steps [--system ID ...] [--backbone NAME ...] [--device cuda] [--batch 8] [--write]

Without --system: the first run of every method, full-scale if possible. SimCSE is always measured for
comparison. On a CPU the processor time of one thread counts, so other work on the machine has no effect.
--write stores the rows in leaderboards/hours.yaml for `sentbench plan`.
"""

import argparse
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from statistics import mean
from typing import Any

import numpy as np
import torch
import yaml

from benchmarks import stand_ins
from benchmarks.runner import processor, timed
from harness.errors import InputError
from harness.io.files import write_text
from harness.plan.entries import Params, Run
from harness.plan.estimate import Estimate
from harness.plan.hours import (
    BASELINE,
    HOURS,
    TRAINING_LENGTH,
    BackboneShape,
    StepTime,
    read_hours,
)
from harness.plan.recipes import load_recipes
from harness.plan.resolve import resolve
from harness.process import quiet
from methods.core import streams
from methods.core.method import Method
from methods.core.networks import Networks
from methods.core.optimizer import AdamW, build_optimizer
from methods.core.rows import Row
from methods.core.teachers import write_teacher
from methods.core.trainer import TrainConfig
from methods.core.types import to_device

ROWS = 512
TEACHER_DIM = 1024
"""Width of the teachers of the distilled runs, as in BERT-large."""


class RandomTeacher:
    """A teacher with random unit vectors, because the cost of a step does not depend on their values."""

    def __init__(self, dim: int) -> None:
        self.dim = dim

    def encode(self, texts: Sequence[str], *, progress: bool) -> np.ndarray:
        vectors = np.random.default_rng(0).standard_normal((len(texts), self.dim), dtype=np.float32)
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def write_backbone(folder: Path, shape: BackboneShape) -> Path:
    """Writes a BERT of these sizes with random weights, and a tokenizer that knows `stand_ins.WORDS`."""
    return stand_ins.write_backbone(
        folder,
        vocab_size=shape.vocabulary,
        hidden_size=shape.width,
        num_hidden_layers=shape.layers,
        num_attention_heads=max(1, shape.width // 64),
        intermediate_size=shape.inner,
        max_position_embeddings=512,
        initializer_range=0.02,
    )


def built(
    run: Run, shape: BackboneShape, folder: Path, *, teacher_dim: int = TEACHER_DIM
) -> tuple[Method, Sequence[Row]]:
    """Returns the run's method with random weights of a shape, and the prepared sentences. These have
    TRAINING_LENGTH tokens, and enough augmentations for every method.
    """
    rng = np.random.default_rng(0)
    texts = [" ".join(rng.choice(stand_ins.WORDS, size=TRAINING_LENGTH - 2)) for _ in range(3 * ROWS)]
    rows = [
        Row(index, texts[3 * index], tuple(texts[3 * index + 1 : 3 * index + 3])) for index in range(ROWS)
    ]
    backbone = write_backbone(folder / "backbone", shape)
    method = build(run, backbone, folder, rows, teacher_dim=teacher_dim)
    return method, method.prepare(rows)


def build(
    run: Run, backbone: Path, folder: Path, rows: Sequence[Row], *, teacher_dim: int = TEACHER_DIM
) -> Method:
    """Returns the run's method on a backbone, with a parent of the run's kind. The random pairs per
    positive pair are limited to a batch of the run, and a queue of corpus vectors starts with random
    vectors, at equal cost.
    """
    parent = folder / "parent" if run.parent_folder is not None else None
    if run.parent.startswith("teachers/"):
        parent = folder / "teacher"
        parent.mkdir()
        write_teacher(parent, RandomTeacher(teacher_dim), rows, {"teacher": "random"})
    elif "generator_layer" in run.config:
        from transformers import AutoConfig

        layers = AutoConfig.from_pretrained(backbone, trust_remote_code=False).num_hidden_layers
        half = max(1, int(layers) // 2)
        parent = resized(backbone, folder / "parent", "AutoModelForMaskedLM", num_hidden_layers=half)
    elif parent is not None:
        Networks(backbone, pooling=run.pooling).new_encoder().save(parent)
    if run.config.get("queue_start") == "corpus":
        run = changed(run, queue_start="random", queue_seed=None)
    if negatives := run.config.get("negatives"):
        run = changed(run, negatives=min(negatives, (run.train["batch_size"] - 1) // 2))
    method, config, _ = run.read_settings()
    torch.manual_seed(streams.torch_seed(0, streams.INITIALISE))
    return method(config, Networks(backbone, pooling=run.pooling, parent=parent))


def changed(run: Run, **config: Any) -> Run:
    """Returns the run with other settings of its method."""
    return run.model_copy(update={"config": {**run.config, **config}})


def with_batch(run: Run, size: int) -> Run:
    """Returns the run with another number of sentences in a batch."""
    return run.model_copy(update={"train": {**run.train, "batch_size": size}})


def resized(source: Path, folder: Path, kind: str = "AutoModel", **sizes: int) -> Path:
    """Writes a resized model with random weights and the tokenizer of a folder.

    kind: class of transformers. sizes: entries of its config.
    """
    import transformers

    config = transformers.AutoConfig.from_pretrained(source, trust_remote_code=False, **sizes)
    model = getattr(transformers, kind).from_config(config, trust_remote_code=False)
    model.save_pretrained(folder)
    transformers.AutoTokenizer.from_pretrained(source, trust_remote_code=False).save_pretrained(folder)
    return folder


def seconds_of_a_step(
    run: Run, shape: BackboneShape, *, device: str, precision: str, steps: int, teacher_dim: int = TEACHER_DIM
) -> float:
    """Returns the mean seconds of `steps` steps after an untimed first step."""
    batch, seconds = run.train["batch_size"], []
    clock = time.process_time if device == "cpu" else time.perf_counter
    with tempfile.TemporaryDirectory() as scratch:
        method, rows = built(run, shape, Path(scratch), teacher_dim=teacher_dim)
        step = stepper(method.to(device).train(), run.train, device=device, precision=precision)
        for number in range(1 + steps):
            start = number * batch % (len(rows) - batch)
            chosen = rows[start : start + batch]
            seconds.append(timed(partial(step, chosen, number), device, clock).seconds)
    return mean(seconds[1:])


def stepper(
    method: Method, train: Mapping[str, Any], *, device: str, precision: str, optimizer: AdamW | None = None
) -> Callable[[Sequence[Row], int], None]:
    """Returns a function that runs a full training step on given rows.

    The method must be prepared, on its device and in training mode.
    """
    optimizer = optimizer or build_optimizer(method, TrainConfig.model_validate(train))
    trained = [parameter for group in optimizer.param_groups for parameter in group["params"]]

    def step(rows: Sequence[Row], number: int) -> None:
        rng = streams.generator(0, streams.COLLATE, number)
        batch = to_device(method.collate(rows, step=number, rng=rng), device)
        with torch.autocast(device, torch.bfloat16, enabled=precision == "bf16"):
            loss = method.loss(batch)
        optimizer.zero_grad(set_to_none=True)
        loss.total.backward()
        torch.nn.utils.clip_grad_norm_(trained, 1.0)
        optimizer.step()
        method.after_step(number)

    return step


def chosen_runs(params: Params, systems: Sequence[str]) -> list[Run]:
    """Returns one run of each requested system, by default the first trained one of every method."""
    runs: dict[str, Run] = {}
    for run in params.runs.values():
        if run.train["steps"] != 0:
            runs.setdefault(run.id, run)
    released = sorted(runs.values(), key=lambda run: run.variant != "released")
    first = {run.method: run.id for run in reversed(released)}
    wanted = dict.fromkeys([BASELINE, *(systems or first.values())])
    unknown = [system for system in wanted if system not in runs]
    if unknown:
        sys.exit(f"no trained run is called {', '.join(unknown)}; see recipes/")
    return [runs[system] for system in wanted]


def write(measured: Sequence[StepTime], path: Path = HOURS) -> None:
    """Replaces the rows of the same system and setting; other rows and the text above them stay."""
    rows = {(row.system, *row.setting): row for row in [*read_hours(path).measured, *measured]}
    head, _, _ = path.read_text(encoding="utf-8").partition("\nmeasured:")
    body = [row.model_dump() for _, row in sorted(rows.items(), key=lambda entry: str(entry[0]))]
    write_text(path, head + "\n" + yaml.safe_dump({"measured": body}, sort_keys=False, width=110))


def teacher_dim(run: Run, estimate: Estimate, width: int) -> int:
    """Returns the teacher's width; the backbone's width if the recipe's widths are equal."""
    teacher = estimate.shape(Path(run.parent).name.partition("__")[0])
    student = estimate.shape(run.backbone)
    return width if teacher is None or student is None or teacher.width == student.width else teacher.width


def main() -> None:
    """Prints a measurement of each system on each backbone, and stores them with --write."""
    times = read_hours()
    parser = argparse.ArgumentParser(prog="python -m benchmarks.steps")
    parser.add_argument("--system", nargs="*", default=[], metavar="ID", help="default: one per method")
    usual = ["bert-base-uncased"]
    parser.add_argument("--backbone", nargs="*", metavar="NAME", choices=list(times.shapes), default=usual)
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cpu")
    parser.add_argument("--precision", choices=["fp32", "bf16"], default="fp32")
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--steps", type=int, default=2, help="timed steps (default 2)")
    parser.add_argument("--write", action="store_true", help=f"store the result in {HOURS}")
    given = parser.parse_args()
    torch.set_num_threads(1)
    quiet()
    recipes = load_recipes()
    params = resolve(recipes, ["all", *recipes], seeds=1)
    where = {"device": given.device, "precision": given.precision}
    measured: list[StepTime] = []
    for name in given.backbone:
        for run in chosen_runs(params, given.system):
            run, shape = with_batch(run, given.batch), times.shapes[name]
            dim = teacher_dim(run, Estimate(params, times), shape.width)
            try:
                taken = seconds_of_a_step(run, shape, **where, steps=given.steps, teacher_dim=dim)
            except InputError as error:  # a setting that does not fit this backbone
                print(f"{name:20} {run.id:24} not measured: {error}", flush=True)
                continue
            row = StepTime(
                **where,
                batch=given.batch,
                machine=torch.cuda.get_device_name() if given.device == "cuda" else processor(),
                threads=torch.get_num_threads(),
                system=run.id,
                method=run.method,
                backbone=name,
                length=TRAINING_LENGTH,
                seconds=float(f"{taken:.4g}"),
                command=f"python -m benchmarks.steps --batch {given.batch} --steps {given.steps} --write",
            )
            measured.append(row)
            ratio = row.seconds / next(r.seconds for r in measured if r.backbone == name)
            print(f"{name:20} {run.id:24} {row.seconds:9.4g} s a step, {ratio:6.2f} of SimCSE", flush=True)
    if given.write:
        write(measured)


if __name__ == "__main__":
    main()
