"""Prices are what the commands next to them print; what a budget pays for, by hand and by trying all."""

import itertools
import math
import random
import re
from collections.abc import Sequence

import pytest

from harness.assembly.tables import evidence_of
from harness.commands.plan import describe
from harness.facts.settling import Price, format_hours
from harness.facts.spec import load_specs
from harness.plan.prices import Question, Step, choose, next_step, seed_prices
from harness.plan.recipes import load_recipes
from harness.plan.resolve import resolve
from harness.report.verification import verify
from tests.harness.report.test_verification import alone

RECIPES = load_recipes()
PRICES = seed_prices(RECIPES, "cuda")


def dry_run(command: str, seeds: int) -> str:
    """Returns the GPU hours in the last sum of what a command's own dry run prints."""
    words = command.split()
    backbones = words[words.index("--backbone") + 1 :] if "--backbone" in words else None
    params = resolve(RECIPES, [words[2]], seeds=seeds, backbones=backbones, tables=load_specs())
    found = re.search(r"^total\s+\d+\s+\d+\s+(\S+)", describe(params), re.MULTILINE)
    assert found is not None
    return found[1]


@pytest.mark.parametrize(
    ("system", "backbone"),
    [
        ("simcse", "bert-base-uncased"),  # alone
        ("dclr", "bert-base-uncased"),  # a parent a seed
        ("dclr-bert-large", "bert-large-uncased"),  # a parent on another backbone
        ("sct-distill-bert-tiny", "bert-tiny"),  # a start a seed, and a teacher
        ("congen-bert-tiny-plus-sct", "bert-tiny"),
        ("diffcse-sizes", "bert-mini"),  # one of several backbones
        ("una-paraphrase", "bert-base-uncased"),  # on a derived corpus
    ],
)
@pytest.mark.parametrize("seeds", [2, 26])
def test_the_cost_shown_is_what_the_dry_run_of_the_command_prints(
    system: str, backbone: str, seeds: int
) -> None:
    price = PRICES[system, backbone]
    assert format_hours(sum(price.items(seeds).values())) == f"{dry_run(price.command, seeds)} GPU hours"


@pytest.mark.parametrize("systems", [{"una"}, {"dclr", "sct-distill-bert-tiny"}, {"no-such-system"}])
def test_the_price_of_a_few_systems_is_the_one_among_all(systems: set[str]) -> None:
    found = seed_prices(RECIPES, "cuda", systems)
    assert {key for key in PRICES if key[0] in systems} <= found.keys()
    assert all(PRICES[key] == price for key, price in found.items() if key[0] in systems)


def test_tables_tell_hours_on_a_gpu() -> None:
    key = "simcse", "bert-base-uncased"
    assert evidence_of([], priced={"simcse"}).prices[key] == PRICES[key]


def test_what_all_seeds_share_is_paid_once() -> None:
    """Vectors of a teacher are made once, the parent of a seed with each: DCLR's seed is two runs."""
    dclr, simcse = PRICES["dclr", "bert-base-uncased"], PRICES["simcse", "bert-base-uncased"]
    assert not dclr.shared
    assert sum(dclr.each.values()) > 1.2 * sum(simcse.each.values())
    assert sum(PRICES["sct-distill-bert-tiny", "bert-tiny"].shared.values()) > 0
    price = Price("x", {"run": 2.0}, {"teacher": 5.0})
    first = verify(*alone(1), price=price).plan
    more = verify(*alone(1), values=[75.0], price=price).plan
    assert first is not None
    assert more is not None
    assert (first.gpu_hours, more.gpu_hours) == (5 * 2.0 + 5.0, 4 * 2.0)
    assert first.command == more.command == "x --seeds 5 && dvc repro"


@pytest.mark.parametrize(("each", "shared", "more"), [(math.nan, 1.0, None), (1.0, math.nan, 4.0)])
def test_hours_that_are_not_known_have_no_sum(each: float, shared: float, more: float | None) -> None:
    """What all seeds need once is there after the first of them."""
    price = Price("x", {"run": each}, {"teacher": shared})
    assert not price.is_known
    first, second = (verify(*alone(1), values=values, price=price).plan for values in ([], [75.0]))
    assert first is not None
    assert second is not None
    assert (first.gpu_hours, second.gpu_hours) == (None, more)


