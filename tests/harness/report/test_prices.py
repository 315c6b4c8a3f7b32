"""Prices equal the output of their commands."""

import math
import re

import pytest

from harness.commands.plan import describe_plan
from harness.evidence.settling import Price, format_hours
from harness.evidence.spec import load_specs
from harness.plan.hours import read_hours
from harness.plan.recipes import load_recipes
from harness.plan.resolve import resolve
from harness.report.assembly.tables import evidence_of
from harness.report.hours import seed_prices
from tests.harness.report.made_judged import alone, judged

RECIPES = load_recipes()
PRICES = seed_prices(RECIPES)


def dry_run(command: str, seeds: int) -> str:
    """Returns the GPU hours in the total of a command's dry run."""
    words = command.split()
    backbones = words[words.index("--backbone") + 1 :] if "--backbone" in words else None
    params = resolve(RECIPES, [words[2]], seeds=seeds, backbones=backbones, tables=load_specs())
    match = re.search(r"^total\s+\d+\s+\d+\s+(\S+)", describe_plan(params), re.MULTILINE)
    assert match is not None
    return match[1]


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
def test_the_shown_cost_equals_the_dry_run_of_the_command(system: str, backbone: str, seeds: int) -> None:
    price = PRICES[system, backbone]
    hours = seeds * sum(price.each.values()) + sum(price.shared.values())
    assert format_hours(hours) == f"{dry_run(price.command, seeds)} GPU hours"


@pytest.mark.parametrize("systems", [{"una"}, {"dclr", "sct-distill-bert-tiny"}, {"no-such-system"}])
def test_the_price_of_a_few_systems_is_the_one_among_all(systems: set[str]) -> None:
    actual = seed_prices(RECIPES, systems)
    assert {key for key in PRICES if key[0] in systems} <= actual.keys()
    assert all(PRICES[key] == price for key, price in actual.items() if key[0] in systems)


def test_tables_tell_hours_on_a_gpu() -> None:
    key = "simcse", "bert-base-uncased"
    assert evidence_of([], priced={"simcse"}).prices[key] == PRICES[key]


def test_costs_shared_by_all_seeds_count_once() -> None:
    """Vectors of a teacher are made once, the parent of a seed with each: DCLR's seed is two runs."""
    dclr, simcse = PRICES["dclr", "bert-base-uncased"], PRICES["simcse", "bert-base-uncased"]
    assert not dclr.shared
    assert sum(dclr.each.values()) > 1.2 * sum(simcse.each.values())
    assert sum(PRICES["sct-distill-bert-tiny", "bert-tiny"].shared.values()) > 0
    price = Price("x", {"run": 2.0}, {"teacher": 5.0})
    first = judged(*alone(1), price=price).plan
    more = judged(*alone(1), values=[75.0], price=price).plan
    assert first is not None
    assert more is not None
    assert (first.gpu_hours, more.gpu_hours) == (5 * 2.0 + 5.0, 4 * 2.0)
    assert first.command == more.command == "x --seeds 5 && sentbench launch"


@pytest.mark.parametrize(("each", "shared", "more"), [(math.nan, 1.0, None), (1.0, math.nan, 4.0)])
def test_hours_that_are_not_known_have_no_sum(each: float, shared: float, more: float | None) -> None:
    """Shared inputs exist after the first seed."""
    price = Price("x", {"run": each}, {"teacher": shared})
    first, second = (judged(*alone(1), values=values, price=price).plan for values in ([], [75.0]))
    assert first is not None
    assert second is not None
    assert (first.gpu_hours, second.gpu_hours) == (None, more)


def test_corpora_that_have_to_be_made_are_named_for_no_hours_count_them() -> None:
    assert PRICES["una-paraphrase", "bert-base-uncased"].corpora == "wiki1m-paraphrased"
    assert PRICES["dclr", "bert-base-uncased"].corpora == ""
    plan = judged(*alone(1), price=Price("x", {"run": 1.0}, {}, "texts")).plan
    assert plan is not None
    assert plan.cost == "5 seeds, 5 GPU hours and the creation of texts"


def test_hours_name_the_gpu_that_they_are_estimated_for() -> None:
    """The one that was measured, once there is one."""
    key = "simcse", "bert-base-uncased"
    plan = judged(*alone(1), price=PRICES[key]).plan
    assert plan is not None
    assert plan.cost.endswith(" GPU hours on one A100 in fp32")
    times = read_hours()
    assert times.gpu_of("bf16") == "A100 in bf16"
    row = next(row for row in times.measured if row.system == "simcse")
    on_gpu = times.model_copy(
        update={"measured": [row.model_copy(update={"device": "cuda", "machine": "B1"})]}
    )
    assert on_gpu.gpu_of("fp32") == "B1 in fp32"


@pytest.mark.parametrize(
    ("hours", "words"),
    [
        (0.0512, "0.051"), (3.04, "3"), (9.96, "10"), (10.0, "10.0"), (10.04, "10.0"),
        (99.94, "99.9"), (100.0, "100"), (1234.4, "1,234"),
    ],
)  # fmt: skip
def test_hours_have_two_digits_below_ten_and_no_decimals_from_a_hundred(hours: float, words: str) -> None:
    assert format_hours(hours) == f"{words} GPU hours"
