"""The STS benchmark: its train, dev and test pairs in either text form, from any of its sources."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path

from harness.data.sts import ScoredPair, StsbRow, read_pairs_jsonl, read_stsb
from harness.tasks.sts import StsTask, Subsets
from harness.tasks.text_forms import in_forms

STSB_FILES = {"train": "train.jsonl", "dev": "validation.jsonl", "test": "test.jsonl"}


def read_stsb_split(folder: Path, split: str, *, form: str, source: str) -> list[StsbRow]:
    """Returns the rows of STS-B train, dev or test in a text form; rows of stsb-raw have no origin."""
    name = STSB_FILES[split] if source == "stsb-raw" else f"sts-{split}.csv"
    path = (folder / name).absolute()
    return _in_form(path, _state(path), form, source)


def _state(path: Path) -> tuple[int, int] | None:
    """Returns a value that changes when the file is rewritten; None if there is no file."""
    if not path.is_file():
        return None
    found = path.stat()
    return found.st_mtime_ns, found.st_size


@lru_cache(maxsize=12)
def _in_form(path: Path, state: tuple[int, int] | None, form: str, source: str) -> list[StsbRow]:
    """Returns the rows of a file in a text form, kept as long as the file is the same."""
    if source == "stsb-raw":
        rows = [StsbRow(*pair, "", "", "") for pair in read_pairs_jsonl(path)]
    else:
        rows = read_stsb(path)
    texts = in_forms(
        [text for row in rows for text in (row.first, row.second)], form, published=source == "stsb"
    )
    return [
        row._replace(first=first, second=second)
        for row, first, second in zip(rows, texts[::2], texts[1::2], strict=True)
    ]


def scored(rows: Iterable[StsbRow]) -> list[ScoredPair]:
    """Returns the rows without their origin."""
    return [ScoredPair(row.first, row.second, row.score) for row in rows]


def stsb_task(name: str, split: str, text: str, source: str, *, folder: Path | None = None) -> StsTask:
    """Returns one split of STS-B as a task."""

    def read(folder: Path) -> Subsets:
        return {split: scored(read_stsb_split(folder, split, form=text, source=source))}

    return StsTask(name, source, read, folder=folder)
