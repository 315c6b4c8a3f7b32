"""What others measured of a printed number: kinds apart, each source once, and not the print itself."""

from __future__ import annotations

import pytest

from harness.declarations import LEADERBOARDS
from harness.errors import InputError
from harness.report.evidence.ledger import Ledger, load_ledger
from harness.report.evidence.model import Range, Scope, Settings, Study, Summary
from harness.report.evidence.others import (
    Others,
    known_spread,
    others_of,
    pool,
    printed_number,
)
from harness.report.intervals import percentile
from harness.report.tables.published import Published
from harness.report.verdicts import by_others, drawn
from harness.report.verification import median

LATER = "README.md, first SimCSE table"
"""The study that was added after the summary below was written."""


@pytest.fixture(scope="module")
def ledger(published: Published) -> Ledger:
    return load_ledger(LEADERBOARDS / "evidence", published)


def known(
    ledger: Ledger, published: Published, table: str, row: str, column: str = "Avg"
) -> tuple[float, Others]:
    """Returns a printed value and what others measured of it."""
    printed = printed_number(published, ledger, table=table, row=row, column=column)
    assert printed is not None
    return printed.value, others_of(ledger, printed)


@pytest.mark.parametrize(
    ("table", "row", "column", "runs", "middle", "share", "sources", "middle_of_sources"),
    [
        ("pcl/table2", "simcse@bert-base-uncased", "Avg", 72, 75.19, 90, 14, 75.22),
        ("pcl/table2", "simcse@roberta-base", "Avg", 54, 74.62, 100, 5, 76.10),
        ("sct/table2", "simcse@bert-large-uncased", "Avg", 51, 75.56, 100, 2, 75.90),
        ("pcl/table2", "simcse@roberta-large", "Avg", 51, 76.75, 100, 2, 77.32),
        ("ptbert/table4", "simcse@bert-base-uncased", "STSB-dev", 60, 81.53, 88, 9, 81.61),
        ("sct/table2", "diffcse@bert-base-uncased", "Avg", 4, 77.16, 100, 4, 77.16),
    ],
)
def test_the_summary_of_the_collection_comes_out(
    ledger: Ledger,
    published: Published,
    table: str,
    row: str,
    column: str,
    runs: int,
    middle: float,
    share: int,
    sources: int,
    middle_of_sources: float,
) -> None:
    """Numbers of runs and sources, their medians, and the share of runs below the print, as collected."""
    earlier = Ledger(tuple(study for study in ledger.studies if study.file != LATER), ledger.scope)
    printed, others = known(earlier, published, table, row, column)
    found = others.independent
    assert (len(found.values), len(found.sources)) == (runs, sources)
    assert median(found.values) == pytest.approx(middle, abs=0.0051)
    assert median(list(found.sources.values())) == pytest.approx(middle_of_sources, abs=0.0055)
    assert 100 * percentile(found.values, printed).value == pytest.approx(share, abs=0.51)


def test_simcse_on_bert_base_is_found_lower_by_fifteen_sources(ledger: Ledger, published: Published) -> None:
    printed, others = known(ledger, published, "pcl/table2", "simcse@bert-base-uncased")
    found = by_others(others.independent.sources, printed, same_authors=False, searched=True)
    assert (found.answer, found.sources) == ("others find less", 15)
    assert drawn(others.independent.runs, printed).answer == "lucky draw"


def test_the_later_study_does_not_decide_it(ledger: Ledger, published: Published) -> None:
    printed, others = known(ledger, published, "pcl/table2", "simcse@bert-base-uncased")
    for left in others.independent.sources:
        rest = {by: value for by, value in others.independent.sources.items() if by != left}
        assert by_others(rest, printed, same_authors=False, searched=True).answer == "others find less"


MAIN_ROWS = [
    ("pcl/table2", "pcl@bert-base-uncased"),
    ("pcl/table2", "pcl/single-run@bert-base-uncased"),
    ("dclr/table1", "dclr/submission@bert-base-uncased"),
    ("ptbert/table3", "pt-bert@bert-base-uncased"),
    ("sct/table2", "sct@bert-tiny"),
    ("una/table1", "una@bert-base-uncased"),
    ("una/table1", "una/paraphrase-pegasus@bert-base-uncased"),
]


@pytest.mark.parametrize(("table", "row"), MAIN_ROWS)
def test_nobody_but_its_authors_measured_a_main_number(
    ledger: Ledger, published: Published, table: str, row: str
) -> None:
    printed, others = known(ledger, published, table, row)
    assert not others.independent.studies
    found = by_others(
        {}, printed, same_authors=bool(others.pools["same authors"].studies), searched=others.searched
    )
    assert found.answer == "only its authors"


