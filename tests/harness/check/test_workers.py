"""Jobs in forked processes: their messages, their order, and their errors."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness.check import workers
from harness.check.workers import ForkedJob, Message, Send, Workers
from harness.errors import InputError

ROOT = Path(__file__).parents[3]


def says(value: Any) -> Any:
    def perform(send: Send) -> Any:
        print("out")
        print("error", file=sys.stderr)
        send(value)
        return value, os.getpid()

    return perform


def test_a_job_sends_lines_values_and_its_result_from_a_process_of_its_own() -> None:
    with Workers(2) as jobs:
        jobs.add(ForkedJob("one", says(7)))
        said = [message for message in jobs.messages() if message.kind != "waits"]
    *before, (_, kind, (value, process)) = said
    assert before == [
        Message("one", "started"),
        Message("one", "line", "out"),
        Message("one", "line", "error"),
        Message("one", "sent", 7),
    ]
    assert (kind, value) == ("result", 7)
    assert process != os.getpid()


def test_an_interrupt_is_left_to_the_parent() -> None:
    """Ctrl-C reaches all processes of a terminal; a job would end with a traceback of its own."""

    def perform(send: Send) -> Any:
        os.kill(os.getpid(), signal.SIGINT)
        return "goes on"

    with Workers(1) as jobs:
        jobs.add(ForkedJob("one", perform))
        assert Message("one", "result", "goes on") in [*jobs.messages()]


def test_a_job_starts_after_what_it_needs_and_no_more_run_than_allowed() -> None:
    with Workers(1) as jobs:
        jobs.add(ForkedJob("second", says(2), {"first"}), ForkedJob("first", says(1)))
        order = [(m.job, m.kind) for m in jobs.messages() if m.kind in ("started", "result")]
    assert order == [("first", "started"), ("first", "result"), ("second", "started"), ("second", "result")]


def refused(send: Send) -> None:
    raise InputError("wrong")


def killed(send: Send) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def failed(send: Send) -> None:
    raise KeyError("x")


@pytest.mark.parametrize(
    ("perform", "kind", "said"),
    [
        (refused, InputError, "wrong"),
        (killed, InputError, "ended with -9"),
        (failed, RuntimeError, "KeyError"),
    ],
)
def test_an_error_arrives_as_a_message(perform: Any, kind: type[Exception], said: str) -> None:
    with Workers(1) as jobs:
        jobs.add(ForkedJob("one", perform))
        last = [*jobs.messages()][-1]
    assert last.kind == "error"
    assert isinstance(last.value, kind)
    assert said in str(last.value)


@pytest.mark.skipif(sys.platform != "linux", reason="the kernel tells children of the end of their parent")
def test_running_jobs_end_with_a_parent_that_was_killed(tmp_path: Path) -> None:
    """A job writes the number of its process and sleeps."""
    program = (
        "import os, time\nfrom pathlib import Path\n"
        "from harness.check.workers import ForkedJob, Workers\n"
        "def perform(send):\n"
        f"    Path({str(tmp_path / 'job')!r}).write_text(str(os.getpid()))\n"
        "    time.sleep(60)\n"
        "with Workers(1) as jobs:\n"
        "    jobs.add(ForkedJob('long', perform))\n"
        "    for message in jobs.messages(): pass\n"
    )
    parent = subprocess.Popen([sys.executable, "-c", program], env={**os.environ, "PYTHONPATH": str(ROOT)})
    written = tmp_path / "job"
    until(lambda: written.is_file() and written.read_text() != "")
    parent.kill()
    parent.wait()
    job = int(written.read_text())
    until(lambda: not is_running(job))


def until(condition: Callable[[], bool], seconds: float = 50.0) -> None:
    """Waits for a condition; fails after this time."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


def is_running(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def test_silence_is_broken_and_leaving_the_block_ends_what_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "SILENCE", 0.05)
    with Workers(1) as jobs:
        jobs.add(ForkedJob("long", lambda send: (send(os.getpid()), signal.pause())))
        process = next(message.value for message in jobs.messages() if message.kind == "sent")
        assert next(iter(jobs.messages())) == Message("", "waits", ["long"])
    with pytest.raises(ProcessLookupError):
        os.kill(process, 0)
