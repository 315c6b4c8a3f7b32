"""Check whether params.yaml is up to date with the recipes, and results with params.yaml."""

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from graphlib import TopologicalSorter
from pathlib import Path
from typing import Any, NamedTuple

from harness.errors import InputError
from harness.evidence.further import read_recorded
from harness.evidence.spec import load_specs
from harness.paths import PARAMS
from harness.plan.entries import Params, Run
from harness.plan.params_file import read_params, written_digest
from harness.plan.recipes import Recipe, load_recipes
from harness.plan.resolve import resolve

DETERMINED_PARTS = ("sources", "backbones", "corpora", "teachers", "runs")
"""Parts of params.yaml that recipes and declarations determine."""
SYSTEMS_NAMED = 8
"""Systems with results of other settings that are named."""


class StalePlan(NamedTuple):
    """A difference of params.yaml from the recipes, in one line with a command. edited: whether the file was
    changed after `sentbench plan` wrote it; otherwise the recipes were.
    """

    line: str
    edited: bool


def warn_if_stale(recipes: Mapping[str, Recipe] | None = None) -> None:
    """Prints the warnings on the present plan. recipes: pass them if they are already loaded."""
    print_warnings(stale(recipes=recipes))


def print_warnings(found: StalePlan | None) -> None:
    """Prints the line of a stale plan, and the line on results of other settings, if there are some."""
    lines = [found.line if found else None]
    if PARAMS.is_file():
        with suppress(InputError):
            params = read_params()
            lines.append(outdated_line(params, outdated(params, recorded_recipes(params))))
    for line in filter(None, lines):
        print(f"sentbench: {line}", file=sys.stderr)


def refuse_old_plan() -> StalePlan | None:
    """Returns the difference of an edited params.yaml from the recipes, if there is one.

    Errors: InputError with the command that plans again, if the recipes were changed after the plan.
    """
    found = stale()
    if found and not found.edited:
        raise InputError(found.line)
    return found


def recorded_recipes(params: Params) -> dict[str, str]:
    """Returns the hash of the recipe that made the result of each run that has one. Errors: as of
    `read_recorded`."""
    recorded = read_recorded(kept=lambda run, score: False).results
    return {result.run.key: result.run.recipe for result in recorded if result.run.key in params.runs}


def outdated(params: Params, recorded: Mapping[str, str]) -> list[str]:
    """Returns the runs whose result was made with other settings than the plan has for the run itself, or for
    a run that it continues or learns from; in the plan's order.

    recorded: the hash of the recipe of each result, by run.
    """
    others = {key for key, recipe in recorded.items() if recipe != params.runs[key].recipe_hash()}
    needs = {key: run.needs() for key, run in params.runs.items()}
    for key in TopologicalSorter(needs).static_order():
        if needs.get(key, set()) & others:
            others.add(key)
    return [key for key in params.runs if key in recorded and key in others]


def outdated_line(params: Params, keys: Sequence[str]) -> str | None:
    """Returns a line with the number and the systems of results of other settings; None without one."""
    if not keys:
        return None
    systems = list(dict.fromkeys(params.runs[key].id for key in keys))
    more = f" and {len(systems) - SYSTEMS_NAMED} more systems" if len(systems) > SYSTEMS_NAMED else ""
    return (
        f"{len(keys)} of {len(params.runs)} results were made with other settings than {PARAMS} has for them "
        f"or for a run that they need: {', '.join(systems[:SYSTEMS_NAMED])}{more}; "
        "`sentbench launch` runs them again"
    )


def stale(path: Path = PARAMS, recipes: Mapping[str, Recipe] | None = None) -> StalePlan | None:
    """Returns the difference of params.yaml from the recipes; None if they agree, or without params.yaml or a
    recipe of its plan, as in a trial.
    """
    if not path.is_file():
        return None
    with suppress(InputError):
        params = read_params(path)
        command, given = planned_again(params, recipes or load_recipes())
        changes = list(differences(params, given))
        if changes:
            more = f", and {len(changes) - 1} more" if len(changes) > 1 else ""
            if written_digest(path) != params.digest():
                return StalePlan(
                    f"{path} was changed after it was written (`dvc exp run -S`, or by hand): "
                    f"{changes[0]}{more}; `{command}` undoes it",
                    edited=True,
                )
            return StalePlan(
                f"{path} is older than the recipes: {changes[0]}{more}; run `{command}`", edited=False
            )
    return None


