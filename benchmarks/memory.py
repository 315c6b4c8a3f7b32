"""Peak memory, each figure from a process of its own: a training step, a million sentences encoded or scored.

Training: the growth of resident memory over three steps against what must be there, counted tensor by tensor
(weights, gradients, two moments of Adam, and what autograd keeps of one forward pass); round by round the
same with other allocators. Encoding: the growth beside texts and vectors, which must not depend on how many
sentences there are but for their index.
Evaluation: the same with vectors on disk, which take no part in the growth but for those of one shard. All
growth is of resident memory, so pages of mapped files count while they are mapped.
"""

from __future__ import annotations

import json
import sys
import time
from ctypes.util import find_library
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.measurement import Disagreement, Result, Spread
from benchmarks.processes import answer_of, forget_peak, resident
from harness.process import keep_freed_memory

if TYPE_CHECKING:
    from harness.tasks.interface import Task

TRAINING_LIMIT, ENCODING_LIMIT_MB = 1.2, 400.0
VECTOR_WIDTH = 768
"""Width of the vectors that are evaluated: that of BERT-base."""
INDEX_BYTES = 128
"""For each sentence: 50 in the dictionary that drops repeats, 16 for its digest in the store, 24 for digest,
shard and row of a search, 38 for its share of the ranks of two columns."""
WORKING_MB = 50.0
"""Model, word pieces of one shard and one batch."""
SENTENCES, FEW_SENTENCES, AGREEING, STEPS = 1_000_000, 2_000, 1_000, 3
MB = 1e6
RETURNED = {"MALLOC_MMAP_THRESHOLD_": str(2**20), "MALLOC_TRIM_THRESHOLD_": str(2**27)}
"""Makes glibc map every block of 1 MiB by itself and give it back when it is freed.

Not set for training: the kernel clears each page again, which took up to half of a step's time more on
the one virtual machine that measured, and no less with transparent huge pages (glibc.malloc.hugetlb, or
torch's THP_MEM_ALLOC_ENABLE).
"""


def measure(rounds: int, short: bool) -> list[Result]:
    """Returns the peak of training over all rounds and that of encoding once."""
    short_or_not = ["--short"] if short else []
    encoded = answer_of("benchmarks.memory", "encoding", *short_or_not)
    evaluated = answer_of("benchmarks.memory", "evaluation", *short_or_not)
    return [
        training_result(rounds, short),
        Result(
            f"memory of encoding {encoded['sentences']} sentences beside texts and vectors",
            "MB",
            Spread.of([encoded["peak"] / MB]),
            limit=ENCODING_LIMIT_MB,
            note=f"vectors {encoded['vectors'] / MB:.0f} MB",
        ),
        Result(
            f"memory of evaluating {evaluated['sentences']} sentences beside texts, vectors on disk",
            "MB",
            Spread.of([evaluated["peak"] / MB]),
            limit=evaluated["limit"] / MB,
            agreement=f"scores of {AGREEING} sentences equal those from vectors in memory",
            note=_counted(evaluated),
        ),
    ]


def training_result(rounds: int, short: bool) -> Result:
    """Returns the peak of a step with glibc's allocator, as every command sets it.

    The note has that of each allocator and its processor time.
    """
    short_or_not = ["--short"] if short else []
    sides = {"glibc": {}, "glibc that gives freed memory back": RETURNED}
    if tcmalloc := find_library("tcmalloc_minimal") or find_library("tcmalloc"):
        sides["tcmalloc"] = {"LD_PRELOAD": tcmalloc}
    found: dict[str, list[dict[str, float]]] = {name: [] for name in sides}
    for turn in range(rounds):
        for name in list(sides)[:: 1 if turn % 2 == 0 else -1]:
            found[name].append(answer_of("benchmarks.memory", "training", *short_or_not, **sides[name]))
    peaks = {name: Spread.of([answer["peak"] / MB for answer in side]) for name, side in found.items()}
    plain = found["glibc"]
    counted = plain[0]["counted"] / MB
    allocators = []
    for name, side in found.items():
        slower = Spread.of([one["step"] / other["step"] for one, other in zip(side, plain, strict=True)])
        times = f" and {slower.median:.2f} times the processor time ({slower.low:.2f} to {slower.high:.2f})"
        allocators.append(f"{name} {peaks[name].median:.0f} MB{times if side is not plain else ''}")
    return Result(
        "memory of SimCSE's step, batch 64",
        "MB",
        peaks["glibc"],
        limit=None if short else TRAINING_LIMIT * counted,
        note=f"{counted:.0f} MB counted, {plain[0]['activations'] / MB:.0f} MB of it kept by autograd; with "
        f"{', '.join(allocators)}",
    )


