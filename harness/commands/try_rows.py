"""Lines of a trial's result: dev scores, an early end of a training, and the ranks of all systems."""

import json
from collections.abc import Collection, Sequence

from harness.evidence.comparisons import rank_intervals
from harness.evidence.schema import ResultFile
from harness.evidence.statistics import mean
from harness.evidence.system_pairs import system_scores
from harness.io.artefacts import read_artefact
from harness.paths import ARTEFACTS, RUN_LOG
from harness.report.formats.trial import Ranked, spread
from methods.core.trainer import NO_SCORE


def early_end(key: str) -> str:
    """Returns a note if a training ended because its encoder collapsed; empty otherwise."""
    record = read_artefact(ARTEFACTS / key)["selection"]
    for line in (ARTEFACTS / key / RUN_LOG).read_text(encoding="utf-8").splitlines():
        if reason := json.loads(line).get(NO_SCORE):
            return (
                f"{key}: training ended at step {record['last_step']}, the weights of step "
                f"{record['best_step']} are scored: {reason}"
            )
    return ""


def lowered(keys: Sequence[str]) -> str:
    """Returns a question if every run of a system has a lower dev score after training than without; empty
    otherwise."""
    sides = []
    for key in keys:
        lines = map(json.loads, (ARTEFACTS / key / RUN_LOG).read_text(encoding="utf-8").splitlines())
        scores = [line["score"] for line in lines if line.get("evaluation")]
        sides.append((scores[0], scores[-1]))
    if not all(after < before for before, after in sides):
        return ""
    untrained, trained = (f"{100 * mean([side[i] for side in sides]):.2f}" for i in (0, 1))
    return (
        f"training lowers the score on STS-B dev in every run, from {untrained} to {trained}: "
        "is the sign of the loss right, is the learning rate too high?"
    )


def dev_scores(system: str, keys: Sequence[str]) -> str:
    """Returns a line with the best dev scores of a system's runs, by which settings are chosen."""
    dev = [float(read_artefact(ARTEFACTS / key)["selection"]["best_dev"]) for key in keys]
    return f"{system} on STS-B dev: {spread(dev)}, {len(dev)} seeds; settings are chosen by this score"


def ranked(results: Sequence[ResultFile], elsewhere: Collection[str]) -> list[Ranked]:
    """Returns the systems by their mean over common test sets, best first, with possible ranks.

    elsewhere: systems whose results were computed with other libraries.
    """
    marked = {f"{run.id}@{run.backbone}" for run in (result.run for result in results) if run.id in elsewhere}
    systems = list(system_scores(results).values())
    shared = [name for name in systems[0].tasks if all(name in system.tasks for system in systems)]
    systems = [system for system in systems if system.means(shared)]
    groups = [[*system.means(shared).values()] for system in systems]
    ranks = rank_intervals(groups, [system.exact for system in systems])
    rows = [
        Ranked(system.key, mean(group), len(group), rank, system.key in marked)
        for system, group, rank in zip(systems, groups, ranks, strict=True)
    ]
    return sorted(rows, key=lambda row: -row.mean)


def same_here(committed: Sequence[ResultFile], here: Sequence[ResultFile]) -> str:
    """Returns a note on how many results of a system are bit-identical to its committed ones; empty if
    no seed is in both.
    """
    known = {result.run.seed: result.scores for result in committed}
    shared = [result for result in here if result.run.seed in known]
    same = sum(result.scores == known[result.run.seed] for result in shared)
    if not shared:
        return ""
    return f"{shared[0].run.id}: {same} of {len(shared)} results are bit-identical to the committed ones"
