"""Results of the check of portable arithmetic, kept so that a run that was stopped goes on."""

from __future__ import annotations

import json
from collections.abc import Mapping
from threading import Lock

from harness.disk.files import write_json
from harness.paths import cache

KEPT = "portability.json"
"""File of the cache folder with what was computed so far, and the fingerprint of the code that did it."""


class Found:
    """What was computed so far, in memory and in the cache folder.

    results: processor -> name of a result -> its hash; those that the same code gave before are in it.
    code: the fingerprint of that code.
    """

    def __init__(self, results: dict[str, dict[str, str]], code: str) -> None:
        self.results = results
        self._code = code
        self._path = cache() / KEPT
        self._lock = Lock()
        if self._path.is_file():
            kept = json.loads(self._path.read_text(encoding="utf-8"))
            if kept["code"] == self._code:
                for processor in results.keys() & kept["results"].keys():
                    results[processor] |= kept["results"][processor]

    def add(self, processor: str, some: Mapping[str, str]) -> None:
        """Adds results of a processor and writes all."""
        with self._lock:
            self.results[processor] |= some
            write_json(self._path, {"code": self._code, "results": self.results})
