"""Facts from the literature as comparisons of two systems of the small plan."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from benchmarks.small_controls import Scores
from benchmarks.small_trainings import Trainings, of_system
from harness.evidence.differences import difference_of, move_together
from harness.evidence.statistics import Interval

MEASURES = ("dev", "test", "parts")


class Side(NamedTuple):
    """A system of the small plan with changed settings. drawn: whether results depend on the seed."""

    system: str
    config: Mapping[str, Any] = {}
    train: Mapping[str, Any] = {}
    drawn: bool = True


class Fact(NamedTuple):
    """A claim that the first side scores above the second; agreed: whether the literature agrees."""

    name: str
    first: Side
    second: Side
    says: str
    agreed: bool = True


class Difference(NamedTuple):
    """A difference of two means, in points, and its interval over seeds; None without seeds."""

    value: float
    interval: Interval | None

    @property
    def sign(self) -> int:
        """1 if the interval is above 0, -1 if below, 0 otherwise; the value's sign without an interval."""
        low, high = self.interval or (self.value, self.value)
        return (low > 0) - (high < 0)


class Shown(NamedTuple):
    """A fact with its differences on the three measures of `MEASURES`."""

    fact: Fact
    differences: Mapping[str, Difference]

    @property
    def verdict(self) -> str:
        """Answer of the small setting: the fact on all measures, on some, on none, or the opposite."""
        signs = [self.differences[name].sign for name in MEASURES]
        if not self.fact.agreed:
            words = {1: "higher", -1: "lower", 0: "no clear difference"}
            return words[signs[0]] if len(set(signs)) == 1 else "depends on the measure"
        if min(signs) < 0:
            return f"no, the opposite on {-sum(signs)} of 3" if max(signs) <= 0 else "depends on the measure"
        return {3: "yes", 0: "no clear difference"}.get(sum(signs), f"on {sum(signs)} of 3 measures")


SIMCSE = Side("simcse-small")
UNTRAINED = Side("pooled-cls-small", drawn=False)
GAO = "Gao et al. 2021 (SimCSE)"
FACTS = (
    Fact("SimCSE, untrained", SIMCSE, UNTRAINED, f"{GAO}: training helps"),
    Fact(
        "SimCSE, its loss negated",
        SIMCSE,
        Side("simcse-negated-small"),
        "Wang and Isola 2020: positives close, others apart",
    ),
    Fact(
        "SimCSE, positives of other sentences",
        SIMCSE,
        Side("simcse-permuted-small"),
        "Wang and Isola 2020: alignment of true positives is needed",
    ),
    Fact(
        "SimCSE, uniformity alone",
        SIMCSE,
        Side("simcse-uniformity-small"),
        "Wang and Isola 2020: alignment and uniformity are both needed",
    ),
    Fact(
        "SimCSE, uniformity alone at the rate best for it",
        SIMCSE,
        Side("simcse-uniformity-rate-small"),
        "as above",
    ),
    Fact(
        "dropout 0.1, dropout 0",
        SIMCSE,
        Side("simcse-small", config={"dropout": 0.0}),
        f"{GAO}: without dropout both views are equal, and scores fall",
    ),
    Fact(
        "temperature 0.05, temperature 1",
        SIMCSE,
        Side("simcse-small", config={"temperature": 1.0}),
        f"{GAO}: 1 is far worse",
    ),
    Fact(
        "batch of 128, of 32",
        SIMCSE,
        Side("simcse-small", train={"batch_size": 32}),
        f"divided. Chen et al. 2020 (SimCLR, images): more negatives help; {GAO}: little",
        agreed=False,
    ),
    Fact(
        "batch of 512, of 128",
        Side("simcse-small", train={"batch_size": 512}),
        SIMCSE,
        "divided, as above",
        agreed=False,
    ),
    Fact(
        "distillation, SimCSE",
        Side("distill-small"),
        SIMCSE,
        "Limkonchotiwat et al. 2022 (ConGen), 2023 (SCT): a teacher helps small encoders",
    ),
    Fact(
        "ConGen, SimCSE",
        Side("congen-small"),
        SIMCSE,
        "Limkonchotiwat et al. 2022 (ConGen): a teacher helps small encoders",
    ),
    Fact("PCL, SimCSE", Side("pcl-small"), SIMCSE, "PCL's paper: higher"),
    Fact("UNA, SimCSE", Side("una-small"), SIMCSE, "UNA's paper: higher"),
    Fact("DiffCSE, SimCSE", Side("diffcse-small"), SIMCSE, "Chuang et al. 2022 (DiffCSE): higher"),
    Fact(
        "whitened, as they are (untrained)",
        Side("whitening-small", drawn=False),
        UNTRAINED,
        "Su et al. 2021, Huang et al. 2021: whitening helps untrained encoders",
    ),
)


def measure(
    trainings: Trainings, facts: Sequence[Fact], seeds: int, tell: Callable[[str], None]
) -> list[Shown]:
    """Returns the facts with their differences on dev, on STS-B test and on the mean of the partial sets."""
    runs = {
        (repr(side), seed): of_system(trainings.params, side.system, seed, side.config, side.train)
        for seed in range(seeds)
        for side in _sides(facts)
        if seed == 0 or side.drawn
    }
    scores: dict[str, list[Scores]] = {}
    for (side, seed), found in zip(runs, trainings.all_scores([*runs.values()]), strict=True):
        scores.setdefault(side, []).append(found)
        tell(f"seed {seed}: {side}")
    return [Shown(fact, {name: difference(scores, fact, name) for name in MEASURES}) for fact in facts]


def difference(scores: Mapping[str, Sequence[Scores]], fact: Fact, name: str) -> Difference:
    """Returns the difference of the means as `sentbench compare` tests it: by Welch's interval, or over
    paired seeds if these move together. scores: of each side, in the order of the seeds.
    """
    first, second = (
        dict(enumerate(getattr(entry, name) for entry in scores[repr(side)])) for side in fact[1:3]
    )
    exact = (not fact.first.drawn, not fact.second.drawn)
    paired = not any(exact) and move_together(first, second)
    tested = difference_of(first, second, exact=exact, paired=paired)
    return Difference(tested.difference, tested.intervals[0])


def _sides(facts: Sequence[Fact]) -> list[Side]:
    """Returns every side once."""
    return list({repr(side): side for fact in facts for side in fact[1:3]}.values())
