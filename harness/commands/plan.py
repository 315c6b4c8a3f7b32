"""`sentbench plan`: write params.yaml, the runs of tables or recipes, and their cost."""

import argparse
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import NamedTuple

from harness.errors import InputError
from harness.evidence.settling import RUNS_PLAN
from harness.evidence.spec import load_specs
from harness.io.records import check_plain
from harness.paths import PARAMS, SCORES, need_checkout
from harness.plan.checks import check_runs
from harness.plan.entries import Params, Run
from harness.plan.estimate import Estimate, cores_here, hours_at_once, packing
from harness.plan.hours import BASELINE, Cost, Device, KnownHours, is_included, read_hours
from harness.plan.params_file import read_params, write_params
from harness.plan.recipes import load_recipes
from harness.plan.resolve import resolve
from harness.plan.stage_names import stage_names
from harness.plan.stale import outdated, recorded_recipes, warn_if_stale

UNITS: dict[Device, str] = {"cuda": "GPU hours", "cpu": "core hours"}
PATIENCE = 7 * 24.0
"""A plan that takes longer than these hours on all cores of this machine needs a GPU."""
LEAST_HOURS = 0.01
"""Hours; starting a run takes most of less."""
NOT_COUNTED = "not counted: classifiers of transfer tasks, the making of derived corpora, DVC's own work"


class PlannedSystem(NamedTuple):
    """The runs of a plan that differ only in their seed."""

    id: str
    backbone: str
    runs: dict[str, Run]
    done: int
    steps: int
    cost: Cost | None


ARGUMENTS = {
    "names": {"nargs": "*", "metavar": "NAME", "help": "small, pcl, pcl/table2, sct/fig4, all"},
    "--seeds": {"type": int, "help": "this many seeds for every run that draws random numbers"},
    "--backbone": {"action": "append", "help": "only these backbones (may be repeated)"},
    "--arithmetic": {
        "choices": ["portable", "native"],
        "help": "overrides the recipes; portable: the same bits on every x86-64 processor",
    },
    "--precision": {
        "choices": ["fp32", "bf16"],
        "help": "overrides the recipes, for trainings; bf16 needs native arithmetic",
    },
    "--dry-run": {"action": "store_true", "help": "print the plan without writing it"},
}


def execute(arguments: argparse.Namespace) -> None:
    """Prints the plan's systems and their cost and, without --dry-run, writes params.yaml."""
    if not arguments.names:
        raise InputError("plan: expected NAME, for example small or pcl/table2")
    if not arguments.dry_run:
        need_checkout("plan without --dry-run")
    recipes = load_recipes()
    params = resolve(
        recipes,
        arguments.names,
        seeds=arguments.seeds,
        backbones=arguments.backbone,
        tables=load_specs(),
        arithmetic=arguments.arithmetic,
        precision=arguments.precision,
    )
    check_runs(params, checked=written_runs() if arguments.dry_run else ())
    check_plain(SCORES, again="delete it and evaluate the run again")
    print(describe_plan(params))
    if arguments.dry_run:
        warn_if_stale(recipes)
    else:
        changed = write_params(params)
        print(f"{PARAMS} {'written' if changed else 'is up to date'}; `{RUNS_PLAN}` runs the plan")


def written_runs() -> set[str]:
    """Returns the recipe hashes of the runs in params.yaml, which were checked when it was written."""
    with suppress(InputError):
        return {run.recipe_hash() for run in read_params().runs.values()} if PARAMS.is_file() else set()
    return set()


def describe_plan(params: Params) -> str:
    """Returns lines for each system, teachers, data and total, and the basis of the hours."""
    estimate = Estimate(params, read_hours())
    planned = systems(params, estimate)
    lines = [_line("system", "backbone", "runs", "done", "steps of batch", "GPU h", "core h", "disk")]
    for system in planned:
        run = next(iter(system.runs.values()))
        length = f"{system.steps:,} of {run.train['batch_size']}" if system.steps else "no training"
        cells = (system.id, system.backbone, len(system.runs), system.done, length)
        lines.append(_line(*cells, *_shown(system.cost)))
    if params.teachers:
        lines.append(
            _line("teachers' vectors", "", len(params.teachers), "", "", *_shown(estimate.teachers()))
        )
    if params.corpora:
        disk = _shown(estimate.corpora())[-1]
        lines.append(_line("derived corpora", "", len(params.corpora), "", "", "?", "?", disk))
    lines.append(_line("data and backbones", "", "", "", "", *_shown(estimate.data())))
    return "\n".join([*lines, *_totals(params, estimate, planned)])


