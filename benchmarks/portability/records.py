"""Recorded results of processors, and the page that counts the equal ones."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from threading import Lock

from benchmarks.portability.computing import OPERATORS, code_that_computes
from harness.io.files import write_json

REPORT, KEPT = Path("reports/portability.md"), Path("reports/portability.json")
EMULATOR = "qemu-x86_64"
PROCESSORS = ("Haswell", "Skylake-Server", "EPYC-Milan")
HEAD = f"""\
# Portable arithmetic on other processors

How many results have the same bits as on one machine, whose processor is
{{here}}. `python -m benchmarks.portability` computes them.
{", ".join(PROCESSORS[:-1])} and {PROCESSORS[-1]} are emulated by {EMULATOR}, which reports their
vendor, caches and instruction sets, but no AVX-512. Reference losses are those of one run of each
system.

| processor | operators | first losses |
| :-- | --: | --: |"""

EARLIER = """\
Recorded with earlier code, which later changes may have made untrue; equal to the record of
{first}:

| processor | operators | first losses |
| :-- | --: | --: |"""


class RecordedResults:
    """Results so far, in memory and in a file.

    here: the processor that the others are compared with. results: processor -> name of a result -> its hash
    and the code's.
    """

    def __init__(self, reference: str, code: str, file: Path | None) -> None:
        self.here, self.code = reference, code
        self._file, self._lock = file, Lock()
        self._results: dict[str, dict[str, list[str]]] = {}
        if file is not None and file.is_file():
            self._results = json.loads(file.read_text(encoding="utf-8"))["results"]

    def add(self, processor: str, digests: Mapping[str, str]) -> None:
        """Adds results of the current code and writes the file."""
        with self._lock:
            known = self._results.setdefault(processor, {})
            known |= {name: [digest, self.code] for name, digest in digests.items()}
            if self._file is not None:
                write_json(self._file, {"reference": self.here, "results": self._results})

    def results(self, processor: str) -> dict[str, str]:
        """Returns name -> hash of valid results: of the current code, or equal to this machine's."""
        with self._lock:
            reference = self._results.get(self.here, {})
            ours = {name: digest for name, (digest, code) in reference.items() if code == self.code}
            return {
                name: digest
                for name, (digest, code) in self._results.get(processor, {}).items()
                if code == self.code or digest == ours.get(name)
            }

    def earlier(self) -> dict[str, dict[str, str]]:
        """Returns the records of processors without results of the current code, by processor."""
        with self._lock:
            return {
                processor: {name: digest for name, (digest, _) in records.items()}
                for processor, records in sorted(self._results.items())
                if not any(code == self.code for _, code in records.values())
            }

    def processors(self) -> list[str]:
        """Returns this machine and every other processor with a result."""
        others = [name for name in self._results if name != self.here and self.results(name)]
        return [self.here, *sorted(others)]

    def lacking(self, processor: str, keys: Sequence[str]) -> list[str]:
        """Returns the keys without a result; operators need all results of this machine."""
        operators = {name for name in self.results(self.here) if name.startswith("operator ")}
        needed = {OPERATORS: operators or {"operator of any name"}}
        results = self.results(processor).keys()
        return [key for key in keys if not needed.get(key, {f"losses {key}"}) <= results]


def differing(records: RecordedResults) -> list[str]:
    """Returns a line for each result of another processor that differs from this machine's."""
    ours = records.results(records.here)
    return [
        f"{processor}: {name} differs"
        for processor in records.processors()
        for name, digest in records.results(processor).items()
        if ours.get(name) != digest
    ]


def recorded() -> RecordedResults:
    """Returns the recorded results of the current code, compared with the recorded reference machine."""
    reference = json.loads(KEPT.read_text(encoding="utf-8"))["reference"]
    return RecordedResults(reference, code_that_computes(), KEPT)


def as_markdown(records: RecordedResults) -> str:
    """Returns the report: for each processor and kind of result, the number of bit-identical results."""
    ours = records.results(records.here)
    lines = [HEAD.format(here=records.here)]
    for processor in records.processors():
        results, cells = records.results(processor), []
        for kind in ("operator", "losses"):
            names = [name for name in results if name.startswith(kind)]
            equal = sum(results[name] == ours.get(name) for name in names)
            left = sum(name.startswith(kind) and name not in results for name in ours)
            rest = f", {left} not run" if left else ""
            cells.append(f"{equal} of {len(names)}{rest}" if names else "not run")
        lines.append(f"| {processor} | {' | '.join(cells)} |")
    apart = [f"* {line}" for line in differing(records)]
    notes = apart or ["No result differs." if ours else "No result of the present code is on record."]
    return "\n".join([*lines, "", *notes, *_earlier_lines(records.earlier())]) + "\n"


def _earlier_lines(records: Mapping[str, Mapping[str, str]]) -> list[str]:
    """Returns the report on earlier code: the number of results equal to the first processor's."""
    if not records:
        return []
    first = next(iter(records.values()))
    lines = ["", EARLIER.format(first=next(iter(records)))]
    for processor, results in records.items():
        cells = []
        for kind in ("operator", "losses"):
            names = [name for name in results if name.startswith(kind)]
            cells.append(f"{sum(results[name] == first.get(name) for name in names)} of {len(names)}")
        lines.append(f"| {processor} | {' | '.join(cells)} |")
    return lines
