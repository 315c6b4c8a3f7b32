"""A method of one's own in the setting of a declared system, and what its scores are compared with."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from harness.data.download import folder_of
from harness.disk.files import sha256_of_folder
from harness.facts.comparisons import rank_intervals
from harness.facts.statistics import mean
from harness.identity import arithmetic_used, library_versions, run_code, run_identity
from harness.paths import INSTALLED, SCORES
from harness.plan.entries import Params
from harness.report.formats.trial import Ranked
from harness.report.system_pairs import system_scores
from harness.results.schema import ResultFile
from harness.results.store import read_results
from harness.tasks.registry import build_tasks


def committed(backbone: str) -> dict[str, list[ResultFile]]:
    """Returns the results that come with this package, of the systems on a backbone, by system and seed."""
    found: dict[str, list[ResultFile]] = {}
    for result in read_results((INSTALLED / SCORES).glob(f"*__{backbone}__s*.json")):
        found.setdefault(result.run.id, []).append(result)
    return found


def why_not(result: ResultFile, params: Params) -> str:
    """Returns why a committed result is not what this code would compute here; empty if it is.

    params: a plan with the run. The hash of code, settings, data and arithmetic decides; where all that the
    run reads is here, its whole identity.
    """
    run, made = params.runs.get(result.run.key), result.provenance
    if run is None or run.recipe_hash() != result.run.recipe:
        return "its settings have changed"
    for source, sha256 in made.data_sha256.items():
        if sha256_of_folder(folder_of(source)) != sha256:
            return f"the data of {source} differ"
    tasks = [task.name for task in build_tasks(run.tasks, text=run.text)]
    if run_code(run.method, tasks) != made.code_sha256:
        return "the code has changed"
    if made.arithmetic != arithmetic_used("cpu"):
        return f"its arithmetic is {made.arithmetic}, here it is {arithmetic_used('cpu')}"
    for name, version in library_versions().items():
        if made.versions.get(name) != version:
            return f"it was computed with {name} {made.versions.get(name)}, here is {version}"
    is_here = all(Path(folder).is_dir() for folder in (run.backbone, run.corpus, run.parent))
    if is_here and run_identity(params, run, arithmetic_used("cpu")) != result.run.identity:
        return "its backbone or corpus differs"
    return ""


def ranked(results: Collection[ResultFile]) -> list[Ranked]:
    """Returns the systems by their mean over the test sets that all have, best first, with possible ranks."""
    systems = list(system_scores(results).values())
    shared = [name for name in systems[0].tasks if all(name in system.tasks for system in systems)]
    systems = [system for system in systems if system.means(shared)]
    groups = [[*system.means(shared).values()] for system in systems]
    ranks = rank_intervals(groups, [system.exact for system in systems])
    rows = [
        Ranked(system.key, mean(group), len(group), rank)
        for system, group, rank in zip(systems, groups, ranks, strict=True)
    ]
    return sorted(rows, key=lambda row: -row.mean)
