"""Scores of one encoder, and the differences between two systems, as aligned plain text in points."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass

from harness.evidence import statistics
from harness.evidence.differences import Difference
from harness.evidence.moved import HEADLINE
from harness.evidence.statistics import Interval
from harness.evidence.system_pairs import MEAN_FIRST, SystemComparison
from harness.report.formats.latex import escape
from harness.report.formats.text import DASH, align

PLAIN = ("alignment", "uniformity", "anisotropy")
"""Metrics that papers report in raw units; all others are reported x 100."""

SUBSET, AVERAGE = "subset:", "average"
"""Begin of the setting of a score over one subset of a task; setting of the average of a suite."""


@dataclass(frozen=True)
class ScoreLine:
    """One score in raw units over n items; interval: its 95 % bootstrap interval over pairs, if computed."""

    task: str
    metric: str
    setting: str
    value: float
    n: int
    interval: Interval | None = None

    def plain(self) -> dict[str, object]:
        """Returns the score for JSON, without a missing interval."""
        return {name: value for name, value in asdict(self).items() if value is not None}


def to_table(lines: Sequence[ScoreLine], *, note: str = "") -> str:
    """Returns a line per score of a model with heads, without subsets, then its averages. note: of the line
    below the table.
    """
    shown = [line for line in lines if not line.setting.startswith(SUBSET)]
    bounds = any(line.interval for line in shown)
    heads = ["task", "metric", "over", "score", *(["95 % interval"] if bounds else []), "n"]
    averages = [line for line in shown if line.setting == AVERAGE]
    rows = [heads, *(_row(line, bounds) for line in shown if line not in averages)]
    rows += [[""], *(_row(line, bounds) for line in averages)] if averages else []
    more = f"{len(lines) - len(shown)} scores of subsets in --out FILE.csv" if len(shown) < len(lines) else ""
    foot = foot_of(shown, "; ".join(filter(None, [note, more])))
    return "\n".join([*align(rows, 3), "", foot]) + "\n"


def foot_of(lines: Iterable[ScoreLine], note: str) -> str:
    """Returns the line below a table of these scores."""
    foot = "scores x 100"
    if any(line.metric in PLAIN for line in lines):
        foot += f", but {', '.join(PLAIN)} as they are"
    return "; ".join(filter(None, [foot, note]))


def points(line: ScoreLine, *, interval: bool = False) -> str:
    """Returns the score as it is shown, x 100 unless its metric is one of PLAIN; interval: followed by its
    interval, if there is one."""
    shown = f"{line.value:.4f}" if line.metric in PLAIN else f"{100 * line.value:.2f}"
    return f"{shown} ({_interval(line.interval)})" if interval and line.interval else shown


def _row(line: ScoreLine, bounds: bool) -> list[str]:
    interval = [_interval(line.interval)] if bounds else []
    items = f"{line.n} tasks" if line.setting == AVERAGE else f"{line.n:,}"
    return [line.task, line.metric, line.setting, points(line), *interval, items]


def _interval(interval: Interval | None) -> str:
    return "" if interval is None else f"{100 * interval.low:.2f} to {100 * interval.high:.2f}"


def average_of(tasks: Sequence[str], lines: Sequence[ScoreLine]) -> tuple[str, str, float] | None:
    """Returns metric, setting and mean of the headline scores of these tasks, in raw units. None for a single
    task, or unless every task has the same headline score.
    """
    for metric in HEADLINE:
        for setting in dict.fromkeys(line.setting for line in lines if line.metric == metric):
            headlines_found = {
                line.task: line.value
                for line in lines
                if (line.metric, line.setting) == (metric, setting) and line.task in tasks
            }
            if len(tasks) > 1 and len(headlines_found) == len(tasks):
                return metric, setting, statistics.mean(list(headlines_found.values()))
    return None


def differences_to_text(comparison: SystemComparison) -> str:
    """Returns a line per task with both means, difference and intervals, then the mean and the tally."""
    rows = [
        [
            "task",
            "metric",
            comparison.first,
            comparison.second,
            "difference",
            "over seeds",
            "over pairs",
            "jointly",
            "",
        ]
    ]
    rows += [
        [name.task, name.metric, *_difference(difference)] for name, difference in comparison.tasks.items()
    ]
    if comparison.mean is not None:
        rows.append(["Mean", "", *_difference(comparison.mean)])
    judged = comparison.mean or next(iter(comparison.tasks.values()))
    foot = f"scores x 100; tested {judged.reason}, {MEAN_FIRST}; intervals have the level of their test"
    if judged is comparison.mean and judged.outcome == "inconclusive":
        foot += "; no test set was tested, as the mean is inconclusive"
    said = [comparison.in_words, comparison.power_in_words]
    return "\n".join([*align(rows, 2), "", *filter(None, said), foot]) + "\n"


def differences_to_latex(comparison: SystemComparison) -> str:
    """Returns a booktabs table: a column per task and the mean, a row per system, a row of differences.

    A star marks a difference that is won or lost.
    """
    stars = {"won": "^{*}", "lost": "^{*}", "inconclusive": "", "equal": ""}
    ends = [("Avg.", comparison.mean)] if comparison.mean is not None else []
    columns = [*((name.task, difference) for name, difference in comparison.tasks.items()), *ends]
    rows = [
        ["", *(escape(title) for title, _ in columns)],
        [escape(comparison.first), *(f"{100 * difference.first:.2f}" for _, difference in columns)],
        [escape(comparison.second), *(f"{100 * difference.second:.2f}" for _, difference in columns)],
        [
            "Difference",
            *(
                f"${100 * difference.difference:+.2f}{stars[difference.outcome]}$"
                for _, difference in columns
            ),
        ],
    ]
    heads, ours, theirs, differences = (" & ".join(row) + r" \\" for row in rows)
    rules = [r"\toprule", heads, r"\midrule", ours, theirs, r"\midrule", differences, r"\bottomrule"]
    return "\n".join([rf"\begin{{tabular}}{{l{'c' * len(columns)}}}", *rules, r"\end{tabular}"]) + "\n"


def _difference(difference: Difference) -> list[str]:
    values = [f"{100 * value:.2f}" for value in (difference.first, difference.second)]
    intervals = [signed_interval(interval) for interval in difference.intervals]
    return [*values, f"{100 * difference.difference:+.2f}", *intervals, difference.in_words]


def signed_interval(interval: Interval | None) -> str:
    """Returns an interval of a difference in points, a dash without one."""
    return DASH if interval is None else f"{100 * interval.low:+.2f} to {100 * interval.high:+.2f}"
