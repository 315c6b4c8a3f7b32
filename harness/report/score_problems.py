"""What is wrong with a folder of scores as a whole: doubles, gaps, leftovers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence

from harness.results.schema import ResultFile


def score_problems(
    results: Sequence[ResultFile], run_keys: Collection[str], identities: Mapping[str, str]
) -> list[str]:
    """Returns one line a problem, each naming the run and what to do; an empty list if all is well.

    duplicate: two files for one run, or two runs of one system and seed. missing: a planned run without
    scores. stale: scores of another identity than the run has now. orphan: scores of a run not planned.
    identities: the present identity by run key; runs that are not in it are not checked for staleness.
    """
    found = Counter(result.run.key for result in results)
    problems = [
        f"duplicate: run {key!r} has {count} score files, expected one; delete the older"
        for key, count in found.items()
        if count > 1
    ]
    problems += _repeated_seeds(results)
    problems += [
        f"missing: run {key!r} is planned but has no scores; run `dvc repro`"
        for key in run_keys
        if key not in found
    ]
    for result in results:
        key = result.run.key
        if key not in run_keys:
            problems.append(f"orphan: scores of {key!r}, which is not planned; run `sentbench clean`")
        elif identities.get(key, result.run.identity) != result.run.identity:
            problems.append(
                f"stale: scores of {key!r} have identity {result.run.identity[:12]}, the run is now "
                f"{identities[key][:12]}; run `dvc repro`"
            )
    return sorted(problems)


def _repeated_seeds(results: Sequence[ResultFile]) -> list[str]:
    """Returns the systems that two different runs claim with one seed."""
    keys: dict[tuple[str, str, int], list[str]] = {}
    for result in results:
        run = result.run
        held = keys.setdefault((run.id, run.backbone, run.seed), [])
        if run.key not in held:
            held.append(run.key)
    return [
        f"duplicate: runs {' and '.join(held)} are all {system}@{backbone} with seed {seed}, "
        f"expected one; remove one from the plan"
        for (system, backbone, seed), held in keys.items()
        if len(held) > 1
    ]
