"""`python -m benchmarks.mutants`: generated bugs, of which a sample runs against the tests of its package.

mutmut's operators change one node of a module: a number, an operator, an argument, a condition. A hash of
SEED and the change orders all of them, so the sample stays the same while other code changes. The default
tests that import the module, and those of its folder, run in a copy of git's index until one fails. Outcomes
are kept in mutants.json: the command continues where it stopped. What nothing notices runs again until there
is a reason for it, `why`. Needs `pip install --no-deps mutmut==3.8.1 libcst==1.9.0`.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.mutations import GENERATED, LIBRARIES, forked, row, write_section
from harness.disk.files import write_json
from harness.process import prepare

KEPT, SEED, SAMPLE = Path(__file__).with_name("mutants.json"), "sentbench", 500
DECIDE = ("methods/**", "harness/tasks/**", "harness/compute", "harness/facts/**", "harness/data")
"""Packages that decide numbers."""
PLUMBING = re.compile("download|hub|providers|locks|sources|archives|convert|products|cost|mteb_adapter")
"""Modules there that bring bytes whose hashes are known, measure time, or hand tasks to another library."""
FOLDERS = {"harness/compute": "harness/stages", "harness/facts": "harness/report"}
"""Packages whose tests have another folder than theirs."""
REFERENCE = "tests/regression"
"""Trains every configuration; part of the tests of whatever a training imports."""
OTHER = re.compile("tests/(faults|guides|docs|benchmarks|sentbench|harness/(launch|report/browser))/")
"""Tests of commands as a whole, which no package owns."""
TEMPORARY = re.compile(r"\S*/pytest-of-[^/\s]+/pytest-\d+/")
"""The folder in which pytest makes those of its tests; it is of one machine."""
PYTEST = (
    *("-x", "-q", "-n0", "-p", "no:cacheprovider", "-m", "not (slow or mirror or cluster or network)"),
    *("-o", "faulthandler_timeout=150", "-o", "faulthandler_exit_on_timeout=true"),
)


class Change(NamedTuple):
    """One change that can be made: its hash, where, what, and what returns the module's text with it."""

    name: str
    file: Path
    line: int
    before: str
    after: str
    text: Callable[[], str]


def main() -> int:
    """Runs the next changes of the sample and writes their section of the report."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.mutants", description=__doc__)
    parser.add_argument("--most", type=int, default=SAMPLE, metavar="N", help="run at most N changes")
    most = parser.parse_args().most
    prepare()
    for library in (*LIBRARIES, "pytest", "sklearn"):
        import_module(library)
    known: dict[str, Any] = json.loads(KEPT.read_text(encoding="utf-8")) if KEPT.is_file() else {}
    every = sorted(changes(), key=lambda change: change.name)
    sample = {change.name: change for change in every[:SAMPLE]}
    known = {name: one for name, one in known.items() if name in sample}
    escaped = [name for name, one in known.items() if not one["noticed"] and "why" not in one]
    with tempfile.TemporaryDirectory(prefix="sentbench-") as scratch:
        subprocess.run(["git", "checkout-index", "--all", f"--prefix={scratch}/"], check=True)
        for name in [*(name for name in sample if name not in known), *escaped][:most]:
            known[name] = one = outcome_of(sample[name], Path(scratch))
            write_json(KEPT, dict(sorted(known.items())))
            print(f"{one['noticed'] or 'ESCAPED'} {one['file']}:{one['line']}", flush=True)
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

    def visit(node: Any) -> Iterator[Change]:
        for kind, operator in mutation_operators:
            made = list(operator(node)) if isinstance(node, kind) else []
            for changed in made[:1] if operator is operator_string else made:  # others change its case
                before, after = (module.code_for_node(one).strip() for one in (node, changed))
                named = f"{SEED} {path} {before} {after}"
                met[named] += 1
                name = hashlib.sha256(f"{named} {met[named]}".encode()).hexdigest()[:16]
                text = partial(lambda *nodes: module.deep_replace(*nodes).code, node, changed)
                yield Change(name, path, places[node].start.line, before, after, text)
        for child in node.children:
            described = isinstance(child, cst.Arg) and getattr(child.keyword, "value", "") == "description"
            if not described and not isinstance(child, nothing):
                yield from visit(child)

    yield from visit(module)


def outcome_of(change: Change, copy: Path) -> dict[str, Any]:
    """Returns what the tests of its package say of a change that is made in the copy, which is then whole."""
    path, tests = copy / change.file, chosen_tests(change.file, copy)
    whole = path.read_text(encoding="utf-8")
    path.write_text(change.text(), encoding="utf-8")
    noticed = forked(copy, partial(_failures, copy, tests)).line
    path.write_text(whole, encoding="utf-8")
    same = len(os.path.commonprefix([change.before, change.after]))  # noqa: RUF071  (of texts)
    before, after = (text[max(0, same - 20) : same + 40] for text in (change.before, change.after))
    shown = {"line": change.line, "before": before, "after": after}
    return {"file": str(change.file), **shown, "noticed": noticed}


def chosen_tests(module: Path, root: Path) -> list[str]:
    """Returns the test files below a root that import a module, then others of its folder; nearest first."""
    package = module.parent.as_posix()
    folder, dotted = root / "tests" / FOLDERS.get(package, package), package.replace("/", r"\.")
    imports = re.compile(rf"(from|import) {dotted}(\.{module.stem}\b| import .*\b{module.stem}\b)")
    found = []
    for path in sorted((root / "tests").rglob("test_*.py")):
        far = not imports.search(path.read_text(encoding="utf-8"))
        if not OTHER.search(path.as_posix()) and (path.is_relative_to(folder) or not far):
            found.append((path.stem != f"test_{module.stem}", far, str(path.relative_to(root))))
    trained = not package.startswith(("harness/facts", "harness/data"))
    return [*(path for *_, path in sorted(found)), *([REFERENCE] if trained else [])]


class Failures:
    """A plugin of pytest that keeps each failure in one line."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Notes a test that fails."""
        if report.failed:
            message = getattr(getattr(report.longrepr, "reprcrash", None), "message", "")
            said = TEMPORARY.sub("", f"{report.nodeid.split('/')[-1]}: {message}")
            self.lines.append(" ".join(said.split())[:160])


def _failures(copy: Path, tests: Sequence[str]) -> list[str]:
    import pytest

    os.chdir(copy)
    os.environ["PYTHONPATH"] = str(copy)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    found = Failures()
    code = pytest.main([*PYTEST, *tests], plugins=[found])
    return found.lines or ([f"pytest ends with {code!s}"] if code else [])


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
