"""A step of every trained method against its number of passes times SimCSE's step.

Both train the same sentences in batches of equal size, with the same pooling, on six layers of width 384;
settings are those of the method's run in a recipe, cut to length 32. A step is everything from collating to
what follows the optimiser. The passes are those of `passes.PASSES`, checked by counting in real steps and
weighed by the tokens of their views: SimCSE's step times that is what the passes alone may take. Where a
loss multiplies with the keys of a queue, the specification's products are added at the rate of SimCSE's whole
step. Last comes what a step may take: all its products of matrices, with those of heads, queues and further
networks, counted in real steps of both and weighed the same way.
Rewritten views are the sentence's words in another order. Times are those of the processor, so that other
work on the machine does not count.

Forward-only passes draw dropout masks too: they were 6 % of SimCSE's step and 7 % of DCLR's, half of whose
passes are forward only, before an element took 16 bits of the generator (methods/core/fast/dropout.py).
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from torch import nn
from torch.autograd import profiler
from torch.nn.modules.module import register_module_forward_hook, register_module_forward_pre_hook
from torch.profiler import record_function

from benchmarks.material import backbone, encoder, sentences
from benchmarks.measurement import Form, Peer, Result, Spread, alternate
from benchmarks.passes import PASSES, Count, Passes, check_passes, counting
from benchmarks.steps import build, chosen_runs, fitting, stepper
from harness.plan.entries import Run
from harness.plan.recipes import load_recipes
from harness.plan.resolve import resolve
from harness.plan.step_times import BASELINE
from methods.core.encoder import SentenceEncoder
from methods.core.method import Method
from methods.core.types import Row

LIMIT = 1.05
"""The most that a step may cost, in what its products of matrices cost at the rate of SimCSE's step."""

LENGTH, BATCH, SMALL_BATCH = 32, 64, 4
BATCHES = {"pcl": 16}
"""Methods whose step is too long at BATCH: 640 rows in each of two networks for PCL."""

CORPUS, SMALL_CORPUS = 2048, 24
QUEUE_IN_SHORT = 64
TEACHER_WIDTH, RECIPE_WIDTH = 1024, 768
"""Width of the teachers of the distilled runs, BERT-large; that of BERT-base, to which recipes fit a head."""

PHASES = {
    "collate": "collating",
    "encoder": "encoders forward",
    "loss": "rest of the loss",
    "backward": "backward",
    "optimizer": "optimiser",
    "after_step": "after it",
}
"""Name in a profile -> words; `encoder` lies inside `loss`."""

KINDS = {
    "linear layers and other products": ("aten::mm", "aten::addmm", "mkldnn::_linear_pointwise"),
    "attention": (
        "aten::bmm",
        "aten::baddbmm",
        "aten::_softmax",
        "aten::_safe_softmax",
        "scaled_dot_product",
    ),
    "dropout": ("dropout", "_Dropped", "bernoulli", "random_"),
}
"""Kind of work -> what its operations' names contain."""

Step = Callable[[int], None]
"""Trains on the batch; receives the number of the step."""


def measure(rounds: int, short: bool) -> list[Result]:
    """Returns for every method its step beside SimCSE's times its passes."""
    recipes = load_recipes()
    params = resolve(recipes, ["all", *recipes], seeds=1)
    simcse, *others = chosen_runs(params, [system for system in PASSES if system != BASELINE])
    rows = corpus(short)
    return [step_result(run, simcse, rows, rounds, short) for run in others]


def corpus(short: bool) -> list[Row]:
    """Returns sentences, each with two rewritten forms of the same words."""
    rng = np.random.default_rng(0)
    texts = sentences(SMALL_CORPUS if short else CORPUS, short)
    return [
        Row(index, text, tuple(" ".join(rng.permutation(text.split())) for _ in range(2)))
        for index, text in enumerate(texts)
    ]


def step_result(run: Run, simcse: Run, rows: Sequence[Row], rounds: int, short: bool) -> Result:
    """Returns one method's step, after its passes were counted."""
    passes, size = PASSES[run.id], SMALL_BATCH if short else BATCHES.get(run.method, BATCH)
    run, baseline = (
        fitted(fitting(side, size), short)
        for side in (run, simcse.model_copy(update={"pooling": run.pooling}))
    )
    with TemporaryDirectory() as place:
        ours, theirs = (step_on(side, Path(place) / side.id, rows, size, short) for side in (run, baseline))
        count, unit = counted(ours, passes.cycle), counted(theirs, 1)
        check_passes(simcse.id, PASSES[simcse.id], unit, sentences=size)
        agreement = check_passes(run.id, passes, count, sentences=size * passes.cycle)
        forms: dict[str, Form] = {"ours": partial(cycle, ours, passes.cycle), "theirs": partial(theirs, 0)}
        times, rates = alternate(forms, rounds=rounds, clock=time.process_time)
        note = told(passes, shares(partial(cycle, ours, passes.cycle)), shares(partial(theirs, 0)))
    taken = [seconds / passes.cycle for seconds in times["ours"]]
    cost = count.cost / passes.cycle / unit.cost + passes.cost_beside
    peers = [against("passes", cost, taken, times["theirs"])]
    if passes.products:
        cost += size * key_products(passes, run, short) / simcse_products(unit, short)
        peers.append(against("passes and products with a queue", cost, taken, times["theirs"]))
    cost = count.operations / passes.cycle / unit.operations
    peers.append(against("all products", cost, taken, times["theirs"], target=1 / LIMIT))
    return Result(
        f"{run.id}: a step of {size} sentences",
        "ms",
        milliseconds(taken),
        tuple(peers),
        agreement=agreement,
        note=note,
        gemm=Spread.of(rates),
    )


