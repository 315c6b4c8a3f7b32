"""`sentbench check`: compare first steps and scores with those of known-good runs, and sentinels with theory.

Probes come first (harness/stages/probes.py): they run the code that is here for a few steps and name the
number that a changed meaning changes, which a score half a point lower does not.

Example: `sentbench check --format github`
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from functools import partial
from pathlib import Path

import pandas as pd
import yaml

from harness.commands import FORMATS, add_json_option
from harness.disk.files import write_text
from harness.disk.outputs import check_file
from harness.disk.records import check_plain
from harness.errors import InputError
from harness.paths import BANDS, PROBES, SCORES, need_checkout
from harness.plan.entries import read_params
from harness.results.bands import FLOOR, GROUP, SPREADS, Bands, band, outside, read_bands, watched
from harness.results.store import read_scores
from harness.stages.probe_file import differences, read_probes, with_tolerances, write_probes
from harness.stages.probes import OF_NO_RUN, measure_probe, measure_probes, probe_names

SHOWN = 4
"""Numbers of a changed probe that are named."""
HEAD = """\
# Bands of known-good scores, in points (raw values times 100); written by `sentbench check --measure`.
# low and high are mean -+ the larger of {spreads} sample standard deviations over seeds and {floor} points.
"""


def declare(parser: argparse.ArgumentParser) -> None:
    """Declares the arguments."""
    parser.add_argument("--bands", type=Path, default=BANDS, metavar="FILE", help=f"default: {BANDS}")
    parser.add_argument("--probes", type=Path, default=PROBES, metavar="FILE", help=f"default: {PROBES}")
    parser.add_argument(
        "--measure",
        action="store_true",
        help="write bands and probes from the scores and the code that are here",
    )
    add_json_option(parser)
    parser.add_argument(
        "--format", choices=FORMATS, default="text", help="github: problems as annotations of a pull request"
    )


def execute(arguments: argparse.Namespace) -> int:
    """Checks the scores, or measures the bands."""
    if arguments.bands == BANDS:
        need_checkout("the check of scores")
    form = "json" if arguments.json else arguments.format
    if arguments.json and arguments.format != "text":
        raise InputError(f"--json with --format {arguments.format}: expected one of the two; drop one")
    if arguments.measure and form != "text":
        raise InputError("--measure prints one line, expected no --json and no --format; drop it")
    if arguments.measure:
        return measure(arguments.bands, arguments.probes)
    return check(arguments.bands, arguments.probes, form=form)


def measure(path: Path, probes: Path) -> int:
    """Writes the bands of the scores that are there and the probes of the code that is here; returns 0."""
    check_file(path)
    check_file(probes)
    if path.is_file() and path.stat().st_size:
        read_bands(path)  # any other file is not written over
    frame = watched(recorded_scores())
    if frame.empty:
        raise InputError(f"{SCORES}: no scores, expected those of the small plan; run `dvc repro` first")
    bands = [band(dict(zip(GROUP, key, strict=True)), group) for key, group in frame.groupby(GROUP)]
    text = HEAD.format(spreads=SPREADS, floor=FLOOR)
    body = Bands(bands=bands).model_dump()
    write_text(path, text + yaml.safe_dump(body, sort_keys=False, width=110))
    print(f"{path}: {len(bands)} bands over {frame['key'].nunique()} runs")
    params = read_params()
    known = {
        name: with_tolerances(partial(measure_probe, params, name), wide=name in OF_NO_RUN)
        for name in probe_names(params)
    }
    write_probes(probes, known)
    print(f"{probes}: {len(known)} probes, {sum(map(len, known.values()))} numbers")
    return 0


def check(path: Path, probes: Path, *, form: str = "text") -> int:
    """Prints every number of a probe that changed, every score outside its band, and sentinels that are off.

    form: `text`, `json`, or `github` for annotations. Returns 0 if there is none, else 1.
    """
    bands, known = read_bands(path), read_probes(probes)
    frame = watched(recorded_scores())
    problems = probe_problems(known) + outside(bands, frame) + sentinel_problems()
    counts = {"probes": len(known), "bands": len(bands), "runs": int(frame["key"].nunique())}
    if form == "json":
        print(json.dumps({**counts, "problems": problems}))
    else:
        summary = f"{len(known)} probes, {len(bands)} bands, {counts['runs']} runs, {len(problems)} problems"
        print("\n".join([*(_line(problem, form) for problem in problems), summary]))
    return 1 if problems else 0


def _line(problem: str, form: str) -> str:
    """Returns a problem as a line of text or an annotation."""
    if form == "text":
        return problem
    from harness.report.formats.annotations import annotation

    return annotation("error", "sentbench check", problem)


def probe_problems(known: Mapping[str, Mapping[str, list[float]]]) -> list[str]:
    """Returns lines for every probe of the plan that differs from the known one, SHOWN at most for each."""
    params = read_params()
    names = probe_names(params)
    problems = [f"{name}: no probe of it is known; measure it" for name in names if name not in known]
    for name, found in measure_probes(params, [name for name in names if name in known]).items():
        lines = differences(name, known[name], found)
        more = [f"{name}: {len(lines) - SHOWN} more numbers differ"] if len(lines) > SHOWN else []
        problems += lines[:SHOWN] + more
    return problems


def recorded_scores() -> pd.DataFrame:
    """Returns the scores of all runs; InputError if one of their files is no plain file."""
    check_plain(SCORES, again="delete it and evaluate the run again")
    return read_scores(SCORES)


def sentinel_problems() -> list[str]:
    """Returns one line for every sentinel encoder that does not score what theory says."""
    from harness.tasks.registry import build_tasks
    from harness.tasks.sentinels import problems_of

    return [
        problem
        for task in build_tasks(["STSB", "STSB-dev", "sts-part"], text="raw")
        for problem in problems_of(task)
    ]
