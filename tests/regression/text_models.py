"""Models for tests.regression.pages of what has no template: lines, JSON, CSV and the data of pictures.

Each is made in memory, with a case for every branch of its text.
"""

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from harness.evidence.cite import citation_of
from harness.evidence.differences import Difference
from harness.evidence.judged import Judged
from harness.evidence.moves import machine_changes, moves_between
from harness.evidence.others import Listed
from harness.evidence.settling import Plan, Price
from harness.evidence.statistics import Interval, KnownSd, StandardError
from harness.evidence.studies import Study
from harness.evidence.system_pairs import SystemComparison, differences_json
from harness.report.formats import evaluations, moves
from harness.report.formats.evaluations import Evaluation
from harness.report.formats.judged import in_one_line, judged_json, judged_text
from harness.report.formats.latex import escape
from harness.report.formats.readmes import to_deviations, to_scale, to_source_table
from harness.report.formats.scores import ScoreLine, differences_to_latex, differences_to_text, to_table
from harness.report.formats.summary import metrics_files, text_files
from harness.report.formats.text import describe_seeds, task_title, to_terminal
from harness.report.formats.trial import Ranked, Trial, Worth, trial_text
from harness.report.measurements import Measurements, to_speed_section
from harness.report.pages import compare
from harness.report.pages.answers import _cost, known_words
from harness.report.pages.audit import effect_of
from harness.report.pages.cells import cell_facts
from harness.report.pages.first_screen import basis_of, both_answers
from harness.report.pages.search import search_file
from harness.report.pages.sources import SystemSources
from harness.report.runs import records_of, run_list
from harness.report.sentences import open_words, seeds_words
from harness.report.tables.model import Cell, Column, Table, TableRow
from tests.harness.report import comparison_views as compared
from tests.harness.report.distinct_model import OURS, REPORT, RUNS, TABLE
from tests.harness.report.made_judged import judged, measured, printed
from tests.harness.report.made_results import result
from tests.harness.report.test_speed import two_machines
from tests.regression.page_models import audits, folded

FIVE = (74.0, 74.5, 75.0, 75.5, 76.0)
TEN = tuple(72.0 + n / 8 for n in range(10))
STUDY: dict[str, Any] = {"system": "a@b", "kind": "re-run", "source": "x/y"}
PRICE = Price("sentbench plan a", {"run": 1.5}, {"teacher": 10.0}, "a corpus", "a GPU")
UNKNOWN = PRICE._replace(corpora="", gpu="", each={"run": float("nan")})


def numbers() -> Iterator[tuple[str, Judged]]:
    """Yields judged numbers by what is special about each."""
    nothing, number = measured({}), printed(75.0, source="Toy 2020")
    known = KnownSd(0.5, 50)
    yield "nobody", judged(number, replace(nothing, searched=False), price=PRICE)
    yield "searched", judged(number, nothing, planned=known, price=PRICE)
    yield "equal", judged(number, nothing, values=FIVE * 2, dev=[0.5, *[0.4] * 9])
    yield "one seed", judged(number, nothing, values=FIVE[:1], price=PRICE)
    yield "three seeds", judged(number, nothing, values=FIVE[:3], known=known, price=UNKNOWN)
    yield "lower", judged(printed(85.0, None), measured({"a": 73.0, "b": 74.0}), values=FIVE)
    yield "higher", judged(printed(65.0, 5, picked=4), nothing, values=FIVE)
    yield "reached", judged(printed(76.0, None), nothing, values=[*FIVE[:4], 76.5] * 2)
    yield "same score", judged(number, nothing, values=(74.0,) * 5)
    yield "collapsed", judged(number, nothing, values=(40.0, *FIVE, 75.1, 74.9, 75.2, 74.8))
    yield "over a look", judged(number, nothing, values=FIVE + FIVE[:2])
    yield "exact", judged(number, nothing, values=(74.0,), known=KnownSd(0.0, 0), price=PRICE)
    yield "two sources", judged(number, measured({"a": 73.0, "b": 74.0}), planned=known, price=PRICE)
    three = measured({"a": 73.0, "b": 74.0, "c": 73.5}, {"a": (72.5, 73.5), "b": (74.0,)})
    yield "three sources", judged(printed(75.0, None, picked=3), three)
    yield "one lab", judged(number, measured({"lab": 72.5625}, {"lab": TEN}))
    apart = measured({"lab": 72.5625, "other": 90.0}, {"lab": TEN, "other": (90.0,)})
    yield "labs apart", judged(number, apart)
    yield "among many", replace(OURS, among_many=True)
    yield "by authors", OURS
    doubted = Study.model_validate({**STUDY, "scores": {"Avg": 70.0}, "doubt": "a doubt"})
    later = Study.model_validate(
        {**STUDY, "by": "toy", "scores": {"Avg": 74.0}, "supersedes": True, "file": "f"}
    )
    yield "not counted", judged(number, replace(nothing, uncounted=(doubted,)))
    yield "later version", judged(number, replace(nothing, uncounted=(later,)))
    runs = Study.model_validate({**STUDY, "scores": {"Avg": [74.0, 75.0, 73.0]}, "note": "a note"})
    for is_mean in (True, False):
        yield f"listed {is_mean}", judged(number, replace(nothing, listed=Listed(runs, "Avg", is_mean)))
    rivals = replace(three.independent, competitors={"a": (runs,)}, studies=(runs, runs))
    pools = {**three.pools, "independent": rivals, "checkpoint": replace(rivals, competitors={})}
    yield "rivals", judged(number, replace(three, pools=pools))
    helpless = Plan(why="it cannot be settled")
    yield "no plan helps", replace(judged(number, measured({"a": 73.0})), plan=helpless)


