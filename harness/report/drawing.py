"""Drawing of pictures in another process, cached in `.cache/pictures` by declaration.

vl-convert reserves gigabytes of address space, which the memory limit of a batch queue may refuse. The
drawing process then ends, and the report continues without pictures.
"""

import atexit
import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from functools import cache as once
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from harness.errors import InputError
from harness.io.files import write_text
from harness.paths import cache
from harness.report import pen

ROOT = Path(__file__).parents[2]
ROOM = "pictures"


def svg_of(spec: Mapping[str, Any], key: str) -> str:
    """Returns the drawing of a Vega-Lite declaration as SVG; empty if this machine cannot draw.

    Errors: InputError if vl-convert is missing, and for a declaration without a drawing.
    """
    if find_spec("vl_convert") is None:
        raise InputError("pictures need vl-convert-python: pip install '.[report]'")
    line = json.dumps(spec)
    digest = hashlib.sha256(f"{version('vl-convert-python')}\n{line}".encode()).hexdigest()
    kept = cache() / ROOM / f"{digest}.svg"
    if kept.is_file():
        return kept.read_text(encoding="utf-8")
    answer = _pen().draw(line)
    if "fault" in answer:
        raise InputError(f"picture {key}: {answer['fault']}")
    svg = answer["svg"]
    if svg:
        write_text(kept, svg)
    return svg


class _Pen:
    """The running drawing process; `broken` if it ended without an answer."""

    def __init__(self) -> None:
        paths = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
        self.process = subprocess.Popen(
            [sys.executable, "-P", "-m", pen.__name__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
            encoding="utf-8",
        )
        self.broken = False
        atexit.register(self.close)

    def draw(self, line: str) -> dict[str, str]:
        """Returns the answer to a declaration; an empty drawing if the process has ended."""
        answer = ""
        if not self.broken:
            assert self.process.stdin is not None
            assert self.process.stdout is not None
            with suppress(BrokenPipeError):
                self.process.stdin.write(f"{line}\n")
                self.process.stdin.flush()
                answer = self.process.stdout.readline()
        if answer:
            return dict(json.loads(answer))
        if not self.broken:
            self.broken = True
            print(
                "sentbench: the process that draws pictures ended (a memory limit of less than 16 GB?): "
                "pages have none",
                file=sys.stderr,
            )
        return {"svg": ""}

    def close(self) -> None:
        """Ends the process."""
        assert self.process.stdin is not None
        with suppress(BrokenPipeError):
            self.process.stdin.close()
        self.process.wait()


@once
def _pen() -> _Pen:
    return _Pen()
