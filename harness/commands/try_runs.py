"""The runs of `sentbench try`, in the output folder as a separate project."""

import json
import os
import shutil
import sys
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import chdir, suppress
from pathlib import Path
from typing import Any

from harness.check.laws import RAISED, SEED, Law, check_laws
from harness.commands.stage import make_backbone, make_corpus, make_teacher
from harness.commands.stage_of_run import evaluate, train
from harness.commands.try_controls import controls_of, worth_of
from harness.commands.try_reuse import Committed, code_differs, data_differ, identity_differs, reuse_blocker
from harness.data.corpora import read_corpus
from harness.data.download import folder_of
from harness.errors import InputError, place_in
from harness.evidence.comparisons import rank_intervals
from harness.evidence.schema import ResultFile
from harness.evidence.statistics import mean
from harness.evidence.store import read_result
from harness.evidence.system_pairs import compare_systems, system_scores
from harness.io.artefacts import read_artefact
from harness.paths import ARTEFACTS, BACKBONES, CORPORA, DATA, RUN_LOG, SCORES, TEACHERS
from harness.plan.checks import check_runs
from harness.plan.entries import Params, Run
from harness.plan.estimate import Estimate, duration
from harness.plan.hours import read_hours
from harness.plan.identity import arithmetic_used, code_base, run_identity
from harness.plan.params_file import write_params
from harness.plan.recipes import Recipe, System
from harness.plan.resolve import planned
from harness.process import quiet
from harness.report.formats.trial import Ranked, Trial, Worth, spread
from harness.stages.train import build_method
from methods.core.trainer import NO_SCORE
from methods.registry import load_method


