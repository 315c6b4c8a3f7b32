"""The sentences about a verdict, each computed from the objects that its cell is made of."""

from harness.facts.draws import Place
from harness.facts.number_tests import COLLAPSED, INTERVAL, LEVEL, MARGIN
from harness.facts.settling import Plan, counted
from harness.facts.verdicts import Draw, Judgement, Level, OthersAnswer

OUR_MEAN, THEIR_MEAN = "our mean", "the mean of independent sources"
WITHIN = "half a point" if MARGIN == 0.5 else f"{MARGIN:g} points"
OUTSIDE = (
    "runs of one group that vary by a normal law and do not collapse; seeds of several people and a choice "
    "that the paper does not tell are outside of it"
)
"""What the error rates of a verdict by our seeds assume."""
OUTSIDE_OTHERS = "sources that tell good and bad runs alike: if only runs that fell short are told, it fails"
"""The same of a verdict by others' runs."""


def level_words(answer: Judgement | OthersAnswer) -> str:
    """Returns where the mean of the runs lies, with its distance and interval; empty without runs."""
    if answer.difference is None:
        return ""
    ours = isinstance(answer, Judgement)
    who, far = OUR_MEAN if ours else THEIR_MEAN, abs(answer.difference)
    says: dict[Level, str] = {
        "within half a point": f"{who} is within {WITHIN}",
        "lower": f"{who} is {far:.2f} lower",
        "higher": f"{who} is {far:.2f} higher",
        "not known": f"not known whether {who} is within {WITHIN}",
    }
    reach = ""
    if answer.interval is not None:
        confidence = INTERVAL if ours else 1 - 2 * LEVEL
        low, high = answer.interval
        reach = f", {100 * confidence:.3g} % interval {low:+.2f} to {high:+.2f}"
    return f"{says[answer.level]} ({answer.difference:+.2f}{reach})"


def draw_words(draw: Draw, origin: str = "single runs give") -> str:
    """Returns where the reported number lies among numbers of its kind, in words."""
    says: dict[Draw, str] = {
        "inside": f"inside what {origin}",
        "at the edge": f"at the edge of what {origin}",
        "outside": f"outside of what {origin}",
        "not known": f"not known whether inside of what {origin}",
    }
    return says[draw]


def place_words(place: Place) -> str:
    """Returns where a reported value is among the single runs on record."""
    verb = "is" if place.above == 1 else "are"
    words = f"{place.above:,} of {counted(place.runs, 'single run')} {verb} above it"
    if place.sources > 1:
        share = f"{100 * place.share.value:.0f} %"
        words += f", and it is above {share} of {place.sources} sources, each of others counted once"
    return words


def collapsed_words(answer: Judgement) -> str:
    """Returns which runs collapsed and what the rest says; empty where none did."""
    if answer.without is None:
        return ""
    runs = ", ".join(f"{value:.2f}" for value in answer.collapsed)
    return (
        f"far below their siblings: {runs} (named by chance in {COLLAPSED:.0%} of studies); without: "
        f"{answer.without.verdict}, {level_words(answer.without)}"
    )


def next_look_words(plan: Plan) -> str:
    """Returns after how many seeds the next look is, and which means settle the level there."""
    if plan.seeds is None:
        return plan.why
    return f"{counted(plan.seeds, 'seed')} in all, {plan.more} more" + (f" ({plan.why})" if plan.why else "")
