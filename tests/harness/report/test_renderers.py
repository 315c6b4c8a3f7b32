"""A recorded score folder as Markdown, LaTeX, plain text and a page, worked out by hand.

The folder `recorded` holds three seeds of SimCSE and one run of whitening on three tasks. Times 100:

| run | STS12 | STSB | SICKR | their mean |
| simcse 1, 2, 3 | 50, 50, 50 | 70, 72, 74 | 60, 60, 66 | 60, 60.667, 63.333 |
| whitening | 65.004 | 51.004 | 61.008 | 59.0053 |

SimCSE has 3 seeds, and the first look is at five: each cell is inconclusive and asks for two more, but those
whose standard deviation of 2 settles nothing.
- STS12: sd 0. STSB: sd sqrt((4 + 0 + 4) / 2) = 2.00. SICKR: sd sqrt((4 + 4 + 16) / 2) = 3.46.
- Avg: 61.33, squared deviations 1.778 + 0.444 + 4 = 6.222, sd sqrt(3.111) = 1.76.
Whitening is deterministic, so it needs no standard deviation: 0.004 from 65.00 and 0.492 from 61.50 are
within the margin, 1.996 below 53.00 and 0.825 below 59.83 are not. Its cells as printed average (65.00 +
51.00 + 61.01) / 3 = 59.003, which prints as 59.00 where the unrounded mean prints as 59.01. PCL was not run;
its STS12 is reported as 71.00 and read as 75.00. CT is cited. Bold are the rows that are not separable from
the best: whitening alone on STS12, where 50, 50, 50 does not vary; on STSB SimCSE alone, t = 20.996 / 1.155 =
18.2 and p = 0.003. On SICK-R, 0.992 / 2 = 0.5, and on the average, 2.328 / 1.018 = 2.29, p = 0.15, neither is
separable from the other, so the column has no bold and a note says so. CT is alone in its group.
"""

import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.evidence.published import load_published
from harness.evidence.schema import ResultFile
from harness.evidence.spec import TableSpec
from harness.io.declarations import read_declaration
from harness.report.formats import latex, markdown
from harness.report.formats.latex import to_latex
from harness.report.formats.markdown import to_markdown
from harness.report.formats.text import to_terminal
from harness.report.pages.content import Paper, Report
from harness.report.pages.paper import own_numbers
from harness.report.runs import RunDetail
from harness.report.tables.build import Evidence, build_table
from harness.report.tables.model import Cell, Column, Table, TableRow
from tests.harness.report.conftest import NO_STUDIES
from tests.harness.report.made_judged import printed
from tests.harness.report.shown import facts_of, show_paper

RECORDED = Path(__file__).parent / "recorded"


@pytest.fixture
def table(recorded_scores: list[ResultFile]) -> Table:
    evidence = Evidence(recorded_scores, load_published(RECORDED / "published"), NO_STUDIES)
    return build_table(read_declaration(RECORDED / "table.yaml", TableSpec), evidence)


def test_latex_marks_a_row_as_cited_only_if_no_run_is_meant_to_fill_a_cell() -> None:
    """Two reported values: neither is to be run, or one of them is."""
    columns = (Column("A", "A"), Column("B", "B"))
    for wanted, says, dagger in ((False, "% cited only", True), (True, "% no runs yet", False)):
        cells = (Cell(number=printed(71.0), wanted=False), Cell(number=printed(72.0), wanted=wanted))
        shown = to_latex(Table("toy", "Toy", columns, (TableRow("ct", "CT", cells),)))
        assert says in shown
        assert (r"CT$^{\dagger}$" in shown) is dagger


@pytest.mark.parametrize(("form", "file"), [(to_markdown, "expected.md"), (to_latex, "expected.tex")])
def test_the_recorded_folder_renders_to_the_text_worked_out_by_hand(
    form: Callable[[Table], str], file: str, table: Table
) -> None:
    assert form(table) == (RECORDED / file).read_text(encoding="utf-8")


def test_the_terminal_shows_the_same_numbers_in_aligned_columns(table: Table) -> None:
    lines = to_terminal(table).splitlines()
    rows = {line.split()[0]: line for line in lines if line.startswith(("SimCSE", "whitening", "PCL", "CT"))}
    assert len(rows) == 4
    assert " 62.00±3.46 ?+7 (55.00)" in rows["SimCSE"]
    assert " 51.00 ↓ (53.00)" in rows["whitening"]
    assert rows["CT"].endswith("(70.00) †")
    assert len({len(row) for row in rows.values()}) == 1


