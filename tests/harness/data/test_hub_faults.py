"""Faults of the hub: a retry that succeeds, or a one-line error; the same command then downloads the rest.

The table FAULTS lists all faults; each is tested by a command with a hub on this machine.
"""

import os
import re
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import pytest

from harness.cli import INTERRUPTED, main
from harness.data.sources import SOURCES
from tests.support.hub_server import Fault, Hub, no_pauses
from tests.support.sources import made_up_source

ROOT = Path(__file__).parents[3]
COMMIT = "0123456789abcdef0123456789abcdef01234567"
CONTENT = b"".join(b"sentence %d\n" % number for number in range(4000))
TINY = made_up_source({"hub": {"repo": "some/words", "revision": COMMIT}}, lines=4000)
FETCH = ["data", "fetch", "tiny", "--providers", "hub"]
ALWAYS = 999
GOOD, BAD = 0, 2


class Case(NamedTuple):
    """A fault, the exit code of the command, and the text of its line."""

    fault: Fault
    code: int
    words: str = ""


FAULTS = {
    "connection reset": Case(Fault("hang-up", method="HEAD"), GOOD),
    "connection reset, always": Case(Fault("hang-up", ALWAYS, method="HEAD"), BAD, "the connection failed"),
    "reset in the middle": Case(Fault("reset", after=20_000), GOOD),
    "reset in the middle, always": Case(Fault("reset", ALWAYS), BAD, "the connection failed"),
    "no such file": Case(Fault("no-file", ALWAYS, method="HEAD"), BAD, "the repository has no such file"),
    "no such repository": Case(
        Fault("no-repository", ALWAYS, method="HEAD"), BAD, "no such repository, or a private one"
    ),
    "no such revision": Case(Fault("no-revision", ALWAYS, method="HEAD"), BAD, "no such revision"),
    "gated": Case(Fault("gated", ALWAYS, method="HEAD"), BAD, "accept the terms .* `hf auth login`"),
    "429 with Retry-After": Case(Fault("status", status=429, seconds=7, method="HEAD"), GOOD),
    "429, always": Case(Fault("status", ALWAYS, status=429, method="HEAD"), BAD, "the hub limits requests"),
    "503": Case(Fault("status", 3, method="HEAD"), GOOD),
    "503 of the store": Case(Fault("status"), GOOD),
    "503, always": Case(Fault("status", ALWAYS, method="HEAD"), BAD, "the hub answers 503"),
    "wrong bytes of the right length": Case(Fault("damage"), GOOD),
    "wrong bytes of the right length, always": Case(Fault("damage", ALWAYS), BAD, "damaged .* hash"),
    "short body": Case(Fault("short", after=20_000), GOOD),
    "slow": Case(Fault("slow", after=20_000, seconds=60), GOOD),
    "401": Case(Fault("status", ALWAYS, status=401, method="HEAD"), BAD, "accept .* set HF_TOKEN"),
    "403 of the store": Case(Fault("status", ALWAYS, status=403), BAD, "accept the terms .* set HF_TOKEN"),
    "login page": Case(Fault("page", ALWAYS, method="HEAD"), BAD, "may be a login page; log in"),
    "redirect to a login page": Case(Fault("login", ALWAYS, method="HEAD"), BAD, "may be a login page"),
    "no commit": Case(Fault("no-commit", ALWAYS, method="HEAD"), BAD, "has no commit"),
    "login page in place of the content": Case(Fault("page"), GOOD),
    "redirect of the content to a login page, always": Case(Fault("login", ALWAYS), BAD, "another page"),
}
"""Faults of the server; three others need a separate process or a full disk."""


@pytest.fixture
def hub(server: Hub, workspace: Path, monkeypatch: pytest.MonkeyPatch) -> Hub:
    """A hub with one source, outside any project, with the folder `data`."""
    import huggingface_hub.constants as constants

    Path("params.yaml").unlink()
    monkeypatch.setenv("SENTBENCH_DATA", "data")
    monkeypatch.setenv("XDG_CACHE_HOME", str(workspace / "cache"))
    monkeypatch.setenv("HF_HOME", str(workspace / "client"))
    monkeypatch.setitem(SOURCES, "tiny", TINY)
    monkeypatch.setattr(constants, "HF_HUB_DOWNLOAD_TIMEOUT", 0.5)
    server.add("datasets/some/words", {"words.txt": CONTENT}, commit=COMMIT)
    return server