def test_corpora_that_have_to_be_made_are_named_for_no_hours_count_them() -> None:
    assert PRICES["una-paraphrase", "bert-base-uncased"].corpora == "wiki1m-paraphrased"
    assert PRICES["dclr", "bert-base-uncased"].corpora == ""
    plan = verify(*alone(1), price=Price("x", {"run": 1.0}, {}, "texts")).plan
    assert plan is not None
    assert plan.cost == "5 seeds, 5 GPU hours and the making of texts"


SOME = {
    "simcse": Price("", {"simcse": 1.0}, {}),
    "sct": Price("", {"simcse": 1.0, "sct": 1.0}, {"teacher": 2.0}),
    "dear": Price("", {"dear": 9.0}, {}),
}
OPEN = [Question("a", "simcse", 5, 0.9), Question("b", "sct", 5, 0.8), Question("c", "dear", 5, 0.9)]


def test_what_two_systems_need_is_paid_once() -> None:
    """SimCSE's 5 seeds take 5 h. SCT's take 5 x 2 + 2 = 12 h alone, 7 h where SimCSE's encoders are there."""
    steps = choose(OPEN, SOME, 12.0)
    assert [(step.work, step.seeds, step.hours) for step in steps] == [("simcse", 5, 5.0), ("sct", 5, 7.0)]
    assert next_step(OPEN, SOME, steps) == Step("dear", 5, 45.0, (OPEN[2],))


def test_seeds_on_record_and_what_they_shared_cost_nothing() -> None:
    prices = {"sct": Price("", {"sct": 1.0}, {"teacher": 2.0}, done=3)}
    (step,) = choose([Question("b", "sct", 5, 0.8), Question("d", "sct", 4, 0.1)], prices, 2.0)
    assert (step.hours, step.expected) == (2.0, pytest.approx(0.9))


def test_a_cheap_step_does_not_keep_out_a_better_one() -> None:
    """Per hour the first is better, 0.2 / 1 h; with it 10 h no longer fit, which are worth 1.8."""
    prices = {"cheap": Price("", {"cheap": 1.0}, {}), "good": Price("", {"good": 10.0}, {})}
    questions = [Question("a", "cheap", 1, 0.2), *(Question(name, "good", 1, 0.9) for name in "bc")]
    assert [step.work for step in choose(questions, prices, 10.0)] == ["good"]


def every_choice(questions: Sequence[Question], prices: dict[str, Price], budget: float) -> float:
    """Returns the most expected verdicts of all ways to take seeds of each system."""
    best = 0.0
    options = [[0, *{question.seeds for question in questions if question.work == name}] for name in prices]
    for seeds in itertools.product(*options):
        paid: dict[object, float] = {}
        for name, count in zip(prices, seeds, strict=True):
            paid |= prices[name].items(count) if count else {}
        if sum(paid.values()) <= budget:
            taken = dict(zip(prices, seeds, strict=True))
            best = max(best, sum(one.chance for one in questions if one.seeds <= taken[one.work]))
    return best


def drawn(rng: random.Random) -> tuple[list[Question], dict[str, Price], float]:
    parents = {name: rng.uniform(0.1, 1) for name in "xyz"}
    needed = {name: rng.choice("xyz") for name in "abcd"}
    prices = {
        name: Price("", {name: rng.uniform(0.1, 3), parent: parents[parent]}, {"teacher": 1.0})
        for name, parent in needed.items()
    }
    questions = [
        Question(str(number), rng.choice("abcd"), rng.choice([5, 10, 20]), rng.uniform(0.1, 1))
        for number in range(8)
    ]
    return questions, prices, rng.uniform(5, 60)


def test_the_choice_is_near_the_best_of_all() -> None:
    rng = random.Random(1)
    cases = [drawn(rng) for _ in range(60)]
    ours = [sum(step.expected for step in choose(*case)) for case in cases]
    best = [every_choice(*case) for case in cases]
    assert all(one <= most + 1e-9 for one, most in zip(ours, best, strict=True))
    assert sum(ours) >= 0.97 * sum(best)
