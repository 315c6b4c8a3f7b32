"""Ranks of the rows of a table, and which rows are bold."""

from itertools import combinations

import numpy as np
from scipy import stats
from statsmodels.stats.multitest import multipletests

from harness.report.formats.text import to_terminal
from harness.report.pages.cells import cell_facts
from harness.report.tables.build import build_table
from harness.report.tables.model import Table
from tests.harness.report.test_tables import MakeEvidence, spec_of


def test_bold_marks_the_rows_that_are_not_separable_from_the_best(evidence: MakeEvidence) -> None:
    """Of group one b leads, a is within its noise, c is 10 points below; e is alone."""
    values = {"a": 0.700, "b": 0.701, "c": 0.60, "e": 0.10, "oracle": 0.99}
    groups = {"e": "two"}
    rows = [
        {"title": name, "group": groups.get(name, "one"), "run": f"{name}-v@x", "competes": name != "oracle"}
        for name in values
    ]
    records = [
        (f"{name}/v@x", seed, "STSB", value + 0.002 * seed)
        for name, value in values.items()
        for seed in range(3)
    ]

    def table(better: str = "higher", **more: object) -> Table:
        column = {"key": "STSB", "task": "STSB", "better": better}
        return build_table(spec_of(*rows, columns=(column,), **more), evidence(records))

    for actual, ranks in (
        (table(), [(1, 2), (1, 2), (3, 3), None, None]),
        (table("lower"), [(2, 3), (2, 3), (1, 1), None, None]),
        (table(compete="table"), [(1, 2), (1, 2), (3, 3), (4, 4), None]),
        (table(compete="none"), [None] * 5),
        (table("none"), [None] * 5),
    ):
        assert [row.cells[0].ranks for row in actual.rows] == ranks
    assert table().rows[0].source == "rank 1 to 2 of 3 by STSB"


def bold(evidence: MakeEvidence, groups: dict[str, tuple[float, ...]]) -> tuple[list[bool], list[str]]:
    """Returns which rows are bold, and the notes; each row has three seeds around its mean."""
    means = [(group, mean) for group, values in groups.items() for mean in values]
    rows = [
        {"title": str(place), "group": group, "run": f"a{place}-v@x"}
        for place, (group, _) in enumerate(means)
    ]
    records = [
        (f"a{place}/v@x", seed, "STSB", mean + 0.002 * seed)
        for place, (_, mean) in enumerate(means)
        for seed in range(3)
    ]
    table = build_table(spec_of(*rows, columns=({"key": "STSB", "task": "STSB"},)), evidence(records))
    return [row.cells[0].leads for row in table.rows], list(table.notes)


def test_a_column_where_more_than_a_third_would_be_bold_has_none_and_says_so(evidence: MakeEvidence) -> None:
    """The best of a group and those that it does not beat: 2 of 6, 3 of 7; alone, a best is always bold."""
    assert bold(evidence, {"g": (0.7, 0.701, 0.5, 0.4, 0.3, 0.2)}) == ([True] * 2 + [False] * 4, [])
    crowded = bold(evidence, {"g": (0.7, 0.701, 0.702, 0.5, 0.4, 0.3, 0.2)})
    assert crowded == (
        [False] * 7,
        [
            "No row is bold in STS-B (3 of 7): more than a third of the competing rows are not shown to be "
            "worse than another one."
        ],
    )
    assert bold(evidence, {"g": (0.7, 0.5)}) == ([True, False], [])
    assert bold(evidence, {"g": (0.7, 0.5), "h": (0.6, 0.3)}) == ([True, False] * 2, [])
    assert not any(bold(evidence, {"g": (0.7, 0.701), "h": (0.6, 0.3)})[0])


def test_a_row_that_is_bold_below_another_has_a_note_with_both_and_their_spread(
    evidence: MakeEvidence,
) -> None:
    """c has one wide seed: nobody is shown to be better than it, while b is shown to be lower than a."""
    seeds = {"a": (70.0, 70.1, 70.2), "b": (69.0, 69.1, 69.2), "c": (60.0, 66.0, 78.0)}
    seeds |= {name: (40.0 + place, 40.1 + place, 40.2 + place) for place, name in enumerate("defg")}
    records = [
        (f"{name}/v@x", seed, "STSB", value / 100)
        for name, values in seeds.items()
        for seed, value in enumerate(values)
    ]
    rows = [{"title": name, "run": f"{name}-v@x"} for name in seeds]
    column = {"key": "STSB", "task": "STSB"}
    table = build_table(spec_of(*rows, columns=(column,)), evidence(records))
    assert [row.title for row in table.rows if row.cells[0].leads] == ["a", "c"]
    assert list(table.notes) == [
        "A row is bold if no competing row is shown to be better. One whose seeds vary more can be bold "
        "below one that is not: STS-B (c below b: its sd is 9.17 against 0.10)."
    ]
    assert "\n* no competing row is shown to be better\n" in to_terminal(table)
    facts = [dict(cell_facts(table, table.columns[0], row.cells[0], {})) for row in table.rows]
    assert facts[2]["Rank"].endswith("; bold, as no competing row is shown to be better")
    assert "bold" not in facts[1]["Rank"]


def test_rows_of_ten_and_of_twenty_seeds_have_the_ranks_that_welchs_tests_with_holms_steps_show(
    evidence: MakeEvidence,
) -> None:
    """Nine systems whose standard deviations differ tenfold, each second one with twenty seeds."""
    rng = np.random.default_rng(4)
    means = (0.70, 0.698, 0.66, 0.65, 0.60, 0.592, 0.50, 0.488, 0.40)
    drawn = [
        rng.normal(mean, 0.002 * (1 + place), 10 * (1 + place % 2)).tolist()
        for place, mean in enumerate(means)
    ]
    pairs = [*combinations(range(len(means)), 2)]
    p = [stats.ttest_ind(drawn[one], drawn[other], equal_var=False).pvalue for one, other in pairs]
    holds = multipletests(p, method="holm")[0]
    assert sum(value < 0.05 for value in p) > holds.sum(), "some pairs are apart alone, but not among many"
    apart = dict(zip(pairs, holds.tolist(), strict=True))
    ranks = []
    for place, scores in enumerate(drawn):
        others = [other for other in range(len(means)) if other != place]
        shown = [other for other in others if apart[min(place, other), max(place, other)]]
        better = sum(np.mean(drawn[other]) > np.mean(scores) for other in shown)
        ranks.append((1 + better, len(means) - (len(shown) - better)))
    rows = [{"title": str(place), "run": f"a{place}-v@x"} for place in range(len(means))]
    records = [
        (f"a{place}/v@x", seed, "STSB", value)
        for place, scores in enumerate(drawn)
        for seed, value in enumerate(scores)
    ]
    table = build_table(spec_of(*rows, columns=({"key": "STSB", "task": "STSB"},)), evidence(records))
    assert [row.cells[0].ranks for row in table.rows] == ranks
    assert [row.cells[0].n for row in table.rows] == [10, 20, 10, 20, 10, 20, 10, 20, 10]
    assert [row.cells[0].leads for row in table.rows] == [first == 1 for first, _ in ranks]
    assert {first for first, _ in ranks} > {1, 3}, "some systems are apart"
    assert any(first < last for first, last in ranks), "some are not"
