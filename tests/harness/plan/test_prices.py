"""Prices: what a page says that a test costs is what the command next to it prints."""

from __future__ import annotations

import re

import pytest

from harness.commands.plan import describe
from harness.facts.price import Price
from harness.facts.settling import format_hours
from harness.facts.spec import load_specs
from harness.plan.prices import seed_prices
from harness.plan.recipes import load_recipes
from harness.plan.resolve import resolve
from harness.report.verification import verify
from tests.harness.report.test_verification import alone

RECIPES = load_recipes()
PRICES = seed_prices(RECIPES)


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
    assert price.gpu_hours is not None
    assert price.shared is not None
    assert (
        format_hours(seeds * price.gpu_hours + price.shared) == f"{dry_run(price.command, seeds)} GPU hours"
    )


@pytest.mark.parametrize("systems", [{"una"}, {"dclr", "sct-distill-bert-tiny"}, {"no-such-system"}])
def test_the_price_of_a_few_systems_is_the_one_among_all(systems: set[str]) -> None:
    found = seed_prices(RECIPES, systems)
    assert {key for key in PRICES if key[0] in systems} <= found.keys()
    assert all(PRICES[key] == price for key, price in found.items() if key[0] in systems)


def test_what_all_seeds_share_is_paid_once() -> None:
    """Vectors of a teacher are made once, the parent of a seed with each: DCLR's seed is two runs."""
    dclr, simcse = PRICES["dclr", "bert-base-uncased"], PRICES["simcse", "bert-base-uncased"]
    assert dclr.shared == 0
    assert dclr.gpu_hours is not None
    assert simcse.gpu_hours is not None
    assert dclr.gpu_hours > 1.2 * simcse.gpu_hours
    taught = PRICES["sct-distill-bert-tiny", "bert-tiny"]
    assert taught.shared is not None
    assert taught.shared > 0
    first = verify(*alone(1), price=Price(2.0, "x", 5.0)).plan
    more = verify(*alone(1), values=[75.0], price=Price(2.0, "x", 5.0)).plan
    assert first is not None
    assert more is not None
    assert (first.gpu_hours, more.gpu_hours) == (5 * 2.0 + 5.0, 4 * 2.0)


def test_corpora_that_have_to_be_made_are_named_for_no_hours_count_them() -> None:
    assert PRICES["una-paraphrase", "bert-base-uncased"].corpora == "wiki1m-paraphrased"
    assert PRICES["dclr", "bert-base-uncased"].corpora == ""
    plan = verify(*alone(1), price=Price(1.0, "x", corpora="texts")).plan
    assert plan is not None
    assert plan.cost == "5 seeds, 5 GPU hours and the making of texts"