class Session:
    """A trial: its plan, the committed results that it reuses, and the runs of its project."""

    def __init__(
        self,
        file: Path,
        own: System,
        others: Sequence[System],
        recipes: Mapping[str, Recipe],
        providers: Sequence[str],
        known: Committed,
        out: Path,
    ) -> None:
        """Plans the runs without a result, and fetches their data.

        own: the system of the method; its controls are trained too. others: with their seeds. known: the
        committed results that may be reused. out: the folder of the trial, which may have trained runs.
        Errors: InputError as of a plan.
        """
        (backbone,) = own.backbones
        self.file, self.own = file.resolve(), own
        self.wanted, self.recipes, self.providers = others, recipes, providers
        self.ranked = dict(known)
        self.others: Committed = {}
        self.left_out: dict[str, str] = {}
        self._plan()
        listed = [
            candidate.on([backbone])
            for candidate in recipes["small"].systems.values()
            if candidate.id in self.ranked
        ]
        self.known = planned(recipes, listed, providers) if listed else self.params
        os.environ["SENTBENCH_PROVIDERS"] = ",".join(providers)
        self._leave_out(code_differs)
        self._leave_out(data_differ)
        self.untrained = [*self.params.runs]
        if out.is_dir():
            with chdir(out):
                self.untrained = self._untrained()
        print(f"sentbench: {self.work()}", file=sys.stderr, flush=True)
        self.origins = {name: folder_of(name).resolve() for name in self.params.sources}

    def _plan(self) -> None:
        """Plans the method's runs, and the runs of the others without a committed result."""
        missing = []
        for system in self.wanted:
            kept = [result for result in self.ranked.get(system.id, ()) if result.run.seed in system.seeds]
            self.others[system.id] = kept
            seeds = [seed for seed in system.seeds if seed not in {result.run.seed for result in kept}]
            if seeds:
                missing.append(system.model_copy(update={"seeds": seeds}))
        self.controls, self.lacking = controls_of(self.own, load_method(self.own.method))
        self.params = planned(self.recipes, [self.own, *missing, *self.controls.values()], self.providers)
        check_runs(self.params)

    def _leave_out(self, differs: Callable[[ResultFile, Params], str]) -> None:
        """Plans the runs of the others whose committed results cannot be reused."""
        reasons = {key: differs(results[0], self.known) for key, results in self.others.items() if results}
        differing = {key: reason for key, reason in reasons.items() if reason}
        for key, reason in differing.items():
            del self.ranked[key]
            self.left_out[key] = f"{key}: trained here, its committed results are not reused: {reason}"
            print(f"sentbench: {self.left_out[key]}", file=sys.stderr, flush=True)
        if differing:
            self._plan()

    def work(self) -> str:
        """Describes the number of runs to train, their estimated time on one core, and the trained ones."""
        runs = [self.params.runs[key] for key in self.untrained]
        trained = len(self.params.runs) - len(runs)
        if not runs:
            return f"no run to train: all {trained} were trained before"
        counts = ", ".join(f"{count} of {name}" for name, count in Counter(run.id for run in runs).items())
        estimate = Estimate(self.params, read_hours())
        costs = [estimate.run(run) for run in runs]
        seconds = 3600 * sum(cost.cpu_hours for cost in costs if cost)
        before = f"; {trained} were trained before" if trained else ""
        return f"{len(runs)} runs to train: {counts}; about {duration(seconds)} on one core{before}"

    def open(self) -> None:
        """Makes a project of the current folder: the file, the plan, data as links, encoders, corpora.

        Errors: InputError if an encoder or corpus has other bytes than for the committed results.
        """
        kept = Path("methods", self.file.name)
        kept.parent.mkdir(exist_ok=True)
        shutil.copyfile(self.file, kept)
        write_params(self.params)
        DATA.mkdir(exist_ok=True)
        for name, origin in self.origins.items():
            if not (DATA / name).is_dir():
                (DATA / name).symlink_to(origin)
        making: dict[Path, tuple[Iterable[str], Any]] = {
            BACKBONES: (self.params.backbones, make_backbone),
            CORPORA: (self.params.corpora, make_corpus),
            TEACHERS: (self.params.teachers, make_teacher),
        }
        for room, (names, make) in making.items():
            for name in names:
                if not (room / name).is_dir():
                    make(self.params, name)
        for key, results in self.others.items():
            if results and (reason := identity_differs(results[0], self.known)):
                raise InputError(f"{key}: its committed results cannot be reused, {reason}; add --fresh")

    def laws(self) -> Iterator[Law]:
        """Yields the laws of the method, checked on the plan's encoder and corpus."""
        quiet()
        run = next(run for run in self.params.runs.values() if run.id == self.own.id)
        entry, folders = run.model_copy(update={"seed": SEED}), run.folders()
        _, _, settings = run.read_settings()
        rows = read_corpus(folders["corpus"])
        return check_laws(lambda: build_method(entry, folders), rows, settings, self.file)

    def run(self) -> Trial:
        """Trains and evaluates the remaining runs, and returns the comparison."""
        trained: dict[str, list[str]] = {}
        controls = [system.id for system in self.controls.values()]
        started, count = time.monotonic(), len(self.untrained)
        for key, run in self.params.runs.items():
            if key in self.untrained:
                number = self.untrained.index(key)
                left = (time.monotonic() - started) / number * (count - number) if number else 0
                words = f", about {left:.0f} s left" if left else ""
                print(f"[{number + 1}/{count}] {key}{words}", file=sys.stderr, flush=True)
            if run.id in controls:
                self._train_control(key, run)
                continue
            trained.setdefault(run.id, []).append(key)
            self._train(key, run)
            self._evaluate(key, run)
        return self._compared(trained)

    def _untrained(self) -> list[str]:
        """Returns the runs without an encoder of their present inputs in the current folder."""
        keys = []
        for key, run in self.params.runs.items():
            with suppress(InputError):  # a missing or damaged folder: the training makes it, or names it
                if self._is_trained(key, run):
                    continue
            keys.append(key)
        return keys

    def _is_trained(self, key: str, run: Run) -> bool:
        folder = ARTEFACTS / key
        return folder.is_dir() and bool(read_artefact(folder)["identity"] == self._identity(run))

    def _train(self, key: str, run: Run) -> None:
        """Trains a run. Errors: InputError with the line of the method's file for an error of its code."""
        if self._is_trained(key, run):
            return
        try:
            train(self.params, key, ARTEFACTS / key, device="cpu", resume=True)
        except InputError:
            raise
        except (*RAISED, ValueError) as error:
            raise InputError(" ".join(place_in(self.file, error).split())) from error

    def _train_control(self, key: str, run: Run) -> None:
        """Trains a control; a failure is reported as a line of the result."""
        try:
            self._train(key, run)
        except InputError as error:
            self.lacking.append(f"{run.id} could not be trained: {error}")

    def _evaluate(self, key: str, run: Run) -> None:
        path = SCORES / f"{key}.json"
        if not path.is_file() or read_result(path).run.identity != self._identity(run):
            evaluate(self.params, key, ARTEFACTS / key, device="cpu")

    def _identity(self, run: Run) -> str:
        return run_identity(self.params, run, arithmetic_used("cpu"))

    def _compared(self, trained: Mapping[str, Sequence[str]]) -> Trial:
        def results_of(name: str) -> list[ResultFile]:
            return [read_result(SCORES / f"{key}.json") for key in trained.get(name, ())]

        ours, theirs = (
            results_of(self.own.id),
            [r for name, kept in self.others.items() for r in (*kept, *results_of(name))],
        )
        systems = system_scores([*ours, *theirs])
        own, *others = systems.values()
        rest = {name: scores for name, scores in self.ranked.items() if name not in self.others}
        code = code_base()
        stale = [name for name, scores in rest.items() if reuse_blocker(scores[0], self.known, code)]
        notes = [dev_scores(self.own.id, trained[self.own.id])]
        notes += [
            f"{name}: {len(scores)} committed results, which this code computes bit by bit"
            for name, scores in self.others.items()
            if scores
        ]
        notes += self.left_out.values()
        if stale:
            notes.append(f"not ranked, for the code computes other bits: {', '.join(stale)}")
        notes += filter(None, map(early_end, trained[self.own.id]))
        run = self.params.runs[trained[self.own.id][0]]
        length = f"{run.train['steps']} steps of {run.train['batch_size']} sentences"
        ranks = [result for name, scores in rest.items() if name not in stale for result in scores]
        return Trial(
            file=self.file.name,
            systems=systems,
            comparisons=[compare_systems(own, other) for other in others],
            ranks=ranked([*ours, *theirs, *ranks]),
            settings=", ".join([*(f"{key} {value}" for key, value in run.config.items()), length]),
            notes=[*notes, *self.lacking],
            worth=self._worth(trained[self.own.id]),
        )

    def _worth(self, own: Sequence[str]) -> Worth:
        """Returns the dev scores of the method and of its trained controls."""
        names = {system.id: said for said, system in self.controls.items()}
        folders = {
            names[run.id]: ARTEFACTS / key
            for key, run in self.params.runs.items()
            if run.id in names and (ARTEFACTS / key).is_dir()
        }
        return worth_of([ARTEFACTS / key for key in own], folders)


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


def dev_scores(system: str, keys: Sequence[str]) -> str:
    """Returns a line with the best dev scores of a system's runs, by which settings are chosen."""
    dev = [float(read_artefact(ARTEFACTS / key)["selection"]["best_dev"]) for key in keys]
    return f"{system} on STS-B dev: {spread(dev)}, {len(dev)} seeds; settings are chosen by this score"


def ranked(results: Collection[ResultFile]) -> list[Ranked]:
    """Returns the systems by their mean over common test sets, best first, with possible ranks."""
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
