"""The sentences about a verdict, each computed from the objects of its cell."""

from harness.evidence.draws import RunPercentile
from harness.evidence.number_tests import COLLAPSED, INTERVAL, LEVEL, MARGIN, Origin
from harness.evidence.settling import Plan, counted
from harness.evidence.verdicts import Draw, Judgement, Level, OthersAnswer

OUR_MEAN, THEIR_MEAN = "our mean", "the mean of independent sources"
WITHIN = "half a point" if MARGIN == 0.5 else f"{MARGIN:g} points"
ASSUMED = (
    "runs of the paper and of one group that follow one normal distribution and do not collapse; not covered "
    "are seeds of several people, a choice among more than ten runs, and a choice that is not stated"
)
"""Assumptions of the error rates of a verdict by our seeds."""
ASSUMED_OTHERS = (
    "sources that report good and bad runs alike, none of them collapsed; not covered are sources that "
    "report only runs that fell short"
)
"""Assumptions of the error rates of a verdict by others' runs."""


LEVEL_SAYS: dict[Level, str] = {
    "within half a point": f"{{who}} is within {WITHIN}",
    "lower": "{who} is {far:.2f} lower",
    "higher": "{who} is {far:.2f} higher",
    "not known": f"not known whether {{who}} is within {WITHIN}",
}
"""Each answer on the level in words; who: whose mean, far: its distance."""
DRAW_SAYS: dict[Draw, str] = {
    "inside": "inside the range of {origin}",
    "at the edge": "at the edge of the range of {origin}",
    "outside": "outside the range of {origin}",
    "not known": "not known whether inside the range of {origin}",
}
"""Each answer on the draw in words; origin: numbers of its kind."""


def level_words(answer: Judgement | OthersAnswer) -> str:
    """Describes the position of the runs' mean, with its distance and interval; empty without runs."""
    if answer.difference is None:
        return ""
    ours = isinstance(answer, Judgement)
    says = LEVEL_SAYS[answer.level].format(who=OUR_MEAN if ours else THEIR_MEAN, far=abs(answer.difference))
    reach = ""
    if answer.interval is not None:
        confidence = INTERVAL if ours else 1 - 2 * LEVEL
        low, high = answer.interval
        reach = f", {100 * confidence:.3g} % interval {low:+.2f} to {high:+.2f}"
    return f"{says} ({answer.difference:+.2f}{reach})"


def draw_words(draw: Draw, origin: Origin | None = None) -> str:
    """Describes the position of the reported number among numbers of its origin, by default single runs."""
    averaged, picked = origin or Origin()
    if picked > 1:
        best = f"best of {picked} on dev"
        numbers = (
            f"runs that are the {best}" if averaged == 1 else f"means of {averaged} runs, each the {best}"
        )
    else:
        numbers = "single runs" if averaged == 1 else f"means of {averaged} runs"
    return DRAW_SAYS[draw].format(origin=numbers)


def place_words(percentile: RunPercentile) -> str:
    """Describes the percentile of a reported value among the recorded single runs."""
    verb = "is" if 1 in (percentile.above, percentile.runs) else "are"
    words = f"{percentile.above:,} of {counted(percentile.runs, 'single run')} {verb} above it"
    if percentile.sources > 1:
        share = f"{100 * percentile.share.value:.0f} %"
        words += (
            f", and it is above {share} of the runs of {percentile.sources} sources, each independent source "
            "weighted as one run"
        )
    return words


def collapsed_words(answer: Judgement) -> str:
    """Describes the collapsed runs and the verdict without them; empty if no run collapsed."""
    if answer.without is None:
        return ""
    runs = ", ".join(f"{value:.2f}" for value in answer.collapsed)
    return (
        f"far below their siblings: {runs} (named by chance in {COLLAPSED:.0%} of studies); without: "
        f"{answer.without.verdict}, {level_words(answer.without)}"
    )


def next_look_words(plan: Plan) -> str:
    """Describes the next look: its number of seeds, and the means that settle the level there."""
    if plan.seeds is None:
        return plan.why
    return f"{counted(plan.seeds, 'seed')} in all, {plan.more} more" + (f" ({plan.why})" if plan.why else "")
