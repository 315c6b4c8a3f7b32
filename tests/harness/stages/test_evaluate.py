"""The evaluate command on folders that other libraries wrote, and the row without a model."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from harness.cli import main
from harness.tasks import build_tasks
from harness.tasks.mteb_adapter import encode_with
from tests.harness.tasks.layouts import LAYOUTS
from tests.harness.test_cli import write_stsb
from tests.support import tiny


@pytest.fixture
def workplace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with STS-B of eight pairs a split and twenty queries of TREC QA."""
    monkeypatch.setenv("SENTBENCH_TIERS", "embedded,hub")
    monkeypatch.chdir(tmp_path)
    write_stsb(tmp_path / "data/stsb")
    (tmp_path / "data/trecqa").mkdir()
    LAYOUTS["TRECQA"](tmp_path / "data/trecqa")
    (tmp_path / "data/trecqa/source.json").write_text("{}")
    return tmp_path


def printed(capsys: pytest.CaptureFixture[str], *command: str) -> dict[tuple[str, str], float]:
    assert main([*command, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    return {(score["metric"], score["setting"]): score["value"] for score in found["scores"]}


@pytest.mark.parametrize("pooling", ["cls", "mean"])
def test_a_folder_of_sentence_transformers_scores_what_its_own_library_gives(
    pooling: str, workplace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Written by that library, read by ours, and compared with its own `encode` under our task."""
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.models import Normalize, Pooling, Transformer

    backbone = Transformer(str(tiny.write_backbone(workplace / "bert")))
    model = SentenceTransformer(modules=[backbone, Pooling(16, pooling_mode=pooling), Normalize()])
    model.save(str(workplace / "st"))
    scores = printed(capsys, "evaluate", "st", "--tasks", "STSB", "--device", "cpu")
    (task,) = build_tasks(["STSB"], text="senteval")
    expected = {(s.metric, s.setting): s.value for s in task.evaluate(encode_with(model))}
    assert set(scores) == set(expected)
    np.testing.assert_allclose(list(scores.values()), [expected[key] for key in scores], atol=5e-3)


def test_a_model_that_says_nothing_of_pooling_is_refused(
    workplace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tiny.write_backbone(workplace / "bert")
    shutil.rmtree(folder / "1_Pooling", ignore_errors=True)
    assert main(["evaluate", str(folder), "--tasks", "STSB", "--device", "cpu"]) == 2
    assert "give --pooling" in capsys.readouterr().err


def test_bm25_is_a_row_without_a_model(workplace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Queries share their number with all their candidates alike: every ranking is chance between 0 and 1."""
    pytest.importorskip("bm25s")
    scores = printed(capsys, "bm25", "--tasks", "TRECQA")
    assert set(scores) == {("map", "all"), ("p@1", "all"), ("p@5", "all"), ("mrr", "all")}
    assert 0 < scores["map", "all"] < 1
    assert main(["bm25", "--tasks", "STSB"]) == 2
    assert "ranks nothing" in capsys.readouterr().err
