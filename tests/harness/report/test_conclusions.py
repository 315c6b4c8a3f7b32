"""The first sentences of the pages evidence, methods and compare agree with the tables below them."""

import html
import re
from collections import Counter
from dataclasses import replace

import pytest

from harness.evidence.differences import Difference
from harness.evidence.ledger import Ledger
from harness.evidence.published import Published
from harness.evidence.settling import counted
from harness.evidence.spec import TableSpec
from harness.evidence.statistics import StandardError, student
from harness.evidence.system_pairs import SystemComparison, SystemScores, TaskName
from harness.evidence.words import scale, with_count
from harness.report.pages import audit, compare, evidence
from harness.report.pages.audit import CodeDeviation, MethodAudit, audit_conclusion
from harness.report.pages.compare import comparison_conclusion
from harness.report.pages.content import Paper, Report
from harness.report.pages.first_screen import plural
from harness.report.runs import RunDetail
from harness.report.tables.build import Evidence, build_table
from tests.harness.report.made_results import result
from tests.harness.report.shown import show

TASK = TaskName("STSB", "spearman", "all", "senteval")


@pytest.fixture(scope="module")
def report(published: Published, ledger: Ledger, specs: dict[str, TableSpec]) -> Report:
    """Tables with and without studies by others; on three test sets, `a` beats `b`, and not `c`."""
    keys = ("pcl/table2", "una/table1")
    tables = tuple(build_table(specs[key], Evidence([], published, ledger)) for key in keys)
    levels = {"a": 0.7, "b": 0.3, "c": 0.69}
    results = tuple(
        result(name, seed, {(task, "all"): level + seed / 100}, metric="spearman", method=name, backbone="b")
        for name, level in levels.items()
        for task in ("STS12", "STS13", "STS14")
        for seed in range(3)
    )
    return Report("T", "abc", tables=tables, results=results)


def lede(text: str) -> str:
    """Returns the first sentence or sentences below the title of a page."""
    match = re.search(r'<h1>.*?</h1>\n<p class="lede">(.*?)</p>', text, re.DOTALL)
    assert match, "the title is followed by the conclusion"
    return html.unescape(match[1])


def evidence_faults(sentence: str, text: str) -> list[str]:
    """Returns the statements of the conclusion that the headings and rows of the page contradict."""
    summaries = re.findall(r"<summary>(<span.*?)</summary>", text)
    verdicts = Counter(html.unescape(re.findall(r": ([^:<]+)</span> <span", line)[0]) for line in summaries)
    again = sum("independent source" in line for line in summaries)
    due = [f"Others trained {again} of {len(summaries)} systems again"]
    said = {with_count(word.text, n): with_count(word.says, n) for word in scale() for n in range(2, 21)}
    counts = Counter(said[verdict] for verdict in verdicts.elements())
    for phrase in dict.fromkeys(said.values()):
        words = phrase if counts[phrase] == 1 else plural(phrase)
        if counts[phrase]:
            due.append(f" {counts[phrase]} {words}" + ("." if f" {words}." in sentence else ";"))
        elif f" {words};" in sentence:
            due.append(f"nothing that {phrase}")
    due.append(counted(len(set(re.findall(r'rel="noreferrer">([^<]+)</a>', text))), "source"))
    return [part for part in due if part not in sentence]


def test_the_conclusion_of_the_evidence_counts_the_headings_and_sources_of_its_page(report: Report) -> None:
    text = show(evidence.PAGE, report)
    sentence = lede(text)
    assert not evidence_faults(sentence, text)
    assert sum(map(int, re.findall(r"[:;] (\d+) ", sentence.replace("below,", "below:")))) == text.count(
        "<summary><span"
    ), "every heading is counted once"
    for number in re.findall(r"\d+", sentence):
        changed = re.sub(rf"\b{number}\b", str(int(number) + 1), sentence, count=1)
        assert evidence_faults(changed, text), changed
    exchanged = sentence.replace("above the mean", "below the mean")
    assert exchanged != sentence
    assert evidence_faults(exchanged, text)