def test_the_page_has_the_values_worked_out_by_hand(table: Table, recorded_scores: list[ResultFile]) -> None:
    """SimCSE on SICK-R is 62.00 ± 3.46 against 55."""
    runs = {record.run.key: RunDetail(record) for record in recorded_scores}
    text = show_paper(
        Report("Recorded", "0" * 40, runs=runs), Paper("toy", "A toy paper", "nowhere", (table,))
    )
    cells = re.findall(r'<td id="([^"]*)"[^>]*><[^>]* data-facts="([^"]*)"', text)
    facts = {anchor: dict(facts_of(text, indices)) for anchor, indices in cells}
    assert len(facts) == 15, "neither reported nor run: PCL on STS-B"
    sick = facts["toy-table1--simcse--sickr"]
    assert sick["Ours"] == "62.00 ± 3.46, n = 3 seeds"
    assert (sick["Published"], sick["Difference"]) == ("55.00", "+7.00")
    assert sick["Verdict"] == "not settled: 7 more seeds up to the advised look"
    assert sick["Each seed"] == "1: 60.00, 2: 60.00, 3: 66.00"
    assert facts["toy-table1--simcse--avg"]["Verdict"] == "not settled: 7 more seeds up to the advised look"
    assert facts["toy-table1--simcse--avg"]["Next look"].startswith(
        "10 seeds in all, 7 more (a verdict if our mean is then more than "
    )
    assert facts["toy-table1--simcse--stsb"]["Next look"] == (
        "cannot be settled by 40 seeds: sd 2.00 of our 3 seeds and a mean 1.00 off"
    )
    assert facts["toy-table1--whitening--stsb"]["Difference"] == "−2.00"
    assert facts["toy-table1--pcl--sts12"]["Published"] == "75.00"
    assert facts["toy-table1--pcl--sts12"]["Ours"] == "not run"


def test_special_characters_are_escaped() -> None:
    hostile = "a_b & 50% #1 $x$ {y} ~z^ <i> | *s* [t] `q` \\"
    assert markdown.escape(hostile) == (
        "a\\_b &amp; 50% \\#1 \\$x\\$ {y} \\~z^ &lt;i&gt; \\| \\*s\\* \\[t\\] \\`q\\` \\\\"
    )
    assert latex.escape(hostile) == (
        "a\\_b \\& 50\\% \\#1 \\$x\\$ \\{y\\} \\textasciitilde{}z\\textasciicircum{} "
        "\\textless{}i\\textgreater{} \\textbar{} {*}s{*} {[}t{]} `q` \\textbackslash{}"
    )


def invented(spec: TableSpec) -> list[tuple[str, int, str, float]]:
    """Returns scores of three seeds for every task of every system of a table."""
    systems = sorted({f"{choice.system}@{choice.backbone}" for choice in spec.choices()})
    tasks = sorted({column.task for column in [*spec.columns, *spec.parts] if column.task})
    return [
        (system, seed, task, 0.7 + 0.002 * index + 0.0001 * seed * len(task))
        for index, system in enumerate(systems)
        for seed in (42, 0, 1)
        for task in tasks
    ]


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="pdflatex is not installed")
@pytest.mark.parametrize("every", [4, pytest.param(1, marks=pytest.mark.slow)])
def test_every_latex_table_compiles_and_fits_its_page(
    every: int, table: Table, specs: dict[str, TableSpec], evidence: Callable[..., Evidence], tmp_path: Path
) -> None:
    empty = [build_table(spec, evidence([])) for spec in specs.values()]
    full = [build_table(spec, evidence(invented(spec))) for spec in list(specs.values())[::every]]
    tables = [table, *empty, *full]
    packages = r"\usepackage[a4paper,margin=1cm]{geometry}\usepackage{booktabs,graphicx}"
    document = [
        r"\documentclass{article}" + packages + r"\begin{document}",
        *(to_latex(shown) + r"\clearpage" for shown in tables),
        r"\end{document}",
    ]
    (tmp_path / "tables.tex").write_text("\n".join(document), encoding="utf-8")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "tables.tex"]
    ended = subprocess.run(command, cwd=tmp_path, capture_output=True, check=False, timeout=120)
    log = (tmp_path / "tables.log").read_text(encoding="latin-1")
    assert ended.returncode == 0, log[-2000:]
    assert len(specs) >= 43
    assert f"({len(tables)} pages" in log
    assert "Overfull" not in log
    assert "Float too large" not in log


def test_the_scores_of_a_papers_own_method_are_counted_once_with_those_that_have_runs(
    specs: dict[str, TableSpec], evidence: Callable[..., Evidence]
) -> None:
    """UNA's tables repeat numbers of each other; no run of ours is behind one of them."""
    tables = [build_table(spec, evidence([])) for key, spec in specs.items() if key.startswith("una/")]
    number, tested = own_numbers(tables)
    cells = [cell for table in tables for row, _, cell in table.cells() if row.is_own and cell.judged]
    assert 0 < number < len(cells)
    assert tested == 0
    assert own_numbers([*tables, *tables]) == (number, 0)
