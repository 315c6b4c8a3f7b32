"""Counts, shares and borders of the methods, with numbers for which the next rule gives another answer."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

from methods.consert.method import element_cutoff, feature_cutoff
from methods.core import dropout
from methods.core.batching import plan_batches
from methods.core.errors import InputError
from methods.core.queues import BatchQueue, VectorQueue
from methods.core.token_edits import duplicate_in_place, hidden_positions
from methods.core.train_config import LARGEST, MOST, SMALLEST, Settings, StepPlan, TrainConfig
from methods.core.trainer import Trainer
from methods.dclr.method import cut_count, cut_features, cut_tokens
from methods.dclr.objective import false_negatives, weighted_logits
from methods.diffcse.method import MASKED, RANDOM, corrupt
from methods.mirror_bert.method import mask_span
from methods.moco.method import MoCo
from methods.una.corruption import SHORTEST, probabilities, select, top_positions
from methods.una.terms import Positions
from methods.whitening.method import RELATIVE_FLOOR, fit


class Drawn:
    """A generator whose draws are given, in turn."""

    def __init__(self, *draws: Any) -> None:
        self.draws = [*draws]

    def random(self, *size: Any) -> Any:
        return np.asarray(self.draws.pop(0))

    def integers(self, *limits: Any, **more: Any) -> Any:
        self.limits = limits
        return np.asarray(self.draws.pop(0))


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


@pytest.mark.parametrize(
    ("total", "rate", "count"),
    [(10, 0.25, 2), (10, 0.27, 3), (10, 0.35, 4), (3, 0.1, 1), (1, 0.9, 1), (0, 0.5, 0), (4, 1.0, 4)],
)
def test_dclr_cuts_the_rounded_share_and_at_least_one(total: int, rate: float, count: int) -> None:
    assert cut_count(total, rate) == count
    if total:
        factors = cut_features(3, total, rate=rate, rng=rng())
        assert (factors == 0).sum(dim=(1, 2)).tolist() == [count] * 3


def test_a_cut_span_reaches_both_ends_and_never_a_special_token() -> None:
    """Five words, two of them cut: a span starts at the words 0 to 3."""
    starts, chosen = set(), set()
    for seed in range(60):
        for span in (True, False):
            keep = cut_tokens([7, 4], rate=0.4, span=span, rng=rng(seed))[..., 0]
            cut = (keep == 0).nonzero().tolist()
            first = [position for row, position in cut if row == 0]
            assert len(first) == 2
            assert [position for row, position in cut if row == 1] in ([1], [2])
            if span:
                assert first[1] == first[0] + 1
                starts.add(first[0])
            chosen.update(first)
    assert starts == {1, 2, 3, 4}
    assert chosen == {1, 2, 3, 4, 5}


def test_a_cosine_at_the_threshold_is_masked_only_at_or_above() -> None:
    scores = torch.tensor([[1.0, 0.5, 0.25], [0.5, 1.0, 0.75], [2.0, -2.0, 1.0]])
    for comparison, mask in {
        "above": [[0, 0, 0], [0, 0, 1], [1, 0, 0]],
        "at-or-above": [[0, 1, 0], [1, 0, 1], [1, 0, 0]],
    }.items():
        actual = false_negatives(scores, threshold=0.5, comparison=comparison)  # type: ignore[arg-type]
        assert actual.int().tolist() == mask
    assert not false_negatives(scores, threshold=1.0, comparison="above").any(), "2 counts as a cosine of 1"


def test_a_masked_pair_counts_as_one_or_not_at_all_and_noise_always_counts() -> None:
    similarities = torch.tensor([[1.0, 0.5, 0.25], [0.5, 1.0, 0.75]])
    masked = torch.tensor([[False, True], [False, False]])
    zero, left_out = (
        weighted_logits(similarities, masked, temperature=0.5, masked_pair=pair)
        for pair in ("zero-logit", "excluded")
    )
    assert zero.tolist() == [[2.0, 0.0, 0.5], [1.0, 2.0, 1.5]]
    assert left_out.tolist() == [[2.0, -np.inf, 0.5], [1.0, 2.0, 1.5]]


@pytest.mark.parametrize(
    ("text", "changes"), [("abcd", False), ("abcde", True), ("abcdef", True), ("abc", False)]
)
def test_a_span_of_four_is_masked_from_five_characters(text: str, changes: bool) -> None:
    """A text of `length` characters stays; of one more, the only span is the first."""
    seen = {mask_span(text, rng(seed), length=4, shortest=0, place="drawn", mask="_") for seed in range(30)}
    assert (seen != {text}) is changes
    assert not any(made.endswith("_ ") for made in seen), "the last character stays"
    assert len(seen) == max(1, len(text) - 4)


@pytest.mark.parametrize(("shortest", "changes"), [(6, True), (7, False)])
def test_a_text_of_the_shortest_length_is_masked(shortest: int, changes: bool) -> None:
    made = mask_span("abcdef", rng(), length=2, shortest=shortest, place="drawn", mask="_")
    assert (made != "abcdef") is changes


@pytest.mark.parametrize(
    ("share", "length", "more"), [(0.25, 7, 1), (0.25, 8, 2), (0.49, 10, 4), (0.9, 1, 0), (0.5, 2, 1)]
)
def test_token_edits_truncate_their_share(share: float, length: int, more: int) -> None:
    ids = np.arange(length, dtype=np.int32)
    for seed in range(20):
        edited = duplicate_in_place(ids, rng(seed), share=share)
        assert len(edited) == length + more
        assert (edited == 0).sum() == 1, "the first id has no copy"
        hidden = hidden_positions(length, rng(seed), share=share)
        assert 0 <= (hidden == 0).sum() <= more
        assert hidden[0] == 1
    assert max((hidden_positions(length, rng(seed), share=share) == 0).sum() for seed in range(99)) == more


def test_diffcse_masks_eight_in_ten_and_replaces_one_on_exact_draws() -> None:
    """A draw at a border belongs to the part above it; a special token is never chosen."""
    ids = np.arange(6, dtype=np.int32)
    fate = np.array([0.0, MASKED, np.nextafter(MASKED, 0), MASKED + RANDOM, 0.85, 0.0])
    draws = Drawn([0.29, 0.29, 0.29, 0.29, 0.29, 0.3], fate, np.full(6, 77))
    made, chosen = corrupt(
        ids, draws, share=0.3, special=np.array([0]), mask_id=99, vocabulary=100  # type: ignore[arg-type]
    )  # fmt: skip
    assert made.tolist() == [0, 77, 99, 3, 77, 5]
    assert chosen.tolist() == [False, True, True, True, True, False]


def test_a_number_of_a_setting_may_be_at_its_limits() -> None:
    class One(Settings):
        size: float = 0.0
        count: int = 0

    for size in (0.0, SMALLEST, -SMALLEST, LARGEST, -LARGEST):
        One(size=size)
    for size in (SMALLEST / 2, -LARGEST * 1.01, LARGEST * 1.01):
        with pytest.raises(ValueError, match="expected 0 or a size from"):
            One(size=size)
    One(count=MOST)
    One(count=-MOST)
    with pytest.raises(ValueError, match="is more than"):
        One(count=MOST + 1)


def config(**changes: Any) -> TrainConfig:
    usual: dict[str, Any] = {"schedule": "linear", "warmup_share": 0.25, "rate_drops": ()}
    return TrainConfig.model_construct(**{**usual, **changes})


def test_the_warm_up_ends_at_its_last_step_and_a_drop_applies_after_its_step() -> None:
    """Of 10 steps a quarter is 2.5, so the peak is at step 3."""
    assert [config().rate_factor(step, total=10) for step in (0, 1, 2, 3)] == [0, 1 / 3, 2 / 3, 1.0]
    assert config().rate_factor(10, total=10) == 0.0
    assert config(warmup_share=0.0).rate_factor(0, total=10) == 1.0
    drops = config(schedule="piecewise", warmup_share=0.0, rate_drops=((2, 0.5), (4, 0.25)))
    assert [drops.rate_factor(step, total=9) for step in range(7)] == [1, 1, 1, 0.5, 0.5, 0.25, 0.25]


def test_an_epoch_ends_with_its_last_step_and_not_before_the_first() -> None:
    """Seven rows in batches of three: steps of 3, 3 and 1 rows, or two steps of 3."""
    plan = StepPlan(7, 3, False, None, 2)
    assert (plan.per_epoch, plan.total) == (3, 6)
    assert [plan.ends_epoch(done) for done in range(7)] == [False, False, False, True, False, False, True]
    assert [plan.inside_epoch(done) for done in range(1, 7)] == [1, 2, 3, 1, 2, 3]
    assert plan.position(2) == (0, slice(6, 7))
    assert plan.position(3) == (1, slice(0, 3))
    assert StepPlan(7, 3, True, None, 2).per_epoch == 2
    assert StepPlan(6, 3, True, None, 1).per_epoch == StepPlan(6, 3, False, None, 1).per_epoch == 2


def trainer(patience: Any = None, *, step: int = 3, per_epoch: int = 3, **record: Any) -> Any:
    usual = {"step": step, "best": 0.5, "best_step": 1, "last": 0.5, "initial": None, "stopped": False}
    usual |= {"epochs_below": 0, "epoch_best": 0.5, "evaluations_below": 0}
    kept: list[int] = []
    return SimpleNamespace(
        record=SimpleNamespace(**{**usual, **record}),
        plan=StepPlan(per_epoch, 1, False, 9, None),
        config=SimpleNamespace(patience=patience, eval_within="run", eval_every=4, eval_epoch_ends=False),
        folder=SimpleNamespace(keep_best=lambda chosen, at: kept.append(at)),
        _chosen=None,
        kept=kept,
    )


def test_an_equal_score_is_not_better_and_the_start_is_never_selected() -> None:
    for score, step, kept in ((0.5, 3, []), (0.5001, 3, [3]), (0.9, 0, [])):
        own = trainer(step=step)
        Trainer._select(own, score)
        assert own.kept == kept
        assert own.record.last == score
        assert own.record.initial == (score if step == 0 else None)


@pytest.mark.parametrize(("score", "below", "stopped"), [(0.5, 1, True), (0.6, 0, False)])
def test_an_epoch_that_is_not_better_counts_and_patience_ends_at_its_number(
    score: float, below: int, stopped: bool
) -> None:
    own = trainer(1)
    Trainer._lose_patience(own, score)
    assert (own.record.epochs_below, own.record.stopped) == (below, stopped)
    waiting = trainer(2)
    Trainer._lose_patience(waiting, score)
    assert not waiting.record.stopped
    inside = trainer(1, step=2)
    Trainer._lose_patience(inside, 0.0)
    assert (inside.record.epochs_below, inside.record.stopped) == (0, False)


@pytest.mark.parametrize(
    ("counts", "score", "below"),
    [("falls", 0.5, 0), ("falls", 0.49, 1), ("without-best", 0.5, 1), ("without-best", 0.51, 0)],
)
def test_an_equal_score_is_no_fall_and_no_gain(counts: str, score: float, below: int) -> None:
    own = trainer(SimpleNamespace(counts=counts, evaluations=1))
    Trainer._lose_patience(own, score)
    assert (own.record.evaluations_below, own.record.stopped) == (below, below == 1)
    start = trainer(SimpleNamespace(counts=counts, evaluations=1), step=0)
    Trainer._lose_patience(start, 0.0)
    assert not start.record.stopped


def positions(ratios: list[float], ends: list[int]) -> Positions:
    """Returns sentences of words with these scores."""
    values = np.asarray(ratios)
    return Positions(np.arange(len(values)), values, np.asarray(ends))


def test_the_first_of_equal_top_words_is_replaced_and_none_of_equal_scores_of_zero() -> None:
    """Two sentences with an empty one between: scores 1, 2, 2 and 0, 0; magnitude 0.25."""
    sentences = positions([1.0, 2.0, 2.0, 0.0, 0.0], [0, 3, 3, 5])
    assert top_positions(sentences).tolist() == [1, 3]
    assert probabilities(sentences, 0.25).tolist() == [0.25, 1.0, 0.5, 0.0, 0.0]
    assert probabilities(positions([1.0, 6.0, 8.0], [0, 3]), 0.25).tolist() == [0.25, 1.0, 1.0]


@pytest.mark.parametrize(("words", "chosen"), [(SHORTEST - 1, 0), (SHORTEST, SHORTEST)])
def test_words_of_a_sentence_of_three_are_selected_and_a_draw_at_the_magnitude_is_not(
    words: int, chosen: int
) -> None:
    sentences = positions([1.0] * words, [0, words])
    below = select(sentences, Drawn([0.2] * words), by="random", magnitude=0.25)  # type: ignore[arg-type]
    assert below.sum() == chosen
    at = select(sentences, Drawn([0.25] * words), by="random", magnitude=0.25)  # type: ignore[arg-type]
    assert at.sum() == 0


@pytest.mark.parametrize(("share", "kept"), [(0.5, False), (2.0, True)])
def test_a_direction_just_above_the_floor_is_scaled_and_one_just_below_is_dropped(
    share: float, kept: bool
) -> None:
    """The variance of the second axis is `share` times RELATIVE_FLOOR times that of the first one."""
    second = np.sqrt(share * RELATIVE_FLOOR)
    vectors = np.array([[1.0, second], [1.0, -second], [-1.0, second], [-1.0, -second]])
    _, weight = fit(vectors, dim=2, whiten=True)
    scales = np.abs(weight).sum(axis=0)
    assert scales[0] == pytest.approx(1.0)
    assert scales[1] == pytest.approx(1 / second if kept else 0.0)
    with pytest.raises(InputError, match="at least 2"):
        fit(vectors[:1], dim=2, whiten=True)
    fit(vectors[:2], dim=1, whiten=False)


def test_exactly_the_level_of_all_bits_is_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every 16-bit number once: of 65,536 elements, `level` are dropped."""
    bits = torch.arange(-(2**15), 2**15).to(torch.int16).view(torch.int64)
    monkeypatch.setattr(torch.Tensor, "random_", lambda self, *limits: self.copy_(bits))
    for level in (1, 100, dropout.LEVELS - 1):
        kept = dropout.kept(torch.Size([2**16]), level)
        assert int((kept == 0).sum()) == level


