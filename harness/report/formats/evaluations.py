"""The scores of one or several models as one table: text, Markdown, LaTeX, CSV and JSON."""

import csv
import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field

from harness.errors import InputError
from harness.evidence.statistics import Interval
from harness.io.declarations import DeclaredModel, validated
from harness.io.outputs import check_file
from harness.io.records import read_object
from harness.report.formats import latex, markdown
from harness.report.formats.scores import AVERAGE, HEADLINE, ScoreLine, foot_of, points, to_table
from harness.report.formats.text import DASH, align

OUTPUT_ENDINGS = (".csv", ".json", ".md", ".tex")
CSV_COLUMNS = ("model", "task", "metric", "setting", "value", "low", "high", "n")
FIRST_LINES = {
    ".csv": ",".join(CSV_COLUMNS),
    ".md": "<!-- scores of sentbench evaluate -->",
    ".tex": "% scores of sentbench evaluate",
}
"""First lines, by which a file of this command is known before it is replaced."""


@dataclass(frozen=True)
class Evaluation:
    """The scores of a model, the averages of suites last."""

    model: str
    lines: Sequence[ScoreLine]


class EvaluatedScore(DeclaredModel):
    """One score of a file of evaluations, in raw units."""

    model: str
    task: str
    metric: str
    setting: str
    value: float
    n: int
    interval: Annotated[list[float], Field(min_length=2, max_length=2)] | None = None


class EvaluationFile(DeclaredModel):
    """The JSON file of `sentbench evaluate --out`."""

    text: Literal["senteval", "raw"]
    scores: list[EvaluatedScore]


def check_table(path: Path) -> Path:
    """Returns the resolved path of a table, which may replace a table of this command.

    Errors: InputError for another ending, a file of something else, or a place that cannot be written.
    """
    ending = path.suffix.lower()
    if ending not in OUTPUT_ENDINGS:
        raise InputError(f"--out {path}: expected a name that ends in {', '.join(OUTPUT_ENDINGS)}")
    output = check_file(path, keys=("text", "scores") if ending == ".json" else ())
    if ending != ".json" and output.is_file() and output.stat().st_size:
        with output.open(encoding="utf-8", errors="replace") as file:
            if file.readline().rstrip("\r\n") != FIRST_LINES[ending]:
                raise InputError(f"{path}: exists and is not an output of this command; name another file")
    return output


def table_in(ending: str, evaluations: Sequence[Evaluation], *, text: str, note: str) -> str:
    """Returns the table in the format of a file's ending. text: the text form of the tasks."""
    if ending == ".json":
        return json.dumps(to_json(evaluations, text=text), indent=1) + "\n"
    if ending == ".csv":
        return to_csv(evaluations)
    return to_markdown(evaluations, note) if ending == ".md" else to_latex(evaluations, note)


def to_json(evaluations: Sequence[Evaluation], *, text: str) -> dict[str, Any]:
    """Returns all scores as plain values in raw units, as `EvaluationFile` describes them."""
    scores = [{"model": found.model, **line.plain()} for found in evaluations for line in found.lines]
    return {"text": text, "scores": scores}


def to_csv(evaluations: Sequence[Evaluation]) -> str:
    """Returns a row for each score, in raw units; low and high are empty without an interval."""
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(CSV_COLUMNS)
    for found in evaluations:
        for line in found.lines:
            ends = line.interval or ("", "")
            writer.writerow((found.model, line.task, line.metric, line.setting, line.value, *ends, line.n))
    return file.getvalue()


def to_text(evaluations: Sequence[Evaluation], note: str) -> str:
    """Returns a line per score of one model; of several the headline scores, a line per model or, with
    intervals, per task.
    """
    if len(evaluations) == 1:
        return to_table(evaluations[0].lines, note=note)
    rows = cells_of(evaluations)
    if any(line.interval for found in evaluations for line in found.lines):
        rows = [list(row) for row in zip(["task", *rows[0][1:]], *(row for row in rows[1:]), strict=True)]
    return "\n".join([*align(rows), "", _foot(evaluations, note)]) + "\n"


