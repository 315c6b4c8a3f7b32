"""`python -m benchmarks.mutants`: generated bugs, of which a sample runs against the tests of its package.

mutmut's operators change one node of a module: a number, an operator, an argument, a condition. A hash of
SEED and the change orders all of them, so the sample stays the same while other code changes. The tests of a
module are the default tests that import it and those of its folder; of a method also the laws. coverage
measures once which of them runs which line, except in processes that they start. With a change made in a copy
of git's index, the files of tests that run its line run until a test fails, nearest first, and of each file
first the tests that run the line. Outcomes are kept in mutants.json: the command continues where it stopped.
What nothing notices runs again until there is a reason for it, `why`.
Needs `pip install --no-deps mutmut==3.8.1 libcst==1.9.0 coverage==7.17.3`.
"""

from __future__ import annotations

import argparse
import gc
import hashlib
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from functools import partial
from importlib import import_module
from importlib.metadata import entry_points
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from filelock import FileLock

from benchmarks.mutations import GENERATED, LIBRARIES, PACKAGES, forked, row, write_section
from harness.disk.files import write_json
from harness.process import prepare

KEPT, SEED, SAMPLE = Path(__file__).with_name("mutants.json"), "sentbench", 500
DECIDE = ("methods/**", "harness/tasks/**", "harness/compute", "harness/facts/**", "harness/data")
"""Packages that decide numbers."""
PLUMBING = re.compile("download|hub|providers|locks|sources|archives|convert|products|cost|mteb_adapter")
"""Modules there that bring bytes whose hashes are known, measure time, or hand tasks to another library."""
FOLDERS = {
    "harness/compute": "harness/stages",
    "harness/facts": "harness/report",
    "harness/facts/evidence": "harness/report",
    "harness/tasks/declared": "harness/tasks",
}
"""Packages whose tests have another folder than theirs."""
LAWS = [f"tests/conformance/test_{name}.py" for name in ("settings", "laws", "device")]
"""What every method has to pass, by its name and not by an import."""
REFERENCE = "tests/regression/test_reference_runs.py"
"""Trains every configuration; part of the tests of whatever a training imports."""
OTHER = re.compile("tests/(faults|guides|docs|benchmarks|sentbench|harness/(launch|report/browser))/")
"""Tests of commands as a whole, which no package owns."""
TEMPORARY = re.compile(r"/\S*/(pytest-of-[^/\s]+/pytest-\d+|sentbench-\w+/copy)/?")
"""The folder of the code, and that in which pytest makes those of its tests; they are of one machine."""
PYTEST = ("-q", "-n0", "-p", "no:cacheprovider", "-m", "not (slow or mirror or cluster or network)")
MEASURED = Path(".cache/mutants")
"""Where coverage's data are."""
PROCESSES, COMPUTING, WAITING, MEMORY = 2, 60, 600, 8 << 30
"""How many run at a time; the seconds of computing, the seconds and the bytes that end a test as failed."""


class Change(NamedTuple):
    """One change that can be made: its hash, the lines of its statement, what is shown, the new text."""

    name: str
    file: Path
    lines: range
    shown: dict[str, Any]
    text: Callable[[], str]


