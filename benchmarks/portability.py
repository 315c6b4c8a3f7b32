"""`python -m benchmarks.portability`: are portable results the same bits on other processors?

Computes operators, reference losses and whole trainings with their evaluation here and under an emulator of
other x86-64 processors (Debian's package qemu-user), each in a process of its own. reports/portability.json
keeps the hash of every result, and reports/portability.md shows how many are equal. The emulator reports
another vendor, instruction set and caches, and knows no AVX-512; it is 10 to 30 times slower than the
machine, so the whole takes hours and `--short` some minutes. A run that was stopped goes on. This machine
always computes with today's code; a result of another processor that equals this machine's stays, whatever
code computed it, and one that differs is computed again if the code changed. It needs the small plan's data,
backbones and teachers; trainings run in a folder of their own.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import NamedTuple

from benchmarks.portable_operators import operators
from benchmarks.portable_results import EMULATOR, KINDS, PROCESSORS, TASKS, Found, as_markdown, differing
from harness.disk.files import write_text
from harness.errors import InputError
from harness.paths import ARTEFACTS, RUN_RECORD
from harness.process import compute_with, prepare

REPORT, KEPT = Path("reports/portability.md"), Path("reports/portability.json")
TRAININGS = (
    "simcse-small__words-50d__s0",
    "distill-small__minilm-l2__s0",
    "glove-whitened-small__glove-6b-50d__s0",
    "bert-flow-small__minilm-l2__s0",
)
"""A contrastive, a distilled, a whitened and a flow system."""
FEW = ("simcse-small__words-50d__s2", "diffcse-small__words-50d__s2", "sct-small__words-50d__s2")
"""Runs whose reference losses the short form computes."""
ROWS = 64
"""Rows of the corpus for reference losses: the emulator computes products some 500 times slower."""
INPUTS = (
    "data",
    "backbones",
    "corpora",
    "teachers",
    ".fingerprints",
    "recipes",
    "leaderboards",
    "params.yaml",
)


class Part(NamedTuple):
    """What one process computes: a kind of KINDS, and the keys of runs where the kind has some."""

    kind: str
    keys: str = ""


def main(argv: Sequence[str] | None = None) -> int:
    """Writes the report; returns 1 if bits differ, else 0."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.portability", description=__doc__)
    parser.add_argument(
        "--processors", default=",".join(PROCESSORS), help="as the emulator names them; '' for none"
    )
    parser.add_argument(
        "--short", action="store_true", help="operators and three reference losses; writes nothing"
    )
    parser.add_argument(
        "--trained-on", help="processors that also train: default all, which takes hours; '' for none"
    )
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes at once")
    parser.add_argument("--compute", nargs=2, metavar=("KIND", "KEYS"), help=argparse.SUPPRESS)
    arguments = parser.parse_args(argv)
    if arguments.compute:
        prepare()
        compute_with("portable")
        for name, digest in computed(Part(*arguments.compute)):
            print(json.dumps({name: digest}), flush=True)
        return 0
    if shutil.which(EMULATOR) is None:
        raise SystemExit(f"{EMULATOR}: not found; install Debian's package qemu-user")
    processors = [name for name in arguments.processors.split(",") if name]
    named = arguments.processors if arguments.trained_on is None else arguments.trained_on
    trained_on = [name for name in named.split(",") if name]
    if unknown := set(trained_on) - set(processors):
        raise SystemExit(f"--trained-on {', '.join(unknown)}: expected some of {', '.join(processors)}")
    here = processor_here()
    parts = {processor: parts_of(short=arguments.short) for processor in (here, *processors)}
    if trained_on and not arguments.short:
        for processor in (here, *trained_on):
            parts[processor] += [Part("training", key) for key in TRAININGS]
    report = None if arguments.short else REPORT
    found = Found(here, code_that_computes(), KEPT if report else None)
    compute(parts, arguments.jobs, found, report)
    apart = differing(found)
    print(f"{len(found.results(here))} results on {len(found.processors())} processors: {len(apart)} differ")
    print("\n".join(apart))
    return 1 if apart else 0