def training(short: bool) -> dict[str, float]:
    """Returns the growth of resident memory over some steps, the bytes counted and processor seconds a step.

    To be run in a fresh process.
    """
    import torch

    from benchmarks.material import backbone, sentences
    from benchmarks.training import BATCH, simcse

    texts = sentences(BATCH, short)
    backbone(short)
    few = simcse(True, sentences(BATCH, True)).train()  # loads what any training loads
    few.loss({"anchor": few.encoder.tokenize(["one", "two"])}).total.backward()
    forget_peak()
    before = resident("VmRSS")
    method = simcse(short, texts).train()
    optimizer = torch.optim.AdamW(method.parameters(), fused=True)
    kept: dict[int, int] = {}

    def note(tensor: Any) -> Any:
        storage = tensor.untyped_storage()
        kept[storage.data_ptr()] = storage.nbytes()
        return tensor

    weights = {parameter.untyped_storage().data_ptr(): parameter.nbytes for parameter in method.parameters()}
    tokens = method.encoder.tokenize(texts, max_length=method.config.max_length)
    taken = []
    for _ in range(STEPS):
        started = time.process_time()
        kept.clear()
        with torch.autograd.graph.saved_tensors_hooks(note, lambda tensor: tensor):
            loss = method.loss({"anchor": tokens}).total
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        taken.append(time.process_time() - started)
    activations = sum(size for place, size in kept.items() if place not in weights)
    counted = 4 * sum(weights.values()) + activations
    return {
        "peak": resident("VmHWM") - before,
        "counted": counted,
        "activations": activations,
        "step": median(taken),
    }


def encoding(short: bool) -> dict[str, float]:
    """Returns the growth of resident memory while a tiny encoder encodes; run in a fresh process."""
    from benchmarks.material import encoder

    texts = _texts(FEW_SENTENCES if short else SENTENCES)
    model = encoder(True, "mean")
    model.encode(texts[:1000])
    forget_peak()
    before = resident("VmRSS")
    vectors = model.encode(texts)
    return {
        "peak": resident("VmHWM") - before - vectors.nbytes,
        "vectors": vectors.nbytes,
        "sentences": len(texts),
    }


def evaluation(short: bool) -> dict[str, float]:
    """Returns the growth of resident memory while a store is filled and scored; run in a fresh process."""
    import torch

    from benchmarks.material import encoder
    from harness.results.embeddings import SHARD_TEXTS
    from harness.stages.evaluate import embedded
    from harness.tasks.evaluation import evaluate_stored, evaluate_tasks, unique_texts

    count = FEW_SENTENCES if short else SENTENCES
    model = encoder(True, "mean")
    model.output = torch.nn.Linear(model.width, VECTOR_WIDTH)
    few, many = _pairs(AGREEING), _pairs(count)
    unique_texts(many)  # reads the set
    with TemporaryDirectory() as place:
        model.save(Path(place))
        with embedded(Path(place), few, device="cpu") as store:  # loads what any evaluation loads
            scores = evaluate_stored(few, store.encode)
        if scores != evaluate_tasks(few, lambda texts: model.encode(texts).astype(np.float16)):
            raise Disagreement("scores from stored vectors differ from those of vectors in memory")
        forget_peak()
        before = {field: resident(field) for field in ("VmRSS", "RssAnon")}
        with embedded(Path(place), many, device="cpu") as store:
            evaluate_stored(many, store.encode)
            private = resident("RssAnon") - before["RssAnon"]
            stored = sum(path.stat().st_size for path in store.folder.iterdir())
        grown = resident("VmHWM") - before["VmRSS"]
    shard = min(count, SHARD_TEXTS) * VECTOR_WIDTH * (4 + 2)  # as encoded, and mapped in half precision
    index = count * INDEX_BYTES
    return {
        "peak": grown,
        "private": private,
        "shard": shard,
        "index": index,
        "limit": shard + index + WORKING_MB * MB,
        "vectors": 4 * count * VECTOR_WIDTH,
        "stored": stored,
        "sentences": count,
    }


def _counted(found: dict[str, float]) -> str:
    size = {name: f"{value / MB:.0f} MB" for name, value in found.items()}
    return (
        f"limit: vectors of a shard {size['shard']}, index {size['index']}, encoder {WORKING_MB:.0f} MB; "
        f"pages of mapped files count; {size['private']} of private memory are left at the end; "
        f"{size['stored']} on disk; in memory the vectors would take {size['vectors']} in fp32"
    )


def _texts(count: int) -> list[str]:
    from tests.support import tiny

    some = [row.text for row in tiny.rows(100)]
    return [f"{some[number % len(some)]} {number}" for number in range(count)]


def _pairs(count: int) -> list[Task]:
    """Returns one set of pairs that holds so many different sentences, with scores drawn once."""
    from harness.data.sts import ScoredPair
    from harness.tasks.sts import StsTask

    texts = _texts(count)
    gold = np.random.default_rng(0).integers(6, size=count // 2)
    pairs = [
        ScoredPair(first, second, float(score))
        for first, second, score in zip(texts[::2], texts[1::2], gold, strict=True)
    ]
    return [StsTask("made-up", "made-up", lambda folder: {"all": pairs}, folder=Path())]  # type: ignore[list-item]


if __name__ == "__main__":
    keep_freed_memory()  # as every command does
    parts = {
        "training": training,
        "encoding": encoding,
        "evaluation": evaluation,
    }
    print(json.dumps(parts[sys.argv[1]]("--short" in sys.argv)))
