"""SimCSE against its controls in the committed results: the section `Controls` of docs/small-setting.md."""

import textwrap
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from harness.errors import InputError
from harness.evidence.schema import ResultFile
from harness.evidence.statistics import Interval, mean, mean_interval

ENCODER, CONFIDENCE, WIDTH = "words-50d", 0.95, 118
SIMCSE, UNTRAINED, WHITENED = "simcse-small", "pooled-cls-small", "whitening-small"
CONTROLS = {
    "uniformity": "simcse-uniformity-small",
    "uniformity at its rate": "simcse-uniformity-rate-small",
    "permuted": "simcse-permuted-small",
    "negated": "simcse-negated-small",
}
TEST = ("STSB", "STS12-part", "STS13-part", "STS14-part", "STS15-part", "STS16-part")
"""STS-B test and the partial sets."""
TITLES = {"dev": "STS-B dev", "test": "STS-B test", "parts": "partial sets"}
INTRO = (
    "Rows of the small table: the untrained encoder; the negated loss of SimCSE (`negated`); "
    "with another sentence's view as the positive (`permuted`); and without positives (`uniformity`, at "
    "SimCSE's own temperature of 0.05; once at SimCSE's rate and once at 5e-3, the rate that is best for "
    "it on STS-B dev in the table of rates). "
    "Written by "
    "`make generated` from the committed results: means over seeds and their 95 % intervals, the weights "
    "selected on dev; `partial sets` is the mean of five."
)


class Scores(NamedTuple):
    """Spearman x 100 of the selected weights: STS-B dev, STS-B test, the mean of the five partial sets."""

    dev: float
    test: float
    parts: float


def scores_of(result: ResultFile) -> Scores:
    """Returns the scores of a result on the six test sets."""
    points = {
        score.task: 100 * score.value
        for score in result.scores
        if (score.metric, score.setting) == ("spearman", "all")
    }
    return scores_from(100 * result.selection.best_dev, points)


def scores_from(dev: float, points: Mapping[str, float]) -> Scores:
    """Returns a dev score with the scores of the test sets by task, all x 100."""
    first, *parts = (points[task] for task in TEST)
    return Scores(dev, first, mean(parts))


def to_controls(results: Iterable[ResultFile]) -> str:
    """Returns the section from all results of the small plan.

    Errors: InputError if a row has no result.
    """
    seeds: dict[str, list[Scores]] = {}
    for result in results:
        if result.run.backbone == ENCODER and result.run.id in {
            SIMCSE,
            UNTRAINED,
            WHITENED,
            *CONTROLS.values(),
        }:
            seeds.setdefault(result.run.id, []).append(scores_of(result))
    rows = {"SimCSE": SIMCSE, **CONTROLS, "untrained": UNTRAINED, "untrained, whitened": WHITENED}
    missing = [system for system in rows.values() if system not in seeds]
    if missing:
        raise InputError(f"no result of {', '.join(missing)} on {ENCODER}; run `sentbench launch`")
    lines = [
        f"| {name} | {len(seeds[system])} | {' | '.join(_cell(seeds[system], key) for key in TITLES)} |"
        for name, system in rows.items()
    ]
    return "\n".join(
        [
            "## Controls",
            "",
            filled(INTRO),
            "",
            f"| | seeds | {' | '.join(TITLES.values())} |",
            "| --- | --: | --: | --: | --: |",
            *lines,
            "",
            filled(conclusion(seeds)),
            "",
        ]
    )


def conclusion(seeds: Mapping[str, list[Scores]]) -> str:
    """Returns the text on the controls below SimCSE and on the whitened vectors."""
    apart = {
        name: [key for key in TITLES if is_above(seeds, system, key)] for name, system in CONTROLS.items()
    }
    said = [
        f"{name} on {_listed([TITLES[key] for key in keys])}" if keys else f"{name} on none"
        for name, keys in apart.items()
    ]
    if all(len(keys) == len(TITLES) for keys in apart.values()):
        text = "SimCSE is above each of its controls on all three, with intervals that do not overlap."
    else:
        text = f"SimCSE is above, with intervals that do not overlap: {'; '.join(said)}."
    white, simcse = seeds[WHITENED][0], Scores(*(_mean(seeds[SIMCSE], key) for key in TITLES))
    higher = [TITLES[key] for key in TITLES if getattr(white, key) > getattr(simcse, key)]
    if higher:
        text += f" Whitened vectors of the untrained encoder are above SimCSE on {_listed(higher)}."
    return text


def is_above(seeds: Mapping[str, list[Scores]], control: str, key: str) -> bool:
    """Returns whether SimCSE's whole interval is above the control's; False without two seeds per side."""
    ours, theirs = (_interval(seeds[system], key) for system in (SIMCSE, control))
    return ours is not None and theirs is not None and ours.low > theirs.high


def _interval(scores: list[Scores], key: str) -> Interval | None:
    return mean_interval([getattr(entry, key) for entry in scores], CONFIDENCE)


def _mean(scores: list[Scores], key: str) -> float:
    return mean([getattr(entry, key) for entry in scores])


def _cell(scores: list[Scores], key: str) -> str:
    interval = _interval(scores, key)
    text = f"{_mean(scores, key):.1f}"
    return text if interval is None else f"{text} ({interval.low:.1f} to {interval.high:.1f})"


def _listed(names: list[str]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def filled(text: str) -> str:
    """Returns a paragraph in lines of WIDTH."""
    return textwrap.fill(text, WIDTH, break_long_words=False, break_on_hyphens=False)
