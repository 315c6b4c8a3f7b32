"""Each value of what leaves the project, and of what commands print, is where it belongs."""

import argparse
import re
from pathlib import Path
from typing import Any

import pytest
import torch
import yaml
from safetensors.torch import save_file

from harness.commands import mteb
from harness.commands.plan import _shown
from harness.commands.publish_files import META, on_hub, write_hub_results, write_model_meta
from harness.evidence.schema import ResultFile
from harness.plan.hours import Cost, StatedTime
from harness.report.formats.latex import to_latex
from harness.report.formats.scores import ScoreLine, to_table
from harness.report.tables.model import Cell, Column, Table, TableRow
from harness.tasks.mteb_adapter import MtebScore
from tests.harness.report.made_judged import printed, with_verdict
from tests.support.results import raw_result


@pytest.mark.parametrize(("licence", "shown"), [("mit", "'mit'"), ("other", "None")])
def test_the_declaration_for_mteb_has_each_value_under_its_name(
    licence: str, shown: str, tmp_path: Path
) -> None:
    """2^19 numbers of 4 bytes, in the weights of the transformer and of a layer after it, are 2 MB."""
    save_file({"one": torch.zeros(2**18), "two": torch.zeros(2, 2**16)}, tmp_path / "model.safetensors")
    (tmp_path / "2_Dense").mkdir()
    save_file({"linear.weight": torch.zeros(2**7, 2**10)}, tmp_path / "2_Dense/model.safetensors")
    values = {"licence": licence, "origin": "minilm-l6", "tokens": 80, "width": 16}
    write_model_meta(tmp_path, "an-owner/A-model.1", values)
    text = (tmp_path / META).read_text()
    stated = dict(re.findall(r"^    (\w+)=(.*),$", text, re.M))
    assert (
        stated
        | {
            "name": "'an-owner/A-model.1'",
            "n_parameters": "524288",
            "memory_usage_mb": "2.0",
            "max_tokens": "80",
            "embed_dim": "16",
            "license": shown,
            "reference": '"https://huggingface.co/an-owner/A-model.1"',
            "adapted_from": repr(on_hub("minilm-l6")[0]),
        }
        == stated
    )
    assert "\na_model_1 = ModelMeta(" in text


def test_a_result_on_the_hub_has_each_value_under_its_name(tmp_path: Path) -> None:
    scores = [
        {"task": "STSB", "metric": metric, "setting": "all", "selection": "best-dev", "value": value, "n": 9}
        for metric, value in (("spearman", 0.52), ("pearson", 0.41))
    ]
    raw = raw_result("a__b__s7", scores, id="a", seed=7, data_sha256={"stsb-raw": "d"}, text="raw")
    write_hub_results(ResultFile.model_validate(raw), tmp_path)
    (path,) = (tmp_path / ".eval_results").iterdir()
    (entry,) = yaml.safe_load(path.read_text())
    repository, revision = on_hub("stsb-raw")
    assert (path.name, entry["value"]) == ("STSBenchmark.yaml", 52.0)
    assert entry["dataset"] == {
        "id": repository,
        "task_id": "STSBenchmark_default_test",
        "revision": revision,
    }
    assert entry["notes"] == "sentbench, seed 7, cosine Spearman x 100"


def test_scores_of_mteb_are_printed_with_their_own_values(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    identity = mteb.Identity("a-name", "a-revision", {"seed": 3})
    score = MtebScore("a-task", "a-metric", 0.123456, "a-data-revision", "a-file")
    for name in ("compute_with", "check_encoder_folder", "check_addition"):
        monkeypatch.setattr(mteb, name, lambda *given: None)
    monkeypatch.setattr(mteb, "_copies", lambda names: names)
    monkeypatch.setattr(mteb, "run_folder", lambda *given, **options: (identity, [score]))
    given = {"folder": tmp_path, "tasks": "a-task", "out": tmp_path, "pooling": None, "device": "cpu"}
    mteb.execute(argparse.Namespace(**given, json=False))
    assert [line.split() for line in capsys.readouterr().out.splitlines()] == [
        ["a-name", "revision", "a-revision"],
        ["a-task", "a-metric", "0.1235", "data", "a-data-revision", "a-file"],
    ]


def test_hours_and_bytes_of_a_plan_are_told_in_their_units() -> None:
    """A GB is 10^9 bytes."""
    assert _shown(Cost(1.5, 2500.0, 2.5e9)) == ("1.5", "2,500", "2.50 GB")
    assert _shown(Cost(0.123, 99.94, 1e7)) == ("0.12", "99.9", "0.01 GB")
    assert _shown(None) == ("?", "?", "?")


def test_our_hours_are_told_next_to_those_that_authors_state() -> None:
    stated = StatedTime(
        system="a", backbone="b", gpu_hours=2.5, hardware="a GPU", source="a paper", note="a reason"
    )
    assert stated.compared_with(1.2345, "bf16") == (
        "a seed of a on b: 1.23 GPU hours estimated in bf16, 2.5 stated by a paper (a GPU): a reason"
    )


@pytest.mark.parametrize(
    ("cell", "shown"),
    [
        (Cell(number=printed(61.23), judged=with_verdict(61.23, "others", "lower", "outside")), "61.23{}"),
        (Cell(number=printed(61.23), judged=with_verdict(61.23, "others", "higher", "outside")), "61.23{}"),
        (Cell(number=printed(61.23), judged=with_verdict(61.23)), "61.23{}"),
    ],
)
def test_a_reported_number_has_the_sign_of_its_verdict_in_latex(cell: Any, shown: str) -> None:
    from harness.report.formats.latex import SIGNS
    from harness.report.formats.text import mark_of

    mark = mark_of(cell).translate(SIGNS)
    row = TableRow("r", "R", (cell,))
    text = to_latex(Table("toy/t", "T", (Column("c", "C"),), (row,)))
    assert f"${shown.format(f'^{{{mark}}}' if mark else '')}$" in text
    assert bool(mark) is (cell.judged.by_others.verdict.by == "others")


@pytest.mark.parametrize(("n", "shown"), [(999, "999"), (1379, "1,379"), (9927, "9,927")])
def test_the_number_of_pairs_has_its_thousands_apart(n: int, shown: str) -> None:
    table = to_table([ScoreLine("A", "spearman", "all", 0.5, n)]).splitlines()
    assert table[1].split() == ["A", "spearman", "all", "50.00", shown]
