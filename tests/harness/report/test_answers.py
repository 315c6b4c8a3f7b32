"""The first screen: answers, counts and verdicts follow the data, on this checkout's declarations."""

import html
import re
from collections import Counter

import pytest

from harness.evidence.ledger import Ledger
from harness.evidence.published import Published
from harness.evidence.settling import Price
from harness.evidence.spec import TableSpec
from harness.evidence.words import WORDS, Verdict
from harness.io.declarations import LEADERBOARDS
from harness.plan.recipes import declared_systems, load_recipes
from harness.report.pages import evidence
from harness.report.pages.answers import answers_of, load_numbers
from harness.report.pages.cells import verdict_counts
from harness.report.pages.content import Paper, Report
from harness.report.pages.first_screen import INTERVAL, answer_values, gain_words, marks_of
from harness.report.pages.search import search_places
from harness.report.pages.sources import EVIDENCE_KINDS, anchor_of, system_sources
from harness.report.tables.build import Evidence, build_table
from harness.report.tables.model import judged_numbers
from tests.harness.report.made_results import result
from tests.harness.report.shown import show, show_index

MAIN = ("pcl", "dclr", "ptbert", "sct", "una")


@pytest.fixture(scope="module")
def report(published: Published, ledger: Ledger, specs: dict[str, TableSpec]) -> Report:
    """All tables of the papers without a run of ours, and one public encoder that was scored."""
    scored = result("minilm-small", 0, {("STSB", "all"): 0.82033}, backbone="minilm-l6")
    price = Price("sentbench plan una/una-paraphrase", {"run": 0.5}, {"teacher": 1.0}, "texts")
    prices = {("una-paraphrase", "bert-base-uncased"): price}
    settings = {key: system.model_dump() for key, system in declared_systems(load_recipes()).items()}
    evidence = Evidence([scored], published, ledger, prices=prices, settings=settings)
    tables = {key: build_table(spec, evidence) for key, spec in specs.items()}
    papers = tuple(
        Paper(key, key, "", tuple(table for name, table in tables.items() if name.startswith(f"{key}/")))
        for key in MAIN
    )
    return Report("T", "abc", tables=(tables["public-models"],), papers=papers)


def test_the_first_screen_answers_for_every_declared_number(report: Report) -> None:
    actual = {answer.name: answer for answer in answers_of(report)}
    assert len(actual) == len(load_numbers(LEADERBOARDS)) == 9
    assert {name: answer.judged.text for name, answer in actual.items()} == {
        "SimCSE, BERT-base": "independent mean is lower; single runs reach it",
        "SimCSE, RoBERTa-base": "not settled",
        "DiffCSE, BERT-base": "independent mean is lower; as the best of ten on dev it would be reached",
        "PCL, BERT-base": "authors only",
        "DCLR, BERT-base": "authors only",
        "PT-BERT, BERT-base": "authors only",
        "SCT, BERT-small": "authors only",
        "UNA with paraphrases, BERT-base": "authors only",
        "all-MiniLM-L6-v2, STS-B (control)": "replicates",
    }
    simcse = actual["SimCSE, BERT-base"]
    assert simcse.reported == "76.25"
    assert (
        simcse.known == "median 75.27 of 13 independent sources, 2 by authors of a competing method; 5 of 61 "
        "single runs are above it; with each independent source counted as one run, it is above "
        "99\N{NO-BREAK SPACE}% of the runs of the 11 sources that report single runs"
    )
    assert simcse.evidence == "pages/evidence.html#evidence-simcse-bert-base-uncased"
    una = actual["UNA with paraphrases, BERT-base"]
    cost = (
        r"to test it: 10 seeds, [\d.]+ GPU hours and the creation of texts; a verdict if our mean is .* "
        r"off, a chance of \d+ % if it equals the number, \d+ % by 5 seeds; .*"
    )
    assert re.fullmatch(cost, una.cost)
    assert una.cost.endswith("sd 0.38 by a study of 10 seeds"), "what the advice assumes is told"
    assert una.judged.plan is not None
    assert una.judged.plan.command.startswith("sentbench plan una/una-paraphrase --seeds ")
    assert actual["DiffCSE, BERT-base"].cost.startswith("to test it: 10 seeds; a verdict if")
    assert actual["SCT, BERT-small"].cost.startswith("our runs cannot test it: trained on")


