"""The outputs shown in the documents: each command runs, and `make generated` rewrites its output.

A block of kind `console` contains one command, after `$`, and its output.
"""

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
PAGES = (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))
BLOCK = re.compile(r"^```console\n\$ ([^\n]+)\n(.*?)^```$", flags=re.M | re.S)
NEEDED = re.compile(r"\bevaluate (\S+/\S+)")
TRAINS, TRAINED_ON = re.compile(r"\bsentbench try "), "data/glove-6b-50d"
"""Pattern of commands that train, and the folder they need, which a clone lacks."""


class Example(NamedTuple):
    """A command of a page, with the output that the page shows."""

    page: Path
    command: str
    shown: str

    @property
    def obstacle(self) -> str:
        """Reason why the command cannot run here, empty if it can."""
        match = NEEDED.search(self.command)
        needed = TRAINED_ON if TRAINS.search(self.command) else match[1] if match else ""
        if needed and not (ROOT / needed).is_dir():
            return f"{needed} is missing; run `make reproduce` first"
        return ""


PROGRESS = re.compile(r"sentbench: .*\b(?:opening|reading|encoding|loading|checking) ")
"""A line on standard error that a command prints while it works."""


def examples(page: Path) -> list[Example]:
    """Returns the commands of a page with their outputs, in order."""
    return [Example(page, *groups) for groups in BLOCK.findall(page.read_text(encoding="utf-8"))]


def output_of(command: str) -> str:
    """Returns the standard output of a command. Errors: RuntimeError if it fails."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-c", command], cwd=ROOT, env={**os.environ, "PATH": path}, capture_output=True, text=True
    )
    told = [line for line in done.stderr.splitlines() if not PROGRESS.match(line)]
    if done.returncode not in (0, 1) or told:
        raise RuntimeError(f"{command}: exit code {done.returncode}: {done.stderr}")
    return done.stdout


def rewrite(*, write: bool) -> int:
    """Names the outputs that differ and returns their number; rewrites them if `write`. Outputs that
    cannot be generated here, for example without a folder, are named with the reason.
    """
    differ = 0
    for example in (shown for page in PAGES for shown in examples(page)):
        name = f"{example.page.name}: {example.command}"
        if example.obstacle:
            print(f"{name}: not run, {example.obstacle}")
            continue
        now = output_of(example.command)
        if now != example.shown:
            differ += 1
            if write:
                text = example.page.read_text(encoding="utf-8")
                old, new = (f"$ {example.command}\n{output}```" for output in (example.shown, now))
                example.page.write_text(text.replace(old, new), encoding="utf-8")
            print(f"{name}: {'rewritten' if write else 'stale; run `make generated`'}")
    return differ
