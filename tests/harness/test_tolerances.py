"""Values just inside and just outside of every tolerance, whose size is written here."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

from harness.check import laws, sanity
from harness.errors import InputError
from harness.evidence import statistics
from harness.evidence.cite import AuthorsMean, _headline
from harness.evidence.moved import answer_of_losses
from harness.evidence.schema import ScoreRecord
from harness.models import hub
from harness.models.fast import Unrecognised, _compare_vectors
from harness.tasks.reranking import RankingQuery, ranking_metrics
from harness.tasks.sts import cosines_of_pairs
from harness.tasks.sts_sets import ScoredPair
from methods.core.coupling_flow import Scaling
from methods.core.encoder import SentenceEncoder
from methods.core.train_config import Settings
from tests.harness.report.made_judged import printed

INSIDE, OUTSIDE = 0.9, 1.1
"""Shares of a tolerance."""


@pytest.mark.parametrize("size", [1.0, 20.0])
def test_a_model_is_computed_here_if_vectors_differ_by_less_than_1e_4_of_the_largest_number(
    size: float,
) -> None:
    library = np.full((2, 3), -size, np.float64)

    def compare(share: float) -> None:
        other = library.copy()
        other[0, 2] += share * 1e-4 * size
        own: Any = SimpleNamespace(encode=lambda texts: other)
        model: Any = SimpleNamespace(encode=lambda texts, **options: library)
        _compare_vectors(model, own, ["a", "b"])

    compare(INSIDE)
    with pytest.raises(Unrecognised, match="other vectors"):
        compare(OUTSIDE)


@pytest.mark.parametrize(
    ("known", "loss", "answer"),
    [
        (2.0, 2.0, "identical"),
        (2.0, 2.0018, "equal to rounding"),
        (2.0, 2.0022, "moved"),
        (1e-6, 1.0009e-6, "equal to rounding"),
        (1e-6, 1.0011e-6, "moved"),
    ],
)
def test_first_losses_may_differ_by_a_thousandth_whatever_their_size(
    known: float, loss: float, answer: str
) -> None:
    assert answer_of_losses([1.0, known], [1.0, loss]) == answer
    assert answer_of_losses([known], [loss, loss]) == "moved"


@pytest.mark.parametrize(
    ("beyond", "possible"), [(0.0, True), (0.9e-9, True), (1.1e-9, False), (1e-4, False)]
)
def test_a_correlation_exceeds_one_by_rounding_alone(beyond: float, possible: bool) -> None:
    for sign in (1, -1):
        record: dict[str, Any] = {
            "task": "STSB",
            "metric": "spearman",
            "setting": "all",
            "selection": "last",
            "n": 2,
        }
        value = sign * (1.0 + beyond)
        if possible:
            ScoreRecord(**record, value=value)
        else:
            with pytest.raises(ValueError, match="expected -1 to 1"):
                ScoreRecord(**record, value=value)


def test_cosines_are_equal_if_twelve_decimals_are() -> None:
    """Angles near 45 degrees: 1e-11 apart is another cosine, 1e-14 apart the same."""
    pairs = [ScoredPair("one", f"{n}", 1.0) for n in range(3)]
    turned = {"one": 0.0, "0": 0.5, "1": 0.5 + 1e-14, "2": 0.5 + 1e-11}

    def encode(texts: Any) -> np.ndarray:
        return np.array([[np.cos(turned[text]), np.sin(turned[text])] for text in texts])

    first, second, third = cosines_of_pairs(encode, pairs, "own")
    assert first == second != third


@pytest.mark.parametrize(("apart", "average"), [(1e-14, 0.75), (1e-11, 0.5)])
def test_candidates_are_tied_if_twelve_decimals_are(apart: float, average: float) -> None:
    """Two candidates of which the lower one is relevant: rank 2, or 1 and 2 with equal chances."""
    query = RankingQuery("query", ("a", "b"), (False, True), 1)
    assert ranking_metrics(np.array([0.5 + apart, 0.5]), query)[0] == pytest.approx(average)


def test_the_scoring_is_wrong_if_the_oracle_is_off_or_a_random_encoder_is_good(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Of 64 pairs a random encoder has at most 4 / 8 = 0.5."""
    task = object.__new__(sanity.StsTask)
    task.__dict__.update(name="own", subsets={"all": [ScoredPair("a", "b", 1.0)] * 64})
    scores: list[float] = []

    def spearman_of(task: Any, encode: Any) -> float:
        if encode is sanity.constant:
            raise InputError("constant")
        return scores.pop(0)

    monkeypatch.setattr(sanity, "_spearman_of", spearman_of)
    monkeypatch.setattr(sanity, "attainable", lambda pairs: 0.75)
    for random, oracle, problems in (
        (0.499, 0.75, 0),
        (-0.499, 0.75 + 0.9e-9, 0),
        (0.501, 0.75, 1),
        (-0.501, 0.75, 1),
        (0.0, 0.75 - 1.1e-9, 1),
        (0.0, 0.75 + 1e-8, 1),
    ):
        scores[:] = [random, oracle]
        assert len(sanity.problems_of(task)) == problems, (random, oracle)


