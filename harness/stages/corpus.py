"""Stage `corpus`: corpora/NAME, the sentences of an origin with views made of them."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from harness.errors import InputError, near_matches
from harness.files import sha256_of_folder, write_json
from harness.fingerprint import fingerprint
from harness.layouts import CORPUS
from harness.outputs import check_folder, new_folder, room_of
from harness.plan.entries import Corpus, Params
from harness.rewriting.records import Record, count_outcomes, rewrite_all
from harness.rewriting.rewriters import Columns, Place, build_rewriter, column_of, read_columns
from harness.rewriting.views import Copy, Generate, View, needs_tool, read_views
from harness.stages.train import resolve_device

CORPORA, RESUME = Path("corpora"), Path(".cache/resume/corpora")
DESCRIPTION, ROWS = "corpus.json", "corpus.tsv"


def derive(params: Params, name: str, *, device: str = "auto") -> Path:
    """Writes corpora/NAME: `corpus.tsv`, the origin's rows in their order with the views after tabs, and
    `corpus.json`, what they were made of and how many outputs were empty or ran away.

    A killed run continues with the part it was at; the result has the bytes of an uninterrupted one.
    """
    if name not in params.corpora:
        raise InputError(
            f"corpus {name!r} is not in `corpora` of params.yaml{near_matches(name, list(params.corpora))}; "
            "plan a run that uses it"
        )
    entry, folder = params.corpora[name], CORPORA / name
    views = read_views(entry.views, where=f"corpus {name}")
    _check_inputs(entry)
    check_folder(folder, CORPUS, room=room_of(Path(entry.origin)) * (1 + len(views)))
    device = resolve_device(device) if any(view.kind in ("generate", "fill") for view in views) else "cpu"
    rows = spread(read_columns(Path(entry.origin)), entry.rows)
    state = RESUME / identity(params, entry, device)
    made, counts = [], []
    for number, view in enumerate(views, 1):
        where = f"corpus {name}, view {number}"
        texts = column_of(rows, 0 if isinstance(view, Copy) else view.column, where=where)
        rewriter = build_rewriter(view, Place(entry.seed, number, Path(entry.tool)), rows, device=device)
        records = rewrite_all(texts, rewriter, state / str(number))
        limit = view.fallback_limit if isinstance(view, Generate) else None
        counts.append(count_outcomes(records, limit=limit, where=where))
        made.append(records)
    with new_folder(folder, CORPUS) as part:
        _write_rows(part / ROWS, [row[0] for row in rows], made)
        write_json(part / DESCRIPTION, _description(entry, len(rows), views, counts))
    shutil.rmtree(state)
    return folder


def identity(params: Params, entry: Corpus, device: str) -> str:
    """Returns the sha256 of what determines a derived corpus; parts of another one are never continued."""
    code = params.code["corpora"]
    parts = {
        "code": fingerprint([Path(code.code), Path(code.base)]),
        "entry": entry.model_dump(),
        "inputs": [sha256_of_folder(Path(entry.origin)), sha256_of_folder(Path(entry.tool))],
        "device": device,
    }
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def spread(rows: Columns, count: int | None) -> Columns:
    """Returns `count` of the rows at even distances, the first among them; all where there are no more."""
    if count is None or count >= len(rows):
        return rows
    return [rows[place * len(rows) // count] for place in range(count)]


def _check_inputs(entry: Corpus) -> None:
    for path in (entry.origin, entry.tool):
        if not Path(path).is_dir():
            raise InputError(f"{path}: no such folder, the corpus is made from it; make it with `dvc repro`")


def _write_rows(path: Path, sentences: Sequence[str], views: Sequence[Sequence[Record]]) -> None:
    with path.open("w", encoding="utf-8", newline="\n") as file:
        for sentence, *records in zip(sentences, *views, strict=True):
            file.write("\t".join((sentence, *(record.text for record in records))) + "\n")


def _description(
    entry: Corpus, rows: int, views: Sequence[View], counts: Sequence[dict[str, int]]
) -> dict[str, Any]:
    return {
        "origin": entry.origin,
        "origin_sha256": sha256_of_folder(Path(entry.origin)),
        "tool": entry.tool if any(needs_tool(view) for view in views) else None,
        "tool_sha256": sha256_of_folder(Path(entry.tool)),
        "seed": entry.seed,
        "rows": rows,
        "views": [
            {**view.model_dump(), "outcomes": count} for view, count in zip(views, counts, strict=True)
        ],
    }