def planned_again(params: Params, recipes: Mapping[str, Recipe]) -> tuple[str, Params]:
    """Returns the command that plans params.yaml again, and its result with the present recipes. The file
    states its plan but not the options; they are chosen so that the same runs result. Errors: InputError for
    a plan without a recipe.
    """
    tables, names = load_specs(), list(params.plan)
    first = resolve(recipes, names, tables=tables)
    settings = ("arithmetic", "precision")
    overridden = {name: value for name in settings if (value := _overridden(params, first, name))}
    counts = {len({run.seed for run in params.runs.values() if run.id == name}) for name in _systems(params)}
    options: dict[str, Any] = dict(overridden)
    if first.runs.keys() != params.runs.keys():
        backbones = list(dict.fromkeys(run.backbone_name for run in params.runs.values()))
        fewer = set(backbones) < {run.backbone_name for run in first.runs.values()}
        options |= {"seeds": max(counts), "backbones": backbones if fewer else None}
    elif not overridden:
        return f"sentbench plan {' '.join(names)}", first
    again = resolve(recipes, names, tables=tables, **options)
    if again.runs.keys() != params.runs.keys() and not overridden:
        return f"sentbench plan {' '.join(names)}", first
    words = [f"--seeds {options['seeds']}"] if options.get("seeds") else []
    words += [f"--backbone {name}" for name in options.get("backbones") or ()]
    words += [f"--{name} {value}" for name, value in overridden.items()]
    return " ".join(["sentbench plan", *names, *words]), again


def _overridden(params: Params, first: Params, name: str) -> str | None:
    """Returns the value of a setting that all runs of a plan have and none has by the recipes, or None."""
    used = {_setting(run, name) for run in params.runs.values()} - {None}
    planned = {_setting(run, name) for run in first.runs.values()}
    return used.pop() if len(used) == 1 and used.isdisjoint(planned) else None


def _setting(run: Run, name: str) -> str | None:
    """Returns a run's arithmetic, or the precision of its training; None without a training."""
    if name == "arithmetic":
        return run.arithmetic
    return None if run.train["steps"] == 0 else str(run.train["precision"])


def differences(params: Params, given: Params) -> Iterator[str]:
    """Yields new and removed entries and first changed values, once for all seeds."""
    seen: set[str] = set()
    for part in DETERMINED_PARTS:
        ours, theirs = (getattr(plan, part) for plan in (params, given))
        for key in [*ours, *(key for key in theirs if key not in ours)]:
            name = key.rpartition("__s")[0] if part == "runs" else key
            if key not in theirs:
                change = f"{name} is no longer planned"
            elif key not in ours:
                change = f"{name} is new"
            else:
                changed = _first_change(ours[key].model_dump(), theirs[key].model_dump())
                if changed is None:
                    continue
                change = "{}: {} is {!r}, recipes give {!r}".format(name, *changed)
            if change not in seen:
                seen.add(change)
                yield change


def _first_change(
    ours: Mapping[str, Any], theirs: Mapping[str, Any], at: str = ""
) -> tuple[str, Any, Any] | None:
    """Returns the dotted name of the first difference of two entries with both values; None if they are
    equal."""
    for name in [*ours, *(name for name in theirs if name not in ours)]:
        ours_value, theirs_value = ours.get(name), theirs.get(name)
        if ours_value == theirs_value:
            continue
        if isinstance(ours_value, Mapping) and isinstance(theirs_value, Mapping):
            return _first_change(ours_value, theirs_value, f"{at}{name}.")
        return f"{at}{name}", ours_value, theirs_value
    return None


def _systems(params: Params) -> set[str]:
    return {run.id for run in params.runs.values()}
