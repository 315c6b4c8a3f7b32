"""Which committed results `sentbench try` uses: those that this code would compute here bit by bit."""

from collections.abc import Mapping
from pathlib import Path

from harness.evidence.schema import ResultFile
from harness.evidence.store import read_results
from harness.io.files import sha256_of_folder
from harness.paths import INSTALLED, SCORES
from harness.plan.entries import Params
from harness.stages.identity import arithmetic_used, library_versions, run_code, run_identity
from harness.tasks.registry import build_tasks

Committed = dict[str, list[ResultFile]]
"""Results by system, in the order of their seeds."""


def committed(backbone: str) -> Committed:
    """Returns the results that come with this package, of the systems on a backbone."""
    found: Committed = {}
    for result in read_results((INSTALLED / SCORES).glob(f"*__{backbone}__s*.json")):
        found.setdefault(result.run.id, []).append(result)
    return found


def differs_here(known: Mapping[str, list[ResultFile]]) -> str:
    """Returns why none of these results can be reused: other libraries or arithmetic; empty if some can.

    It reads no data and loads no library, so that a user of another torch is told at once.
    """
    reasons = [environment_differs(results[0]) for results in known.values()]
    return reasons[0] if reasons and all(reasons) else ""


def environment_differs(result: ResultFile) -> str:
    """Returns in what the libraries and the arithmetic here differ from those of a result; empty in none."""
    made = result.provenance
    if made.arithmetic != arithmetic_used("cpu"):
        return f"their arithmetic is {made.arithmetic}, here it is {arithmetic_used('cpu')}"
    for name, version in library_versions().items():
        if made.versions.get(name) != version:
            return f"they were computed with {name} {made.versions.get(name)}, here is {version}"
    return ""


def code_differs(result: ResultFile, params: Params) -> str:
    """Returns why this code would not compute a result; reads no data. params: a plan with the run."""
    run = params.runs.get(result.run.key)
    if run is None or run.recipe_hash() != result.run.recipe:
        return "their settings have changed"
    tasks = [task.name for task in build_tasks(run.tasks, text=run.text)]
    if run_code(run.method, tasks) != result.provenance.code_sha256:
        return "the code has changed"
    return environment_differs(result)


def data_differ(result: ResultFile, params: Params) -> str:
    """Returns in which data those here differ from a result's; empty in none. Fetches what is not here."""
    from harness.data.download import folder_of

    for source, sha256 in result.provenance.data_sha256.items():
        if sha256_of_folder(folder_of(source)) != sha256:
            return f"the data of {source} differ"
    return ""


def identity_differs(result: ResultFile, params: Params) -> str:
    """Returns that the run has another identity here, if it has; empty where its inputs are not here."""
    run = params.runs[result.run.key]
    is_here = all(Path(folder).is_dir() for folder in (run.backbone, run.corpus, run.parent))
    if is_here and run_identity(params, run, arithmetic_used("cpu")) != result.run.identity:
        return "their backbone or corpus differs"
    return ""


def reuse_blocker(result: ResultFile, params: Params) -> str:
    """Returns why a committed result is not what this code would compute here; empty if it is."""
    checks = (code_differs, data_differ, identity_differs)
    return next(filter(None, (check(result, params) for check in checks)), "")