def main() -> int:
    """Runs the next changes of the sample and writes their section of the report."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.mutants", description=__doc__)
    parser.add_argument("--most", type=int, default=SAMPLE, metavar="N", help="run at most N changes")
    most = parser.parse_args().most
    prepare()
    for library in (*LIBRARIES, "coverage", "hypothesis", "sklearn"):
        import_module(library)
    for plugin in entry_points(group="pytest11"):
        plugin.load()
    known: dict[str, Any] = json.loads(KEPT.read_text(encoding="utf-8")) if KEPT.is_file() else {}
    every = sorted(changes(), key=lambda change: change.name)
    sample = {change.name: change for change in every[:SAMPLE]}
    known = {name: one for name, one in known.items() if name in sample}
    escaped = [name for name, one in known.items() if not one["noticed"] and "why" not in one]
    names = [*(name for name in sample if name not in known), *escaped][:most]
    with tempfile.TemporaryDirectory(prefix="sentbench-") as scratch:
        whole, waiting = Path(scratch, "whole"), {}
        subprocess.run(["git", "checkout-index", "--all", f"--prefix={whole}/"], check=True)
        subprocess.run([sys.executable, "-m", "compileall", "-q", *PACKAGES], cwd=whole, check=True)
        kept = kept_coverage()
        gc.freeze()  # processes do not look through what is loaded once
        with ProcessPoolExecutor(PROCESSES, mp_context=get_context("fork")) as pool:
            for name in names:
                one = sample[name]
                waiting[pool.submit(failure_of, one.file, one.lines, one.text(), whole, kept)] = name
            for job in as_completed(waiting):
                name, noticed = waiting[job], job.result()
                known[name] = {**sample[name].shown, "noticed": noticed}
                write_json(KEPT, dict(sorted(known.items())))
                print(f"{noticed or 'ESCAPED'} {sample[name].file}:{known[name]['line']}", flush=True)
    write_section(GENERATED, as_markdown(known, len(every)))
    return 0


def changes() -> Iterator[Change]:
    """Yields every change of the packages that decide numbers."""
    for pattern in DECIDE:
        for path in sorted(Path().glob(f"{pattern}/*.py")):
            if not PLUMBING.fullmatch(path.stem):
                yield from changes_of(path)


def changes_of(path: Path) -> Iterator[Change]:
    """Yields the changes of one module, but those of messages, descriptions, annotations and imports."""
    import libcst as cst
    from libcst.metadata import MetadataWrapper, PositionProvider
    from mutmut.mutation.mutators import mutation_operators, operator_string

    wrapper = MetadataWrapper(cst.parse_module(path.read_text(encoding="utf-8")))
    places, module, met = wrapper.resolve(PositionProvider), wrapper.module, Counter[str]()
    nothing = cst.Raise | cst.Annotation | cst.FormattedString | cst.Import | cst.ImportFrom

    def visit(node: Any, first: int) -> Iterator[Change]:
        place = places[node]
        first = place.start.line if isinstance(node, cst.BaseStatement) else first
        for kind, operator in mutation_operators:
            made = list(operator(node)) if isinstance(node, kind) else []
            for changed in made[:1] if operator is operator_string else made:  # others change its case
                before, after = (module.code_for_node(one).strip() for one in (node, changed))
                named = f"{SEED} {path} {before} {after}"
                met[named] += 1
                name = hashlib.sha256(f"{named} {met[named]}".encode()).hexdigest()[:16]
                text = partial(lambda *nodes: module.deep_replace(*nodes).code, node, changed)
                shown = {"file": str(path), "line": place.start.line, **difference(before, after)}
                yield Change(name, path, range(first, place.end.line + 1), shown, text)
        for child in node.children:
            described = isinstance(child, cst.Arg) and getattr(child.keyword, "value", "") == "description"
            if not described and not isinstance(child, nothing):
                yield from visit(child, first)

    yield from visit(module, 1)


def difference(before: str, after: str) -> dict[str, str]:
    """Returns the start of both texts, from a little before the first letter that differs."""
    same = len(os.path.commonprefix([before, after]))  # noqa: RUF071  (of texts)
    return {"before": before[max(0, same - 20) : same + 40], "after": after[max(0, same - 20) : same + 40]}


def chosen_tests(module: Path, root: Path) -> list[str]:
    """Returns the test files below a root that import a module, then others of its folder; nearest first."""
    package = module.parent.as_posix()
    folder, dotted = root / "tests" / FOLDERS.get(package, package), package.replace("/", r"\.")
    imports = re.compile(rf"(from|import) {dotted}(\.{module.stem}\b| import .*\b{module.stem}\b)")
    found = []
    for path in sorted((root / "tests").rglob("test_*.py")):
        far = not imports.search(path.read_text(encoding="utf-8"))
        away = not path.is_relative_to(folder)
        if not OTHER.search(path.as_posix()) and not (away and far):
            found.append((path.stem != f"test_{module.stem}", far, away, str(path.relative_to(root))))
    laws = [] if package == "methods/core" or not package.startswith("methods/") else LAWS
    trained = [] if package.startswith(("harness/facts", "harness/data")) else [REFERENCE]
    return list(dict.fromkeys([*(path for *_, path in sorted(found)), *laws, *trained]))


def kept_coverage() -> dict[str, Path]:
    """Returns test file -> where it is kept what it runs, by a hash of it and of all but the other tests."""
    listed = subprocess.run(["git", "ls-files", "-s", *PACKAGES, "tests"], check=True, capture_output=True)
    entries = dict(line.split("\t")[::-1] for line in listed.stdout.decode().splitlines())
    code = "".join(entry + path for path, entry in entries.items() if "/test_" not in path)
    hashes = {path: hashlib.sha256(f"{code}{path}{entries[path]}".encode()).hexdigest() for path in entries}
    MEASURED.mkdir(parents=True, exist_ok=True)
    return {path: MEASURED.absolute() / name[:16] for path, name in hashes.items()}


def failure_of(file: Path, lines: range, text: str, whole: Path, kept: Mapping[str, Path]) -> str:
    """Returns the first failure of a module's tests if it has another text; empty if nothing fails."""
    with tempfile.TemporaryDirectory(prefix="sentbench-") as scratch:
        copy = Path(shutil.copytree(whole, Path(scratch, "copy"), copy_function=os.link))
        (copy / file).unlink()
        (copy / file).write_text(text, encoding="utf-8")
        for test in chosen_tests(file, whole):
            order = tests_that_run(file, lines, test, whole, kept[test])
            said = forked(copy, partial(_pytest, copy, test, Tests(order), "-x")).line if order else ""
            if said:
                return said
    return ""


