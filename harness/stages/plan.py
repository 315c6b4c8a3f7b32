"""`sentbench plan`: what would run, at what cost, and the resolved run list for the pipeline."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from harness.plan import check_configs, load_recipes, resolve, write_params
from harness.recipes import PARAMS, Params, Run


def plan(names: Sequence[str], *, seeds: int | None, backbones: Sequence[str] | None, dry_run: bool) -> int:
    """Prints the plan's systems and sizes and, unless `dry_run`, writes params.yaml; returns 0."""
    params = resolve(load_recipes(), names, seeds=seeds, backbones=backbones)
    check_configs(params)
    print(describe(params))
    if dry_run:
        return 0
    changed = write_params(params)
    print(f"{PARAMS} {'written' if changed else 'is up to date'}; `dvc repro` runs the plan")
    return 0


def describe(params: Params) -> str:
    """Returns one line a system and a summary line."""
    counts = Counter((run.id, run.backbone_name) for run in params.runs.values())
    done = {key for key in params.runs if Path(f"reports/scores/{key}.json").is_file()}
    lines = [f"{'system':<28} {'backbone':<20} {'runs':>4} {'done':>4}  length"]
    for (system, backbone), count in counts.items():
        runs = {k: r for k, r in params.runs.items() if (r.id, r.backbone_name) == (system, backbone)}
        finished = len(done & runs.keys())
        lines.append(
            f"{system:<28} {backbone:<20} {count:>4} {finished:>4}  {length(next(iter(runs.values())))}"
        )
    stages = len(params.sources) + len(params.backbones) + len(params.teachers) + len(params.code)
    stages += len(params.corpora)
    lines.append(
        f"{len(params.runs)} runs ({len(done)} done), {stages + 2 * len(params.runs) + 3} pipeline stages, "
        f"data: {', '.join(params.sources)} from {', '.join(params.tiers)}"
    )
    return "\n".join(lines)


def length(run: Run) -> str:
    """Returns how long a run trains, as its recipe states it."""
    if run.train["steps"] == 0:
        return "no training"
    if run.train["steps"] is not None:
        return f"{run.train['steps']} steps of {run.train['batch_size']}"
    return f"{run.train['epochs']} epochs of {Path(run.corpus).name} in batches of {run.train['batch_size']}"
