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
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

from benchmarks.portability.computing import OPERATORS, code_that_computes, computed
from benchmarks.portability.records import (
    EMULATOR,
    KEPT,
    PROCESSORS,
    REPORT,
    RecordedResults,
    as_markdown,
    differing,
)
from harness.errors import InputError
from harness.io.files import write_text
from harness.process import compute_with, prepare

FEW = ("simcse-small__words-50d__s2", "diffcse-small__words-50d__s2", "sct-small__words-50d__s2")
"""Runs with first losses in the short form."""


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


if __name__ == "__main__":
    try:
        sys.exit(main())
    except InputError as error:
        sys.exit(f"portability: {error}")