def tests_that_run(file: Path, lines: range, test: str, whole: Path, kept: Path) -> list[str]:
    """Returns all tests of a file if one of them runs some lines of a module; those that do are first."""
    from coverage import CoverageData

    durations = kept.with_suffix(".json")
    with FileLock(kept.with_suffix(".lock")):
        if not durations.is_file():
            said = forked(whole, partial(_measure, whole, test, kept)).line
            print(f"measured {test} {said}", flush=True)
    data = CoverageData(str(kept))
    data.read()
    found = data.contexts_by_lineno(str(file))
    in_lines = {name for line in lines for name in found.get(line, ())}
    seconds = json.loads(durations.read_text(encoding="utf-8")) if in_lines else {}
    return sorted(seconds, key=lambda name: (name not in in_lines, seconds[name]))


def _measure(whole: Path, test: str, kept: Path) -> list[str]:
    from coverage import Coverage

    os.chdir(whole)
    kept.unlink(missing_ok=True)
    coverage = Coverage(str(kept), source=PACKAGES, config_file=False)
    coverage.set_option("run:relative_files", True)
    coverage.start()
    tests = Tests(tell=coverage.switch_context)
    said = _pytest(whole, test, tests)
    coverage.stop()
    coverage.save()
    write_json(kept.with_suffix(".json"), tests.seconds)
    return said


class Tests:
    """A plugin of pytest that keeps a line for each failure, and the seconds of each test that passes.

    order: the tests to run, else all. tell: receives the name of each, which has limits of its own.
    """

    def __init__(self, order: Sequence[str] = (), tell: Callable[[str], None] = str) -> None:
        self.order, self.tell = order, tell
        self.lines, self.seconds = list[str](), dict[str, float]()

    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        """Leaves out tests that are not to run."""
        if self.order:
            known = (item for item in items if item.nodeid in self.order)
            items[:] = sorted(known, key=lambda item: self.order.index(item.nodeid))

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        """Begins a test."""
        signal.setitimer(signal.ITIMER_PROF, COMPUTING)
        signal.alarm(WAITING)
        self.tell(nodeid)

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Notes how a test ends."""
        if report.failed:
            message = getattr(getattr(report.longrepr, "reprcrash", None), "message", "")
            name = report.nodeid.removeprefix(f"{Path(report.fspath).parent}/")
            self.lines.append(" ".join(TEMPORARY.sub("", f"{name}: {message}").split())[:160])
        elif report.when == "call":
            self.seconds[report.nodeid] = report.duration


def _pytest(copy: Path, test: str, plugin: Tests, *options: str) -> list[str]:
    os.chdir(copy)
    os.environ |= {"PYTHONPATH": str(copy), "PYTEST_DEBUG_TEMPROOT": str(copy.parent)}
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
    code = pytest.main([*PYTEST, *options, test], plugins=[plugin])
    return plugin.lines or ([f"pytest ends with {code!s}"] if code not in (0, 5) else [])


def as_markdown(known: Mapping[str, Mapping[str, Any]], changes: int) -> list[str]:
    """Returns the lines of the section: the shares and each change, those that escape first and why."""
    mutants = sorted(known.values(), key=lambda one: (bool(one["noticed"]), one["file"], one["line"]))
    lines = [
        f"`python -m benchmarks.mutants`: of {changes:,} changes of the packages that decide numbers",
        f"{SAMPLE} are sampled; {len(mutants)} of these have run. The default tests of their own package",
        f"notice {sum(bool(one['noticed']) for one in mutants)}; "
        f"{sum('why' in one for one in mutants)} others are explained.",
        "",
        "| line | change | the first test that fails |",
        "| :-- | :-- | :-- |",
    ]
    for one in mutants:
        said = one["noticed"] or f"none, it escapes: {one.get('why', 'not known why')}"
        lines.append(row(f"{one['file']}:{one['line']}", f"`{one['before']}` → `{one['after']}`", said))
    return lines


if __name__ == "__main__":
    sys.exit(main())
