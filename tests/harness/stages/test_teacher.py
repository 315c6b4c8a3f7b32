"""A cached teacher never serves another model's vectors: not through DVC, not without it."""

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from harness.commands.stage import make_teacher
from harness.errors import InputError
from harness.plan.entries import Params
from harness.plan.identity import run_identity
from harness.plan.params_file import read_params
from tests.support import tiny

ROOT = Path(__file__).parents[3]
NAME = "model__words"
TEACHER = Path("teachers") / NAME


def planned(**changes: Any) -> Params:
    """A plan with one teacher and one ConGen run that learns from it."""
    small = read_params(ROOT / "params.yaml")
    entry = {"encoder": "backbones/model", "corpus": "data/words", "pooling": "mean", **changes}
    run = small.runs["congen-small__words-50d__s0"].model_dump()
    run |= {"backbone": "backbones/model", "corpus": "data/words", "parent": str(TEACHER)}
    run["arithmetic"] = "native"
    reads = {"selection-senteval": {"source": "data/stsb", "after": "data/stsb"}}
    changed = {"teachers": {NAME: entry}, "runs": {"congen": run}, "reads": reads}
    return Params.model_validate({**small.model_dump(), "backbones": {}, "corpora": {}, **changed})


def write_corpus(folder: Path, *, seed: int = 1) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    lines = ["\t".join(row.columns) for row in tiny.rows(augmentations=2, seed=seed)]
    (folder / "words.tsv").write_text("\n".join(lines) + "\n")


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project folder with an encoder, a corpus and the vectors of the one for the other."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data/stsb").mkdir(parents=True)
    tiny.write_backbone(tmp_path / "backbones/model", seed=0)
    write_corpus(tmp_path / "data/words")
    make_teacher(planned(), NAME)
    return tmp_path


def identity(params: Params) -> str:
    return run_identity(params, params.run("congen"), "portable")


def test_another_encoder_in_the_same_folder_gives_other_vectors_and_identities(project: Path) -> None:
    """The released cache of SCT is keyed by a file name; ours by the bytes of the vectors."""
    before, named = np.load(TEACHER / "vectors.npy"), identity(planned())
    shutil.rmtree("backbones/model")
    tiny.write_backbone(project / "backbones/model", seed=1)
    make_teacher(planned(), NAME)
    assert not np.array_equal(before, np.load(TEACHER / "vectors.npy"))
    assert identity(planned()) != named


def test_vectors_of_another_pooling_are_refused(project: Path) -> None:
    with pytest.raises(InputError, match="vectors of pooling mean, the plan's is cls"):
        identity(planned(pooling="cls"))
