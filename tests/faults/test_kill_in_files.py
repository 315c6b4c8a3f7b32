"""A file that is written again is the old one or the new one, whenever the writing ends."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from harness.check.first_losses import write_losses
from harness.data.sources import LOCK, lock_sources
from harness.evidence.schema import ResultFile
from harness.evidence.store import write_result
from harness.io.embeddings import EmbeddingStore, keep
from harness.io.files import write_json, write_record, write_text
from harness.plan.params_file import read_params, write_params
from tests.faults.refusals import Refusal, refusing
from tests.support.results import raw_result

ROOT = Path(__file__).parents[2]
LOCKED = {"provider": "hub", "files": {"a.txt": {"sha256": "0" * 64}}}


def plan(path: Path, seed: int) -> None:
    params = read_params(ROOT / "params.yaml")
    keys = [*params.runs][seed:]
    write_params(params.model_copy(update={"runs": {key: params.runs[key] for key in keys}}), path)


def lock(path: Path, seed: int) -> None:
    if not path.is_file():
        shutil.copyfile(LOCK, path)
    lock_sources({"tiny": {**LOCKED, "revision": str(seed) * 40}}, path)


def vectors(path: Path, seed: int) -> None:
    made = path.with_name(f"made-{seed}")
    if not made.is_file():
        EmbeddingStore.write(made, ["a", "b"], lambda texts: np.full((len(texts), 3), seed), encoder="e")
    keep(EmbeddingStore(made), path)


WRITERS: dict[str, Callable[[Path, int], Any]] = {
    "text": lambda path, seed: write_text(path, f"text {seed}"),
    "JSON": lambda path, seed: write_json(path, {"seed": seed}),
    "record": lambda path, seed: write_record(path, {"seed": seed}),
    "result": lambda path, seed: write_result(path, ResultFile.model_validate(raw_result(seed=seed))),
    "first losses": lambda path, seed: write_losses(path, {"a__b__s0": [1.0 + seed, 2.0, 3.0]}),
    "plan": plan,
    "lock of sources": lock,
    "vectors": vectors,
}


@pytest.mark.parametrize("name", WRITERS)
def test_a_file_is_old_or_new_before_each_change_of_its_writing(name: str, tmp_path: Path) -> None:
    write, folder = WRITERS[name], tmp_path / "place"
    folder.mkdir()
    path = folder / "file"
    contents = []
    for seed in (1, 2):
        write(path, seed)
        contents.append(path.read_bytes())
    old, new = contents
    assert old != new
    write(path, 1)
    met = []
    for at in range(100):
        refusal = Refusal(folder, interrupt, at)
        with refusing(refusal):
            try:
                write(path, 2)
            except KeyboardInterrupt:
                met.append(path.read_bytes())
                continue
        break
    assert len(met) == at > 1
    assert set(met) <= {old, new}
    assert path.read_bytes() == new


def interrupt(path: str) -> None:
    raise KeyboardInterrupt