def against(
    what: str, cost: float, ours: Sequence[float], simcse: Sequence[float], *, target: float | None = None
) -> Peer:
    """Returns SimCSE's step times `cost` beside ours, round by round."""
    allowed = [cost * seconds for seconds in simcse]
    ratio = Spread.of([theirs / own for theirs, own in zip(allowed, ours, strict=True)])
    return Peer(f"SimCSE's step x {cost:.3f} ({what})", milliseconds(allowed), ratio, target)


def key_products(passes: Passes, run: Run, short: bool) -> float:
    """Returns the multiplications of one sentence's vectors with the keys of the queues."""
    width = TEACHER_WIDTH if run.parent.startswith("teachers/") else encoder(short, "cls").width
    return float(passes.products * run.config["queue_size"] * width)


def simcse_products(unit: Count, short: bool) -> float:
    """Returns the multiplications in the linear layers of SimCSE's step, all tokens through all layers."""
    sizes: Any = encoder(short, "cls").backbone.config
    weights = 4 * sizes.hidden_size**2 + 2 * sizes.hidden_size * sizes.intermediate_size
    return float(sizes.num_hidden_layers * weights * unit.cost)


def fitted(run: Run, short: bool) -> Run:
    """Returns the run with its settings at this benchmark's sizes."""
    config = {**run.config, "max_length": LENGTH}
    if config.get("queue_start") == "corpus":  # costs as much as one that starts at random
        config |= {"queue_start": "random", "queue_seed": None}
    if "head_width" in config:  # as wide beside this encoder as beside that of the recipe
        config["head_width"] = config["head_width"] * encoder(short, "cls").width // RECIPE_WIDTH
    if config.get("recompute"):  # a pass that is made again is no pass of the method
        config["recompute"] = False
    if config.get("freeze_embeddings"):  # what returns is counted where it leaves the first layer
        config["freeze_embeddings"] = False
    if "pseudo_heads" in config:
        heads: Any = encoder(short, "cls").backbone.config
        config["pseudo_heads"] = heads.num_attention_heads
    if short and config.get("queue_size"):
        config["queue_size"] = QUEUE_IN_SHORT
    return run.model_copy(update={"config": config})


def step_on(run: Run, folder: Path, rows: Sequence[Row], size: int, short: bool) -> Step:
    """Returns the training step of a run on one batch of the corpus."""
    folder.mkdir()
    method: Method = build(run, backbone(short), folder, rows, TEACHER_WIDTH)
    chosen = method.prepare(rows)[:size]
    train = stepper(method.train(), run.train, device="cpu", precision="fp32")
    return partial(train, chosen)


def cycle(step: Step, steps: int) -> None:
    """Runs as many steps as the method's pattern has."""
    for number in range(steps):
        step(number)


def counted(step: Step, steps: int) -> Count:
    """Returns what the encoders were given in a cycle of steps; serves as the run that is not timed."""
    with counting() as count:
        cycle(step, steps)
    return count


def shares(run: Callable[[], None]) -> dict[str, float]:
    """Returns the share of the time that each phase and each kind of operation takes."""
    os.environ.setdefault("KINETO_LOG_LEVEL", "99")  # else it prints a line at both ends
    with named_encoders(), profiler.profile(use_kineto=False) as found:
        run()
    events = found.key_averages()
    phases = {event.key: event.cpu_time_total for event in events if event.key in PHASES}
    total = sum(phases.values()) - phases["encoder"]
    phases["loss"] -= phases["encoder"]
    kinds = {
        kind: sum(event.self_cpu_time_total for event in events if any(name in event.key for name in names))
        for kind, names in KINDS.items()
    }
    return {name: taken / total for name, taken in {**phases, **kinds}.items()}


@contextmanager
def named_encoders() -> Iterator[None]:
    """Gives the passes through sentence encoders a name in a profile."""
    running: list[Any] = []

    def starts(module: nn.Module, inputs: tuple[Any, ...]) -> None:
        if isinstance(module, SentenceEncoder):
            running.append(record_function("encoder"))
            running[-1].__enter__()

    def ended(module: nn.Module, inputs: tuple[Any, ...], output: Any) -> None:
        if isinstance(module, SentenceEncoder):
            running.pop().__exit__(None, None, None)

    with ExitStack() as hooks:
        hooks.enter_context(register_module_forward_pre_hook(starts))
        hooks.enter_context(register_module_forward_hook(ended))
        yield


def told(passes: Passes, ours: dict[str, float], theirs: dict[str, float]) -> str:
    """Returns where the time goes, SimCSE's shares in brackets."""
    parts = [f"{words} {ours[name]:.0%} ({theirs[name]:.0%})" for name, words in PHASES.items()]
    kinds = [f"{kind} {ours[kind]:.0%} ({theirs[kind]:.0%})" for kind in KINDS]
    beside = f"; beside them {passes.extra}" if passes.extra else ""
    return (
        f"{passes.cost:.3f} by the specification, views of equal length{beside}. Shares of the time, "
        f"SimCSE's in brackets: {', '.join(parts)}; of all of it {', '.join(kinds)}"
    )


def milliseconds(seconds: Sequence[float]) -> Spread:
    return Spread.of([1e3 * taken for taken in seconds])