def judged_numbers() -> str:
    lines = []
    for name, each in numbers():
        runs = tuple(f"run {n}" for n in range(len(each.values)))
        shown: dict[str, Any] = {"number": each.number, "judged": each, "best_by_dev": each.best_by_dev}
        cell = Cell(**shown, runs=runs, values=each.values)
        table = Table("toy/t", "T", (Column("Avg", "Avg"),), (TableRow("a@b", "A", (cell,)),))
        lines += [f"== {name}", each.text, each.says, each.word.sign, judged_text(each), *in_one_line([each])]
        lines += [seeds_words(each), known_words(each), basis_of(each), both_answers(each), open_words(each)]
        lines += [f"{label}: {text}" for label, text in cell_facts(table, table.columns[0], cell, {})]
        lines += [_cost(each, given) for given in (cell, replace(cell, wanted=False, no_verdict="a reason"))]
        lines += [_cost(each, replace(cell, wanted=False)), *citation_of(each).lines()]
        lines += [SystemSources("A", ["Avg"], [], each).counts, json.dumps(judged_json(each))]
    lines += in_one_line([each for _, each in numbers()])
    return "\n".join(lines)


def comparisons() -> str:
    """A comparison over seeds, pairs and both, with each outcome, and one without a mean."""
    seeds, pairs = StandardError(0.01, 4), StandardError(0.008, float("inf"))
    name = compared.STS
    tasks = {
        name: Difference(0.81, 0.71, (3, 4), seeds, pairs),
        name._replace(task="a_lost"): Difference(0.61, 0.72, (3, 4), seeds, pairs, paired=True),
        name._replace(task="small", metric="accuracy"): Difference(
            0.503, 0.501, (3, 3), StandardError(1e-4, 9)
        ),
        name._replace(task="open", setting="s"): Difference(0.5, 0.49, (1, 3), None, pairs),
        name._replace(task="equal"): Difference(0.5, 0.5, (1, 1), None, StandardError(0.0, 9), exact=True),
        name._replace(task="untested"): Difference(0.5, 0.4, (3, 3), seeds, level=None),
    }
    whole = SystemComparison("one_1@b", "two@b", tasks, Difference(0.61, 0.59, (3, 4), seeds, pairs))
    open_mean = replace(whole, mean=Difference(0.6, 0.599, (3, 4), seeds))
    bare = SystemComparison("one@b", "two@b", {name: Difference(0.5, 0.5, (1, 1), None)}, None)
    texts = []
    for each in (whole, open_mean, bare):
        frame: Any = _frame(each)
        texts += [
            differences_to_text(each),
            differences_to_latex(each),
            json.dumps(differences_json(each)),
            frame,
        ]
        texts.append(json.dumps([compare.written(difference) for difference in each.tasks.values()]))
    sides = {system.key: system for system in (compared.FIRST, compared.SECOND)}
    trial = Trial(
        "f.py", sides, [compared.BOTH], [Ranked("two@b", 0.61, 8, (1, 2), elsewhere=True)], "s", ["a note"]
    )
    for worth in (None, Worth([0.81, 0.83], {"a": 0.81, "b": 0.8099}), Worth([0.5], {"a": 0.4})):
        texts.append(trial_text(replace(trial, worth=worth)))
    return "\n".join(texts)


def _frame(comparison: SystemComparison) -> str:
    from sentbench.comparison import Comparison

    made = Comparison(comparison)
    return str(made.frame.to_csv(index=False)) + made.to_latex() + str(made)


