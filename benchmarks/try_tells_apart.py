"""Whether `sentbench try` tells a loss, its negation, and a loss without positives apart.

    python -m benchmarks.try_tells_apart [--repetitions N] [--seeds N] [--out DIR]

Each repetition is three trials with seeds of its own, against the committed results of simcse-small. A trial
decides by its controls (harness/commands/try_controls.py). A loss beats all of them; or not the one with its
loss negated, so its sign is turned round; or not the one with the positives of other sentences, so it reads
none. Prints a line for each trial, and in how many repetitions all three decisions are right. Trials
that were run before are not trained again.
"""

import argparse
import sys
from collections.abc import Sequence
from contextlib import chdir, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import NamedTuple

from harness.errors import InputError
from harness.process import compute_with, prepare

prepare()

METHOD = '''"""SimCSE with another loss."""

import torch

from methods.core.heads import training_head
from methods.core.losses import info_nce, unit
from methods.core.method import Method, MethodConfig
from methods.core.types import Loss


class Config(MethodConfig):
    temperature: float = 0.05


class Trial(Method):
    Config = Config

    def __init__(self, config, networks):
        super().__init__(config, networks)
        self.head = training_head("mlp", self.encoder.width)

    def vectors(self, batch):
        twice = {name: torch.cat([ids, ids]) for name, ids in batch["anchor"].items()}
        return self.head(self.encoder(twice)).float().chunk(2)

    def loss(self, batch):
        first, second = self.vectors(batch)
        return Loss(LOSS, {})
'''
PLAIN, TURNED, WITHOUT = "plain", "sign turned round", "without positives"
APART = (
    "((unit(first)[:, None] * unit(first)).sum(dim=2) / self.config.temperature)"
    ".masked_fill(torch.eye(len(first), dtype=torch.bool), float('-inf')).logsumexp(dim=1).mean()"
)
"""Drives the sentences of a batch apart, and reads no second view."""
LOSSES = {
    PLAIN: "info_nce(first, second, temperature=self.config.temperature)",
    TURNED: "-info_nce(first, second, temperature=self.config.temperature)",
    WITHOUT: APART,
}
"""Kind of loss -> the expression in its file."""
FILES = {PLAIN: "plain.py", TURNED: "turned.py", WITHOUT: "without.py"}


class Outcome(NamedTuple):
    """What a trial says: the kind of its loss, and the mean of the test sets against simcse-small."""

    decision: str
    against: str


def decided(unbeaten: Sequence[str]) -> str:
    """Returns the kind of a loss by the controls that it does not beat."""
    from harness.commands.try_controls import SAID

    if not unbeaten:
        return PLAIN
    if SAID["negated"] in unbeaten:
        return TURNED
    return WITHOUT if SAID["permuted"] in unbeaten else "worse than the untrained encoder"


def outcome_of(file: Path, seeds: Sequence[int], out: Path) -> Outcome:
    """Returns the outcome of a trial with these seeds."""
    from harness.commands.try_jobs import perform
    from harness.commands.try_method import RECIPE, TEMPLATE, opponents
    from harness.commands.try_reuse import committed
    from harness.commands.try_runs import Session
    from harness.include import include_method
    from harness.plan.recipes import load_recipes
    from harness.plan.resolve import in_setting_of

    recipes = load_recipes()
    small = recipes[RECIPE]
    (backbone,) = small.systems[TEMPLATE].backbones
    name = include_method(file)
    own = in_setting_of(
        small.systems[TEMPLATE], name, method=name, settings={}, seeds=seeds, backbone=backbone
    )
    others = opponents([TEMPLATE], small, backbone, len(seeds))
    known = {system: results for system, results in committed(backbone).items() if system == TEMPLATE}
    session = Session(file, own, others, recipes, small.providers, known, out)
    out.mkdir(parents=True, exist_ok=True)
    with chdir(out):
        session.open()
        done = perform(session)
        if faults := [law.fault for law in done.laws if law.fault]:
            raise InputError(f"{file}: {faults[0]}")
        trial = session.compared(done.failed)
    assert trial.worth is not None
    (comparison,) = trial.comparisons
    return Outcome(decided(trial.worth.unbeaten), comparison.mean.in_words if comparison.mean else "-")


def main() -> int:
    """Prints the outcomes; returns 1 if a decision is wrong."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.try_tells_apart")
    parser.add_argument("--repetitions", type=int, default=10)
    parser.add_argument("--seeds", type=int, default=10, help="of each trial (default: 10)")
    parser.add_argument("--out", type=Path, default=Path(".cache/try-tells-apart"))
    arguments = parser.parse_args()
    compute_with("portable")
    out: Path = arguments.out.resolve()
    out.mkdir(parents=True, exist_ok=True)
    right = 0
    for number in range(1, arguments.repetitions + 1):
        seeds = range(number * arguments.seeds, (number + 1) * arguments.seeds)
        good = True
        for kind, loss in LOSSES.items():
            file = out / FILES[kind]
            file.write_text(METHOD.replace("LOSS", loss), encoding="utf-8")
            with (out / "log.txt").open("a") as log, redirect_stdout(log), redirect_stderr(log):
                outcome = outcome_of(file, seeds, out / f"{number}-{file.stem}")
            good &= outcome.decision == kind
            said = f"{kind}: taken for {outcome.decision}, mean {outcome.against} against simcse-small"
            print(f"seeds {seeds[0]} to {seeds[-1]}  {said}", flush=True)
        right += good
    print(f"told apart in {right} of {arguments.repetitions} repetitions")
    return 0 if right == arguments.repetitions else 1


if __name__ == "__main__":
    sys.exit(main())
