"""Training and evaluation beside one foreign process that keeps one core busy, and without it.

Each figure is from a process of its own, for how threads wait is read once, when torch is loaded. There the
foreign process is stopped and continued in turns. What is lost is the share of speed, 1 - idle / loaded; it
may be at most the share of all cores' time that the foreign process got meanwhile.
"""

from __future__ import annotations

import json
import os
import signal
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.measurement import Disagreement, Result, Spread
from benchmarks.processes import answer_of
from harness.process import PASSIVE

SENTENCES, FEW_SENTENCES = 4_000, 200
SPINNING = {"OMP_WAIT_POLICY": "active", "GOMP_SPINCOUNT": "300000", "KMP_BLOCKTIME": "200"}
"""How threads wait where nothing is set: they keep their cores for some milliseconds, then sleep."""
FOREIGN = "while True: pass"
LABELS = {"evaluation": "evaluation, fp32", "training": "SimCSE step, batch 64, fp32"}
Work = Callable[[], tuple[float, object]]
"""Does the work once; returns its seconds, and what must not depend on the load."""


class Turns(NamedTuple):
    """Seconds of the work in each round, and the foreign process's share of all cores in the loaded ones."""

    idle: list[float]
    loaded: list[float]
    share: list[float]

    @property
    def lost(self) -> list[float]:
        """Percent of speed lost in each round."""
        return [100 * (1 - alone / beside) for alone, beside in zip(self.idle, self.loaded, strict=True)]

    @property
    def percent(self) -> float:
        """Percent of the cores' time that was taken, the median."""
        return 100 * statistics.median(self.share)


def measure(rounds: int, short: bool) -> list[Result]:
    """Returns what evaluation and training lose with threads that sleep; the note has those that spin."""
    return [_result(work, rounds, short) for work in LABELS]


def _result(work: str, rounds: int, short: bool) -> Result:
    options = [str(rounds), *(["--short"] if short else [])]
    asleep = Turns(**answer_of("benchmarks.loaded", work, *options, **PASSIVE))
    spinning = Turns(**answer_of("benchmarks.loaded", work, *options, **SPINNING))
    idle, loaded = statistics.median(asleep.idle), statistics.median(asleep.loaded)
    return Result(
        f"speed lost beside one busy process: {LABELS[work]}",
        "%",
        Spread.of(asleep.lost),
        limit=asleep.percent,
        agreement="vectors or trained weights are equal byte by byte with and without the foreign process",
        note=f"{idle:.3g} s alone, {loaded:.3g} s beside it; it got {asleep.percent:.0f} % of "
        f"{len(os.sched_getaffinity(0))} cores. With threads that spin "
        f"{statistics.median(spinning.lost):.0f} % are lost to one that got {spinning.percent:.0f} %",
    )


def turns(work: Work, rounds: int) -> Turns:
    """Returns the work's seconds alone and beside the foreign process, alternately in changing order.

    Errors: Disagreement if the work gives something else beside it.
    """
    _, expected = work()
    found = Turns([], [], [])
    with foreign_process() as foreign:
        for turn in range(rounds):
            for beside in (False, True) if turn % 2 == 0 else (True, False):
                os.kill(foreign, signal.SIGCONT if beside else signal.SIGSTOP)
                before, started = cpu_seconds(foreign), time.perf_counter()
                taken, made = work()
                passed = time.perf_counter() - started
                if made != expected:
                    raise Disagreement("beside a busy process the result is another, expected equal bytes")
                (found.loaded if beside else found.idle).append(taken)
                if beside:
                    cores = len(os.sched_getaffinity(0))
                    found.share.append((cpu_seconds(foreign) - before) / passed / cores)
    return found


@contextmanager
def foreign_process() -> Iterator[int]:
    """Yields the number of a process that computes on one of our cores, and ends it after the block."""
    process = subprocess.Popen([sys.executable, "-c", FOREIGN])
    try:
        os.sched_setaffinity(process.pid, {max(os.sched_getaffinity(0))})
        yield process.pid
    finally:
        process.kill()
        process.wait()


def cpu_seconds(process: int) -> float:
    """Returns the processor time that a process has had."""
    fields = Path(f"/proc/{process}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return sum(map(int, fields[11:13])) / os.sysconf("SC_CLK_TCK")


def evaluation(short: bool) -> Work:
    """Encodes sentences as an evaluation does."""
    from benchmarks.material import encoder, sentences

    model = encoder(short, "mean")
    texts = sentences(FEW_SENTENCES if short else SENTENCES, short)

    def work() -> tuple[float, object]:
        started = time.perf_counter()
        vectors = model.encode(texts)
        return time.perf_counter() - started, vectors.tobytes()

    return work


def training(short: bool) -> Work:
    """Trains SimCSE for some steps from the same start; its time is the median step."""
    from benchmarks.material import backbone, sentences
    from benchmarks.training import BATCH, STEPS, simcse, trainer_side

    backbone(short)  # drawn before a head is, so that every head is drawn from the same state
    texts = sentences(BATCH * STEPS, short)

    def work() -> tuple[float, object]:
        method = simcse(short, texts)
        ended = trainer_side(short, texts, "cpu", "fp32", method)()
        weights = [weight.detach().numpy().tobytes() for weight in method.parameters()]
        return statistics.median(later - sooner for sooner, later in pairwise(ended)), weights

    return work


def main(words: Sequence[str]) -> dict[str, Any]:
    """Returns the turns of one work as plain values: WORK ROUNDS [--short]."""
    name, rounds, *rest = words
    works = {"evaluation": evaluation, "training": training}
    return turns(works[name]("--short" in rest), int(rounds))._asdict()


if __name__ == "__main__":
    print(json.dumps(main(sys.argv[1:])))