def parts_of(*, short: bool) -> list[Part]:
    """Returns what every processor computes, in few processes: the emulator imports torch in minutes."""
    from harness.check.reference_losses import compared_runs
    from harness.plan.entries import read_params

    keys = list(FEW) if short else compared_runs(read_params())
    half = -(-len(keys) // 2)
    losses = [Part("losses", ",".join(some)) for some in (keys[:half], keys[half:])]
    return [Part("operator"), *losses]


def compute(parts: Mapping[str, Sequence[Part]], jobs: int, found: Found, report: Path | None = None) -> None:
    """Computes what is not known yet, this machine's part first; the report shows what is known by then.

    Parts that take longest start last.
    """
    others = [processor for processor in parts if processor != found.here]
    for processors in ([found.here], others):
        wanted = [(processor, part) for processor in processors for part in parts[processor]]
        with ThreadPoolExecutor(jobs) as pool:
            started = {}
            for processor, part in sorted(wanted, key=lambda one: list(KINDS).index(one[1].kind)):
                if left := lacking(part, found.results(processor), found.results(found.here)):
                    started[pool.submit(run, processor, left, found)] = (processor, left)
            for done in as_completed(started):
                done.result()
                processor, part = started[done]
                print(f"{processor}: {part.kind} {part.keys}", flush=True)
                if report is not None:
                    write_text(report, as_markdown(found))


def code_that_computes() -> str:
    """Returns the fingerprint of all code that trains, evaluates or is in this benchmark."""
    from harness.identity import METHODS, code_base, evaluation_roots, training_roots

    roots = [root for method in METHODS for root in training_roots(method)]
    fingerprint = code_base().fingerprint([*roots, *evaluation_roots(TASKS.split(","))])
    own = Path(__file__).read_bytes() + Path(operators.__code__.co_filename).read_bytes()
    return sha256(fingerprint.encode() + own)


def lacking(part: Part, results: Mapping[str, str], ours: Mapping[str, str]) -> Part | None:
    """Returns what of a part has no result yet; None where all of it has. ours: results of this machine."""
    if part.kind == "losses":
        keys = ",".join(key for key in part.keys.split(",") if f"losses {key}" not in results)
        return part._replace(keys=keys) if keys else None
    expected = {name for name in ours if name.startswith(f"{part.kind} {part.keys}")}
    return None if expected and expected <= results.keys() else part


def run(processor: str, part: Part, found: Found) -> None:
    """Computes one part in a new process on a processor and adds each result as soon as it is known.

    Errors: InputError if the process fails.
    """
    emulated = [] if processor == found.here else [EMULATOR, "-cpu", processor]
    words = [*emulated, sys.executable, "-m", "benchmarks.portability", "--compute", *part]
    whole: dict[str, str] = {}
    with tempfile.TemporaryFile("w+") as errors:
        with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=errors, text=True) as process:
            assert process.stdout is not None
            for line in process.stdout:
                if line.startswith("{"):
                    whole |= json.loads(line)
                    if part.kind == "losses":
                        found.add(processor, whole)
        if process.returncode:
            errors.seek(0)
            said = (errors.read().strip().splitlines() or [f"exit code {process.returncode}"])[-1]
            raise InputError(f"{processor}: {part.kind} {part.keys}: {said}")
    found.add(processor, whole)


def computed(part: Part) -> Iterator[tuple[str, str]]:
    """Yields name and hash of what a part computes, in this process."""
    if part.kind == "operator":
        yield from ((f"operator {name}", digest) for name, digest in operators().items())
    elif part.kind == "losses":
        from harness.check.reference_losses import measure_run
        from harness.plan.entries import read_params

        params = read_params()
        for key in part.keys.split(","):
            yield f"losses {key}", sha256(json.dumps(measure_run(params, key, most_rows=ROWS)).encode())
    else:
        yield from trained(part.keys).items()


def trained(key: str) -> dict[str, str]:
    """Returns the hash of every file of an artefact that is trained here, and of its scores.

    Its record is left out: it names the code.
    """
    project = Path.cwd()
    with tempfile.TemporaryDirectory(prefix="sentbench-") as name:
        folder = Path(name)
        for path in INPUTS:
            if (project / path).exists():
                (folder / path).symlink_to(project / path)
        out = ARTEFACTS / key
        told = _command(folder, "train", key, "--out", str(out))
        scores = _command(
            folder, "evaluate", str(out), "--tasks", TASKS, "--arithmetic", "portable", "--json"
        )
        files = sorted(
            path for path in (folder / out).rglob("*") if path.is_file() and path.name != RUN_RECORD
        )
        assert files, told
        found = {
            f"training {key}: {path.relative_to(folder / out)}": sha256(path.read_bytes()) for path in files
        }
        return found | {f"training {key}: scores": sha256(scores.encode())}


def _command(folder: Path, *words: str) -> str:
    """Returns what a command of the project prints when it runs in a folder, in a fork of this process.

    A fork stays inside the emulator; a process that the emulated one starts would leave it.
    """
    from harness import cli

    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.dup2(writer, 1)
        os.chdir(folder)
        code = cli.main(words)
        sys.stdout.flush()
        os._exit(code)
    os.close(writer)
    with os.fdopen(reader, encoding="utf-8") as output:
        printed = output.read()
    if os.waitpid(child, 0)[1]:
        raise InputError(f"sentbench {' '.join(words)} failed")
    return printed


def processor_here() -> str:
    """Returns the name of this machine's processor."""
    from benchmarks.record import machine

    told = machine("cpu")
    return f"{told['processor']}, {told['model']}"


def sha256(data: bytes) -> str:
    """Returns the first digits of a hash, enough to tell results apart."""
    return hashlib.sha256(data).hexdigest()[:16]


if __name__ == "__main__":
    try:
        sys.exit(main())
    except InputError as error:
        sys.exit(f"portability: {error}")
