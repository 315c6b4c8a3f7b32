"""Which studies of the committed ledger count, and the fifty seeds of SimCSE run by run."""

import pytest

from harness.evidence.ledger import Ledger
from harness.evidence.others import Others, others_of
from harness.evidence.published import Published
from harness.evidence.studies import runs_of

SEVEN = ("STS12", "STS13", "STS14", "STS15", "STS16", "STSB", "SICKR")
FIFTY = "hppRC/simple-simcse"


def evidence(ledger: Ledger, published: Published, table: str, row: str, column: str) -> Others:
    number = published.number(table, row, column)
    assert number is not None
    return others_of(ledger, number)


@pytest.mark.parametrize(
    ("backbone", "average"),
    [
        ("bert-base-uncased", 75.11),
        ("bert-large-uncased", 74.95),
        ("roberta-base", 74.60),
        ("roberta-large", 76.71),
    ],
)
def test_fifty_runs_of_a_backbone_have_every_set_and_the_mean_of_the_sets_is_their_average(
    backbone: str, average: float, ledger: Ledger
) -> None:
    """Each cell is rounded to 0.01, so a mean of seven is off by 0.01 at most."""
    (study,) = (study for study in ledger.of(f"simcse@{backbone}") if study.source == FIFTY)
    averages = runs_of(study.scores["Avg"])
    sets = [runs_of(study.scores[name]) for name in SEVEN]
    assert len(averages) == 50
    for run, values in zip(averages, zip(*sets, strict=True), strict=True):
        assert run == pytest.approx(sum(values) / 7, abs=0.0101)
    assert sum(averages) / 50 == pytest.approx(average, abs=0.006)


def test_runs_count_for_their_recipe_wherever_training_stopped(ledger: Ledger, published: Published) -> None:
    """In all fifty runs on RoBERTa-base the last checkpoint is the best by dev; they count."""
    for backbone in ("roberta-base", "roberta-large"):
        others = evidence(ledger, published, "pcl/table2", f"simcse@{backbone}", "Avg")
        assert others.independent.counts[FIFTY] == 50
        assert FIFTY in {study.source for study in others.studies}


def test_an_evaluation_of_an_untrained_encoder_by_others_is_independent(
    ledger: Ledger, published: Published
) -> None:
    others = evidence(ledger, published, "dclr/table1", "bert-mean@bert-base-uncased", "STSB")
    assert len(others.independent.sources) == 4
    assert set(others.independent.sources.values()) == {47.29}
