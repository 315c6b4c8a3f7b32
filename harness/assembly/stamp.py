"""Which results a report shows, in a way that does not change when equal results are built again."""

from __future__ import annotations

import hashlib
import re
import subprocess
from collections.abc import Sequence
from pathlib import Path

from harness.report.pages.content import Stamp
from harness.results.schema import ResultFile

_STATED = re.compile(r'<meta name="results" content="(\w+) (\w+) ([\d-]+)">')


def stamp_of(results: Sequence[ResultFile], page: Path) -> Stamp:
    """Returns the stamp of the present results: that of the former report in `page` if its results are equal.

    So a clone that reproduces the results writes the bytes that it found. Else commit and day are those of
    the checkout's last commit, which the results were made on; both are empty outside a checkout.
    """
    content = "".join(result.model_dump_json() for result in sorted(results, key=lambda one: one.run.key))
    digest = hashlib.sha256(content.encode()).hexdigest()[:16]
    former = _STATED.search(page.read_text(encoding="utf-8")) if page.is_file() else None
    if former and former[1] == digest:
        return Stamp(digest, former[2], former[3])
    command = ["git", "log", "-1", "--format=%h %cs"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=page.parent)
    except (OSError, subprocess.CalledProcessError):
        return Stamp(digest)
    commit, _, date = done.stdout.strip().partition(" ")
    return Stamp(digest, commit, date)
