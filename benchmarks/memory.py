"""Peak memory, each figure from a process of its own: a training step, and a million sentences encoded.

Training: the growth of resident memory over three steps against what must be there, counted tensor by tensor
(weights, gradients, two moments of Adam, and what autograd keeps of one forward pass). Encoding: the growth
beside texts and vectors, which must not depend on how many sentences there are but for their index.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from benchmarks.measurement import Disagreement, Result, Spread

TRAINING_LIMIT, ENCODING_LIMIT_MB = 1.2, 400.0
SENTENCES, FEW_SENTENCES, STEPS = 1_000_000, 2_000, 3
MB = 1e6


def measure(rounds: int, short: bool) -> list[Result]:
    """Returns the peak of training over all rounds and that of encoding once."""
    trained = [_in_process("training", short) for _ in range(rounds)]
    encoded = _in_process("encoding", short)
    counted = trained[0]["counted"] / MB
    return [
        Result(
            "memory of SimCSE's step, batch 64",
            "MB",
            Spread.of([found["peak"] / MB for found in trained]),
            limit=None if short else TRAINING_LIMIT * counted,
            note=f"{counted:.0f} MB counted, {trained[0]['activations'] / MB:.0f} MB of it kept by autograd",
        ),
        Result(
            f"memory of encoding {encoded['sentences']} sentences beside texts and vectors",
            "MB",
            Spread.of([encoded["peak"] / MB]),
            limit=ENCODING_LIMIT_MB,
            note=f"vectors {encoded['vectors'] / MB:.0f} MB",
        ),
    ]


def training(short: bool) -> dict[str, float]:
    """Returns the growth of resident memory over some steps and the bytes counted; run in a fresh process."""
    import torch

    from benchmarks.material import backbone, sentences
    from benchmarks.training import BATCH, simcse

    texts = sentences(BATCH, short)
    backbone(short)
    _forget_peak()
    before = _resident("VmRSS")
    method = simcse(short, texts).train()
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
    return {"peak": _resident("VmHWM") - before, "counted": counted, "activations": activations}


def encoding(short: bool) -> dict[str, float]:
    """Returns the growth of resident memory while a tiny encoder encodes; run in a fresh process."""
    from benchmarks.material import encoder
    from tests.support import tiny

    count = FEW_SENTENCES if short else SENTENCES
    some = [row.text for row in tiny.rows(100)]
    texts = [f"{some[number % len(some)]} {number}" for number in range(count)]
    model = encoder(True, "mean")
    model.encode(texts[:1000])
    _forget_peak()
    before = _resident("VmRSS")
    vectors = model.encode(texts)
    return {
        "peak": _resident("VmHWM") - before - vectors.nbytes,
        "vectors": vectors.nbytes,
        "sentences": count,
    }


def _in_process(what: str, short: bool) -> dict[str, Any]:
    command = [sys.executable, "-m", "benchmarks.memory", what, *(["--short"] if short else [])]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise Disagreement(
            f"{' '.join(command[1:])} ended with {done.returncode}: {done.stderr.strip()[-300:]}"
        )
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def _resident(field: str) -> int:
    """Returns a line of this process's status in bytes: VmRSS now, VmHWM the peak."""
    lines = Path("/proc/self/status").read_text(encoding="ascii", errors="replace").splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(f"{field}:"))


def _forget_peak() -> None:
    """Sets the peak to what is resident now (Linux)."""
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")


if __name__ == "__main__":
    print(json.dumps({"training": training, "encoding": encoding}[sys.argv[1]]("--short" in sys.argv)))