def check_one_line(errors: str, words: str) -> None:
    """Checks that the command printed one line, without other output from libraries."""
    lines = errors.strip().splitlines()
    assert len(lines) == 1
    assert re.match(rf"sentbench: .*{words}", lines[0])


def check_nothing_half_written() -> None:
    """Checks that there are no partial files."""
    assert not [path for path in Path("data").rglob("*") if not path.parts[1].startswith(".")]
    assert not [path for path in Path("client").rglob("words.txt") if path.exists()]


def check_the_same_command_goes_on(hub: Hub) -> None:
    """Repeats the command without the fault; no remains of the first are left."""
    hub.faults.clear()
    assert main(FETCH) == GOOD
    assert [path.name for path in Path("data").iterdir()] == ["tiny"]
    assert Path("data/tiny/words.txt").read_bytes() == CONTENT


def in_a_process(limit: int = 0) -> subprocess.Popen[str]:
    """Starts the command in a process that may write `limit` bytes a file, if not 0.

    It writes no bytecode: Python keeps a cache file that the limit has cut. It receives SIGINT even if the
    tests run in the background of a shell, which ignores it for its processes.
    """
    script = (
        "import resource, signal, sys\n"
        "from harness.cli import main; from harness.data.sources import SOURCES, Source\n"
        f"if {limit}: resource.setrlimit(resource.RLIMIT_FSIZE, ({limit}, {limit}))\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "SOURCES['tiny'] = Source.model_validate_json(sys.argv[1])\n"
        "sys.exit(main(sys.argv[2:]))\n"
    )
    return subprocess.Popen(
        [sys.executable, "-B", "-c", script, TINY.model_dump_json(), *FETCH],
        env={**os.environ, "PYTHONPATH": str(ROOT), "HF_HUB_OFFLINE": "0"},
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.thorough
@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_harmless_or_one_line_and_the_same_command_continues(
    hub: Hub, name: str, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    no_pauses(monkeypatch)
    case = FAULTS[name]
    hub.fail("words.txt", replace(case.fault))
    assert main(FETCH) == case.code
    errors = capfd.readouterr().err
    if case.code == GOOD:
        assert errors == ""
        hub.sent.clear()
        check_the_same_command_goes_on(hub)
        assert not hub.sent
    else:
        check_one_line(errors, f"words.txt of some/words at {COMMIT}: .*{case.words}")
        check_nothing_half_written()
        check_the_same_command_goes_on(hub)


def test_a_full_disk_is_one_line_and_the_same_command_continues(hub: Hub) -> None:
    """A process that may write 20,000 bytes a file stands for a full disk."""
    process = in_a_process(limit=20_000)
    errors = process.communicate(timeout=60)[1]
    assert process.returncode == BAD, errors
    check_one_line(errors, r".*: cannot be written .*set HF_HOME to another folder, .*same command again")
    check_nothing_half_written()
    check_the_same_command_goes_on(hub)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGKILL, -signal.SIGKILL), (signal.SIGINT, INTERRUPTED)]
)
def test_a_command_that_is_ended_in_the_middle_leaves_no_half_file_to_the_next(
    hub: Hub, number: signal.Signals, code: int
) -> None:
    hub.fail("words.txt", Fault("slow", after=30_000, seconds=60))
    process = in_a_process()
    deadline = time.monotonic() + 60
    while not list(Path("client").rglob("*.incomplete")) and time.monotonic() < deadline:
        time.sleep(0.05)
    process.send_signal(number)
    errors = process.communicate(timeout=60)[1]
    assert process.returncode == code
    if number == signal.SIGINT:
        check_one_line(errors, "interrupted; the same command downloads what is missing")
    check_nothing_half_written()
    check_the_same_command_goes_on(hub)
