"""`sentbench accept`: check contributed results and show them next to ours.

Example: `sentbench accept bundle.zip --allowed-signers signers`
"""

import argparse
import os
import random
from collections.abc import Iterator, Mapping
from contextlib import chdir, contextmanager, suppress
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from harness.commands.contribute import code_fingerprints
from harness.errors import InputError
from harness.facts.published import load_published
from harness.identity import run_identity
from harness.paths import (
    ARTEFACTS,
    BACKBONES,
    CONTRIBUTED,
    CORPORA,
    DATA,
    LEADERBOARDS,
    PUBLISHED,
    RECIPES,
    SCORES,
    TEACHERS,
    declared,
    need_checkout,
)
from harness.plan.entries import Params, Run, write_params
from harness.plan.recipes import load_recipes
from harness.plan.resolve import KnownRuns
from harness.process import DEVICE, compute_on
from harness.results.acceptance import Checkout, Expected
from harness.results.agreement import bands_of
from harness.results.bundles import Bundle
from harness.results.contributions import Acceptance, Checked, accept, check_again, read_contributions
from harness.results.embeddings import EmbeddingStore
from harness.results.plausibility import Range, ranges_of
from harness.results.schema import ResultFile, ScoreName
from harness.results.store import read_result, read_results
from harness.tasks.evaluation import evaluate_stored
from harness.tasks.registry import build_tasks, members

ANY_RUN = ""
INPUTS = (RECIPES, LEADERBOARDS, DATA, BACKBONES, CORPORA, TEACHERS, ARTEFACTS)
"""What is read from the project while a run is repeated."""
ARGUMENTS = {
    "bundle": {"type": Path, "metavar": "BUNDLE", "help": "as `sentbench contribute` wrote it"},
    "--reproduce": {
        "nargs": "?",
        "const": ANY_RUN,
        "metavar": "RUN",
        "help": "train this run of the bundle here and compare; without a name, a random one",
    },
    "--allowed-signers": {
        "type": Path,
        "metavar": "FILE",
        "help": "accept only bundles signed by a key of this list (see ssh-keygen(1), ALLOWED SIGNERS)",
    },
    "--recheck": {
        "action": "store_true",
        "help": "check an accepted bundle again, and compare with the first check",
    },
    "--device": DEVICE,
}


def execute(arguments: argparse.Namespace) -> int:
    """Adds the results of a valid bundle to leaderboards/contributed, and prints how they were checked."""
    need_checkout("accepting results")
    check = partial(
        check_results, device=arguments.device, reproduce=arguments.reproduce, again=arguments.recheck
    )
    signers = arguments.allowed_signers
    if arguments.recheck:
        return recheck(*check_again(arguments.bundle, CONTRIBUTED, check, signers), arguments.bundle)
    added, found = accept(arguments.bundle, CONTRIBUTED, check, signers)
    by = f", signed by {found.signer}" if found.signer else ""
    print(f"{added}: {len(found.runs)} results{by}; tables show them as contributed")
    print("\n".join(f"  {key}: {in_words(checked)}" for key, checked in found.runs.items()))
    return 0


def recheck(written: Acceptance, found: Acceptance, bundle: Path) -> int:
    """Prints each run whose recorded check exceeds the present one; returns 1 if there is one."""
    problems = []
    for key, now in found.runs.items():
        then = written.runs.get(key, Checked(identity=False))
        lost = then.reproduced and now.reproduced not in ("", then.reproduced)
        if lost or not set(then.rescored) <= set(now.rescored):
            problems.append(f"{key}: {in_words(now)}, but {in_words(then)} was written")
    total = f"{bundle}: {len(found.runs)} results checked again, {len(problems)} problems"
    print("\n".join([*problems, total]))
    return 1 if problems else 0


def in_words(checked: Checked) -> str:
    """Returns how far a run was checked."""
    identity = "" if checked.identity else ", identity not computed here"
    if checked.reproduced:
        return f"reproduced here ({checked.reproduced}){identity}"
    if checked.rescored:
        return f"rescored here ({', '.join(checked.rescored)}){identity}"
    return f"scores only: shown, never in a verdict{identity}"