def test_the_index_counts_every_verdict_and_a_number_that_several_tables_quote_once(report: Report) -> None:
    """SimCSE's 76.25 is in six cells, under three names; without control of pages one number is red."""
    tables = [table for paper in report.papers for table in paper.tables]
    verdicts = [(known.fact, known.word) for _, _, known in judged_numbers(tables)]
    reached = WORDS[Verdict("others", "lower", "inside")]
    assert verdicts.count((("simcse@bert-base-uncased", "Avg", 76.25), reached)) == 6
    counts = Counter(dict(verdicts).values())
    assert counts[reached] == 15
    red = {fact for fact, word in verdicts if word.colour == "departs"}
    assert {fact[:2] for fact in red} == {("simcse@roberta-large", "STS12")}
    assert {"authors only", "no independent result"} < {word.text for word in counts}
    assert counts == dict(verdict_counts(*tables))
    text = html.unescape(re.sub(r"<[^>]+>", "", show_index(report)))
    assert f"{counts.total():,} reported scores next to the results of 26 independent sources" in text
    tally = text[text.index("All reported scores by verdict") :]
    assert all(f"{word.text}: {count:,}" in tally for word, count in counts.items())


def test_three_findings_are_listed_and_name_a_number_once(report: Report) -> None:
    tables = [table for paper in report.papers for table in paper.tables]
    shown = answer_values(report, tables)
    first, second, third = shown["telling"]
    assert first.startswith(
        "SimCSE (BERT-base), 76.25 in PCL table 2: the mean of independent sources is 1.10 lower"
    )
    assert "76.25" not in second + third
    assert shown["shared"] == [
        "5 of 8 headline numbers were only ever measured by their authors.",
        "UNA with paraphrases, BERT-base: 77.67 is the best of its authors’ 10 seeds, 0.70 above their mean.",
    ]


def test_the_numbers_below_the_picture_are_those_of_the_picture(report: Report) -> None:
    """What is told of other numbers has a section of its own."""
    text = show_index(report)
    below = text[text.index('id="answered"') : text.index('id="told"')]
    assert re.findall(r'<tr id="([^"]+)"', below) == [answer.anchor for answer in answers_of(report)]
    assert "BERT-large" not in below
    assert "<li>SimCSE (Without teacher, BERT-large), 78.41 in SCT table 2" in text[text.index('id="told"') :]


def test_a_number_that_is_not_settled_has_its_reason_and_what_to_cite_next_to_the_word(
    report: Report,
) -> None:
    text = show_index(report)
    row = text[text.index('<tr id="answer-simcse-roberta-base"') :].partition("</tr>")[0]
    reason = "90 % interval of the mean of 3 sources: −2.50 to +0.76; partly within half a point"
    assert f'not settled<span class="source">{reason}</span>' in row
    assert "cite 75.70 (95 % interval 73.31 to 78.09), mean of 3 independent sources" in row
    assert [answer.name for answer in answers_of(report) if answer.open] == ["SimCSE, RoBERTa-base"]
    una = text[text.index('<tr id="answer-una-with') :].partition("</tr>")[0]
    assert "printed 0.7767" in una
    assert "cite 76.97 (95 % interval 76.70 to 77.24), mean of 10 runs by its authors" in una


def test_a_paper_answers_for_its_own_numbers_and_the_evidence_links_every_source(
    report: Report,
) -> None:
    una = report.papers[-1]
    assert [answer.name for answer in answers_of(report, "una")] == ["UNA with paraphrases, BERT-base"]
    text = show(evidence.PAGE, report)
    systems = system_sources(una.tables)
    assert all(f'id="{anchor_of(system.known.number.row)}"' in text for system in systems)
    assert ">dropout (Text)</span>" in text
    links = {study.link for system in systems for study, _ in system.studies}
    assert len(links) > 5
    assert all(f'href="{link}"' in text for link in links)


