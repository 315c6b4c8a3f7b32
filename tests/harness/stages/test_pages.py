"""The report stage on the committed scores: which pages it writes, how they hang together, what they hold."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

import pytest
import yaml

from harness.cli import main
from harness.plan.recipes import load_recipes
from harness.report.tables.model import Cell, Column, Table, TableRow
from harness.stages import pages

ROOT = Path(__file__).parents[3]
PAPERS = ("dclr", "pcl", "ptbert", "sct", "una")
UNLOGGED = "simcse-small"


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project whose report was built once; the runs of one system have no curves."""
    pytest.importorskip("matplotlib", reason="charts need the extra `report`")
    folder = tmp_path_factory.mktemp("project")
    for name in ("leaderboards", "recipes", "params.yaml"):
        (folder / name).symlink_to(ROOT / name)
    for name in ("scores", "curves"):
        shutil.copytree(ROOT / "reports" / name, folder / "reports" / name)
    for curve in (folder / "reports/curves").glob(f"{UNLOGGED}__*"):
        curve.unlink()
    before = Path.cwd()
    os.chdir(folder)
    try:
        assert main(["report"]) == 0
    finally:
        os.chdir(before)
    return folder / "reports"


def test_the_stage_writes_everything_that_the_pipeline_declares(built: Path) -> None:
    stages = yaml.safe_load((ROOT / "dvc.yaml").read_text())["stages"]
    outs = [next(iter(out)) if isinstance(out, dict) else out for out in stages["report"]["outs"]]
    assert len(outs) >= 8
    assert [out for out in outs if not (built.parent / out).exists()] == []
    assert sorted(path.stem for path in (built / "papers").iterdir()) == list(PAPERS)


def test_every_link_of_every_page_leads_somewhere(built: Path) -> None:
    found = sorted(built.rglob("*.html"))
    assert len(found) == 10
    followed = 0
    for page in found:
        text = page.read_text(encoding="utf-8")
        ids = set(re.findall(r' id="([^"]+)"', text))
        for address in re.findall(r'<a [^>]*href="([^"]+)"', text):
            if address.startswith("#"):
                assert address[1:] in ids, (page.name, address)
            else:
                assert (page.parent / address).is_file(), (page.name, address)
                followed += 1
    assert followed >= 100


def test_the_index_is_slim_and_the_papers_carry_their_tables(built: Path) -> None:
    index = (built / "index.html").read_text(encoding="utf-8")
    small = list((ROOT / "leaderboards" / "tables").glob("small*.yaml"))
    assert 1 <= index.count('class="table-block"') <= len(small)
    for key in PAPERS:
        paper = (built / f"papers/{key}.html").read_text(encoding="utf-8")
        assert f'id="table-{key}-table1"' in paper or f'id="table-{key}-table2"' in paper
        assert "<svg" in paper


def test_a_system_without_curves_says_so(built: Path) -> None:
    index = (built / "index.html").read_text(encoding="utf-8")
    assert "No curve: these runs have no training log." in index
    assert f"{UNLOGGED}__minilm-l2__s0" in index


def test_the_speed_page_is_linked_where_it_is_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert "Speed" not in pages.site_pages([])
    Path("reports").mkdir()
    Path("reports/benchmarks.json").write_text("{}")
    assert pages.site_pages([])["Speed"] == "benchmarks.html"


def test_a_gap_is_taken_from_the_average_that_the_runs_alone_fill() -> None:
    """Ours 74 against 76 printed: the gap is +2 points, on a scale of 1 as on one of 100."""
    cell = Cell(0.74, published=0.76, delta=-0.02, runs=("a", "b"))
    row = TableRow("r", "r", (Cell(delta=9.0, runs=("a", "b")), cell))
    table = Table("t", "t", (Column("STSB", "STSB"), Column("Avg", "Avg")), (row,), scale=1.0)
    assert pages.gap_of(["b", "a"], {"t": table}) == pytest.approx(2.0)
    assert pages.gap_of(["a"], {"t": table}) is None


def test_a_table_that_no_declared_run_fills_says_what_is_missing_instead_of_a_command(built: Path) -> None:
    """Of SCT's tables two hold no scores: hyper-parameters, and distances of augmentations."""
    text = (built / "papers/sct.html").read_text(encoding="utf-8")
    for key, runs in (("table1", False), ("table2", True), ("table5", False)):
        block = text[text.index(f'id="table-sct-{key}"') :].partition('class="table-block"')[0]
        assert (f"sentbench plan sct/{key} " in block) is runs
        assert ("No run of the recipes fills it: it holds no scores of runs of ours." in block) is not runs


def test_a_command_is_offered_only_where_a_declared_run_fills_a_cell() -> None:
    """Table A1 of UNA takes its counts from SimCSE on BERT-base; without that recipe no run fills it."""
    recipes, tables = load_recipes(), {"una/table-a1": Table("una/table-a1", "t", (), ())}
    assert pages.unfilled(tables, recipes) == {}
    assert pages.plan_commands(tables, {}) == {"una/table-a1": "sentbench plan una/table-a1 && dvc repro"}
    lacking = pages.unfilled(tables, {"una": recipes["una"]})
    assert lacking == {"una/table-a1": "missing: simcse-nt@bert-base-uncased"}
    assert pages.plan_commands(tables, lacking) == {}
