"""The sentences about a verdict, each computed from the objects of its cell."""

from harness.evidence.draws import RunPercentile
from harness.evidence.judged import Judged
from harness.evidence.number_tests import COLLAPSED, INTERVAL, LEVEL, LOOKS, MARGIN
from harness.evidence.numbers import PublishedNumber
from harness.evidence.settling import Plan, counted
from harness.evidence.statistics import SMALL_SAMPLE
from harness.evidence.verdicts import FEW_SOURCES, Judgement
from harness.evidence.words import WORDS, Draw, Level

OUR_MEAN, THEIR_MEAN = "our mean", "the mean of independent sources"
AMONG_MANY = "it would not replicate alone; among all numbers of its page that is not enough"
"""Effect of false-discovery control on a verdict."""
WITHIN = "half a point" if MARGIN == 0.5 else f"{MARGIN:g} points"
ASSUMED = (
    "runs of the paper and of one group that follow one normal distribution and do not collapse; not covered "
    "are an offset between the labs, seeds of several people, a choice among more than ten runs or on the "
    "test set, and a choice that is not stated"
)
"""Assumptions of the error rates of a verdict by our seeds."""
ASSUMED_OTHERS = (
    "sources that report good and bad runs alike, none of them collapsed, and labs that differ by no more "
    "than their sources show; not covered are sources that report only runs that fell short or that depend "
    "on one another, and the best of many runs on the test set, which is hardly ever found"
)
"""Assumptions of the error rates of a verdict by others' runs."""
ASSUMED_ONE = (
    "runs of one lab that differ from those of the paper by their seeds alone; not covered are an offset "
    "between the two labs, and the best of many runs on the test set"
)
"""Assumptions of the error rates of a verdict by one source with many runs."""


LEVEL_SAYS: dict[Level, str] = {
    "within half a point": f"{{who}} is within {WITHIN}",
    "lower": "{who} is {far:.2f} lower",
    "higher": "{who} is {far:.2f} higher",
    "not known": f"not known whether {{who}} is within {WITHIN}",
}
"""Each answer on the level in words; who: whose mean, far: its distance."""
DRAW_SAYS: dict[Draw, str] = {
    "inside": "inside the range of {kind}",
    "inside as a best": "above every single run on record, inside the range of {kind}",
    "at the edge": "at the edge of the range of {kind}",
    "outside": "outside the range of {kind}",
    "not known": "not known whether inside the range of {kind}",
}
"""Each answer on the draw in words; kind: numbers of its kind."""


def level_words(answer: Judgement) -> str:
    """Describes the position of the runs' mean, with its distance and interval; empty without runs."""
    if answer.difference is None:
        return ""
    ours = answer.verdict.by == "ours"
    who = OUR_MEAN if ours else THEIR_MEAN
    if answer.source:
        who = f"the mean of {answer.count} runs of one lab, {answer.source},"
    says = LEVEL_SAYS[answer.verdict.level].format(who=who, far=abs(answer.difference))
    reach = ""
    if answer.interval is not None:
        low, high = answer.interval
        reach = f", {_confidence(ours)} % interval {low:+.2f} to {high:+.2f}"
    apart = f"; {' and '.join(answer.apart)} differ by more than seeds do" if answer.apart else ""
    return f"{says} ({answer.difference:+.2f}{reach}){apart}"


def _confidence(ours: bool) -> str:
    """Returns the confidence of the interval of a mean, ours at a look or others', in percent."""
    return f"{100 * (INTERVAL if ours else 1 - 2 * LEVEL):.3g}"


def open_words(judged: Judged) -> str:
    """Describes why a number that was measured again is not settled; empty for other numbers."""
    answer = judged.answer
    if judged.verdict.is_settled or answer.difference is None:
        return ""
    if answer.fault or answer.apart:
        return answer.fault or f"{' and '.join(answer.apart)} differ by more than seeds do"
    kind = "run" if answer.source else "source"
    what = "our mean" if judged.ours else f"the mean of {counted(answer.count, kind)}"
    what += " of one lab" if answer.source else ""
    if judged.ours and len(judged.values) < LOOKS[0]:
        return f"{counted(len(judged.values), 'seed')} of the {LOOKS[0]} of the first look"
    if answer.interval is None:
        sources = counted(len(judged.others.independent.sources), "source")
        return f"{sources}; a verdict needs {FEW_SOURCES}, or one with {SMALL_SAMPLE} runs"
    low, high = answer.interval
    where = "partly" if low < -MARGIN < high or low < MARGIN < high else "not surely"
    ends = f"{low:+.2f} to {high:+.2f}".replace("-", "\N{MINUS SIGN}")
    return f"{_confidence(judged.ours is not None)} % interval of {what}: {ends}; {where} within {WITHIN}"


def assumed_words(judged: Judged) -> str:
    """Describes the assumptions of a verdict and what it does not cover; empty while nothing is settled."""
    if not judged.verdict.is_settled:
        return ""
    if judged.ours is not None:
        return ASSUMED
    return ASSUMED_ONE if judged.answer.source else ASSUMED_OTHERS


def draw_words(draw: Draw, number: PublishedNumber) -> str:
    """Describes the position of a published number among numbers of its kind."""
    return DRAW_SAYS[draw].format(kind=kind_words(number))


def one_run_words(draw: Draw) -> str:
    """Describes the position of a published number as a single run."""
    return DRAW_SAYS[draw].format(kind="single runs")


def kind_words(number: PublishedNumber) -> str:
    """Describes the numbers among which a published number is judged."""
    averaged, picked = number.drawn
    if number.picked is None and picked > 1:
        return f"single runs and bests of {picked} on dev (the paper does not state the choice)"
    if picked > 1:
        best = f"best of {picked} on dev"
        return f"runs that are the {best}" if averaged == 1 else f"means of {averaged} runs, each the {best}"
    return "single runs" if averaged == 1 else f"means of {averaged} runs"


def place_words(percentile: RunPercentile) -> str:
    """Describes the percentile of a reported value among the recorded single runs."""
    verb = "is" if 1 in (percentile.above, percentile.runs) else "are"
    words = f"{percentile.above:,} of {counted(percentile.runs, 'single run')} {verb} above it"
    if percentile.sources > 1:
        share = f"{100 * percentile.share.value:.0f} %"
        words += (
            f"; with each independent source counted as one run, it is above {share} of the runs of the "
            f"{percentile.sources} sources that report single runs"
        )
    return words


def collapsed_words(answer: Judgement) -> str:
    """Describes the collapsed runs and the verdict without them; empty if no run collapsed."""
    if answer.without is None:
        return ""
    runs = ", ".join(f"{value:.2f}" for value in answer.collapsed)
    return (
        f"far below their siblings: {runs} (named by chance in {COLLAPSED:.0%} of studies); without: "
        f"{WORDS[answer.without.verdict].text}, {level_words(answer.without)}"
    )


def next_look_words(plan: Plan) -> str:
    """Describes the next look: its number of seeds, and the means that settle the level there."""
    if plan.seeds is None:
        return plan.why
    return f"{counted(plan.seeds, 'seed')} in all, {plan.more} more" + (f" ({plan.why})" if plan.why else "")


def seeds_words(judged: Judged) -> str:
    """Describes the number of runs behind a published number."""
    number, listed = judged.number, judged.others.listed
    if listed is not None:
        return f"{'mean' if listed.is_mean else 'one'} of {len(listed.runs)} seeds"
    if number.picked is not None and number.picked > 1:
        return f"best of {number.picked} on dev"
    return {None: "seeds not stated", 1: "one run"}.get(number.seeds, f"mean of {number.seeds} seeds")
