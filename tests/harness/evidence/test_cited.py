"""The committed ledger: which number is cited where authors measured their own number several times."""

from dataclasses import replace

import pytest

from harness.evidence.cite import Citation, citation_of
from harness.evidence.judged import Judged, judge_number
from harness.evidence.ledger import Ledger
from harness.evidence.others import others_of
from harness.evidence.published import Published
from harness.evidence.statistics import mean
from harness.evidence.studies import Summary, runs_of
from harness.report.formats.judged import judged_text


def judged(ledger: Ledger, published: Published, table: str, row: str, column: str = "Avg") -> Judged:
    number = published.number(table, row, column)
    assert number is not None
    return judge_number(number, others_of(ledger, number))


@pytest.mark.parametrize(
    ("table", "row", "value", "says"),
    [
        (
            "una/table1",
            "una/paraphrase-pegasus@bert-base-uncased",
            76.97,
            "mean of 10 runs by its authors; the reported 77.67 is the best of them",
        ),
        (
            "pcl/table2",
            "pcl/single-run@bert-base-uncased",
            78.14,
            "mean of 5 runs by its authors; the reported",
        ),
        (
            "dclr/table1",
            "dclr/submission@bert-base-uncased",
            77.22,
            "later version by its authors; the reported 76.89 is of the version before",
        ),
    ],
)
def test_a_headline_gives_way_to_what_its_authors_measured_on_average_or_later(
    table: str, row: str, value: float, says: str, ledger: Ledger, published: Published
) -> None:
    known = judged(ledger, published, table, row)
    actual = citation_of(known)
    assert (actual.kind, round(actual.value, 2)) == ("authors", value)
    assert actual.how.startswith(says)
    lines, (cite, *sources) = judged_text(known).splitlines(), actual.lines()
    assert lines[2].startswith("verdict ")
    assert lines[3] == cite
    assert lines[-len(sources) :] == sources


@pytest.mark.parametrize(
    ("column", "says", "reported"),
    [
        ("seed-42", "the reported 77.67 is the best of them", "77.67 (one of 10 seeds, by una)"),
        ("seed-0", "the reported 76.91 is one of them", "76.91 (one of 10 seeds, by una)"),
        ("Mean", "the reported 76.98 is this mean as printed", "76.98 (mean of 10 seeds, by una)"),
    ],
)
def test_single_runs_in_a_table_and_their_printed_mean_are_cited_like_the_headline(
    column: str, says: str, reported: str, ledger: Ledger, published: Published
) -> None:
    system = "una/paraphrase-pegasus@bert-base-uncased"
    headline = citation_of(judged(ledger, published, "una/table1", system))
    known = judged(ledger, published, "una/table-d7", system, column)
    actual = citation_of(known)
    assert (actual.value, actual.interval, actual.origin) == (
        headline.value,
        headline.interval,
        headline.origin,
    )
    assert actual.how == f"mean of 10 runs by its authors; {says}"
    assert judged_text(known).splitlines()[1] == f"reported   {reported}"


def test_each_place_of_a_system_cites_one_value_where_its_authors_list_their_runs(
    ledger: Ledger, published: Published
) -> None:
    cited: dict[str, set[float]] = {}
    for number in published.numbers.values():
        others = others_of(ledger, number)
        if others.listed is not None or (number.column == "Avg" and others.pools["same authors"].values):
            known = judge_number(number, others)
            if not others.independent.sources:
                cited.setdefault(ledger.plain(number.row), set()).add(round(citation_of(known).value, 2))
    assert cited["una/paraphrase-pegasus@bert-base-uncased"] == {76.97}
    assert cited["simcse/nt-xent@bert-base-uncased"] == {75.16}


def test_the_later_version_of_dclr_is_listed_as_a_quotation_with_its_other_settings(
    ledger: Ledger, published: Published
) -> None:
    known = judged(ledger, published, "dclr/table1", "dclr/submission@bert-base-uncased")
    assert "other batches and intervals" in citation_of(known).note
    assert not known.others.studies
    assert "    https://arxiv.org/abs/2311.03228 (quoted)" in judged_text(known).splitlines()


def test_a_mean_of_independent_sources_is_cited_next_to_the_mean_of_the_authors(
    ledger: Ledger, published: Published
) -> None:
    """UNA's headline, if three sources had measured it too: their mean is cited, its authors' is stated."""
    number = published.number("una/table1", "una/paraphrase-pegasus@bert-base-uncased", "Avg")
    assert number is not None
    others = others_of(ledger, number)
    sources = {"a": 75.0, "b": 75.1, "c": 75.2}
    pool = replace(others.independent, sources=sources, runs={name: (run,) for name, run in sources.items()})
    actual = citation_of(judge_number(number, replace(others, pools={**others.pools, "independent": pool})))
    assert (actual.kind, actual.value) == ("independent", pytest.approx(75.1))
    assert actual.how.endswith("; its authors' mean of 10 runs is 76.97")


def tells(actual: Citation, means: list[tuple[float, int]]) -> bool:
    """Whether a citation is one of some means with their numbers of runs, or states one."""
    return any(round(actual.value, 2) == round(mean, 2) or f"{mean:.2f}" in actual.how for mean, _ in means)


def test_no_citation_of_any_published_number_contradicts_a_mean_by_the_same_authors(
    ledger: Ledger, published: Published
) -> None:
    checked = 0
    for number in published.numbers.values():
        if not number.measurable:
            continue
        by = ledger.reported_by(number.paper, number.work)
        means = []
        for study in ledger.of(number.row):
            score = study.scores.get(number.column)
            if study.kind != "re-run" or study.doubt or ledger.measured_by(study) != by or score is None:
                continue
            runs = runs_of(score)
            if len(runs) > 1:
                means.append((mean(runs), len(runs)))
            elif isinstance(score, Summary) and score.mean is not None and score.n:
                means.append((score.mean, score.n))
        means = [known for known in means if known[1] > (number.seeds or 1)]
        if means:
            checked += 1
            actual = citation_of(judge_number(number, others_of(ledger, number)))
            most = [known for known in means if known[1] == max(count for _, count in means)]
            assert tells(actual, most), (number, actual, means)
    assert checked > 5
