"""The ledger: complete, and a fault in a file is a one-line error."""

from pathlib import Path
from typing import Any

import pytest

from harness.errors import InputError
from harness.evidence import statistics
from harness.evidence.ledger import Ledger, load_ledger
from harness.evidence.published import Published
from harness.evidence.studies import Score, Summary, runs_of
from tests.support.yaml_files import dump_yaml

SETS = ("STS12", "STS13", "STS14", "STS15", "STS16", "STSB", "SICKR")


def middle(score: Score) -> float:
    return (score.middle or 0.0) if isinstance(score, Summary) else statistics.mean(runs_of(score))


def test_averages_are_the_means_of_their_cells_but_for_named_ones(ledger: Ledger) -> None:
    """SCT prints averages of SimCSE on two small backbones that are not the means of their cells."""
    off = set()
    checked = 0
    for study in ledger.studies:
        if {*SETS, "Avg"} <= study.scores.keys() and not study.system.startswith("ct"):
            checked += 1
            mean = statistics.mean([middle(study.scores[name]) for name in SETS])
            if abs(middle(study.scores["Avg"]) - mean) > 0.02:
                off.add((study.system, study.source))
    assert checked == 66
    assert off == {(f"simcse@bert-{size}", "arxiv:2311.03228") for size in ("tiny", "mini")}


def test_a_second_name_finds_the_same_studies(ledger: Ledger) -> None:
    assert ledger.of("pcl/single-run@roberta-base") == ledger.of("pcl@roberta-base") != []
    assert ledger.searched("pcl/single-run@roberta-base")
    assert not ledger.searched("is-bert@bert-base-uncased")


GOOD: dict[str, Any] = {
    "system": "simcse@bert-base-uncased",
    "kind": "re-run",
    "source": "someone/somewhere",
    "scores": {"Avg": 75.0},
}
SCOPE: dict[str, Any] = {"groups": {}, "same": {}, "searched": []}


def write(folder: Path, studies: list[dict[str, Any]], scope: dict[str, Any] = SCOPE) -> Path:
    (folder / "studies.yaml").write_text(dump_yaml({"studies": studies}), encoding="utf-8")
    (folder / "scope.yaml").write_text(dump_yaml(scope), encoding="utf-8")
    return folder


def test_a_study_reads_the_numbers_of_its_published_table(tmp_path: Path, published: Published) -> None:
    """UNA prints fractions of one; PCL's row says that it is a mean of five."""
    dropout = {**GOOD, "system": "simcse/nt-xent@bert-base-uncased", "scores": {}}
    fractions = {**dropout, "reported": {"table": "una/table1", "columns": ["Avg", "STSB"]}}
    columns = {"Avg": ["seed-0", "seed-1"]}
    seeds = {**dropout, "source": "a/c", "reported": {"table": "una/table-d7", "columns": columns}}
    reported = {"table": "pcl/table2", "columns": ["Avg"]}
    five = {**dropout, "system": "pcl@roberta-base", "reported": reported}
    loaded = load_ledger(write(tmp_path, [fractions, five, seeds]), published).studies
    assert [study.scores for study in loaded] == [
        {"Avg": 75.32, "STSB": 76.16},
        {"Avg": Summary(mean=77.91, n=5)},
        {"Avg": [75.26, 74.52]},
    ]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"scores": {}}, "no number, expected `scores` or `reported`"),
        ({"scores": {"Mean": 75.0}}, "column 'Mean', expected one of STS12"),
        ({"scores": {"Avg": {"n": 5}}}, "a summary needs a mean or an sd"),
        ({"scores": {"Avg": {"low": 76.0, "high": 75.0}}}, "low 76.0 is not below high 75.0"),
        ({"scores": {"Avg": {"mean": 75.0, "low": 74.0}}}, "a summary needs n"),
        ({"kind": "other-recipe"}, "expected `differs` for another recipe and only there"),
        ({"differs": "data"}, "expected `differs` for another recipe and only there"),
        ({"settings": {"seeds": [1, 2]}, "scores": {"Avg": [1.0, 2.0, 3.0]}}, "3 values, expected 2"),
        ({"reported": {"table": "pcl/table2", "columns": ["Mean"]}}, "unknown column of pcl/table2"),
        ({"reported": {"table": "pcl/table2", "columns": ["Avg"]}}, "Avg both reported and stated"),
        ({"repeats": ["Avg"]}, "in no other study"),
    ],
)
def test_a_faulty_study_is_one_line(
    tmp_path: Path, published: Published, change: dict[str, Any], message: str
) -> None:
    with pytest.raises(InputError, match=f"studies.yaml.*{message}"):
        load_ledger(write(tmp_path, [{**GOOD, **change}]), published)


def test_one_run_stated_twice_is_refused_unless_the_second_says_so(
    tmp_path: Path, published: Published
) -> None:
    ten = {**GOOD, "scores": {"Avg": [75.0, 75.4]}}
    again = {**GOOD, "scores": {"Avg": 75.4, "STSB": 76.0}}
    with pytest.raises(InputError, match=r"studies\.1: .* 75\.4 by someone/somewhere is in two studies"):
        load_ledger(write(tmp_path, [ten, again]), published)
    for right in ({"repeats": ["Avg"]}, {"source": "someone/else"}):
        loaded = load_ledger(write(tmp_path, [ten, {**again, **right}]), published)
        assert len(loaded.studies) == 2


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        ({"one": {"sources": ["a/b"]}, "two": {"sources": ["a/b"]}}, "'a/b' is in two groups"),
        ({"one": {"papers": ["pcll"]}}, "papers 'pcll' is not known"),
    ],
)
def test_a_faulty_group_is_one_line(
    tmp_path: Path, published: Published, groups: dict[str, Any], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        load_ledger(write(tmp_path, [GOOD], {**SCOPE, "groups": groups}), published)
