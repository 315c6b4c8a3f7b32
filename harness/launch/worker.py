"""The process of one stage on this machine, forked from a server that has imported torch and transformers.

It ends with the scheduler: a command of this project is this process, which the kernel kills with its server,
and the server ends when the scheduler has; any other command is a child that this process watches over.
"""

from __future__ import annotations

import os
import shlex
import signal
import sys
from collections.abc import Sequence
from contextlib import suppress
from multiprocessing import parent_process

from harness.launch.commands import end_with_parent, logged, run_commands, words_of
from harness.launch.job import Job

OURS = "sentbench"
GONE = 255
"""The exit code of a process that was asked to end, or whose server is gone: its commands are tried again."""
PRELOADED = [
    "torch._dynamo",  # the optimiser loads it
    "transformers.modeling_utils",
    "transformers.models.auto.modeling_auto",
    "transformers.models.auto.tokenization_auto",
    "transformers.models.bert.modeling_bert",
    "transformers.models.bert.tokenization_bert",
    "pydantic",
    "scipy.stats",
]
"""What the server imports for commands of this project; each stage imports the project itself again."""


def is_ours(commands: Sequence[str]) -> bool:
    """Returns whether a stage is one command of this project that no shell has to read."""
    return len(commands) == 1 and (words_of(commands[0]) or [""])[0] == OURS


def run_work(job: Job, device: str) -> None:
    """Runs the commands of a job and ends this process as the last one that ran has ended.

    device: what the work computes on, for its log.
    """
    os.setsid()
    os.chdir(job.folder)
    scheduler = parent_process()
    if is_ours(job.commands):
        end_with_parent()
        if scheduler and not scheduler.is_alive():
            sys.exit(1)
        os.environ.update(job.environment)
        from harness.cli import INTERRUPTED

        try:
            signal.signal(signal.SIGTERM, signal.default_int_handler)  # so that Python cleans up
            with logged(job, device):
                code = run_in_process(job.commands[0])
        except KeyboardInterrupt:
            code = INTERRUPTED
        if code == INTERRUPTED:
            sys.exit(GONE)
    else:
        code = run_commands(job, device, scheduler=scheduler.sentinel if scheduler else None)
    if code < 0:
        with suppress(OSError):  # SIGKILL has no handler
            signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    sys.exit(code)


def run_in_process(command: str) -> int:
    """Returns the exit code of a command of this project; for native arithmetic it replaces this process."""
    from harness.cli import main
    from harness.process import RestartNeeded, allow_restart

    allow_restart()
    sys.argv = shlex.split(command)
    try:
        return main(sys.argv[1:])
    except RestartNeeded as needed:
        sys.stdout.flush()
        python = sys.executable
        os.execve(python, [python, "-m", "harness.cli", *sys.argv[1:]], needed.environment)
    except SystemExit as end:  # of the parser of arguments
        return end.code if isinstance(end.code, int) else 1
