"""The first screen: answers, counts and findings are those of the data, on this checkout's declarations."""

from __future__ import annotations

import html
import re
from collections import Counter

import pytest

from harness.declarations import LEADERBOARDS
from harness.report.evidence.ledger import Ledger, load_ledger
from harness.report.evidence.model import Range, Summary
from harness.report.pages.answers import answer_values, answers_of, load_numbers
from harness.report.pages.content import Paper, Report
from harness.report.pages.sources import score_words, sources_of
from harness.report.tables.build import Evidence, build_table
from harness.report.tables.published import Published
from harness.report.tables.spec import TableSpec
from harness.report.verification import Price
from tests.harness.report.made_results import result
from tests.harness.report.shown import show_index, show_paper

MAIN = ("pcl", "dclr", "ptbert", "sct", "una")


@pytest.fixture(scope="module")
def ledger(published: Published) -> Ledger:
    return load_ledger(LEADERBOARDS / "evidence", published)


@pytest.fixture(scope="module")
def report(published: Published, ledger: Ledger, specs: dict[str, TableSpec]) -> Report:
    """All tables of the papers without a run of ours, and one public encoder that was scored."""
    scored = result("minilm-small", 0, {("STSB", "all"): 0.82033}, backbone="minilm-l6")
    prices = {("una-paraphrase", "bert-base-uncased"): Price(0.5, "sentbench plan una/una-paraphrase")}
    evidence = Evidence([scored], published, ledger, prices=prices)
    tables = {key: build_table(spec, evidence) for key, spec in specs.items()}
    papers = tuple(
        Paper(key, key, "", tuple(table for name, table in tables.items() if name.startswith(f"{key}/")))
        for key in MAIN
    )
    return Report("T", "abc", tables=(tables["public-models"],), papers=papers)


def test_the_first_screen_answers_for_every_declared_number(report: Report) -> None:
    found = {answer.name: answer for answer in answers_of(report)}
    assert len(found) == len(load_numbers(LEADERBOARDS)) == 9
    assert {name: answer.finding for name, answer in found.items()} == {
        "SimCSE, BERT-base": "others find less",
        "SimCSE, RoBERTa-base": "others do not settle it",
        "DiffCSE, BERT-base": "others find less",
        "PCL, BERT-base": "only its authors",
        "DCLR, BERT-base": "only its authors",
        "PT-BERT, BERT-base": "only its authors",
        "SCT, BERT-small": "only its authors",
        "UNA with paraphrases, BERT-base": "only its authors",
        "all-MiniLM-L6-v2 on STS-B: do we measure right?": "confirmed",
    }
    simcse = found["SimCSE, BERT-base"]
    assert simcse.printed == "76.25"
    assert (
        simcse.known
        == "median 75.27 of 15 independent sources; above 90\N{NO-BREAK SPACE}% of 73 single runs"
    )
    assert simcse.evidence == "papers/pcl.html#evidence-simcse-bert-base-uncased"
    una = found["UNA with paraphrases, BERT-base"]
    assert una.printed == "77.67"
    assert re.fullmatch(r"to test it: \d+ seeds, [\d.]+ GPU hours", una.cost)
    assert una.command.startswith("sentbench plan una/una-paraphrase --seeds ")
    assert found["DiffCSE, BERT-base"].cost == "to test it: 5 seeds"  # the report has no price of it


def test_the_counts_on_the_index_are_those_of_the_cells(report: Report) -> None:
    cells = [cell for paper in report.papers for t in paper.tables for row in t.rows for cell in row.cells]
    counts = Counter(cell.finding for cell in cells if cell.finding)
    text = html.unescape(re.sub(r"<[^>]+>", "", show_index(report)))
    head = text[: text.index("Do the numbers hold?")]
    assert f"{counts.total():,}\nprinted scores; " in head
    for finding, count in counts.items():
        assert f" {count} {finding}" in head
    assert set(counts) > {"others find less", "others confirm", "only its authors", "untested"}


def test_three_findings_are_told_and_name_a_number_once(report: Report) -> None:
    tables = [table for paper in report.papers for table in paper.tables]
    first, second, third = answer_values(report, tables)["telling"]
    assert first.startswith(
        "SimCSE (BERT-base), 76.25 in PCL table 2: median 75.27 of 15 independent sources"
    )
    assert second == "5 of the 9 numbers below are known from the authors alone."
    assert "76.25" not in third


def test_the_page_of_a_paper_answers_for_its_own_numbers_and_links_every_source(report: Report) -> None:
    una = report.papers[-1]
    assert [answer.name for answer in answers_of(report, "una")] == ["UNA with paraphrases, BERT-base"]
    text = show_paper(report, una)
    systems = sources_of(una.tables)
    assert {f'id="{system.anchor}"' in text for system in systems} == {True}
    names = {system.system: system.name for system in systems}
    assert names["simcse@roberta-base"] == "SimCSE (RoBERTa-base)"
    assert ">SimCSE (RoBERTa-base)</span>" in text
    links = {source.study.link for system in systems for source in system.sources}
    assert len(links) > 15
    assert {f'href="{link}"' in text for link in links} == {True}


def test_a_report_without_the_tables_in_question_has_no_answers() -> None:
    report = Report("T", "abc")
    assert answers_of(report) == []
    assert "Do the numbers hold?" not in show_index(report)


def test_the_score_of_a_study_reads_as_what_it_is() -> None:
    scores = (
        75.0,
        [74.0, 76.0],
        Summary(mean=75.1, sd=0.3, n=5),
        Summary(sd=0.3, n=2),
        Range(low=70, high=71),
    )
    assert [score_words(score) for score in scores] == [
        "75.00",
        "75.00 (2 runs, 74.00 to 76.00)",
        "75.10 ± 0.30 (5 runs)",
        "± 0.30 (2 runs)",
        "70.00 to 71.00",
    ]
