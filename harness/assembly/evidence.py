"""What tables are built from: results of ours and of others, published numbers, prices of seeds."""

from __future__ import annotations

import sys
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from harness.errors import InputError
from harness.facts.evidence.ledger import load_ledger
from harness.facts.published import Published, load_published
from harness.facts.spec import RunChoice, system_label
from harness.paths import CONTRIBUTED, LEADERBOARDS, declared
from harness.plan.entries import Params
from harness.plan.names import recipes_of
from harness.plan.prices import seed_prices
from harness.plan.recipes import Recipe, declared_systems, load_recipes
from harness.plan.resolve import KnownRuns
from harness.report.tables.build import Evidence
from harness.results.contributions import Contribution, read_contributions
from harness.results.plausibility import values_of
from harness.results.schema import ResultFile

Recipes = Mapping[str, Recipe]


def evidence_of(params: Params, results: list[ResultFile]) -> Evidence:
    """Returns what tables are built from: scores, published numbers, what others measured, the plan's systems
    in its order, and what a seed takes.
    """
    systems = {
        RunChoice(run.id, run.backbone_name): system_label(run.method, run.variant, run.backbone_name)
        for run in params.runs.values()
    }
    recipes = load_recipes()
    evidence = evidence_on(load_published(), recipes, results)
    planned = recipes_of((run.id for run in params.runs.values()), recipes)
    return replace(evidence, systems=systems, recipes={**evidence.recipes, **planned})


def evidence_without_plan(results: list[ResultFile]) -> Evidence:
    """Returns what tables are built from; the order of systems is that of the scores."""
    return evidence_on(load_published(), load_recipes(), results)


def evidence_on(
    published: Published,
    recipes: Recipes,
    results: list[ResultFile],
    *,
    priced: Collection[str] | None = None,
) -> Evidence:
    """Returns what tables of these published numbers and recipes are built from.

    priced: the systems whose seeds are given a price; by default all.
    """
    contributed, faults = usable(*read_contributions(declared(CONTRIBUTED)), results, KnownRuns(recipes))
    for fault in faults:
        print(f"sentbench: set aside: {fault}", file=sys.stderr)
    return Evidence(
        results=results,
        published=published,
        ledger=load_ledger(declared(LEADERBOARDS / "evidence"), published),
        prices=seed_prices(recipes, priced),
        contributed=contributed,
        set_aside=faults,
        recipes=recipes_of((result.run.id for result in results), recipes),
        settings={
            key: system.model_dump(include={"config", "train", "no_verdict"})
            for key, system in declared_systems(recipes).items()
        },
    )


def usable(
    contributions: Sequence[Contribution],
    faults: Sequence[str],
    results: Sequence[ResultFile],
    known: KnownRuns,
) -> tuple[dict[str, Contribution], list[str]]:
    """Returns the contributed results of today's recipes by run, and a line for each set aside.

    A run that is ours is not shown a second time; of one that two contributed the first is shown.
    """
    ours = {result.run.key for result in results}
    found: dict[str, Contribution] = {}
    lines = list(faults)
    for one in contributions:
        key = one.result.run.key
        try:
            values_of(one.result)
            record = known.record(key)
        except InputError as error:
            lines.append(f"{one.path}: {error}")
            continue
        if record != one.result.run.model_dump(exclude={"identity"}):
            lines.append(f"{one.path}: not the run {key} as the recipes declare it now")
        elif key not in ours:
            found.setdefault(key, one)
    return found, lines
