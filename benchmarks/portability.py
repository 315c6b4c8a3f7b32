"""`python -m benchmarks.portability`: comparison of portable results between processors.

Computes operators and first losses here and under an emulator of other x86-64 processors (Debian's package
qemu-user), in separate processes. reports/portability.json has the hash of every result and the name of the
reference machine; reports/portability.md the number of equal results, which `make generated` updates if the
code changed. The emulator reports another vendor, instruction set and caches, without AVX-512. It is 10 to 30
times slower than the machine, so the full run takes hours and `--short` some minutes. An interrupted run
continues. This machine always computes with the current code; other processors recompute the results that
differ, if the code changed. It needs the small plan's data, backbones and teachers.
"""

import argparse
import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Lock
from typing import Any

from harness.errors import InputError
from harness.io.files import write_json, write_text
from harness.process import compute_with, prepare

REPORT, KEPT = Path("reports/portability.md"), Path("reports/portability.json")
EMULATOR = "qemu-x86_64"
PROCESSORS = ("Haswell", "Skylake-Server", "EPYC-Milan")
OPERATORS = "operators"
"""Computations in addition to runs, which are named by their keys."""
FEW = ("simcse-small__words-50d__s2", "diffcse-small__words-50d__s2", "sct-small__words-50d__s2")
"""Runs with first losses in the short form."""
ROWS = 64
"""Rows of the corpus for first losses: the emulator computes products some 500 times slower."""
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


