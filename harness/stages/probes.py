"""The probes of a plan: of each system its first steps, of tasks and statistics values on made input."""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path

import numpy as np

from harness.device import quiet
from harness.identity import existing_folder
from harness.paths import ARTEFACTS
from harness.plan.entries import Params, Run
from harness.results.schema import ResultFile
from harness.tasks.registry import build_tasks

TASKS, STATISTICS = "tasks", "statistics"
OF_NO_RUN = (STATISTICS, TASKS)
"""Probes that are of no run; their numbers are computed in float64."""
OF_VECTOR = "of sentence"
"""What stands in the name of each number of a vector."""
WIDTH = 24
"""Numbers of the vector of a word that tasks are probed with."""
SEEDS, POINT = 3, 0.01
"""Seeds of the made results that statistics are probed with, and the distance of their scores."""


def probed_runs(params: Params) -> list[str]:
    """Returns the runs that are probed: of each system and backbone the one with the highest seed.

    Seed 0 would not show that seeds are ignored.
    """
    last: dict[tuple[str, str], str] = {}
    for key, run in params.runs.items():
        last[run.id, run.backbone_name] = key
    return list(last.values())


def probe_names(params: Params) -> list[str]:
    """Returns the names of all probes of a plan."""
    return [STATISTICS, TASKS, *probed_runs(params)]


def measure_probe(params: Params, name: str, nudge: float = 0.0) -> dict[str, float]:
    """Returns one probe: what a number is -> the number. nudge: see `harness.compute.probe.probe`.

    Errors: InputError if a folder that a run needs is missing.
    """
    if name == TASKS:
        return probe_tasks(params)
    return probe_statistics() if name == STATISTICS else probe_run(params, name, nudge)


def measure_probes(params: Params, names: Sequence[str]) -> dict[str, dict[str, float]]:
    """Returns several probes by name, measured side by side: a process a core, each with one thread.

    Errors: as `measure_probe`.
    """
    _load_libraries()
    started = get_context("fork")
    with ProcessPoolExecutor(os.cpu_count(), mp_context=started, initializer=_take_one_thread) as pool:
        return dict(zip(names, pool.map(partial(measure_probe, params), names), strict=True))


def _load_libraries() -> None:
    """Imports what most probes need: a process that is forked has it, and would take seconds for it."""
    import torch._dynamo  # noqa: F401
    import transformers.models.bert.modeling_bert  # noqa: F401

    import harness.compute.probe  # noqa: F401


def _take_one_thread() -> None:
    import torch

    torch.set_num_threads(1)


def probe_run(params: Params, key: str, nudge: float = 0.0) -> dict[str, float]:
    """Returns the probe of a run. A parent or start that is itself trained is replaced by its backbone.

    So a probe does not depend on trainings before it.
    """
    from harness.compute.probe import probe
    from harness.compute.rows import read_rows
    from methods.core.networks import Networks

    quiet()
    run = params.run(key)
    backbone = existing_folder(_untrained(params, run))
    trained = run.parent_folder is not None and run.parent_folder.parent == ARTEFACTS
    parent = backbone if trained else run.parent_folder
    method, config, settings = run.read_settings()
    rows = read_rows(existing_folder(run.corpus), share=run.corpus_share, seed=run.seed)
    with tempfile.TemporaryDirectory(prefix="sentbench-") as state:
        networks = Networks(backbone, pooling=run.pooling, parent=parent)
        return probe(method, config, settings, networks, rows, seed=run.seed, state=Path(state), nudge=nudge)


def _untrained(params: Params, run: Run) -> str:
    """Returns the backbone that a run's start was trained from, by way of any number of runs."""
    while Path(run.backbone).parent == ARTEFACTS:
        run = params.run(Path(run.backbone).name)
    return run.backbone


def probe_tasks(params: Params) -> dict[str, float]:
    """Returns the scores of all tasks of the plan for word vectors made of the words' hashes, and of dev."""
    from harness.tasks.selection import dev_evaluation

    run = next(iter(params.runs.values()))
    found = {}
    for task in build_tasks(run.tasks, text=run.text):
        for score in task.evaluate(word_hashes):
            found[f"{score.task} {score.metric} {score.setting}"] = score.value
            found[f"{score.task} {score.metric} {score.setting} count"] = float(score.n)

    class Hashes:
        encode = staticmethod(word_hashes)

    dev = dev_evaluation(run.text)(Hashes)
    return found | {f"selection {name}": value for name, value in dev.items()}


def word_hashes(texts: Sequence[str]) -> np.ndarray:
    """Returns the sum of a vector for each word of a text [N, WIDTH], which its hash draws."""
    known: dict[str, np.ndarray] = {}
    vectors = np.zeros((len(texts), WIDTH))
    for row, text in enumerate(texts):
        for place, word in enumerate(text.split()):
            if word not in known:
                digest = hashlib.blake2b(word.encode(), digest_size=WIDTH).digest()
                known[word] = np.frombuffer(digest, dtype=np.uint8).astype(np.float64) - 127.5
            vectors[row] += known[word] / (1 + place % 3)
    return vectors


def probe_statistics() -> dict[str, float]:
    """Returns the cells of the small leaderboard for made results of two systems."""
    from harness.facts.evidence.ledger import Ledger
    from harness.facts.evidence.model import Scope
    from harness.facts.published import Published
    from harness.facts.spec import load_specs
    from harness.paths import TABLES
    from harness.report.tables.build import Evidence, build_table

    spec = load_specs(TABLES)["small"]
    made = [_made(system, seed) for system in ("simcse", "distill") for seed in range(SEEDS)]
    ledger = Ledger((), Scope(groups={}, same={}, searched=[]))
    recipes = {result.run.id: spec.recipe or "" for result in made}
    table = build_table(spec, Evidence(made, Published({}, {}), ledger, recipes=recipes))
    found: dict[str, float] = {}
    for row in table.rows:
        for column, cell in zip(table.columns, row.cells, strict=True):
            place = f"of {row.title} {column.key}"
            found |= {f"mean {place}": cell.value, f"seeds {place}": float(cell.n)}  # type: ignore[dict-item]
            found[f"spread {place}"] = cell.sd or 0.0
            found[f"rank {place}"] = float(cell.leads)
    return found


def _made(system: str, seed: int) -> ResultFile:
    """Returns a made result: scores that a system, a seed and a task alone decide."""
    tasks = ("STSB-dev", "STSB", "STS12-part", "STS13-part", "STS14-part", "STS15-part", "STS16-part")
    offset = len(system) * POINT / 7
    values = [0.5 + offset + POINT * (seed * seed + 3.7 * number) / 3 for number in range(len(tasks))]
    scores = [
        {
            "task": task,
            "metric": "spearman",
            "setting": "all",
            "selection": "best-dev",
            "value": value,
            "n": 9,
        }
        for task, value in zip(tasks, values, strict=True)
    ]
    run = dict.fromkeys(("variant", "backbone", "recipe", "identity"), "made")
    names = {"key": f"{system}__made__s{seed}", "id": system, "method": system, "seed": seed}
    rest = dict.fromkeys(("encoder_sha256", "device", "precision"), "made")
    steps = {"best_step": 1, "best_dev": 0.5, "last_step": 1, "last_dev": 0.5, "initial_dev": 0.5}
    return ResultFile.model_validate(
        {
            "schema": 1,
            "run": {**run, **names},
            "scores": scores,
            "selection": steps,
            "provenance": {**rest, "data_sha256": {}, "versions": {}, "text": "senteval"},
        }
    )
