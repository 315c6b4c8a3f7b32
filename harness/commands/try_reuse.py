"""Reuse of committed results by `sentbench try`, if this machine would compute the same bits."""

from collections.abc import Mapping
from functools import partial
from pathlib import Path

from harness.evidence.further import read_recorded
from harness.evidence.schema import ResultFile
from harness.io.files import sha256_of_folder
from harness.io.fingerprint import CodeBase
from harness.paths import FURTHER, INSTALLED, SCORES
from harness.plan.entries import Params
from harness.plan.identity import arithmetic_used, library_versions, run_code, run_identity
from harness.tasks.registry import build_tasks

Committed = dict[str, list[ResultFile]]
"""Results by system, in the order of their seeds."""


def committed(backbone: str) -> Committed:
    """Returns the results in this package of the systems on a backbone."""
    by_system: Committed = {}
    for result in read_recorded(INSTALLED / SCORES, INSTALLED / FURTHER).results:
        if result.run.backbone == backbone:
            by_system.setdefault(result.run.id, []).append(result)
    return by_system


def differs_here(known: Mapping[str, list[ResultFile]]) -> str:
    """Returns the reason if no result can be reused: other libraries or arithmetic; empty otherwise.

    It reads no data and loads no library, so it is quick.
    """
    reasons = [environment_differs(results[0]) for results in known.values()]
    return reasons[0] if reasons and all(reasons) else ""


def environment_differs(result: ResultFile) -> str:
    """Returns the differences of libraries and arithmetic from a result's; empty if there are none."""
    made = result.provenance
    if made.arithmetic != arithmetic_used("cpu"):
        return f"the committed results have arithmetic {made.arithmetic}, here it is {arithmetic_used('cpu')}"
    for name, version in library_versions().items():
        if made.versions.get(name) != version:
            made_with = f"{name} {made.versions.get(name)}"
            return f"the committed results were computed with {made_with}, here is {version}"
    return ""


def code_differs(result: ResultFile, params: Params, code: CodeBase | None = None) -> str:
    """Returns the reason if the code differs from a result's; reads no data. params: a plan with the run.

    code: the code that is running, for several calls.
    """
    run = params.runs.get(result.run.key)
    if run is None or run.recipe_hash() != result.run.recipe:
        return "their settings have changed"
    tasks = [task.name for task in build_tasks(run.tasks, text=run.text)]
    if run_code(run.method, tasks, code) != result.provenance.code_sha256:
        return "the code has changed"
    return environment_differs(result)


def data_differ(result: ResultFile, params: Params) -> str:
    """Returns the data that differ from a result's, empty if none; fetches missing data."""
    from harness.data.download import folder_of

    for source, sha256 in result.provenance.data_sha256.items():
        if sha256_of_folder(folder_of(source)) != sha256:
            return f"the data of {source} differ"
    return ""


def identity_differs(result: ResultFile, params: Params) -> str:
    """Returns a note if the run's identity differs here; empty if its inputs are missing."""
    run = params.runs[result.run.key]
    is_here = all(Path(folder).is_dir() for folder in (run.backbone, run.corpus, run.parent))
    if is_here and run_identity(params, run, arithmetic_used("cpu")) != result.run.identity:
        return "their backbone or corpus differs"
    return ""


def reuse_blocker(result: ResultFile, params: Params, code: CodeBase) -> str:
    """Returns the reason why a committed result cannot be reused; empty if it can. code: as for
    `code_differs`.
    """
    checks = (partial(code_differs, code=code), data_differ, identity_differs)
    return next(filter(None, (check(result, params) for check in checks)), "")