def test_the_conclusion_on_methods_counts_runs_differences_measured_effects_and_tests() -> None:
    """Two methods, the first with runs: of its two points one is measured; one of all three has a test."""
    plain = CodeDeviation(about="loss", paper="one", code="another", ours="both")
    measured = plain.model_copy(update={"variants": ["paper"]})
    first = MethodAudit(method="m", title="M", preset="released", differences=[measured, plain])
    second = MethodAudit(
        method="n", title="N", preset="released", differences=[plain.model_copy(update={"tests": ["t"]})]
    )
    runs = [
        RunDetail(result(f"m-{variant}", 0, {}, dev=0.5, method="m", variant=variant, backbone="b"))
        for variant in ("paper", "released")
    ]
    assert audit_conclusion([first, second], runs) == (
        "1 of 2 methods have runs here. Their papers and released code differ, or leave a setting open, in "
        "3 points: runs here measure the effect of 1, and tests prove 1."
    )
    assert audit_conclusion([second], runs).startswith("0 of 1 method have runs here.")
    assert "the effect of 0, and tests prove 0." in audit_conclusion([first], runs[:1])


def test_the_page_of_methods_begins_with_the_counts_of_its_tables(report: Report) -> None:
    text = show(audit.PAGE, report)
    numbers = [int(number) for number in re.findall(r"\d+", lede(text))]
    rows = re.findall(r"<tr><td class=\"number\">.*?</tr>", text, re.DOTALL)
    assert numbers[1] == text.count("<section id=")
    assert numbers[2:] == [
        len(rows),
        sum('class="effect"' in row for row in rows),
        sum("proved by" in row for row in rows),
    ]


def system(name: str, *, exact: bool = False) -> SystemScores:
    return SystemScores(f"{name}@b", f"{name}/released@b", exact, {TASK: {0: 0.5, 1: 0.6}})


def against(name: str, difference: float, reach: float) -> tuple[SystemScores, SystemComparison]:
    error = StandardError(reach / student(4, 0.95), 4)
    mean = Difference(0.7, 0.7 - difference, (3, 3), error)
    return system(name), SystemComparison("a@b", f"{name}@b", {TASK: mean}, mean)


def test_the_conclusion_of_compare_counts_supported_differences_and_names_the_largest() -> None:
    """+0.02 ± 0.01 and +0.08 ± 0.05 exclude zero, -0.05 ± 0.01 is the other way, +0.10 ± 0.20 includes it."""
    rows = [
        against("b", 0.02, 0.01),
        against("c", 0.08, 0.05),
        against("d", -0.05, 0.01),
        against("e", 0.1, 0.2),
    ]
    lead = "a/released@b has the highest mean over 1 test set of the trained systems. Of "
    assert comparison_conclusion(system("a"), rows) == (
        f"{lead}4 other systems, 2 score lower on average, 1 score higher, and 1 cannot be told apart "
        "from it. The largest supported difference is +8.00 points (+3.00 to +13.00), against c/released@b."
    )
    largest = comparison_conclusion(system("a"), rows[2:])
    assert largest.endswith("is −5.00 points (−6.00 to −4.00), against d/released@b.")
    none = comparison_conclusion(system("a"), rows[3:])
    assert none == (
        f"{lead}1 other system, 0 score lower on average, 0 score higher, and 1 cannot be told apart "
        "from it. No difference of means is supported by the runs."
    )
    assert "of the untrained systems" in comparison_conclusion(system("a", exact=True), rows)


def test_the_page_compare_leads_to_the_claims_of_every_paper_that_has_some(report: Report) -> None:
    papers = tuple(Paper(key, key, "", (), short=key.upper()) for key in ("dclr", "without", "una"))
    text = show(compare.PAGE, replace(report, papers=papers))
    links = re.findall(r'<a href="\.\./papers/(\w+)\.html#claims">(\w+)<', text)
    assert links == [("dclr", "DCLR"), ("una", "UNA")]
    assert "<p>Only systems of plan <code>small</code> are compared here.</p>" in show(compare.PAGE, report)


def test_the_page_compare_begins_with_the_outcomes_of_its_table(report: Report) -> None:
    """A mean is won if both ends of its interval in the table are positive, and lost if both are negative."""
    text = show(compare.PAGE, report)
    table = text[text.index('<table class="plain stacked">') :]
    means = re.findall(r"</th><td>[^<]*</td>\n<td>(.*?)</td>", table)
    ends = [re.findall(r'class="sd">(\S+) to ([^<]+)<', mean) for mean in means]
    signs = Counter(pair[0][0][0] + pair[0][1][0] for pair in ends if pair)
    numbers = re.search(
        r"Of (\d+) other systems?, (\d+) .*?lower .*?, (\d+) .*?higher, and (\d+) ", lede(text)
    )
    assert numbers
    won, lost = signs["++"], signs["−−"]
    assert [int(number) for number in numbers.groups()] == [len(means), won, lost, len(means) - won - lost]
