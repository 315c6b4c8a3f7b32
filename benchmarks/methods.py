"""A step of every trained method against its products of matrices at the rate of SimCSE's step.

Both train the same sentences in batches of equal size, with the same pooling, on six layers of width 384;
settings are those of the method's run in a recipe, cut to length 32. A step is everything from collating to
what follows the optimiser. What it may take is all its products, with those of heads, queues and further
networks, counted in real steps of both. How often it encodes a sentence is counted too and must be what the
specification says. Augmented views are the sentence's words in another order. Times are those of the
processor, so that other work on the machine does not count.
"""

import math
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import nn
from torch.nn.modules.module import register_module_forward_hook
from torch.utils.flop_counter import FlopCounterMode

from benchmarks.runner import Disagreement, Runs, backbone, encoder, profiled, run, sentences
from benchmarks.steps import build, changed, chosen_runs, resized, stepper, with_batch
from harness.plan.entries import Run
from harness.plan.recipes import load_recipes
from harness.plan.resolve import resolve
from harness.plan.step_times import BASELINE
from harness.report.measurements import BenchmarkResult
from methods.core.encoder import SentenceEncoder
from methods.core.types import Row

LIMIT = 1.05
"""The most that a step may cost, in what its products of matrices cost at the rate of SimCSE's step."""
SMALLER_LIMIT = 1.3
"""The most for SimCSE's step on a small encoder."""
LENGTH, BATCH, SMALL_BATCH = 32, 64, 4
BATCHES = {"pcl": 16}
"""Methods whose step is too long at BATCH: 640 rows in each of two networks for PCL."""
CORPUS, SMALL_CORPUS, SMALL_QUEUE = 2048, 24, 64
RECIPE_WIDTH = 768
"""Width of BERT-base, to which recipes fit a head."""

Step = Callable[[int], None]
"""Trains on the batch; receives the number of the step."""


class Passes(NamedTuple):
    """Rows that a step encodes for each sentence of its batch, the mean over a cycle of steps.

    trained: forward and backward. frozen: forward only. source: where the specification counts them.
    cycle: steps after which the pattern repeats.
    """

    trained: float
    frozen: float
    source: str
    cycle: int = 1


