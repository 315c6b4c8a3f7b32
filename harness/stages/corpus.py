"""`sentbench stage corpus`: pipeline stage that makes a derived corpus.

Example: `sentbench stage corpus wiki-small-views`
"""

import argparse
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from harness.data.augmentation.views import View, needs_tool, read_views
from harness.errors import InputError, near_matches
from harness.io.files import sha256_of_folder, write_manifest
from harness.io.layouts import CORPUS, check_inputs
from harness.io.outputs import check_folder, new_folder, room_of
from harness.io.records import check_plain, read_object
from harness.paths import CORPORA, CORPUS_RECORD, CORPUS_RESUME, CORPUS_ROWS
from harness.plan.entries import Corpus, Params
from harness.plan.params_file import read_params
from harness.process import DEVICE, compute_with, device_for, quiet, resolve_device
from harness.stages.identity import corpus_identity

CONTINUES = "the same command continues where it stopped"
ARGUMENTS = {"name": {"help": "an entry of `corpora` in params.yaml"}, "--device": DEVICE}


def execute(arguments: argparse.Namespace) -> None:
    """Makes corpora/NAME; a killed run continues where it stopped."""
    print(derive(read_params(), arguments.name, device=arguments.device))


def derive(params: Params, name: str, *, device: str = "auto") -> Path:
    """Writes corpora/NAME: `corpus.tsv`, the origin's rows in their order with the views after tabs, and
    `corpus.json`, with its inputs and the numbers of empty and runaway outputs. A killed run continues with
    its last part; the result is byte-identical to an uninterrupted run.
    """
    if name not in params.corpora:
        raise InputError(
            f"corpus {name!r} is not in `corpora` of params.yaml{near_matches(name, list(params.corpora))}; "
            "plan a run that uses it"
        )
    entry, folder = params.corpora[name], CORPORA / name
    views = read_views(entry.views, where=f"corpus {name}")
    check_inputs(entry.origin, entry.tool)
    check_folder(folder, CORPUS, room=room_of(Path(entry.origin)) * (1 + len(views)))
    compute_with(entry.arithmetic)
    from harness.compute.corpus import derive_rows

    wanted = device_for(entry.arithmetic, device)
    has_model = any(view.kind in ("generate", "fill") for view in views)
    device = resolve_device(wanted) if has_model else "cpu"
    if has_model:
        quiet()
    state = CORPUS_RESUME / corpus_identity(entry, device)
    check_plain(state, again="delete it")
    for kept in sorted(state.rglob("*.json")):
        read_object(kept, again="delete it")
    lines, outcomes = derive_rows(
        name,
        views,
        origin=Path(entry.origin),
        tool=Path(entry.tool),
        seed=entry.seed,
        count=entry.rows,
        state=state,
        device=device,
    )
    with new_folder(folder, CORPUS) as part:
        (part / CORPUS_ROWS).write_text("".join(lines), encoding="utf-8", newline="\n")
        write_manifest(part / CORPUS_RECORD, _description(entry, views, outcomes, rows=len(lines)))
    shutil.rmtree(state)
    return folder


def _description(
    entry: Corpus, views: Sequence[View], outcomes: Sequence[dict[str, int]], *, rows: int
) -> dict[str, Any]:
    return {
        "origin": entry.origin,
        "origin_sha256": sha256_of_folder(Path(entry.origin)),
        "tool": entry.tool if any(needs_tool(view) for view in views) else None,
        "tool_sha256": sha256_of_folder(Path(entry.tool)),
        "seed": entry.seed,
        "rows": rows,
        "views": [
            {**view.model_dump(), "outcomes": count} for view, count in zip(views, outcomes, strict=True)
        ],
    }