def test_a_head_is_kept_on_a_draw_of_exactly_the_rate(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rate 0.5, draws 0.5 and 0.25: the first head is kept and doubled."""
    monkeypatch.setattr(torch, "rand", lambda *shape: torch.tensor([[0.5, 0.25]]))
    drop = dropout.DropHead(0.5, when_none="redraw").train()
    assert drop(torch.ones(1, 2, 1, 1)).flatten().tolist() == [2.0, 0.0]
    assert drop.eval()(torch.ones(1, 2, 1, 1)).flatten().tolist() == [1.0, 1.0]


def test_a_batch_may_fill_its_budget_and_its_share_of_padding() -> None:
    def parts(lengths: list[int], **limits: Any) -> list[list[int]]:
        batches = plan_batches(np.array(lengths), **limits)
        return [np.array(lengths)[batch].tolist() for batch in batches]

    assert parts([4, 4, 4], token_budget=8) == [[4, 4], [4]]
    assert parts([4, 4, 4], token_budget=12) == [[4, 4, 4]]
    assert parts([9], token_budget=8) == [[9]], "a longer text is alone"
    assert parts([8, 6], token_budget=1000, max_padding=0.125) == [[8, 6]], "2 of 16 are padding"
    assert parts([8, 6], token_budget=1000, max_padding=0.12) == [[8], [6]]
    assert parts([8, 7], token_budget=64, max_padding=0.5) == [[8], [7]], "an eighth of 64 is 8"
    assert parts([8, 7], token_budget=65, max_padding=0.5) == [[8, 7]]


def test_a_queue_holds_a_batch_of_its_size() -> None:
    queue = VectorQueue(4, 2)
    queue.check_holds(4)
    with pytest.raises(InputError, match="smaller than a batch of 5"):
        queue.check_holds(5)
    assert [queue.rows_beside(4, holds_batch=holds) for holds in (True, False)] == [0, 4]
    VectorQueue(1, 2)
    with pytest.raises(InputError, match="at least 1"):
        VectorQueue(0, 2)
    queue.push(torch.arange(12.0).view(6, 2))
    assert queue.newest(9).tolist() == [[4.0, 5.0], [6.0, 7.0], [8.0, 9.0], [10.0, 11.0]]
    queue.push(torch.zeros(1, 2))
    assert queue.newest(2).tolist() == [[10.0, 11.0], [0.0, 0.0]]


def test_whole_batches_of_a_queue_may_fill_it() -> None:
    queue = BatchQueue(6, 1)
    for size in (3, 3):
        queue.push(torch.ones(size, 1))
    assert [len(queue.newest(count)) for count in (6, 5, 3, 2)] == [6, 3, 3, 0]
    queue.push(torch.ones(1, 1))
    assert len(queue) == 4, "the first batch no longer fits"


def test_consert_cuts_a_truncated_number_and_keeps_a_draw_at_the_rate() -> None:
    """Of 3 x 5 numbers a rate of 0.25 is 3.75, and of 7 features 1.75."""
    exact = element_cutoff([3, 2], 5, rate=0.25, form="exact-count", rng=rng())
    assert [(part == 0).sum().item() for part in (exact[0], exact[1, :2])] == [3, 2]
    assert set(exact[1, 2:].flatten().tolist()) == {1.0}, "padding stays"
    assert (feature_cutoff(4, 7, rate=0.25, rng=rng()) == 0).sum(dim=(1, 2)).tolist() == [1] * 4
    draws = Drawn([0.25, 0.2499, 0.5])
    bernoulli = element_cutoff([1], 3, rate=0.25, form="bernoulli", rng=draws)  # type: ignore[arg-type]
    assert bernoulli.flatten().tolist() == pytest.approx([4 / 3, 0.0, 4 / 3])


def test_a_row_with_a_draw_at_the_unedited_share_is_edited() -> None:
    own: Any = object.__new__(MoCo)
    own.__dict__["config"] = SimpleNamespace(key_view="deletion", unedited_share=0.25)
    own.__dict__["masked_view"] = lambda rows, edited, rng: {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(MoCo.__mro__[1], "collate", lambda self, rows, *, step, rng: {})
        batch = own.collate([1, 2, 3], step=0, rng=Drawn([0.25, 0.2499, 0.9]))
    assert batch["edited"].tolist() == [True, False, True]