def to_markdown(evaluations: Sequence[Evaluation], note: str) -> str:
    """Returns a row per model with its headline scores."""
    heads, *rows = [[markdown.escape(cell) for cell in row] for row in cells_of(evaluations)]
    rule = [":--", *["--:"] * (len(heads) - 1)]
    lines = [f"| {' | '.join(row)} |" for row in (heads, rule, *rows)]
    return "\n".join([FIRST_LINES[".md"], "", *lines, "", markdown.escape(_foot(evaluations, note))]) + "\n"


def to_latex(evaluations: Sequence[Evaluation], note: str) -> str:
    """Returns a booktabs table, a row per model with its headline scores."""
    heads, *rows = [[latex.escape(cell) for cell in row] for row in cells_of(evaluations)]
    lines = [f"{' & '.join(row)} \\\\" for row in (heads, *rows)]
    return (
        "\n".join(
            [
                *(FIRST_LINES[".tex"], f"% {_foot(evaluations, note)}"),
                *(rf"\begin{{tabular}}{{l{'r' * (len(heads) - 1)}}}", r"\toprule", lines[0], r"\midrule"),
                *(*lines[1:], r"\bottomrule", r"\end{tabular}"),
            ]
        )
        + "\n"
    )


def cells_of(evaluations: Sequence[Evaluation]) -> list[list[str]]:
    """Returns the cells of the table of models: heads, then a row per model; scores with their intervals."""
    shown = [headlines_of(found.lines) for found in evaluations]
    titles = list(dict.fromkeys(title for row in shown for title in row))
    return [
        ["model", *titles],
        *(
            [found.model, *(points(row[title], interval=True) if title in row else DASH for title in titles)]
            for found, row in zip(evaluations, shown, strict=True)
        ),
    ]


def headlines_of(lines: Sequence[ScoreLine]) -> Mapping[str, ScoreLine]:
    """Returns the headline score of each task and each average, by title: the task, with its metric unless it
    is Spearman's correlation."""
    chosen: dict[str, ScoreLine] = {}
    for task in dict.fromkeys(line.task for line in lines):
        of_task = [line for line in lines if line.task == task]
        wanted = [
            line
            for metric, setting in HEADLINE.items()
            for line in of_task
            if line.metric == metric and line.setting in (setting or line.setting, AVERAGE)
        ]
        line = (wanted or of_task)[0]
        chosen[task if line.metric == "spearman" else f"{task} {line.metric}"] = line
    return chosen


def _foot(evaluations: Sequence[Evaluation], note: str) -> str:
    lines = [line for found in evaluations for line in headlines_of(found.lines).values()]
    bounds = "95 % bootstrap intervals over the pairs" if any(line.interval for line in lines) else ""
    return foot_of(lines, "; ".join(filter(None, [bounds, note])))


def read_evaluation(path: Path) -> tuple[str, str, list[ScoreLine]]:
    """Returns the model, the text form and the scores of a JSON file of one evaluated model, without
    averages.

    Errors: InputError for another file, or for several models.
    """
    raw = read_object(path, again="write it again by `sentbench evaluate --out`")
    found = validated(EvaluationFile, raw, where=str(path))
    models = list(dict.fromkeys(score.model for score in found.scores))
    if len(models) != 1:
        raise InputError(
            f"{path}: has scores of {', '.join(models) or 'no model'}, expected one model in a file"
        )
    lines = [
        ScoreLine(**score.model_dump(exclude={"model", "interval"}), interval=_interval(score.interval))
        for score in found.scores
        if score.setting != AVERAGE
    ]
    return models[0], found.text, lines


def _interval(ends: Sequence[float] | None) -> Interval | None:
    return None if ends is None else Interval(*ends)