def test_the_heading_of_a_system_counts_the_sources_of_its_verdict(report: Report) -> None:
    """Single sets come behind the average, and each record has a kind that the page explains."""
    actual = {system.known.number.row: system for system in system_sources(report.papers[0].tables)}
    system = actual["simcse@bert-base-uncased"]
    assert system.known.number.column == system.columns[0] == "Avg"
    records = len(system.known.others.independent.studies)
    assert records >= 13
    assert system.counts.startswith(f"13 independent sources ({records} records), ")
    text = html.unescape(show(evidence.PAGE, report))
    assert f'single runs reach it</span> <span class="count">{system.counts}</span>' in text
    assert all(f"<dt>{kind}</dt><dd>{meaning}</dd>" in text for kind, meaning in EVIDENCE_KINDS.items())
    assert {kind.partition(",")[0] for _, kind in system.studies} <= set(EVIDENCE_KINDS)


def test_a_mark_of_the_first_picture_is_a_score_minus_the_reported_one(report: Report) -> None:
    """SimCSE reports 76.25. The median of its sources is 75.27, 0.98 less; 61 runs take three lanes.

    The interval of the sources' mean is as in `sentbench verify`, 1.43 to 0.76 below the number.
    """
    (simcse,) = (answer for answer in answers_of(report) if answer.name == "SimCSE, BERT-base")
    rows = marks_of(simcse)
    kinds = Counter(row["kind"] for row in rows)
    assert (kinds["independent run"], kinds["reported"], kinds["ours"]) == (61, 1, 0)
    (median,) = (row for row in rows if row["kind"] == "median of sources")
    assert (median["value"], median["difference"]) == (pytest.approx(75.27, abs=0.005), pytest.approx(-0.98))
    (interval,) = (row for row in rows if row["kind"] == INTERVAL)
    assert (interval["low"], interval["high"]) == pytest.approx((-1.43, -0.76), abs=0.005)
    runs = [row for row in rows if row["kind"] == "independent run"]
    assert sum(row["difference"] > 0 for row in runs) == 5, "as the line on this number says"
    assert {row["lane"] for row in runs} == {-1, 0, 1}
    assert all(row["difference"] == pytest.approx(row["value"] - 76.25) for row in rows if "value" in row)
    independent = {round(value, 4) for value in simcse.judged.others.independent.values}
    assert {row["value"] for row in runs} == independent


def test_scores_that_the_authors_measured_again_are_marked_apart(report: Report) -> None:
    marked = 0
    for answer in answers_of(report):
        pool = answer.judged.others.pools["same authors"]
        again = sorted(pool.values) or pool.sources.values()
        rows = [row["value"] for row in marks_of(answer) if row["kind"] == "its authors again"]
        assert rows == [round(value, 4) for value in again]
        marked += len(rows)
    assert marked > 9, "ten seeds of UNA"


def test_a_gain_over_an_own_run_names_it_where_another_table_quotes_another_number(report: Report) -> None:
    """DCLR compares with SimCSE run again, 74.99, which others quote with 76.25; nobody quotes SCT's."""
    actual = {answer.name: gain_words(answer) for answer in answers_of(report)}
    assert actual["DCLR, BERT-base"] == "claims +1.90 over its own SimCSE run (74.99)"
    assert actual["PT-BERT, BERT-base"] == "claims +1.49 over SimCSE"
    assert [name for name, words in actual.items() if "its own" in words] == ["DCLR, BERT-base"]


def test_a_number_is_searched_by_the_value_to_cite_too(report: Report) -> None:
    names = [name for kind, name, _ in search_places(report) if kind == "number"]
    assert "DCLR, BERT-base 76.89, cite 77.22" in names
    assert "PT-BERT, BERT-base 77.74" in names, "nothing else is to be cited"
