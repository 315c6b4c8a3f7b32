"""A published number with all evidence on it, and the verdict."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from harness.evidence.draws import OURS, RunPercentile, placed
from harness.evidence.number_tests import Origin
from harness.evidence.numbers import PublishedNumber
from harness.evidence.others import Others
from harness.evidence.settling import Plan, Price, chances_of_seeds, plan_for
from harness.evidence.verdicts import Judgement, by_others, judge, on_record
from harness.evidence.words import ONE_LAB, WORDS, Draw, Verdict, Word, with_count

Fact = tuple[str, str, float]
"""System, column and value of a published number, equal in all tables that quote it."""


@dataclass(frozen=True)
class Judged:
    """A published number with all answers. `values` are our seeds' scores in points, in the order of seeds.

    ours: the judgement of our seeds, None without any; by_others: of independent runs. best_by_dev: score in
    points of the best of all our seeds by development score; None for a reported mean of seeds, which has no
    choice. among_many: whether the false-discovery control of its page withdrew that both answers are off.
    as_one_run: the draw as a single run, where the paper states no number of runs; None otherwise.
    """

    number: PublishedNumber
    values: tuple[float, ...]
    others: Others
    ours: Judgement | None
    by_others: Judgement
    percentile: RunPercentile | None = None
    best_by_dev: float | None = None
    plan: Plan | None = None
    among_many: bool = False
    as_one_run: Draw | None = None

    @property
    def answer(self) -> Judgement:
        """The judgement that decides: of our seeds if there are any."""
        return self.ours or self.by_others

    @property
    def verdict(self) -> Verdict:
        """The verdict; among many numbers it may state only the level."""
        verdict = self.answer.verdict
        return verdict._replace(draw="at the edge") if self.among_many else verdict

    @property
    def word(self) -> Word:
        """The word of the verdict, for a sign, a colour and a count of verdicts."""
        return WORDS[self.verdict]

    @property
    def text(self) -> str:
        """The verdict in words, with the number of runs that a best was chosen from, and one lab named."""
        return self._said(self.word.text)

    @property
    def says(self) -> str:
        """The predicate of a sentence on the number."""
        return self._said(self.word.says)

    def _said(self, words: str) -> str:
        alone = ONE_LAB if self.answer.source and self.verdict.is_settled else ""
        return with_count(words, self.number.drawn.picked) + alone

    @property
    def chances(self) -> Mapping[int, float]:
        """The chance of a verdict on the level by each look, as `verify` has it without a seed of ours."""
        others = self.others
        return chances_of_seeds(others=self.by_others.difference, known=others.sd, planned=others.planned)

    @property
    def fact(self) -> Fact:
        """Key of the number, equal in all tables that quote it."""
        return self.others.system or self.number.row, self.number.column, round(self.number.value, 4)


def judge_number(
    number: PublishedNumber,
    others: Others,
    *,
    values: Sequence[float] = (),
    dev: Sequence[float] = (),
    in_order: int | None = None,
    price: Price | None = None,
) -> Judged:
    """Returns a published number with its verdict.

    values: our seeds in points, in their declared order; dev: their development scores, empty if not
    recorded; in_order: number of them before the first missing seed, by default all. A number reported as a
    mean of seeds gets no percentile; a number with a verdict by our runs gets no plan.
    """
    rounding, independent = number.rounding, others.independent
    runs = {**independent.runs, **({OURS: tuple(values)} if values else {})}
    ours, answer = _answers(number, others, values, in_order, number.drawn)
    as_one_run = None
    if number.seeds is None and number.picked is None:
        by_ours, by_sources = _answers(number, others, values, in_order, Origin())
        as_one_run = (by_ours or by_sources).verdict.draw
    single = number.seeds is None or number.seeds == 1
    selected = None
    if single and values and len(dev) == len(values):
        selected = max(zip(dev, values, strict=True), key=lambda seed: seed[0])[1]
    plan = None
    if ours is None or ours.verdict.level == "not known":
        plan = plan_for(
            number,
            values,
            others=answer.difference,
            known=others.sd,
            planned=others.planned,
            price=price,
            in_order=in_order,
        )
    return Judged(
        number=number,
        values=tuple(values),
        others=others,
        ours=ours,
        by_others=answer,
        percentile=placed(runs, number.value, rounding=rounding) if single and runs else None,
        best_by_dev=selected,
        plan=plan,
        as_one_run=None if as_one_run == "not known" else as_one_run,
    )


def _answers(
    number: PublishedNumber, others: Others, values: Sequence[float], in_order: int | None, origin: Origin
) -> tuple[Judgement | None, Judgement]:
    """Returns the judgements of our seeds, if any, and of independent runs, for a number of this origin."""
    rounding, independent, ours = number.rounding, others.independent, None
    recorded = [*values, *independent.values]
    if values:
        ours = judge(
            values, number.value, origin=origin, known=others.sd, rounding=rounding, in_order=in_order
        )
        ours = on_record(ours, recorded, number.value, origin=origin, rounding=rounding)
    answer = by_others(
        independent.as_sources,
        number.value,
        origin=origin,
        same_authors=any(others.pools[kind].studies for kind in ("same authors", "checkpoint")),
        searched=others.searched,
        rounding=rounding,
        borrowed=others.borrowed,
    )
    return ours, on_record(answer, recorded, number.value, origin=origin, rounding=rounding)
