"""Processes of the foreign backends: their input, the note without them, and bad variables."""

import sys
from pathlib import Path

import pytest

from benchmarks import evaluation, foreign_backends
from benchmarks.evaluation import MADE_UP, VARIABLE, foreign_sides
from benchmarks.runner import Disagreement

ANSWERS = """
import json, pathlib, sys
folder, side, threads, batch = sys.argv[1:]
kind = json.loads((pathlib.Path(folder) / "tokenizer_config.json").read_text())["tokenizer_class"]
cosines = [[0.1 * number for number, _ in enumerate(first)] for first, second in json.load(sys.stdin)]
print("something that a library says")
print(json.dumps([2.5, cosines, f"{side} of {kind}, batch {batch}"]))
"""


def test_a_side_answers_with_its_seconds_and_cosines_on_a_copy_with_the_older_tokenizer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The process runs a script of the test; version 5 writes a tokenizer class that older ones lack."""
    monkeypatch.setenv(VARIABLE, sys.executable)
    monkeypatch.setattr(foreign_backends, "__file__", str(tmp_path / "script.py"))
    names = tmp_path / "tokenizer_config.json"
    names.write_text('{"tokenizer_class": "TokenizersBackend"}')
    (tmp_path / "script.py").write_text(ANSWERS)
    task, software = MADE_UP, dict[str, str]()
    with foreign_sides(tmp_path, software) as sides:
        assert set(sides) == {*evaluation.BACKEND_TARGETS, evaluation.HALF_BACKEND}
        taken = sides["OpenVINO"]([task])
        (tmp_path / "script.py").write_text("raise SystemExit(1)")
        with pytest.raises(Disagreement, match=r"script\.py failed for ONNX Runtime"):
            sides["ONNX Runtime"]([task])
    assert taken.seconds == 2.5
    gold = [pair.score for pair in task.pairs]
    assert taken.value == [evaluation.spearman(evaluation.np.array(gold), evaluation.np.arange(len(gold)))]
    assert software == {"OpenVINO": "OpenVINO of PreTrainedTokenizerFast, batch 64"}
    assert "TokenizersBackend" in names.read_text()