SMALLER = {
    name: {
        "num_hidden_layers": layers,
        "hidden_size": width,
        "intermediate_size": 4 * width,
        "num_attention_heads": max(1, width // 64),
    }
    for name, layers, width in (("BERT-mini", 4, 256), ("BERT-tiny", 2, 128), ("the small plan", 1, 50))
}
"""Their words are those of MiniLM, 30,522 as BERT's."""

PASSES = {
    "simcse": Passes(2, 0, "PT-BERT i: 2B forward and backward"),
    "moco": Passes(1, 1, "PT-BERT i and g: its passes without the block"),
    "pt-bert": Passes(1, 1, "PT-BERT i: B forward and backward, B forward"),
    "pcl": Passes(20, 0, "PCL i: K = 9, separate, 2 x 10B"),
    "dclr": Passes(2, 2, "DCLR i: as released, 2F more for a complement of equal size"),
    "sct-bert-small": Passes(2, 2, "SCT i: stage 1, two with and two without gradient"),
    "sct-distill-bert-small": Passes(2, 0, "SCT i: stage 2"),
    "congen-bert-small": Passes(2, 0, "SCT i: ConGen"),
    "ckd-bert-small": Passes(1, 0, "SCT i: CKD, rerun style"),
    "mse-distill-bert-small": Passes(2, 0, "SCT g: squared error over both views"),
    "una": Passes(2.4, 0, "UNA i: 2B (1 + 1 / alpha), alpha = 5", cycle=5),
    "diffcse": Passes(2, 0, "DiffCSE i: encoder 2 forward and backward"),
    "mirror-bert-roberta": Passes(2, 0, "Mirror-BERT i: 2 forward and backward"),
    "ct-paper": Passes(2, 0, "CT i: 2 a pair, one in each network; anchored, as many pairs as sentences"),
    "scd": Passes(2, 0, "SCD i: as SimCSE"),
    "modals-interpolation": Passes(2, 0, "UNA, table of positives: the second of two passes is moved"),
    "sg-opt": Passes(1, 1, "SG-OPT i: the tuned and the frozen copy"),
    "consert": Passes(2, 0, "ConSERT j: two views"),
    "bert-flow": Passes(0, 2, "BERT-flow j: one pass without graph of both sides"),
    "bt-contrastive": Passes(2, 0, "back-translation e: both texts through the tuned copy"),
}
"""Run of a recipe -> what its specification counts. A letter names the section of the specification."""


def measure(rounds: int, short: bool) -> list[BenchmarkResult]:
    """Returns for every method its step next to SimCSE's times its products; SimCSE's on small encoders."""
    recipes = load_recipes()
    params = resolve(recipes, ["all", *recipes], seeds=1)
    simcse, *others = chosen_runs(params, [system for system in PASSES if system != BASELINE])
    chosen = [*((other, "") for other in others), *((simcse, name) for name in SMALLER)]
    rows = corpus(short)
    return [step_result(run, simcse, rows, rounds, short, smaller) for run, smaller in chosen]


def corpus(short: bool) -> list[Row]:
    """Returns sentences, each with two augmented forms of the same words."""
    rng = np.random.default_rng(0)
    texts = sentences(SMALL_CORPUS if short else CORPUS, short)
    return [
        Row(index, text, tuple(" ".join(rng.permutation(text.split())) for _ in range(2)))
        for index, text in enumerate(texts)
    ]


def step_result(
    chosen: Run, simcse: Run, rows: Sequence[Row], rounds: int, short: bool, smaller: str = ""
) -> BenchmarkResult:
    """Returns a method's step, after its passes were counted, next to SimCSE's on MiniLM times its products.

    smaller: the encoder of SMALLER on which it is, with random weights.
    """
    passes, size = PASSES[chosen.id], SMALL_BATCH if short else BATCHES.get(chosen.method, BATCH)
    baseline = simcse.model_copy(update={"pooling": chosen.pooling})
    with TemporaryDirectory() as place:
        folder = backbone(short)
        if smaller:
            torch.manual_seed(0)
            folder = resized(folder, Path(place) / "small", **SMALLER[smaller])
        ours = step_on(chosen, Path(place) / "ours", rows, size, folder, short)
        theirs = step_on(baseline, Path(place) / "theirs", rows, size, backbone(short), short)
        count, unit = counted(ours, passes.cycle), counted(theirs, 1)
        check_passes(simcse.id, PASSES[simcse.id], unit, sentences=size)
        agreement = check_passes(chosen.id, passes, count, sentences=size * passes.cycle)
        sides = {"ours": partial(cycle, ours, passes.cycle), "theirs": partial(theirs, 0)}
        taken = run(sides, rounds=rounds, clock=time.process_time, warm=False).times
        note = f"{profiled(sides['ours'])}; SimCSE's: {profiled(sides['theirs'])}"
    products = count.operations / passes.cycle / unit.operations
    peer = f"SimCSE's step x {products:.3f} (all products)"
    own = [seconds / passes.cycle for seconds in taken["ours"]]
    runs = Runs({"ours": own, peer: [products * seconds for seconds in taken["theirs"]]}, {})
    name = f"{chosen.id} at the size of {smaller}" if smaller else chosen.id
    target = 1 / (SMALLER_LIMIT if smaller else LIMIT)
    return runs.result(
        f"{name}: a step of {size} sentences", "ours", {peer: target}, agreement=agreement, note=note
    )


def step_on(chosen: Run, folder: Path, rows: Sequence[Row], size: int, backbone: Path, short: bool) -> Step:
    """Returns the training step of a run on one batch; `folder` gets what it needs to start."""
    folder.mkdir()
    method = build(with_batch(fitted(chosen, short), size), backbone, folder, rows)
    batch = method.prepare(rows)[:size]
    return partial(stepper(method.train(), chosen.train, device="cpu", precision="fp32"), batch)


def fitted(chosen: Run, short: bool) -> Run:
    """Returns the run with its settings at this benchmark's sizes."""
    config: dict[str, Any] = {**chosen.config, "max_length": LENGTH}
    sizes: Any = encoder(short, "cls").backbone.config
    if "head_width" in config:  # as wide in proportion to this encoder as to that of the recipe
        config["head_width"] = config["head_width"] * sizes.hidden_size // RECIPE_WIDTH
    if config.get("recompute"):  # a pass that is made again is no pass of the method
        config["recompute"] = False
    if "pseudo_heads" in config:
        config["pseudo_heads"] = sizes.num_attention_heads
    if short and config.get("queue_size"):
        config["queue_size"] = SMALL_QUEUE
    return changed(chosen, **config)


def cycle(step: Step, steps: int) -> None:
    """Runs as many steps as the method's pattern has."""
    for number in range(steps):
        step(number)


class Count(NamedTuple):
    """Rows that went through sentence encoders with and without gradient, and operations of all products.

    An operation is a multiplication or an addition, in encoders or elsewhere.
    """

    trained_rows: int
    frozen_rows: int
    operations: int


def counted(step: Step, steps: int) -> Count:
    """Returns what a cycle of steps computes, whoever owns its encoders; it is the run that is not timed."""
    rows = {True: 0, False: 0}

    def ended(module: nn.Module, inputs: tuple[Any, ...], pooled: Any) -> None:
        if isinstance(module, SentenceEncoder):
            rows[pooled.requires_grad] += len(pooled)

    def of_a_layer(inputs: Sequence[int], weight: Sequence[int], *_: Any, **__: Any) -> int:
        return 2 * math.prod(inputs) * weight[0]

    onednn = {torch.ops.mkldnn._linear_pointwise: of_a_layer}  # torch's counter does not know it
    handle = register_module_forward_hook(ended)
    try:
        with FlopCounterMode(display=False, custom_mapping=onednn) as products:
            cycle(step, steps)
    finally:
        handle.remove()
    return Count(rows[True], rows[False], products.get_total_flops())


def check_passes(system: str, passes: Passes, count: Count, *, sentences: int) -> str:
    """Returns one sentence on what steps over so many sentences in all encoded.

    Errors: Disagreement if that is not what the table says.
    """
    trained, frozen = round(passes.trained * sentences), round(passes.frozen * sentences)
    if (count.trained_rows, count.frozen_rows) != (trained, frozen):
        raise Disagreement(
            f"{system}: {count.trained_rows} rows with and {count.frozen_rows} without gradient for "
            f"{sentences} sentences, expected {trained} and {frozen} ({passes.source})"
        )
    return (
        f"rows encoded in a real step agree with the count: {passes.trained:g} a sentence forward and "
        f"backward, {passes.frozen:g} forward only ({passes.source})"
    )
