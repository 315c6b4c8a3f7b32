"""`python -m benchmarks.portability`: are portable results the same bits on other processors?

Computes operators, reference losses and whole trainings with their evaluation here and under an emulator of
other x86-64 processors (Debian's package qemu-user), each in a process of its own, and writes
reports/portability.md. The emulator reports another vendor, instruction set and caches, and knows no AVX-512;
it is 10 to 30 times slower than the machine, so the whole takes hours and `--short` some minutes: what a
process of the same code computed is kept, and a check that was stopped goes on. It needs the small plan's
data, backbones and teachers; trainings run in a folder of their own.
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
from harness.disk.files import write_json, write_text
from harness.errors import InputError
from harness.paths import ARTEFACTS, cache
from harness.process import compute_with, prepare

REPORT = Path("reports/portability.md")
EMULATOR = "qemu-x86_64"
HERE = "this machine"
PROCESSORS = ("Haswell", "Skylake-Server", "EPYC-Milan")
TRAININGS = (
    "simcse-small__words-50d__s0",
    "distill-small__minilm-l2__s0",
    "glove-whitened-small__glove-6b-50d__s0",
    "bert-flow-small__minilm-l2__s0",
)
"""A contrastive, a distilled, a whitened and a flow system."""
FEW = ("simcse-small__words-50d__s2", "diffcse-small__words-50d__s2", "sct-small__words-50d__s2")
"""Runs whose reference losses the short form computes."""
PROCESSES = 4
"""Among how many the reference losses are divided."""
TASKS = "STSB,sts-part,geometry-test"
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
KINDS = {"operator": "operators", "losses": "reference losses", "training": "trainings and evaluations"}


class Part(NamedTuple):
    """What one process computes: a kind of KINDS, and the keys of runs where the kind has some."""

    kind: str
    keys: str = ""


def main(argv: Sequence[str] | None = None) -> int:
    """Writes the report; returns 1 if bits differ, else 0."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.portability", description=__doc__)
    parser.add_argument("--processors", default=",".join(PROCESSORS), help="as the emulator names them")
    parser.add_argument(
        "--short", action="store_true", help="operators and three reference losses, no report"
    )
    parser.add_argument(
        "--trained-on", help="processors that also train: default all, which takes hours; '' for none"
    )
    parser.add_argument("--out", type=Path, metavar="FILE", help=f"default: {REPORT}, none with --short")
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
    processors = arguments.processors.split(",")
    named = arguments.processors if arguments.trained_on is None else arguments.trained_on
    trained_on = [name for name in named.split(",") if name]
    if unknown := set(trained_on) - set(processors):
        raise SystemExit(f"--trained-on {', '.join(unknown)}: expected some of {', '.join(processors)}")
    parts = {processor: parts_of(short=arguments.short) for processor in (HERE, *processors)}
    if trained_on and not arguments.short:
        for processor in (HERE, *trained_on):
            parts[processor] += [Part("training", key) for key in TRAININGS]
    out = arguments.out or (None if arguments.short else REPORT)
    found = on_all(parts, arguments.jobs, out)
    apart = differing(found)
    print(f"{len(found[HERE])} results on {len(found)} processors: {len(apart)} differ")
    print("\n".join(apart))
    return 1 if apart else 0


