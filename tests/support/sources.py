"""Sources that no table has: a corpus of one small file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from harness.data.sources import Source


def made_up_source(
    providers: Mapping[str, Any], *, name: str = "tiny", lines: int = 3, **changes: Any
) -> Source:
    """Returns a corpus whose one file `words.txt` has so many lines, with `changes` of its entry."""
    entry = {
        "name": name,
        "kind": "corpus",
        "text": "raw",
        "licence": "none",
        "confirmed": "made up",
        "note": "made up",
        "rows": {"words.txt": lines},
    }
    return Source.model_validate({**entry, **changes, "providers": providers})