def test_the_kinds_are_disjoint_and_lose_no_study(ledger: Ledger, published: Published) -> None:
    """Of SimCSE on BERT-base: 17 independent studies of the average, 3 checkpoints, 4 other recipes."""
    _, others = known(ledger, published, "pcl/table2", "simcse@bert-base-uncased")
    counts = {kind: len(found.studies) for kind, found in others.pools.items()}
    assert counts == {"independent": 17, "same authors": 0, "checkpoint": 3, "other recipe": 4}
    all_of_them = [study for study in ledger.of("simcse@bert-base-uncased") if "Avg" in study.scores]
    assert sum(counts.values()) + len(others.uncounted) == len(all_of_them)
    assert {study.doubt != "" or study.repeats != [] for study in others.uncounted} == {True}


def test_independence_is_relative_to_who_printed(ledger: Ledger, published: Published) -> None:
    """UNA's own ten seeds are independent of the cited 76.25 and not of the 75.32 that UNA prints."""
    _, cited = known(ledger, published, "pcl/table2", "simcse@bert-base-uncased")
    _, own = known(ledger, published, "una/table1", "simcse@bert-base-uncased")
    assert "una" in cited.independent.runs
    assert "una" not in own.independent.runs
    assert own.pools["same authors"].runs == {"una": cited.independent.runs["una"]}


def test_a_print_is_no_evidence_for_itself(ledger: Ledger, published: Published) -> None:
    """DCLR prints 74.99 for SimCSE: one source of the cited number, none of its own cell."""
    printed, own = known(ledger, published, "dclr/table1", "simcse@bert-base-uncased")
    assert printed == 74.99
    assert 74.99 not in [value for found in own.pools.values() for value in found.values]
    _, una = known(ledger, published, "una/table2", "una@bert-base-uncased")
    assert not una.pools["same authors"].studies


def test_an_average_of_other_sets_is_another_quantity(ledger: Ledger, published: Published) -> None:
    def found(table: str, row: str, column: str = "Avg") -> object:
        return printed_number(published, ledger, table=table, row=row, column=column)

    assert found("pcl/table4", "simcse@bert-base-uncased") is None  # transfer accuracy
    assert found("ptbert/table5c", "simcse/hard-length-subset@bert-base-uncased") is None  # five sets
    assert found("una/table2", "una@bert-base-uncased", "STS12") is None  # no such column
    with pytest.raises(InputError, match="unknown published table"):
        found("pcl/table22", "simcse@bert-base-uncased")


def test_printed_fractions_become_points(ledger: Ledger, published: Published) -> None:
    found = printed_number(published, ledger, table="una/table1", row="una@bert-base-uncased", column="Avg")
    assert found is not None
    assert (found.value, found.by, found.seeds) == (76.14, "una", 1)
    assert found.rounding == pytest.approx(0.005)


def study(source: str, scores: dict[str, object], **more: object) -> Study:
    return Study.model_validate(
        {"system": "a@b", "kind": "re-run", "source": source, "scores": scores, **more}
    )


EMPTY = Scope(groups={}, same={}, searched=[])


def test_a_source_counts_once_by_the_mean_over_its_runs() -> None:
    """x/y: 70 and 72 and a mean of 75 over four: (142 + 300) / 6 = 73.667. x/z: the middle of its range."""
    studies = [
        study("x/y", {"Avg": [70.0, 72.0]}),
        study("x/y", {"Avg": {"mean": 75.0, "n": 4}}),
        study("x/z", {"Avg": {"low": 70.0, "high": 71.0}}),
        study("x/w", {"Avg": {"sd": 0.3, "n": 3}}),
    ]
    found = pool(Ledger(tuple(studies), EMPTY), studies, "Avg")
    assert found.sources == pytest.approx({"x/y": 442 / 6, "x/z": 70.5})
    assert found.values == (70.0, 72.0)
    assert found.behind == 7
    assert isinstance(studies[1].scores["Avg"], Summary)
    assert isinstance(studies[2].scores["Avg"], Range)


def test_the_spread_is_that_of_the_largest_converged_study(ledger: Ledger) -> None:
    """Fifty seeds of BERT-base have an sd of 0.844; those of RoBERTa may have stopped too early."""
    fifty = known_spread(ledger, "simcse@bert-base-uncased", "Avg")
    ten = known_spread(ledger, "una/paraphrase-pegasus@bert-base-uncased", "Avg")
    assert fifty is not None
    assert ten is not None
    assert (fifty.n, ten.n) == (50, 10)
    assert fifty.sd == pytest.approx(0.8443, abs=1e-4)
    assert ten.sd == pytest.approx(0.3824, abs=1e-4)
    assert known_spread(ledger, "simcse@roberta-base", "Avg") is None
    assert known_spread(ledger, "pcl@bert-base-uncased", "Avg") is None


def test_settings_that_were_not_stated_are_empty() -> None:
    assert study("x/y", {"Avg": 70.0}).settings == Settings()
