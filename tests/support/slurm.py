"""A real Slurm of two nodes on this machine: munged, slurmctld and two slurmd, in a temporary folder.

It takes root and Debian's packages slurm-wlm and munge. Nothing of the system's configuration is read or
changed, and every daemon is a child of the process that started it.
"""

import os
import shutil
import socket
import subprocess
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

import psutil

from tests.harness.launch.toy_pipeline import wait_until

PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "squeue", "srun")
CONFIGURATION = """\
ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ports[0]}
AuthType=auth/munge
AuthInfo=socket={folder}/munge/socket
SlurmUser=root
SlurmdUser=root
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool-%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd-%n.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SlurmdParameters=config_overrides
MpiDefault=none
ReturnToService=2
SlurmdTimeout=5
KillWait=2
JobRequeue=0
MessageTimeout=5
SchedulerParameters=sched_interval=2,batch_sched_delay=0,sched_min_interval=0
NodeName=n1 NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[1]} CPUs=2 RealMemory=2000
NodeName=n2 NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[2]} CPUs=2 RealMemory=2000
PartitionName=plain Nodes=n1,n2 Default=YES State=UP
"""
WITH_GPU = """\
GresTypes=gpu
NodeName=n3 NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[3]} CPUs=2 RealMemory=2000 Gres=gpu:1
PartitionName=gpu Nodes=n3 State=UP
"""


def missing() -> str | None:
    """Returns the reason if Slurm cannot be started here, otherwise None."""
    if os.getuid() != 0:
        return "a Slurm on this machine takes root"
    absent = [name for name in PROGRAMS if shutil.which(name, path=_path()) is None]
    return f"{', '.join(absent)}: not installed (Debian: slurm-wlm, munge)" if absent else None


class Slurm:
    """The daemons, by name: `munged`, `slurmctld`, the nodes `n1` and `n2`, and `n3` if there is a GPU."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.daemons: dict[str, subprocess.Popen[bytes]] = {}

    @property
    def environment(self) -> dict[str, str]:
        """The variables under which Slurm's commands find this cluster."""
        return {"SLURM_CONF": str(self.folder / "slurm.conf"), "PATH": _path()}

    def start(self, *, gpu: bool = False) -> None:
        """Starts the daemons; returns when all nodes are idle. gpu: a third node has one, in name alone."""
        self.folder.mkdir(parents=True)
        self.folder.chmod(0o755)
        nodes = ["n1", "n2", "n3"] if gpu else ["n1", "n2"]
        for name in ("state", "munge", *(f"spool-{node}" for node in nodes)):
            (self.folder / name).mkdir(mode=0o755)
        self._write_configuration(gpu)
        key = self.folder / "munge/key"
        key.write_bytes(os.urandom(128))
        key.chmod(0o600)
        path_options = ("socket", "pid-file", "log-file", "seed-file", "key-file")
        words = [f"--{option}={self.folder}/munge/{option.removesuffix('-file')}" for option in path_options]
        self._start("munged", ["munged", "--foreground", "--force", *words])
        self.wait_for(lambda: (self.folder / "munge/socket").exists())
        self._start("slurmctld", ["slurmctld", "-D"])
        for node in nodes:
            self.start_node(node)
        self.wait_for(self.is_idle)

    def is_idle(self) -> bool:
        """Returns whether all nodes wait for jobs."""
        return set(self.output("sinfo", "--noheader", "--format=%T").split()) == {"idle"}

    def start_node(self, node: str) -> None:
        """Starts the slurmd of a node."""
        self._start(node, ["slurmd", "-D", "-N", node])

    def kill_node(self, node: str) -> None:
        """Ends a node as a power cut does: its slurmd and all that runs for jobs on it."""
        self.daemons.pop(node).kill()
        kill(self._of_jobs(node))

    def stop(self) -> None:
        """Ends all daemons and the processes of jobs."""
        for daemon in reversed(self.daemons.values()):
            daemon.terminate()
            daemon.wait()
        kill(self._of_jobs())

    def output(self, *words: str) -> str:
        """Returns the output of a Slurm command, empty if it fails."""
        result = subprocess.run(
            words, env={**os.environ, **self.environment}, capture_output=True, text=True, check=False
        )
        return result.stdout if result.returncode == 0 else ""

    def jobs(self) -> list[str]:
        """Returns the numbers of the jobs that wait or run."""
        return self.output("squeue", "--noheader", "--array", "--format=%i").split()

    def wait_for(self, happens: Callable[[], object], seconds: float = 60) -> None:
        """Waits for a condition; fails after some time."""
        wait_until(happens, f"the daemons' logs are in {self.folder}", seconds)

    def _start(self, name: str, words: list[str]) -> None:
        with (self.folder / f"{name}.log").open("ab") as log:
            self.daemons[name] = subprocess.Popen(
                words, env={**os.environ, **self.environment}, stdout=log, stderr=log, start_new_session=True
            )

    def _write_configuration(self, gpu: bool) -> None:
        with ExitStack() as stack:
            actual = [stack.enter_context(socket.socket()) for _ in range(4)]
            for each in actual:
                each.bind(("127.0.0.1", 0))
            ports = [each.getsockname()[1] for each in actual]
        text = CONFIGURATION + (WITH_GPU if gpu else "")
        text = text.format(host=socket.gethostname(), folder=self.folder, ports=ports)
        (self.folder / "slurm.conf").write_text(text)
        (self.folder / "gres.conf").write_text("NodeName=n3 Name=gpu File=/dev/null\n" if gpu else "")

    def _of_jobs(self, node: str | None = None) -> Iterator[psutil.Process]:
        """Yields the processes of jobs, and the daemon that watches over each, on one node or all."""
        for process in psutil.process_iter():
            with suppress(psutil.Error):
                variables = process.environ()
                if variables.get("SLURM_CONF") != self.environment["SLURM_CONF"]:
                    continue
                if "SLURMD_NODENAME" in variables and node in (None, variables["SLURMD_NODENAME"]):
                    yield process
                    watcher = process.parent()
                    if watcher is not None and watcher.name() == "slurmstepd":
                        yield watcher


def kill(processes: Iterable[psutil.Process]) -> None:
    """Kills processes; one that has ended is passed over."""
    for process in list(processes):
        with suppress(psutil.NoSuchProcess):
            process.kill()


def _path() -> str:
    """Returns the search path with the folders of daemons, which not every user's has."""
    return os.pathsep.join([os.environ.get("PATH", ""), "/usr/sbin", "/usr/local/sbin"])
