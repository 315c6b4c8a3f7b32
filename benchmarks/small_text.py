"""The sections of docs/small-setting.md that `python -m benchmarks.small_setting` writes."""

import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path

from benchmarks.small_attention import SENTENCES, Word, rank_correlation
from benchmarks.small_controls import WIDTH
from benchmarks.small_facts import MEASURES, Difference, Shown
from harness.evidence.statistics import mean

SHOWN = "yes"


def to_facts(rows: Sequence[Shown], seeds: int, steps: int, command: str) -> str:
    """Returns the section on the facts of the literature."""
    intro = (
        f"`{command}` trains both sides of every line with {seeds} seeds and writes this table: first "
        "minus second, Spearman x 100, with the 95 % interval over seeds that `sentbench compare` gives. The "
        "number of seeds was fixed before the first training. The weights are selected on dev; no setting is "
        "chosen by a test set. The small setting shows a fact if all three intervals lie above 0. "
        f"All trainings have {steps} steps, so a smaller batch also sees fewer sentences: PCL has "
        "32, DiffCSE 64, the others 128."
    )
    lines = [
        f"| {row.fact.name} | {row.fact.says} | "
        f"{' | '.join(_shown(row.differences[name]) for name in MEASURES)} | {row.verdict} |"
        for row in rows
    ]
    return "\n".join(
        [
            "## What it shows",
            "",
            _filled(intro),
            "",
            "| first, second | in the literature | STS-B dev | STS-B test | partial sets | shown here |",
            "| --- | --- | --: | --: | --: | --- |",
            *lines,
            "",
            _filled(conclusion(rows)),
            "",
        ]
    )


def conclusion(rows: Sequence[Shown]) -> str:
    """Returns the conclusion of the table: the number of shown facts, and the facts that are not shown."""
    agreed = [row for row in rows if row.fact.agreed]
    missing = [f"{row.fact.name} ({row.verdict})" for row in agreed if row.verdict != SHOWN]
    said = f"It shows {len(agreed) - len(missing)} of {len(agreed)} facts on which the literature agrees."
    if missing:
        said += " It does not show the following, and a result on it is no evidence for them: "
        said += f"{'; '.join(missing)}."
    return f"{said} The order of methods on BERT-base does not follow from any line."


def to_rates(
    rows: Sequence[tuple[str, float, Mapping[float, float]]],
    rates: Sequence[float],
    evaluations: int,
    command: str,
) -> str:
    """Returns the section on learning rates.

    rows: a system, the recipe's rate, dev scores by rate. evaluations: number of them in a training.
    """
    intro = (
        f"STS-B dev, Spearman x 100, seed 0, the best of {evaluations} evaluations. `{command}` writes this "
        "table; the rate of the recipe is in bold."
    )
    columns = [*sorted({*rates, *(rate for _, rate, _ in rows)})]
    lines = [
        f"| {system} | "
        + " | ".join(_score(scores.get(rate), chosen=rate == chosen) for rate in columns)
        + " |"
        for system, chosen, scores in rows
    ]
    return "\n".join(
        [
            "## Learning rates",
            "",
            _filled(intro),
            "",
            f"| | {' | '.join(f'{rate:g}' for rate in columns)} |",
            f"| --- | {' | '.join('--:' for _ in columns)} |",
            *lines,
            "",
        ]
    )


def to_attention(words: Sequence[Word], steps: int, figure: Path, command: str) -> str:
    """Returns the section with the figure on attention weights."""
    rare, frequent = words[-(len(words) // 10) :], words[: len(words) // 10]
    ratio = mean([word.after for word in rare]) / mean([word.after for word in frequent])
    said = (
        "[CLS] has a zero vector, so at the start it gives every word of a sentence the same weight: a plain "
        f"mean. After SimCSE's {steps} steps (seed 0) the rarest tenth of the {len(words):,} words here has "
        f"{ratio:.1f} times the weight of the most frequent tenth; the rank correlation of frequency and "
        f"weight is {rank_correlation(words):+.2f}. No loss states frequencies: words that many sentences "
        "share make different sentences similar, so driving sentences apart lowers their weight; keeping the "
        "two views of a sentence together keeps the weight of words that distinguish it. "
        f"`{command}` draws the figure from {SENTENCES:,} sentences of the corpus, one point per word."
    )
    title = "Attention of [CLS] to words by their frequency, after training"
    return "\n".join(["## What training changes", "", _filled(said), "", f"![{title}]({figure})", ""])


def _shown(difference: Difference) -> str:
    if difference.interval is None:
        return f"{difference.value:+.1f}"
    return f"{difference.value:+.1f} ({difference.interval.low:+.1f} to {difference.interval.high:+.1f})"


def _score(score: float | None, *, chosen: bool) -> str:
    if score is None:
        return ""
    return f"**{score:.1f}**" if chosen else f"{score:.1f}"


def _filled(text: str) -> str:
    return textwrap.fill(text, WIDTH, break_long_words=False, break_on_hyphens=False)
