"""Encoders with scores known from theory."""

from pathlib import Path

import numpy as np
import pytest

from harness.check import sanity
from harness.check.sanity import attainable, oracle, problems_of
from harness.data.sts import ScoredPair
from harness.errors import InputError
from harness.tasks.sts import StsTask, cosines_of_pairs


def task_of(pairs: list[ScoredPair]) -> StsTask:
    return StsTask("toy", "none", lambda folder: {"test": pairs}, folder=Path())


def tangled(seed: int, texts: int, pairs: int) -> list[ScoredPair]:
    """Pairs over few texts, so that most texts are in several pairs; no pair twice, gold in steps of 0.2."""
    rng = np.random.default_rng(seed)
    edges = {tuple(sorted(rng.choice(texts, 2, replace=False))) for _ in range(pairs)}
    return [
        ScoredPair(f"text {a}", f"text {b}", round(0.2 * rng.integers(0, 26), 1)) for a, b in sorted(edges)
    ]


def test_oracle_of_a_shared_sentence_worked_by_hand() -> None:
    """The largest sum at a text is at a, 3 + 1 + 0, so cosines are gold / 8: 3/8, 1/8, 0 and 2/8."""
    texts = [("a", "b", 3.0), ("a", "c", 1.0), ("a", "d", 0.0), ("d", "e", 2.0), ("f", "g", 2.0)]
    pairs = [ScoredPair(*pair) for pair in texts]
    actual = cosines_of_pairs(oracle(pairs), pairs, "toy")
    np.testing.assert_allclose(actual, [0.375, 0.125, 0, 0.25, 0.25], atol=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_oracle_cosines_are_gold_times_one_constant_however_pairs_share_texts(seed: int) -> None:
    pairs = tangled(seed, texts=40, pairs=120)
    encode = oracle(pairs)
    gold = np.array([pair.score for pair in pairs])
    cosines = cosines_of_pairs(encode, pairs, "toy")
    np.testing.assert_allclose(cosines, gold * cosines.max() / gold.max(), atol=1e-11)
    vectors = encode([pair.first for pair in pairs])
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-12)


def test_attainable_is_below_one_only_where_gold_contradicts_itself() -> None:
    """Gold 1 2 3 4 with the first two the same pair: both are given 1.5, ranks 1.5 1.5 3 4 against 1 2 3 4.

    Pearson of the ranks: product sum 4.5, squares 4.5 and 5: sqrt(4.5 / 5).
    """
    clean = [ScoredPair("a", "b", 1.0), ScoredPair("c", "d", 3.0), ScoredPair("e", "f", 4.0)]
    assert attainable(clean) == pytest.approx(1.0)
    assert attainable([*clean, ScoredPair("b", "a", 2.0)]) == pytest.approx(np.sqrt(4.5 / 5))


def test_oracle_does_as_well_as_can_be_on_identical_and_repeated_pairs() -> None:
    pairs = [*tangled(3, 30, 60), ScoredPair("same", "same", 4.0), ScoredPair("same", "other", 5.0)]
    pairs.append(pairs[0]._replace(score=5.0 - pairs[0].score))
    assert attainable(pairs) < 1.0
    assert problems_of(task_of(pairs)) == []


def test_problems_of_reports_a_task_that_leaks_its_gold(monkeypatch: pytest.MonkeyPatch) -> None:
    """Scoring by gold instead of cosines: only the random encoder scores too high."""
    import harness.tasks.sts as sts

    monkeypatch.setattr(
        sts, "cosines_of_pairs", lambda encode, pairs, task: np.array([p.score for p in pairs])
    )
    problems = problems_of(task_of(tangled(1, 60, 200)))
    assert [line.split(": ")[1].split(" scored")[0] for line in problems] == [
        "a constant encoder",
        "a random encoder",
    ]


@pytest.mark.mirror
@pytest.mark.parametrize("form", ["senteval", "raw"])
def test_encoders_of_known_score_hold_on_every_sts_task(
    form: str, mirror: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    from harness.tasks.registry import build_tasks

    monkeypatch.setenv("SENTBENCH_DATA", str(tmp_path_factory.getbasetemp() / "mirror-data"))
    monkeypatch.setenv("SENTBENCH_PROVIDERS", "mirror")
    names = ["sts", "SICKR-mteb", "STSB-dev", *(["sts-part"] if form == "senteval" else [])]
    tasks = build_tasks(names, text=form)
    assert len(tasks) == (14 if form == "senteval" else 9)
    assert [problem for task in tasks for problem in problems_of(task)] == []


@pytest.mark.parametrize(
    ("by_random", "by_oracle", "problems"),
    [
        (0.399, 1 - 1e-10, 0),
        (-0.399, 1.0, 0),
        (0.401, 1.0, 1),  # of 100 pairs: beyond 4 / sqrt(100) = 0.4
        (-0.401, 1.0, 1),
        (0.0, 1 - 1e-8, 1),
    ],
)
def test_a_score_outside_the_theoretical_range_is_a_problem(
    by_random: float, by_oracle: float, problems: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def score(task: StsTask, encode: object) -> float:
        if encode is sanity.constant:
            raise InputError("not defined")
        return next(scores)

    scores = iter([by_random, by_oracle])
    monkeypatch.setattr(sanity, "_spearman_of", score)
    pairs = [ScoredPair(f"a {number}", f"b {number}", number / 20) for number in range(100)]
    assert len(problems_of(task_of(pairs))) == problems
