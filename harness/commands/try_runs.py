"""The runs of `sentbench try`, in the output folder as a separate project."""

import os
import shutil
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import chdir, suppress
from functools import partial
from pathlib import Path
from typing import Any

from harness.check.laws import RAISED, SEED, check_laws
from harness.check.workers import Send
from harness.commands.stage import make_corpus
from harness.commands.stage_of_run import evaluate, train
from harness.commands.try_controls import controls_of, worth_of
from harness.commands.try_kept import kept_backbone, kept_teacher
from harness.commands.try_reuse import (
    Committed,
    code_differs,
    data_differ,
    environment_differs,
    identity_differs,
    reuse_blocker,
)
from harness.commands.try_rows import dev_scores, early_end, lowered, ranked, same_here
from harness.commands.waiting import waiting
from harness.data.corpora import read_corpus
from harness.data.download import folder_of
from harness.errors import InputError, place_in
from harness.evidence.schema import ResultFile
from harness.evidence.store import read_result
from harness.evidence.system_pairs import compare_systems, system_scores
from harness.io.artefacts import read_artefact
from harness.paths import ARTEFACTS, BACKBONES, CORPORA, DATA, SCORES, TEACHERS, cache
from harness.plan.checks import check_runs
from harness.plan.entries import Params, Run
from harness.plan.estimate import Estimate, duration
from harness.plan.hours import read_hours
from harness.plan.identity import arithmetic_used, code_base, run_identity
from harness.plan.params_file import write_params
from harness.plan.recipes import Recipe, System
from harness.plan.resolve import planned
from harness.process import quiet
from harness.report.formats.trial import ELSEWHERE, Trial
from harness.stages.train import build_method
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
        self.kept = cache().resolve()
        self.replaced: Committed = {}
        self._plan()
        listed = [
            candidate.on([backbone])
            for candidate in recipes["small"].systems.values()
            if candidate.id in self.ranked
        ]
        self.known = planned(recipes, listed, providers) if listed else self.params
        os.environ["SENTBENCH_PROVIDERS"] = ",".join(providers)
        self._leave_out(code_differs)
        reused = {
            source
            for kept in self.others.values()
            for result in kept[:1]
            for source in result.provenance.data_sha256
        }
        for name in sorted({*self.params.sources, *reused}):
            with waiting(f"fetching {name}"):
                folder_of(name)
        self._leave_out(data_differ)
        self._leave_out(environment_differs)
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
            self.replaced[key] = self.ranked.pop(key)
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
            BACKBONES: (self.params.backbones, partial(kept_backbone, kept=self.kept)),
            CORPORA: (self.params.corpora, make_corpus),
            TEACHERS: (self.params.teachers, partial(kept_teacher, kept=self.kept)),
        }
        for room, (names, make) in making.items():
            for name in names:
                if not (room / name).is_dir():
                    with waiting(f"making {room / name}"):
                        make(self.params, name)
        for key, results in self.others.items():
            if results and (reason := identity_differs(results[0], self.known)):
                raise InputError(f"{key}: its committed results cannot be reused, {reason}; add --fresh")

    def check_laws(self, send: Send) -> None:
        """Sends each law of the method, checked on the plan's encoder and corpus."""
        quiet()
        run = next(run for run in self.params.runs.values() if run.id == self.own.id)
        entry, folders = run.model_copy(update={"seed": SEED}), run.folders()
        _, _, settings = run.read_settings()
        rows = read_corpus(folders["corpus"])
        for law in check_laws(lambda: build_method(entry, folders), rows, settings, self.file):
            send(law)

    def is_control(self, key: str) -> bool:
        """Returns whether a run is one of the method's controls."""
        return self.params.runs[key].id in {system.id for system in self.controls.values()}

    def remaining(self) -> list[str]:
        """Returns the runs that are not trained, or not evaluated, in an order in which they can be."""
        return [
            key
            for key, run in self.params.runs.items()
            if key in self.untrained or not self._has_scores(key, run)
        ]

    def needs(self, key: str) -> set[str]:
        """Returns the remaining runs whose encoder a run starts from or learns from."""
        run = self.params.runs[key]
        return {Path(run.parent).name, Path(run.backbone).name} & {*self.remaining()}

    def job(self, key: str) -> Callable[[Send], None]:
        """Returns what trains a run, and evaluates it unless it is a control."""

        def perform(send: Send) -> None:
            run = self.params.runs[key]
            self._train(key, run)
            if not self._has_scores(key, run):
                evaluate(self.params, key, ARTEFACTS / key, device="cpu")

        return perform

    def compared(self, failed: Sequence[str]) -> Trial:
        """Returns the comparison of the trained runs. failed: a line for each control without a result."""
        trained: dict[str, list[str]] = {}
        for key, run in self.params.runs.items():
            if not self.is_control(key):
                trained.setdefault(run.id, []).append(key)
        return self._compared(trained, failed)

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

    def _has_scores(self, key: str, run: Run) -> bool:
        """Returns whether a run has a result of its present inputs, or needs none."""
        path = SCORES / f"{key}.json"
        return self.is_control(key) or (
            path.is_file() and read_result(path).run.identity == self._identity(run)
        )

    def _identity(self, run: Run) -> str:
        return run_identity(self.params, run, arithmetic_used("cpu"))

    def _compared(self, trained: Mapping[str, Sequence[str]], failed: Sequence[str]) -> Trial:
        def results_of(name: str) -> list[ResultFile]:
            return [read_result(SCORES / f"{key}.json") for key in trained.get(name, ())]

        ours, theirs = results_of(self.own.id), []
        for name, kept in self.others.items():
            seeds = {result.run.seed for result in kept}
            theirs += [*kept, *(result for result in results_of(name) if result.run.seed not in seeds)]
        systems = system_scores([*ours, *theirs])
        own, *others = systems.values()
        rest = {name: scores for name, scores in self.ranked.items() if name not in self.others}
        code = code_base()
        elsewhere = [name for name, scores in rest.items() if environment_differs(scores[0])]
        stale = [
            name
            for name, scores in rest.items()
            if reuse_blocker(scores[0], self.known, code, elsewhere=name in elsewhere)
        ]
        own_keys = trained[self.own.id]
        notes = [dev_scores(self.own.id, own_keys), *filter(None, [lowered(own_keys)])]
        notes += [
            f"{name}: {len(scores)} committed results, which this code computes bit by bit"
            for name, scores in self.others.items()
            if scores
        ]
        notes += self.left_out.values()
        notes += filter(None, (same_here(kept, results_of(name)) for name, kept in self.replaced.items()))
        if shown := [name for name in elsewhere if name not in stale]:
            notes.append(f"{ELSEWHERE} {environment_differs(rest[shown[0]][0])}")
        if stale:
            notes.append(f"not ranked, for the code computes other bits: {', '.join(stale)}")
        notes += filter(None, map(early_end, own_keys))
        run = self.params.runs[own_keys[0]]
        length = f"{run.train['steps']} steps of {run.train['batch_size']} sentences"
        ranks = [result for name, scores in rest.items() if name not in stale for result in scores]
        return Trial(
            file=self.file.name,
            systems=systems,
            comparisons=[compare_systems(own, other) for other in others],
            ranks=ranked([*ours, *theirs, *ranks], elsewhere),
            settings=", ".join([*(f"{key} {value}" for key, value in run.config.items()), length]),
            notes=[*notes, *self.lacking, *failed],
            worth=worth_of(own_keys, self.controls, self.params),
        )