def scores() -> str:
    first = Evaluation("a_b", (
        ScoreLine("STSB", "spearman", "all", 0.81234, 1379, Interval(0.79, 0.83)),
        ScoreLine("STSB", "pearson", "all", 0.8, 1379),
        ScoreLine("STS12", "spearman", "subset:x", 0.1, 9),
        ScoreLine("STS12", "spearman", "all", 0.7, 3108),
        ScoreLine("MR", "accuracy", "10-fold", 0.9, 10662),
        ScoreLine("geometry", "uniformity", "all", -2.5, 100),
        ScoreLine("Avg. sts", "spearman", "average", 0.75617, 2, Interval(0.74, 0.77)),
    ))  # fmt: skip
    plain = Evaluation(
        "bm25", (ScoreLine("TRECQA", "map", "all", 0.5, 68), ScoreLine("TRECQA", "mrr", "all", 0.6, 68))
    )
    texts = []
    for several in ([first], [plain], [first, plain], [plain, plain]):
        texts += [
            evaluations.table_in(ending, several, text="raw", note="a note")
            for ending in evaluations.OUTPUT_ENDINGS
        ]
        texts += [evaluations.to_text(several, "a note"), to_table(several[0].lines)]
    return "\n".join(texts)


def changes() -> str:
    """Scores with each outcome; one with another recipe."""
    ends = {"up": 0.9, "down": 0.1, "noise": 0.503, "round": 0.50001, "same": 0.5}
    sides = []
    for place in (0, 1):
        made = [result(f"only_{place}", 0, {("MR", "senteval/x"): 0.5}, metric="accuracy")]
        for name, end in ends.items():
            recipe = f"{name == 'up' and place}"
            for seed in range(2):
                weights: dict[str, Any] = {"encoder_sha256": f"{name}{place}{seed}", "recipe": recipe}
                made.append(result(name, seed, {("STSB", "all"): (0.5, end)[place] + seed / 1000}, **weights))
        sides.append(made)
    found = moves_between(*sides)
    elsewhere = [each.provenance.model_copy(update={"device": "gpu"}) for each in sides[0]]
    moved = [each.model_copy(update={"provenance": at}) for each, at in zip(sides[0], elsewhere, strict=True)]
    texts = [moves.to_pull_request(found, ("a_1", "b")), json.dumps(moves.moves_json(found, ("a", "b")))]
    texts += [moves.summary([]), moves.to_pull_request([], ("a", "b")), machine_changes(sides[0], moved)]
    return "\n".join(texts)


def tables() -> str:
    plain = replace(TABLE, columns=tuple(replace(column, mark="") for column in TABLE.columns), protocol="")
    settings = tuple(TableRow("s", "S", (Cell(3.0, as_reported=same),)) for same in (True, False, None))
    bare = Table("t/s", "Settings", (Column("n", "N", plain=True),), settings)
    parts = [to_terminal(each) for each in (TABLE, folded(), plain, bare)]
    files = text_files(
        {"small": replace(TABLE, key="small"), **{each.key: each for each in (folded(), bare)}},
        ["a *problem*"],
    )
    parts += [f"== {name}\n{text}" for name, text in files.items() if name.endswith((".csv", "index.md"))]
    cells = [(3,), (3, 5), (1,), ()]
    for counts in cells:
        row = TableRow("r", "R", tuple(Cell(70.0, n=count) for count in counts))
        parts.append(describe_seeds(Table("t", "T", (Column("a", "A"),) * len(counts), (row,))))
    names = ("STSB", "SICKR-mteb", "STS12-part", "STSB-dev", "A-hard", "A-length:3:x", "own-x")
    parts += [task_title(name) for name in names]
    parts.append(escape("a_b & 50% #1 $x$ {y} ~z^ <i> | *s* [t] \\ ± × – ≤ ≥ α β τ φ"))
    return "\n".join([*parts, *metrics_files([run.result for run in RUNS.values()]).values()])


def documents() -> str:
    texts = {
        "name": "s",
        "kind": "k",
        "repository": "r_r",
        "revision": "rev",
        "licence": "l|l",
        "confirmed": "c*",
    }
    source = {**texts, "providers": ["p", "q"], "hashes": 2, "files": 3}
    bare = {**source, "repository": None, "revision": ""}
    parts = [to_deviations(audits()["audits"][0]), to_source_table([source, bare])]
    parts += [to_scale(), to_speed_section(Measurements.model_validate_json(json.dumps(two_machines())))]
    assert REPORT.weekend is not None
    parts += [replace(REPORT.weekend, left=REPORT.weekend.systems[:1]).section(), REPORT.weekend.sentence]
    parts += [
        search_file(REPORT),
        run_list(["a__s0", "a__s12"]),
        run_list(["a__s0", "b__s1"]),
        run_list(["a__s0"]),
    ]
    parts += [repr(records_of([*RUNS.values()][:n])._replace(rows=())) for n in (1, 3)]
    return "\n".join([*parts, repr(effect_of([1.0, 2.0], [3.0, 5.0])), repr(effect_of([1.0], [3.0, 5.0]))])


TEXTS: dict[str, Callable[[], str]] = {
    "judged-numbers": judged_numbers,
    "comparisons": comparisons,
    "scores": scores,
    "changes": changes,
    "tables": tables,
    "documents": documents,
}
"""The texts by the names of their files."""
