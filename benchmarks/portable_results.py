"""Results of the check of portable arithmetic: kept in a file, compared, and shown as a table."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from threading import Lock

from harness.disk.files import write_json

EMULATOR = "qemu-x86_64"
PROCESSORS = ("Haswell", "Skylake-Server", "EPYC-Milan")
TASKS = "STSB,sts-part,geometry-test"
KINDS = {"operator": "operators", "losses": "reference losses", "training": "trainings and evaluations"}


class Found:
    """What was computed so far, in memory and in a file.

    here: this machine's processor. results: processor -> name of a result -> its hash and the code's.
    """

    def __init__(self, here: str, code: str, file: Path | None) -> None:
        self.here = here
        self.code = code
        self._file = file
        self._lock = Lock()
        kept = json.loads(file.read_text(encoding="utf-8")) if file is not None and file.is_file() else {}
        self._results: dict[str, dict[str, list[str]]] = kept

    def add(self, processor: str, some: Mapping[str, str]) -> None:
        """Adds results of today's code and writes all."""
        with self._lock:
            known = self._results.setdefault(processor, {})
            known |= {name: [digest, self.code] for name, digest in some.items()}
            if self._file is not None:
                write_json(self._file, self._results)

    def results(self, processor: str) -> dict[str, str]:
        """Returns name -> hash of what is known: today's code computed it, or this machine has the same."""
        with self._lock:
            ours = self._results.get(self.here, {})
            return {
                name: digest
                for name, (digest, code) in self._results.get(processor, {}).items()
                if code == self.code or (processor != self.here and digest == ours.get(name, [""])[0])
            }

    def processors(self) -> list[str]:
        """Returns this machine and every other processor with a result."""
        others = [name for name in self._results if name != self.here and self.results(name)]
        return [self.here, *sorted(others)]


def differing(found: Found) -> list[str]:
    """Returns a line for each result of another processor that is not the one of this machine."""
    ours = found.results(found.here)
    return [
        f"{processor}: {name} differs"
        for processor in found.processors()
        for name, digest in found.results(processor).items()
        if ours.get(name) != digest
    ]


def as_markdown(found: Found) -> str:
    """Returns the report: for each processor and kind of result how many are the same bits as here."""
    ours = found.results(found.here)
    lines = [
        "# Portable arithmetic on other processors",
        "",
        "How many results have the same bits as on one machine, whose processor is",
        f"{found.here}. `python -m benchmarks.portability` computes them.",
        f"{', '.join(PROCESSORS[:-1])} and {PROCESSORS[-1]} are emulated by {EMULATOR}, which reports their",
        "vendor, caches and instruction sets, but no AVX-512. Reference losses are those of one run of each",
        f"system. A training counts each file of its artefact, and its scores on {TASKS}.",
        "",
        f"| processor | {' | '.join(KINDS.values())} |",
        "| :-- |" + " --: |" * len(KINDS),
    ]
    for processor in found.processors():
        results = found.results(processor)
        cells = []
        for kind in KINDS:
            names = [name for name in results if name.startswith(kind)]
            equal = sum(results[name] == ours.get(name) for name in names)
            left = sum(name.startswith(kind) and name not in results for name in ours)
            rest = f", {left} not run" if left else ""
            cells.append(f"{equal} of {len(names)}{rest}" if names else "not run")
        lines.append(f"| {processor} | {' | '.join(cells)} |")
    apart = [f"* {line}" for line in differing(found)]
    return "\n".join([*lines, "", *(apart or ["No result differs."])]) + "\n"
