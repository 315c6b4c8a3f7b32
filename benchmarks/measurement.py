"""Alternating rounds, medians with their range, ratios of the same round, rates of products between them."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor, nn

from methods.core.fast.linear import linear

Form = Callable[[], object]
"""One whole run of one side; what it returns is not looked at."""

Clock = Callable[[], float]
"""Returns seconds since some start."""

GEMM_SIZE = 1024


class Disagreement(Exception):
    """Two sides of a benchmark computed different results, so their times say nothing."""


@dataclass(frozen=True)
class Spread:
    """Median and range over the rounds."""

    median: float
    low: float
    high: float

    @classmethod
    def of(cls, values: Sequence[float]) -> Spread:
        return cls(statistics.median(values), min(values), max(values))


@dataclass(frozen=True)
class Peer:
    """What a user would otherwise run: its cost, how many times ours it is, and the ratio that is aimed at.

    ratio: median and range of the ratios within rounds. target: None where the peer only gives scale.
    """

    name: str
    cost: Spread
    ratio: Spread
    target: float | None

    @property
    def met(self) -> bool:
        return self.target is None or self.ratio.median >= self.target


@dataclass(frozen=True)
class Result:
    """One line of the page.

    ours: cost in `unit`, lower is better. limit: the most that ours may cost, None if only ratios count.
    agreement: what was compared before a time counted, and the largest difference. gemm: GFLOP/s of fp32
    products of 1024 x 1024 matrices between the rounds. note: counts, and what explains a missed target.
    """

    name: str
    unit: str
    ours: Spread
    peers: tuple[Peer, ...] = ()
    limit: float | None = None
    agreement: str = ""
    note: str = ""
    gemm: Spread | None = None
    met: bool | None = field(init=False)

    def __post_init__(self) -> None:
        """A target is met when each is; None says that this result has none."""
        checks = [peer.met for peer in self.peers if peer.target is not None]
        checks += [self.ours.median <= self.limit] if self.limit is not None else []
        object.__setattr__(self, "met", all(checks) if checks else None)

    def lines(self) -> list[str]:
        """Returns the result as text for a terminal."""
        told = {True: "met", False: "NOT MET", None: ""}[self.met]
        limit = f"  at most {self.limit:g} {self.unit}" if self.limit is not None else ""
        ours = self.ours
        lines = [
            f"{self.name}: {ours.median:.4g} {self.unit} ({ours.low:.4g} to {ours.high:.4g}){limit}  {told}"
        ]
        for peer in self.peers:
            wanted = f", target {peer.target:g}" if peer.target is not None else ""
            lines.append(
                f"    {peer.name}: {peer.cost.median:.4g} {self.unit}, ratio {peer.ratio.median:.2f} "
                f"({peer.ratio.low:.2f} to {peer.ratio.high:.2f}){wanted}"
            )
        return [*lines, *(f"    {words}" for words in (self.agreement, self.note) if words)]


def compare(
    name: str,
    forms: Mapping[str, Form],
    *,
    rounds: int,
    targets: Mapping[str, float] | None = None,
    unit: str = "ms",
    device: str = "cpu",
    agreement: str = "",
    note: str = "",
) -> Result:
    """Returns the first form's times beside the others', after one unmeasured run of each.

    targets: form -> the least ratio of its time to the first form's.
    """
    for form in forms.values():
        form()
    times, rates = alternate(forms, rounds=rounds, device=device)
    return summarised(name, times, rates, targets=targets or {}, unit=unit, agreement=agreement, note=note)


def summarised(
    name: str,
    times: Mapping[str, Sequence[float]],
    rates: Sequence[float],
    *,
    targets: Mapping[str, float],
    unit: str = "ms",
    agreement: str = "",
    note: str = "",
) -> Result:
    """Returns the result of times in seconds, one a round and form; the first form is ours."""
    scale = {"s": 1.0, "ms": 1e3}[unit]
    (_, ours), *others = times.items()
    peers = tuple(
        Peer(
            peer,
            Spread.of([scale * taken for taken in theirs]),
            Spread.of([slow / fast for slow, fast in zip(theirs, ours, strict=True)]),
            targets.get(peer),
        )
        for peer, theirs in others
    )
    cost = Spread.of([scale * taken for taken in ours])
    return Result(name, unit, cost, peers, agreement=agreement, note=note, gemm=Spread.of(rates))


def alternate(
    forms: Mapping[str, Form], *, rounds: int, device: str = "cpu", clock: Clock = time.perf_counter
) -> tuple[dict[str, list[float]], list[float]]:
    """Returns the seconds of every form in every round, and the GEMM rate between the rounds.

    clock: `time.process_time` where other work on the machine must not count; of a CPU only.
    Every second round runs in reverse order, so that a drift of the machine does not favour one form.
    """
    times: dict[str, list[float]] = {name: [] for name in forms}
    rates = [gemm_rate(device)]
    for turn in range(rounds):
        ordered = list(forms.items())
        for name, form in ordered if turn % 2 == 0 else reversed(ordered):
            times[name].append(seconds(form, device, clock))
        rates.append(gemm_rate(device))
    return times, rates


def seconds(form: Form, device: str = "cpu", clock: Clock = time.perf_counter) -> float:
    """Returns the time of one run by a clock, work that a device still has in hand included."""
    _wait(device)
    started = clock()
    form()
    _wait(device)
    return clock() - started


def gemm_rate(device: str = "cpu", dtype: torch.dtype = torch.float32) -> float:
    """Returns the GFLOP/s of products of 1024 x 1024 matrices: what the machine gives at this moment."""
    left, right = (torch.ones(GEMM_SIZE, GEMM_SIZE, device=device, dtype=dtype) for _ in range(2))
    products = 8
    return (
        products * 2 * GEMM_SIZE**3 / seconds(lambda: [left @ right for _ in range(products)], device) / 1e9
    )


def product_rate(device: str = "cpu", tries: int = 5) -> float:
    """Returns the GFLOP/s of our linear layers' product at `gemm_rate`'s size, the best of some tries."""
    layer = nn.Linear(GEMM_SIZE, GEMM_SIZE, bias=False, device=device)
    rows, products = torch.ones(GEMM_SIZE, GEMM_SIZE, device=device), 8
    with torch.no_grad():
        linear(layer, rows)
        taken = min(
            seconds(lambda: [linear(layer, rows) for _ in range(products)], device) for _ in range(tries)
        )
    return products * 2 * GEMM_SIZE**3 / taken / 1e9


def share_of_rates(operations: float, taken: Sequence[float], rates: Sequence[float], device: str) -> str:
    """Says how fast so many floating-point operations ran, beside two rates that the machine can give.

    taken: seconds in each round. rates: GFLOP/s of torch's own product between the rounds.
    """
    reached = operations / statistics.median(taken) / 1e9
    between, own = statistics.median(rates), product_rate(device)
    return (
        f"{reached:.0f} GFLOP/s, {reached / between:.0%} of the GEMM rate between rounds and "
        f"{reached / own:.0%} of the {own:.0f} GFLOP/s of our layers' product alone"
    )


def agree(ours: Sequence[Tensor], theirs: Sequence[Tensor], *, tolerance: float, what: str) -> str:
    """Returns one sentence on the largest difference relative to the largest entry of its tensor.

    Errors: Disagreement above `tolerance`.
    """
    apart = max(
        ((one - other).abs().max() / other.abs().max().clamp_min(1e-30)).item()
        for one, other in zip(ours, theirs, strict=True)
    )
    if not apart <= tolerance:
        raise Disagreement(
            f"{what} differ by {apart:.2g} of the largest entry, expected at most {tolerance:g}"
        )
    return f"{what} agree within {apart:.1g} of the largest entry"


def _wait(device: str) -> None:
    if device == "cuda":
        torch.cuda.synchronize()
