"""`sentbench launch`: run the pipeline's stages side by side."""

from __future__ import annotations

import argparse
import os
import sys

from harness.errors import InputError
from harness.launch.driver import Driver, log_of
from harness.launch.local import LocalEngine, visible_cards
from harness.launch.pipeline import open_pipeline
from harness.launch.progress import Progress
from harness.launch.worker import PRELOADED, is_ours


def declare(parser: argparse.ArgumentParser) -> None:
    """Declares the arguments."""
    parser.add_argument(
        "targets", nargs="*", metavar="TARGET", help="stages with all they need, else all stages"
    )
    parser.add_argument("--on", choices=["local"], default="local", help="what runs the stages")
    parser.add_argument("--jobs", type=int, metavar="N", help="stages at once")
    parser.add_argument(
        "--retries", type=int, default=5, metavar="N", help="further attempts where the system ended a stage"
    )


def execute(arguments: argparse.Namespace) -> int:
    """Runs what has changed and records it as `dvc repro` does; returns 1 if anything failed or was ended."""
    cards = visible_cards()
    jobs = arguments.jobs or len(cards) or len(os.sched_getaffinity(0))
    check_number("--jobs", jobs, least=1)
    check_number("--retries", arguments.retries, least=0)
    with open_pipeline(arguments.targets or None) as pipeline:
        kinds = {name: name.partition("@")[0] for name in pipeline.order}
        preloaded = PRELOADED if any(map(is_ours, pipeline.commands.values())) else ()
        engine = LocalEngine(jobs, cards, preloaded)
        driver = Driver(pipeline, engine, arguments.retries, Progress(kinds, jobs))
        driver.run()
    return report(driver)


def report(driver: Driver) -> int:
    """Prints what failed and how to go on, if anything did; returns the exit code."""
    for name, reason in driver.failed.items():
        print(f"failed: {name}: {reason} (log: {log_of(name)})", file=sys.stderr)
    if not driver.failed and not driver.interrupted:
        return 0
    left = f"; {len(driver.skipped)} stages were not run" if driver.skipped else ""
    what = "interrupted" if driver.interrupted else f"{len(driver.failed)} failed"
    print(
        f"sentbench launch: {what}{left}; what ended is recorded, and the same command goes on from there",
        file=sys.stderr,
    )
    return 1


def check_number(option: str, number: float, *, least: float) -> None:
    """Raises InputError unless a number of the command line is at least `least`."""
    if number < least:
        raise InputError(f"{option} {number}: expected at least {least}; correct the number")