@pytest.mark.parametrize("size", [0.5, 8.0])
def test_an_exported_vector_may_depend_on_its_batch_by_rounding(size: float) -> None:
    """By 1e-5, or by that share of the largest number if it is above 1."""

    def check(share: float) -> None:
        def encode(texts: list[str]) -> np.ndarray:
            vectors = np.full((len(texts), 2), size)
            vectors[-1, 0] -= share * 1e-5 * max(1.0, size) * (len(texts) > 1)
            return vectors

        rows = [SimpleNamespace(text=f"text {n}") for n in range(8)]
        encoder = SimpleNamespace(encode=encode, dim=2)
        laws._vectors(SimpleNamespace(whole=[SimpleNamespace(exported=lambda: encoder)], rows=rows))  # type: ignore[arg-type]

    check(INSIDE)
    with pytest.raises(InputError, match="depends on the other texts"):
        check(OUTSIDE)


@pytest.mark.parametrize(("share", "holds"), [(INSIDE, True), (OUTSIDE, False)])
def test_an_encoder_may_differ_from_its_own_states_by_rounding(
    share: float, holds: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By 1e-4 of vectors up to 1."""

    class Own(SentenceEncoder):
        training = False
        pooling = "cls"

        def __init__(self) -> None:
            torch.nn.Module.__init__(self)

        def tokenize(self, texts: Any, **options: Any) -> Any:
            return {"attention_mask": torch.ones(1, 1)}

        def states(self, tokens: Any, **embeddings: Any) -> Any:
            return (torch.full((1, 1, 2), 0.5),)

        def forward(self, tokens: Any, **embeddings: Any) -> Any:
            return torch.full((1, 2), 0.5 + share * 1e-4)

    monkeypatch.setattr(laws, "pool", lambda states, mask, pooling: states[-1][:, 0])
    own = SimpleNamespace(encoder=Own())
    rows = [SimpleNamespace(text="a")]
    subject: Any = SimpleNamespace(prepared=lambda: own, whole=[own], rows=rows)
    if holds:
        attached()(subject)
    else:
        with pytest.raises(InputError, match="differs before training from the states"):
            attached()(subject)


def attached() -> Any:
    """Returns the law about what is attached to an encoder."""
    return next(
        law
        for law in vars(laws).values()
        if "pool" in getattr(getattr(law, "__code__", None), "co_names", ())
    )


def test_a_constant_number_of_a_flow_is_divided_by_a_millionth() -> None:
    """Deviations of 0 and 1e-6 give factors of 1e6 and 5e5."""
    scaling = Scaling(2)
    scaling.fit(torch.tensor([[1.0, 1e-6], [1.0, -1e-6]]))
    outputs = scaling(torch.tensor([[2.0, 1e-6]]))
    assert outputs.flatten().tolist() == pytest.approx([1e6, 0.5], rel=1e-3)


def test_rounding_of_a_difference_is_a_billionth() -> None:
    error = statistics.StandardError(0.0, 1.0)
    assert [error.p(1e-9 * share) for share in (INSIDE, OUTSIDE)] == [1.0, 0.0]


@pytest.mark.parametrize(("beyond", "is_one"), [(0.0, True), (0.9e-9, True), (1e-6, False), (0.01, False)])
def test_a_reported_number_is_one_of_the_runs_that_round_to_it(beyond: float, is_one: bool) -> None:
    """75.00 is rounded by at most 0.005."""
    study: Any = SimpleNamespace(supersedes=False)
    judged: Any = SimpleNamespace(number=printed(75.0), others=SimpleNamespace(listed=None))
    line = _headline(judged, AuthorsMean(study, 75.5, 2, (76.0, 75.005 + beyond)))
    assert line.endswith("one of them") is is_one


@pytest.mark.parametrize(("seconds", "waits"), [(119, True), (120, True), (121, False)])
def test_a_pause_that_the_hub_asks_for_is_two_minutes_at_most(seconds: int, waits: bool) -> None:
    from huggingface_hub import errors

    response: Any = SimpleNamespace(status_code=429, headers={"Retry-After": str(seconds)}, request=None)
    error = errors.HfHubHTTPError("limited", response=response)
    if waits:
        assert hub._pause("it", error, 4) == seconds
    else:
        with pytest.raises(hub.Unreachable, match="limits requests"):
            hub._pause("it", error, 4)


@pytest.mark.parametrize(
    ("size", "taken"), [(1e-12, True), (0.9e-12, False), (-1e6, True), (1.1e6, False), (0.0, True)]
)
def test_a_setting_is_zero_or_from_a_millionth_of_a_millionth_to_a_million(size: float, taken: bool) -> None:
    class One(Settings):
        size: float

    if taken:
        assert One(size=size).size == size
    else:
        with pytest.raises(ValueError, match="expected 0 or a size from 1e-12 to 1e"):
            One(size=size)