def systems(params: Params, estimate: Estimate) -> list[PlannedSystem]:
    """Returns the systems of a plan in order; the cost includes all their seeds. Done are the runs with a
    result that is not `outdated`."""
    recorded = recorded_recipes(params)
    finished = recorded.keys() - {*outdated(params, recorded)}
    grouped: dict[tuple[str, str], dict[str, Run]] = {}
    for key, run in params.runs.items():
        grouped.setdefault((run.id, run.backbone_name), {})[key] = run
    planned = []
    for (system, backbone), runs in grouped.items():
        run = next(iter(runs.values()))
        cost_of_run = estimate.run(run)
        cost = None if cost_of_run is None else Cost(*(len(runs) * part for part in cost_of_run))
        done = len(runs.keys() & finished)
        planned.append(PlannedSystem(system, backbone, runs, done, estimate.steps(run), cost))
    return planned


def _totals(params: Params, estimate: Estimate, planned: Sequence[PlannedSystem]) -> list[str]:
    fixed = [estimate.teachers() or Cost(), estimate.corpora(), estimate.data()]
    left = [Cost(*(part * (1 - s.done / len(s.runs)) for part in s.cost)) for s in planned if s.cost]
    runs_left = [
        s.cost.cpu_hours / len(s.runs) for s in planned if s.cost for _ in range(len(s.runs) - s.done)
    ]
    fixed_hours, cores = Cost.total(fixed).cpu_hours, cores_here()
    cpu_hours = hours_at_once([*runs_left, *([fixed_hours / cores] * cores)], cores)
    done = sum(system.done for system in planned)
    left_to_run = len(params.runs) - done
    stages = len(stage_names(params))
    total = Cost.total([*fixed, *(system.cost for system in planned if system.cost)])
    unknown = sorted({f"{s.id} on {s.backbone}" for s in planned if s.cost is None})
    known = not unknown or any(system.cost for system in planned)
    still = Cost.total(left) if known else None
    at_once = f"still to run on this machine, {cores} runs of one core at once"
    more = ", without the systems that have no estimate" if unknown else ""
    if not unknown and total.cpu_hours / cores <= PATIENCE:
        more = "; no GPU needed"
    lines = [
        _line("total", "", len(params.runs), done, "", *_shown(total if known else None)),
        _line("still to run", "", len(params.runs) - done, "", "", *_shown(still)),
        f"{len(params.runs)} runs ({done} done), {stages} pipeline stages, "
        f"data: {', '.join(params.sources)} from {', '.join(params.providers)}",
        *([] if not (known and left_to_run) else [f"{at_once}: about {_hours(cpu_hours)} hours{more}"]),
        *(
            f"{UNITS[device]} in {precision}: {'; '.join(words)}"
            for (device, precision), words in estimate.bases().items()
        ),
        *packing(params.runs),
        _evaluations(params),
        NOT_COUNTED,
    ]
    lines += _compared(estimate.times, planned)
    if included := sorted({run.method for run in params.runs.values() if is_included(run.method)}):
        lines.append(f"a step of {', '.join(included)} was not measured and counts like one of {BASELINE}")
    if unknown:
        lines.append(f"no estimate: {', '.join(unknown)} (sizes or step time not in hours.yaml)")
    return lines


def _compared(times: KnownHours, planned: Sequence[PlannedSystem]) -> Iterator[str]:
    """Yields the hours of a seed next to those that authors state."""
    costs = {(system.id, system.backbone): system for system in planned}
    for stated in times.stated:
        system = costs.get((stated.system, stated.backbone))
        if system is not None and system.cost is not None:
            run = next(iter(system.runs.values()))
            yield stated.compared_with(system.cost.gpu_hours / len(system.runs), run.train["precision"])


def _evaluations(params: Params) -> str:
    """Returns what the runs are evaluated on, by which plans of one system differ in hours and disk."""
    names = dict.fromkeys(name.partition(":")[0] for run in params.runs.values() for name in run.tasks)
    return f"counted: evaluations on {', '.join(names)}, with their vectors"


def _shown(cost: Cost | None) -> tuple[str, str, str]:
    if cost is None:
        return "?", "?", "?"
    return _hours(cost.gpu_hours), _hours(cost.cpu_hours), f"{cost.disk / 1e9:.2f} GB"


def _hours(hours: float) -> str:
    """Formats hours; below LEAST_HOURS the count of operations alone means nothing."""
    if 0 < hours < LEAST_HOURS:
        return f"<{LEAST_HOURS:g}"
    return f"{hours:,.0f}" if hours >= 100 else f"{hours:.2g}" if hours < 10 else f"{hours:.1f}"


def _line(*cells: object) -> str:
    system, backbone, runs, done, steps, gpu, cpu, disk = map(str, cells)
    left = f"{system:<28} {backbone:<20} {runs:>4} {done:>4}  {steps:<17}"
    return f"{left} {gpu:>8} {cpu:>9} {disk:>11}".rstrip()