def parts_of(*, short: bool) -> list[Part]:
    """Returns what every processor computes, in few processes: the emulator imports torch in minutes."""
    from harness.check.reference_losses import compared_runs
    from harness.plan.entries import read_params

    keys = list(FEW) if short else compared_runs(read_params())
    share = -(-len(keys) // PROCESSES)
    losses = [keys[start : start + share] for start in range(0, len(keys), share)]
    return [Part("operator"), *(Part("losses", ",".join(some)) for some in losses)]


def on_all(
    parts: Mapping[str, Sequence[Part]], jobs: int, out: Path | None = None
) -> dict[str, dict[str, str]]:
    """Returns processor -> name of a result -> its hash; `out` shows after each part what is known by then.

    Parts that take longest start last.
    """
    found: dict[str, dict[str, str]] = {processor: {} for processor in parts}
    code = code_that_computes()
    ordered = sorted(
        ((processor, part) for processor, some in parts.items() for part in some),
        key=lambda one: (one[0] != HERE, list(KINDS).index(one[1].kind)),
    )
    with ThreadPoolExecutor(jobs) as pool:
        started = {pool.submit(kept, *one, code): one for one in ordered}
        for done in as_completed(started):
            processor, part = started[done]
            found[processor] |= done.result()
            print(f"{processor}: {part.kind} {part.keys}", flush=True)
            if out is not None:
                write_text(out, as_markdown(found, processor_here()))
    return found


def kept(processor: str, part: Part, code: str) -> dict[str, str]:
    """Returns what a part gives on a processor: as this code computed it before, or computed and kept now."""
    path = cache() / "portability" / f"{sha256(json.dumps([code, processor, part]).encode())}.json"
    if not path.is_file():
        write_json(path, run(processor, part))
    found: dict[str, str] = json.loads(path.read_text(encoding="utf-8"))
    return found


def code_that_computes() -> str:
    """Returns the fingerprint of all code that trains, evaluates or is in this benchmark."""
    from harness.identity import METHODS, code_base, evaluation_roots, training_roots

    roots = [root for method in METHODS for root in training_roots(method)]
    fingerprint = code_base().fingerprint([*roots, *evaluation_roots(TASKS.split(","))])
    own = Path(__file__).read_bytes() + Path(operators.__code__.co_filename).read_bytes()
    return sha256(fingerprint.encode() + own)


def run(processor: str, part: Part) -> dict[str, str]:
    """Returns what a part gives in a new process on a processor. Errors: InputError if the process fails."""
    emulated = [] if processor == HERE else [EMULATOR, "-cpu", processor]
    words = [*emulated, sys.executable, "-m", "benchmarks.portability", "--compute", *part]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode:
        said = (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
        raise InputError(f"{processor}: {part.kind} {part.keys}: {said}")
    found: dict[str, str] = {}
    for line in done.stdout.splitlines():
        if line.startswith("{"):
            found |= json.loads(line)
    return found


def computed(part: Part) -> Iterator[tuple[str, str]]:
    """Yields name and hash of what a part computes, in this process."""
    if part.kind == "operator":
        yield from ((f"operator {name}", digest) for name, digest in operators().items())
    elif part.kind == "losses":
        from harness.check.reference_losses import measure_run
        from harness.plan.entries import read_params

        params = read_params()
        for key in part.keys.split(","):
            yield f"losses {key}", sha256(json.dumps(measure_run(params, key)).encode())
    else:
        yield from trained(part.keys).items()


def trained(key: str) -> dict[str, str]:
    """Returns the hash of every file of an artefact that is trained here, and of its scores."""
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
        files = sorted(path for path in (folder / out).rglob("*") if path.is_file())
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


def differing(found: Mapping[str, Mapping[str, str]]) -> list[str]:
    """Returns a line for each result of another processor that is not the one of this machine."""
    return [
        f"{processor}: {name} differs"
        for processor, results in found.items()
        for name, digest in results.items()
        if found[HERE].get(name) != digest
    ]


def as_markdown(found: Mapping[str, Mapping[str, str]], machine: str) -> str:
    """Returns the report: for each processor and kind of result how many are the same bits as here."""
    lines = [
        "# Portable arithmetic on other processors",
        "",
        f"`python -m benchmarks.portability` on one machine ({machine}):",
        f"how many results have the same bits as on that machine. {EMULATOR} emulates the others: it reports",
        "their vendor, caches and instruction sets, but no AVX-512. Reference losses are those of a run of",
        f"one system each. A training counts each file of its artefact, and its scores on {TASKS}.",
        "",
        f"| processor | {' | '.join(KINDS.values())} |",
        "| :-- |" + " --: |" * len(KINDS),
    ]
    for processor, results in found.items():
        cells = []
        for kind in KINDS:
            names = [name for name in results if name.startswith(kind)]
            equal = sum(results[name] == found[HERE].get(name) for name in names)
            cells.append(f"{equal} of {len(names)}" if names else "not run")
        lines.append(f"| {processor} | {' | '.join(cells)} |")
    apart = [f"* {line}" for line in differing(found)]
    return "\n".join([*lines, "", *(apart or ["No result differs."])]) + "\n"


def processor_here() -> str:
    """Returns the name of this machine's processor."""
    from benchmarks.machine import machine

    told = machine("cpu")
    return f"{told['processor']}, {told['model']}"


def sha256(data: bytes) -> str:
    """Returns the first digits of a hash, enough to tell results apart."""
    return hashlib.sha256(data).hexdigest()[:16]


if __name__ == "__main__":
    sys.exit(main())
