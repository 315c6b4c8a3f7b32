"""`sentbench evaluate --keep` keeps a model's scores, and the report of that folder has a page with them."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from harness import paths
from harness.cli import main
from harness.errors import InputError
from harness.report.pages.content import Report
from harness.report.pages.models import model_values
from harness.report.pages.render import render_pages
from harness.results.kept_models import KeptModel, KeptScore, kept_models, read_kept_model
from harness.tasks.registry import SUITES
from tests.harness.test_cli import project

__all__ = ["project"]
EVALUATE = ["evaluate", "encoder", "--tasks", "STSB", "--text", "raw"]


def kept_file() -> Path:
    (path,) = Path("own/models").iterdir()
    return path


def scored(task: str, value: float, *, metric: str = "spearman", setting: str = "all") -> KeptScore:
    return KeptScore(task=task, metric=metric, setting=setting, value=value, n=10)


def model(name: str, *scores: KeptScore) -> KeptModel:
    return KeptModel(name=name, model="folder", text="senteval", scores=scores)


def test_a_kept_model_has_its_name_its_text_form_and_the_printed_scores(
    project: Path, printed: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    told = printed(*EVALUATE, "--keep", "--name", "My model", "--interval")
    assert "own/models/my-model.raw.json; `sentbench --include own report` shows it" in told
    monkeypatch.setattr(paths, "FOLDERS", [Path("own").resolve()])
    (kept,) = kept_models()
    assert (kept.name, kept.model, kept.text) == ("My model", "encoder", "raw")
    assert f"{100 * kept.scores[0].value:.2f}" in told
    assert kept.scores[0].interval is not None


def test_the_same_name_replaces_the_file_and_another_text_form_does_not(project: Path) -> None:
    for _ in range(2):
        assert main([*EVALUATE, "--keep", "mine"]) == 0
    assert main(["evaluate", "encoder", "--tasks", "STSB", "--keep", "mine"]) == 0
    assert sorted(path.name for path in Path("mine/models").iterdir()) == [
        "encoder.raw.json",
        "encoder.senteval.json",
    ]


def test_another_model_in_the_place_of_the_file_is_not_replaced(
    project: Path, refused: Callable[..., str]
) -> None:
    assert main([*EVALUATE, "--keep", "--name", "My model"]) == 0
    before = kept_file().read_bytes()
    assert "keeps the model 'My model'" in refused(*EVALUATE, "--keep", "--name", "my-model")
    assert kept_file().read_bytes() == before


def test_a_file_that_keeps_no_model_is_one_line(project: Path) -> None:
    assert main([*EVALUATE, "--keep"]) == 0
    kept = json.loads(kept_file().read_text())
    del kept["name"], kept["digest"]
    kept_file().write_text(json.dumps(kept))
    with pytest.raises(InputError, match=r"evaluate the model again, or delete the file$"):
        read_kept_model(kept_file())


def test_the_page_ranks_models_by_the_average_of_the_seven_sets_and_leaves_it_empty_without_all() -> None:
    seven = SUITES["sts"]
    good = model("good", *(scored(task, 0.8) for task in seven))
    better = model("better", *(scored(task, 0.8 + k / 100) for k, task in enumerate(seven)))
    part = model("part", scored(seven[0], 0.99), scored("Extra", 0.5, metric="accuracy"))
    values = model_values(Report("T", "c", own_models=(part, good, better), suites=SUITES))
    assert values is not None
    (table,) = values["tables"]
    assert table["tasks"] == [seven[0], "Extra", *seven[1:]]
    assert [(row[0].name, row[2]) for row in table["rows"]] == [
        ("better", pytest.approx(83.0)),
        ("good", pytest.approx(80.0)),
        ("part", None),
    ]
    assert table["rows"][2][1][:3] == [
        ("99.00", "spearman, all, 10 items"),
        ("50.00", "accuracy, all, 10 items"),
        ("", ""),
    ]


def test_the_page_is_in_the_report_only_with_a_model_and_shows_its_name_as_text() -> None:
    report = Report("T", "c")
    assert "pages/models.html" not in render_pages(report)
    named = model("<b>mine</b>", scored("STSB", 0.75))
    pages = render_pages(replace(report, own_models=(named,)))
    assert "&lt;b&gt;mine&lt;/b&gt;" in pages["pages/models.html"]
    assert "75.00" in pages["pages/models.html"]
    assert 'href="pages/models.html"' in pages["index.html"]
