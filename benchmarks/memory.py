"""Peak memory, each figure from a process of its own: a training step, and a million sentences evaluated.

Training: the growth of resident memory over three steps against what must be there, counted tensor by tensor
(weights, gradients, two moments of Adam, and what autograd keeps of one forward pass). Evaluation: the growth
in addition to texts; vectors are on disk and take no part but for those of one shard, and the rest must not
depend on how many sentences there are but for their index. Pages of mapped files count while they are mapped.
"""

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import torch

from benchmarks.runner import Disagreement, backbone, encoder, figure, fresh, made_up, sentences
from benchmarks.training import BATCH, simcse
from harness.process import keep_freed_memory
from harness.report.measurements import BenchmarkResult
from harness.results.embeddings import SHARD_TEXTS
from harness.stages.evaluate import embedded
from harness.tasks.evaluation import evaluate_stored, evaluate_tasks, unique_texts

TRAINING_LIMIT = 1.2
VECTOR_WIDTH = 768
"""Width of the vectors that are evaluated: that of BERT-base."""
INDEX_BYTES = 128
"""For each sentence: 50 in the dictionary that drops repeats, 16 for its digest in the store, 24 for digest,
shard and row of a search, 38 for its share of the ranks of two columns."""
WORKING_MB = 50.0
"""Model, tokens of one shard and one batch."""
SENTENCES, FEW_SENTENCES, AGREEING, STEPS = 1_000_000, 2_000, 1_000, 3
MB = 1e6


def measure(rounds: int, short: bool) -> list[BenchmarkResult]:
    """Returns the peak of training over all rounds and that of evaluation once."""
    count = FEW_SENTENCES if short else SENTENCES
    steps = [fresh(training, short) for _ in range(rounds)]
    counted = steps[0]["counted"]
    evaluated = fresh(evaluation, count)
    return [
        figure(
            "memory of SimCSE's step, batch 64",
            "MB",
            [step["peak"] / MB for step in steps],
            limit=None if short else TRAINING_LIMIT * counted / MB,
            note=f"{counted / MB:.0f} MB counted, {steps[0]['activations'] / MB:.0f} MB of it by autograd",
        ),
        figure(
            f"memory of evaluating {count} sentences besides texts, vectors on disk",
            "MB",
            [evaluated["peak"] / MB],
            limit=evaluated["limit"] / MB,
            agreement=f"scores of {AGREEING} sentences equal those from vectors in memory",
            note=f"limit: vectors of a shard {evaluated['shard'] / MB:.0f} MB, index "
            f"{evaluated['index'] / MB:.0f} MB, encoder {WORKING_MB:.0f} MB; in memory vectors would take "
            f"{4 * count * VECTOR_WIDTH / MB:.0f} MB in fp32",
        ),
    ]


def training(short: bool) -> dict[str, float]:
    """Returns the growth of resident memory over some steps and the bytes counted; in a fresh process."""
    keep_freed_memory()  # as every command does
    texts = sentences(BATCH, short)
    backbone(short)
    few = simcse(backbone(True), sentences(BATCH, True)).train()  # loads what any training loads
    few.loss({"anchor": few.encoder.tokenize(["one", "two"])}).total.backward()
    before = forget_peak()
    method = simcse(backbone(short), texts).train()
    optimizer = torch.optim.AdamW(method.parameters(), fused=True)
    kept: dict[int, int] = {}

    def note(tensor: Any) -> Any:
        storage = tensor.untyped_storage()
        kept[storage.data_ptr()] = storage.nbytes()
        return tensor

    weights = {parameter.untyped_storage().data_ptr(): parameter.nbytes for parameter in method.parameters()}
    tokens = method.encoder.tokenize(texts, max_length=method.config.max_length)
    for _ in range(STEPS):
        kept.clear()
        with torch.autograd.graph.saved_tensors_hooks(note, lambda tensor: tensor):
            loss = method.loss({"anchor": tokens}).total
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
    activations = sum(size for place, size in kept.items() if place not in weights)
    counted = 4 * sum(weights.values()) + activations
    return {"peak": resident("VmHWM") - before, "counted": counted, "activations": activations}


def evaluation(count: int) -> dict[str, float]:
    """Returns the growth of resident memory while a store is filled and scored; run in a fresh process."""
    keep_freed_memory()
    model = encoder(True, "mean")
    model.output = torch.nn.Linear(model.width, VECTOR_WIDTH)
    few, many = [made_up(AGREEING)], [made_up(count)]
    unique_texts(many)  # reads the set
    with TemporaryDirectory() as place:
        model.save(Path(place))
        with embedded(Path(place), few, device="cpu") as store:  # loads what any evaluation loads
            scores = evaluate_stored(few, store.encode)
        if scores != evaluate_tasks(few, lambda texts: model.encode(texts).astype(np.float16)):
            raise Disagreement("scores from stored vectors differ from those of vectors in memory")
        before = forget_peak()
        with embedded(Path(place), many, device="cpu") as store:
            evaluate_stored(many, store.encode)
        grown = resident("VmHWM") - before
    shard = min(count, SHARD_TEXTS) * VECTOR_WIDTH * (4 + 2)  # as encoded, and mapped in half precision
    index = count * INDEX_BYTES
    return {"peak": grown, "shard": shard, "index": index, "limit": shard + index + WORKING_MB * MB}


def resident(field: str) -> int:
    """Returns a line of this process's memory status in bytes: VmRSS now, VmHWM the peak."""
    lines = Path("/proc/self/status").read_text(encoding="ascii", errors="replace").splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(f"{field}:"))


def forget_peak() -> int:
    """Sets the peak to what is resident now, and returns that."""
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    return resident("VmRSS")