def main(argv: Sequence[str] | None = None) -> int:
    """Writes the report; returns 1 if bits differ, otherwise 0."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.portability", description=__doc__)
    parser.add_argument(
        "--processors", default=",".join(PROCESSORS), help="as the emulator names them; '' for none"
    )
    parser.add_argument("--short", action="store_true", help="operators and three runs; writes nothing")
    parser.add_argument("--compute", help=argparse.SUPPRESS)
    arguments = parser.parse_args(argv)
    if arguments.compute:
        prepare()
        compute_with("portable")
        for results in computed(arguments.compute.split(",")):
            print(json.dumps(results), flush=True)
        return 0
    from benchmarks.runner import machine
    from harness.check.first_losses import measured_runs
    from harness.plan.params_file import read_params

    if shutil.which(EMULATOR) is None:
        raise SystemExit(f"{EMULATOR}: not found; install Debian's package qemu-user")
    keys = [OPERATORS, *(FEW if arguments.short else measured_runs(read_params()))]
    processor_name = "{processor}, {model}".format(**machine("cpu"))
    records = RecordedResults(processor_name, code_that_computes(), None if arguments.short else KEPT)
    for processors in ([processor_name], [name for name in arguments.processors.split(",") if name]):
        # two processes per processor: the emulator takes minutes to import torch
        halves = [(name, half) for name in processors for half in (keys[::2], keys[1::2])]
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            for line in pool.map(lambda half: run(*half, records), halves):
                print(line, flush=True)
    if not arguments.short:
        write_text(REPORT, as_markdown(records))
    apart = differing(records)
    print(
        f"{len(records.results(processor_name))} results on {len(records.processors())} processors:", end=" "
    )
    print("\n".join([f"{len(apart)} differ", *apart]))
    return int(bool(apart))


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


def run(processor: str, keys: Sequence[str], records: RecordedResults) -> str:
    """Computes missing results in a new process on a processor, and adds each when it is ready.

    Returns the number of results in words.
    Errors: InputError if the process fails.
    """
    if keys := records.lacking(processor, keys):
        emulated = [] if processor == records.here else [EMULATOR, "-cpu", processor]
        words = [*emulated, sys.executable, "-m", "benchmarks.portability", "--compute", ",".join(keys)]
        with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            for line in process.stdout:
                if line.startswith("{"):
                    records.add(processor, json.loads(line))
        if process.returncode:
            raise InputError(f"{processor}: {', '.join(keys)}: exit code {process.returncode}, see above")
    return f"{processor}: {len(records.results(processor))} results"


def computed(keys: Sequence[str]) -> Iterator[dict[str, str]]:
    """Computes in this process and yields name -> hash of the results of each key."""
    from harness.check.first_losses import measure_run
    from harness.plan.params_file import read_params

    for key in keys:
        if key == OPERATORS:
            yield {f"operator {name}": digest for name, digest in operators().items()}
        else:
            losses = measure_run(read_params(), key, most_rows=ROWS)
            yield {f"losses {key}": sha256(json.dumps(losses).encode())}


def operators() -> dict[str, str]:
    """Returns operator -> hash of its result on fixed inputs; portable arithmetic must be set before.

    A difference between processors shows here first.
    """
    import numpy as np
    import scipy.linalg
    import torch
    from torch.nn import functional

    from methods.core.fast.linear import linear

    drawn = torch.Generator().manual_seed(0)
    rows, square = (torch.randn(count, 384, generator=drawn) for count in (64, 384))
    few, keys = torch.randn(32, 50, generator=drawn), torch.randn(256, 50, generator=drawn)
    layer = torch.nn.Linear(384, 1536)
    with torch.no_grad():
        for weights in layer.parameters():
            weights.copy_(torch.randn(weights.shape, generator=drawn))
        plain = linear(layer, rows)
    given = rows.clone().requires_grad_()
    made = linear(layer, given)
    made.square().sum().backward()
    heads = rows.view(4, 16, 4, 96).transpose(1, 2)
    symmetric = square @ square.T
    wide = square.numpy().astype(np.float64)
    outputs: dict[str, Any] = {
        "normal draws": square,
        "uniform draws": torch.rand(1000, generator=drawn),
        "permutation": torch.randperm(1000, generator=drawn),
        "small product": few @ keys.T,
        "large product": rows @ square,
        "batched product": torch.bmm(heads.flatten(0, 1), heads.flatten(0, 1).transpose(1, 2)),
        "linear layer": plain,
        "linear layer in training": made.detach(),
        "gradient of inputs": given.grad,
        "gradient of weights": layer.weight.grad,
        "gradient of biases": layer.bias.grad,
        "exp": rows.exp(),
        "log": rows.abs().log(),
        "tanh": rows.tanh(),
        "sigmoid": rows.sigmoid(),
        "softmax": rows.softmax(-1),
        "log-sum-exp": rows.logsumexp(-1),
        "GELU": functional.gelu(rows),
        "layer norm": functional.layer_norm(rows, (384,)),
        "cosine": functional.cosine_similarity(rows[:32], rows[32:]),
        "sum": rows.sum(),
        "mean of rows": rows.mean(0),
        "norm": rows.norm(dim=1),
        "attention": functional.scaled_dot_product_attention(heads, heads, heads),
        "eigenvalues": torch.linalg.eigh(symmetric)[0],
        "singular values": torch.linalg.svd(square)[1],
        "Cholesky": torch.linalg.cholesky(symmetric + 384 * torch.eye(384)),
        "NumPy product": rows.numpy() @ square.numpy(),
        "NumPy product in float64": wide @ wide,
        "NumPy exp": np.exp(wide),
        "NumPy log": np.log(np.abs(wide)),
        "NumPy sum": wide.sum(),
        "NumPy mean of rows": wide.mean(0),
        "NumPy svd": np.linalg.svd(wide)[1],
        "SciPy eigenvalues": scipy.linalg.eigh(wide @ wide.T)[0],
    }
    return {name: sha256(np.ascontiguousarray(value).tobytes()) for name, value in outputs.items()}


def code_that_computes() -> str:
    """Returns the fingerprint of the code of training and of this benchmark."""
    from harness.plan.identity import METHODS, code_base, training_roots

    roots = [root for method in METHODS for root in training_roots(method)]
    return sha256(code_base().fingerprint(roots).encode() + Path(__file__).read_bytes())


def sha256(data: bytes) -> str:
    """Returns the first digits of a hash, enough to distinguish results."""
    return hashlib.sha256(data).hexdigest()[:16]


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


if __name__ == "__main__":
    try:
        sys.exit(main())
    except InputError as error:
        sys.exit(f"portability: {error}")