def check_results(
    bundle: Bundle, results: Mapping[str, ResultFile], *, device: str, reproduce: str | None, again: bool
) -> dict[str, Checked]:
    """Returns how far the results of a bundle can be checked with what this project has.

    again: results of the bundle's runs that were accepted do not count as present.
    """
    known, ours = KnownRuns(load_recipes()), read_results(SCORES.glob("*.json"))
    accepted = [one.result for one in read_contributions(CONTRIBUTED)[0]]
    chosen = random.choice(sorted(results)) if reproduce == ANY_RUN else reproduce
    checkout = Checkout(
        expected=partial(expected_run, known),
        identity=partial(identity_here, known),
        code=code_fingerprints(one.run.method for one in results.values()),
        ranges=partial(ranges_of, ours=ours, bands=bands_of(ours), reported=reported_ranges()),
        rescore=partial(rescored, known),
        present=[*ours, *(one for one in accepted if not (again and results.get(one.run.key) == one))],
        reproduce=None if chosen is None else (chosen, partial(repeated, known, device=device)),
    )
    return checkout(bundle, results)


def declared_run(known: KnownRuns, key: str) -> tuple[Params, Run]:
    """Returns a run with its plan. Errors: InputError if no recipe declares it."""
    params = known.params(key)
    if params is None:
        raise InputError(f"{key}: has no recipe here")
    return params, params.run(key)


def expected_run(known: KnownRuns, key: str) -> Expected | None:
    """Returns a run as the recipes declare it, None if none does."""
    record = known.record(key)
    if record is None:
        return None
    _, run = declared_run(known, key)
    selections = {"both": ("best-dev", "last")}.get(run.weights, (run.weights,))
    tasks = {task for name in run.tasks for task in members(name)}
    return Expected(record, tasks, run.text, selections, run.arithmetic)


def identity_here(known: KnownRuns, result: ResultFile) -> str | None:
    """Returns a run's identity in the arithmetic of its result, None without a folder that it needs."""
    arithmetic = result.provenance.arithmetic
    try:
        return run_identity(*declared_run(known, result.run.key), arithmetic) if arithmetic else None
    except InputError:
        return None


def repeated(known: KnownRuns, result: ResultFile, *, device: str) -> ResultFile:
    """Returns the result of training and evaluating a contributed run here; the project stays as it is."""
    from harness.stages.evaluate import evaluate_run
    from harness.stages.train import train

    key = result.run.key
    params, run = declared_run(known, key)
    for needed in dict.fromkeys((run.backbone, run.corpus, run.parent)):
        if not Path(needed).is_dir():
            raise InputError(
                f"{needed}: no such folder, {key} needs it; make it with `dvc repro` of its plan"
            )
    os.environ["SENTBENCH_PROVIDERS"] = ",".join(params.providers)
    device = compute_on(run.arithmetic, device)
    with project_of_links(params):
        folder = train(params, key, Path("repeated") / key, device=device, resume=False)
        return read_result(evaluate_run(params, key, folder, device=device))


@contextmanager
def project_of_links(params: Params) -> Iterator[None]:
    """Makes a project the current folder whose inputs are links to those here; its outputs are removed."""
    here = Path.cwd()
    with TemporaryDirectory(prefix="sentbench-") as folder:
        for name in INPUTS:
            if (here / name).exists():
                (Path(folder) / name).parent.mkdir(parents=True, exist_ok=True)
                os.symlink(here / name, Path(folder) / name)
        with chdir(folder):
            write_params(params)
            yield


def reported_ranges() -> dict[tuple[str, str], Range]:
    """Returns the lowest and the highest value that papers print of each task and metric, in raw units."""
    reported: dict[tuple[str, str], list[float]] = {}
    for table in load_published(declared(PUBLISHED)).tables.values():
        for _, column, value in table.cells():
            reported.setdefault((column, table.metric), []).append(value / table.scale)
    return {name: Range(min(values), max(values)) for name, values in reported.items()}


def rescored(known: KnownRuns, result: ResultFile, vectors: Path) -> dict[ScoreName, float]:
    """Returns the scores of a run's tasks from its vectors, of those tasks alone whose data can be read here.

    Errors: InputError if the vectors are damaged or lack a text.
    """
    params, run = declared_run(known, result.run.key)
    stated = {score.task for score in result.scores}
    tasks = []
    for task in build_tasks(run.tasks, text=run.text, providers=params.providers):
        if task.name in stated:
            with suppress(InputError):  # its data are not here
                next(iter(task.texts()), None)
                tasks.append(task)
    selection = "last" if run.weights == "last" else "best-dev"
    return {
        ScoreName(score.task, score.metric, score.setting, selection): score.value
        for score in evaluate_stored(tasks, EmbeddingStore.load(vectors).encode)
    }
