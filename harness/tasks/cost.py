"""The cost of an encoder: parameters, throughput, memory; the second axis in comparisons of small models."""

import resource
import sys
from collections.abc import Sequence
from statistics import median
from time import perf_counter
from typing import Any, NamedTuple

from harness.errors import InputError


class Cost(NamedTuple):
    """One measurement; rates are medians over rounds, tokens_per_second is None without word pieces.

    `peak_memory` is in bytes: on CUDA the peak allocation while encoding, on a CPU the peak of the whole
    process so far, including libraries and data.
    """

    parameters: int
    dim: int
    sentences_per_second: float
    tokens_per_second: float | None
    peak_memory: int
    device: str
    sentences: int
    rounds: int


def measure_cost(encoder: Any, texts: Sequence[str], *, rounds: int, batch_size: int) -> Cost:
    """Returns the cost of encoding the distinct `texts`, after one warm-up round.

    `encoder` has `encode` and `dim`; parameters, device and word pieces are read where it has them.
    Errors: InputError for no text or no round.
    """
    distinct = list(dict.fromkeys(texts))
    if not distinct or rounds < 1:
        raise InputError(
            f"cost of {len(distinct)} texts in {rounds} rounds: expected at least one of each; give more"
        )
    device = str(getattr(encoder, "device", "cpu"))
    encoder.encode(distinct, batch_size=batch_size)
    _peak(device, reset=True)
    seconds = []
    for _ in range(rounds):
        started = perf_counter()
        encoder.encode(distinct, batch_size=batch_size)  # returns numpy: the device has finished
        seconds.append(perf_counter() - started)
    taken = median(seconds)
    tokens = sum(map(len, encoder.token_ids(distinct))) if hasattr(encoder, "token_ids") else None
    return Cost(
        parameters=count_parameters(encoder),
        dim=encoder.dim,
        sentences_per_second=len(distinct) / taken,
        tokens_per_second=None if tokens is None else tokens / taken,
        peak_memory=_peak(device),
        device=device,
        sentences=len(distinct),
        rounds=rounds,
    )


def count_parameters(encoder: Any) -> int:
    """Returns the number of floating-point values in parameters and buffers, each counted once."""
    if not hasattr(encoder, "parameters"):
        return 0
    held = [*encoder.parameters(), *encoder.buffers()]
    return sum(tensor.numel() for tensor in {id(t): t for t in held}.values() if tensor.is_floating_point())


def _peak(device: str, *, reset: bool = False) -> int:
    if device.startswith("cuda"):
        import torch

        peak = int(torch.cuda.max_memory_allocated(device))
        if reset:
            torch.cuda.reset_peak_memory_stats(device)
        return peak
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else 1024 * peak  # bytes there, kilobytes elsewhere
