"""The training loop beyond the laws: selection, early stopping, refusal of bad numbers, visited rows."""

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from methods.core.errors import NoScoreError, NotFiniteError
from methods.core.method import Method
from methods.core.rows import Row
from methods.core.streams import generator
from methods.core.trainer import TrainConfig, Trainer
from methods.core.types import Batch, Encoder
from tests.methods.simcse.sample import SAMPLES
from tests.support import tiny


def simcse(backbone: Path) -> Method:
    return tiny.build(SAMPLES[0], backbone, parent=None)


def scripted(scores: Sequence[float]) -> Any:
    """Returns an evaluation that gives these scores one after the other."""
    remaining = iter(scores)
    return lambda encoder: {"score": next(remaining)}


def train(backbone: Path, folder: Path, scores: Sequence[float] | None = None, **changes: Any) -> Trainer:
    trainer = tiny.trainer(simcse(backbone), folder, **changes)
    if scores is not None:
        trainer.evaluate = scripted(scores)
    trainer.fit(tiny.rows())
    return trainer


def lines(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "train.jsonl").read_text().splitlines()]


def test_the_first_best_step_is_kept_and_the_untrained_score_does_not_compete(
    backbone: Path, tmp_path: Path
) -> None:
    """Scores at steps 0, 2, 4, 6, 8: 9, 3, 5, 5, 4. The best after training started is step 4."""
    trainer = train(backbone, tmp_path, [9.0, 3.0, 5.0, 5.0, 4.0], eval_every=2, steps=8)
    assert (trainer.record.initial, trainer.record.best, trainer.record.best_step) == (9.0, 5.0, 4)
    assert trainer.record.last == 4.0
    assert [path.name for path in tmp_path.glob("best-*")] == ["best-4"]


@pytest.mark.parametrize(
    ("within", "epoch_ends", "expected"),
    [
        ("run", False, [0, 2, 4, 6, 8, 9]),
        ("run", True, [0, 2, 3, 4, 6, 8, 9]),
        ("epoch", False, [0, 2, 5, 8, 9]),
        ("epoch", True, [0, 2, 3, 5, 6, 8, 9]),
    ],
)
def test_evaluations_are_counted_over_the_run_or_inside_each_epoch(
    backbone: Path, tmp_path: Path, within: str, epoch_ends: bool, expected: list[int]
) -> None:
    """Every two steps of three epochs of three steps: 2, 4, 6, 8 of the run, or the second of each epoch."""
    counted = {"eval_every": 2, "eval_within": within, "eval_epoch_ends": epoch_ends}
    train(backbone, tmp_path, steps=None, epochs=3, **counted)
    assert [line["step"] for line in lines(tmp_path) if "evaluation" in line] == expected


@pytest.mark.parametrize(
    ("settings", "scores", "stops", "best"),
    [
        ({"steps": None, "epochs": 5, "eval_epoch_ends": True}, [0.0, 5.0, 4.0, 3.0, 9.0], 9, 3),
        ({"steps": None, "epochs": 5, "eval_epoch_ends": True}, [0.0, 5.0, 5.0, 5.0, 9.0], 9, 3),
        ({"counts": "without-best"}, [9.0, 5.0, 4.0, 6.0, 6.0, 3.0, 9.0], 5, 3),
        ({"counts": "falls"}, [9.0, 5.0, 6.0, 7.0, 7.0, 6.0, 9.0], 5, 3),
    ],
)
def test_patience_counts_epoch_ends_below_the_best_or_single_evaluations(
    backbone: Path, tmp_path: Path, settings: dict[str, Any], scores: list[float], stops: int, best: int
) -> None:
    """24 rows in batches of 8: 3 steps an epoch. Scores 0, then 5, 4, 3: two ends below 5 stop at step 9.

    Two ends that equal the best stop there too, because neither improves on it.
    Evaluations at every step, two of them stop. Without a best: 4 counts, 6 starts again, then 6 and 3.
    Falls: 5 is below the untrained 9, then 6 below 7; nothing between them takes the first back.
    """
    single = {"eval_every": 1, "patience": {"evaluations": 2, **settings}}
    changes = single if "counts" in settings else {"eval_every": 100, "patience": 2, **settings}
    trainer = train(backbone, tmp_path, scores, **changes)
    assert trainer.record.stopped
    assert (trainer.record.step, trainer.record.best_step) == (stops, best)


def collapsing(scores: Sequence[float | None]) -> Any:
    """Returns an evaluation that gives these scores one after the other; None: no score is defined."""
    remaining = iter(scores)

    def evaluate(encoder: Encoder) -> dict[str, float]:
        score = next(remaining)
        if score is None:
            raise NoScoreError("all cosines are equal")
        return {"score": score}

    return evaluate


def test_a_collapsed_encoder_ends_with_its_step_and_the_earlier_weights_stay(
    backbone: Path, tmp_path: Path
) -> None:
    """Scores 1 untrained, 5 at step 2, 3 at step 4, none at step 6 of 12."""
    trainer = tiny.trainer(simcse(backbone), tmp_path, steps=12, eval_every=2)
    trainer.evaluate, reported = collapsing([1.0, 5.0, 3.0, None]), list[tuple[int, float]]()
    trainer.report = lambda step, total, entry: reported.append((step, entry["score"]))
    record = trainer.fit(tiny.rows())
    assert record.stopped
    assert (record.step, record.best_step, record.best, record.last) == (6, 2, 5.0, 3.0)
    assert [path.name for path in tmp_path.glob("best-*")] == ["best-2"]
    assert (tmp_path / "last").is_dir()
    assert lines(tmp_path)[-1] == {"step": 6, "no_score": "all cosines are equal"}
    assert reported[:-1] == [(0, 1.0), (2, 5.0), (4, 3.0)]
    assert reported[-1][0] == 6
    assert math.isnan(reported[-1][1])


def test_a_collapsed_training_that_is_continued_stays_ended(backbone: Path, tmp_path: Path) -> None:
    first, again = (tiny.trainer(simcse(backbone), tmp_path, steps=12, eval_every=2) for _ in range(2))
    first.evaluate, again.evaluate = collapsing([1.0, 5.0, None]), collapsing([])
    first.fit(tiny.rows())
    assert again.fit(tiny.rows()) == first.record


@pytest.mark.parametrize(("scores", "error", "said"), [
    ([None], NoScoreError, "^all cosines are equal$"),
    ([1.0, None], NotFiniteError, "^step 2: all cosines are equal; no earlier weights are there$"),
])  # fmt: skip
def test_a_collapse_before_any_trained_weights_are_scored_is_an_error(
    backbone: Path, tmp_path: Path, scores: list[float | None], error: type[Exception], said: str
) -> None:
    trainer = tiny.trainer(simcse(backbone), tmp_path, steps=12, eval_every=2)
    trainer.evaluate = collapsing(scores)
    with pytest.raises(error, match=said):
        trainer.fit(tiny.rows())


@pytest.mark.parametrize(("drop_last", "total"), [(False, 6), (True, 4)])
def test_a_method_knows_all_steps_before_its_first_batch(
    backbone: Path, tmp_path: Path, drop_last: bool, total: int
) -> None:
    """24 rows in batches of 10, two epochs: three steps each, or two where the incomplete one is left out."""
    method, known = simcse(backbone), dict[int, int]()
    collate = method.collate

    def watched(rows: Sequence[Row], *, step: int, rng: Any) -> Batch:
        known[step] = method.total_steps
        return collate(rows, step=step, rng=rng)

    method.collate = watched  # type: ignore[method-assign]
    tiny.trainer(method, tmp_path, steps=None, epochs=2, drop_last=drop_last, batch_size=10).fit(tiny.rows())
    assert known == dict.fromkeys(range(total), total)


def test_every_step_logs_loss_rate_and_gradient_norm(backbone: Path, tmp_path: Path) -> None:
    train(backbone, tmp_path)
    steps = [line for line in lines(tmp_path) if "evaluation" not in line]
    assert [line["step"] for line in steps] == list(range(6))
    assert [line["learning_rate"] for line in steps] == pytest.approx([1e-3 * (1 - k / 6) for k in range(6)])
    assert all(line["loss"] > 0 and line["grad_norm"] > 0 for line in steps)


def test_each_epoch_visits_every_row_once_in_its_own_order(
    backbone: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    method, visited = simcse(backbone), list[list[int]]()
    collate = method.collate

    def watched(rows: Sequence[Row], **given: Any) -> Batch:
        visited.append([row.index for row in rows])
        return collate(rows, **given)

    monkeypatch.setattr(method, "collate", watched)
    tiny.trainer(method, tmp_path, steps=None, epochs=2, drop_last=False, batch_size=10).fit(tiny.rows())
    assert [len(batch) for batch in visited] == [10, 10, 4, 10, 10, 4]
    first, second = ([row for batch in visited[half : half + 3] for row in batch] for half in (0, 3))
    assert sorted(first) == sorted(second) == list(range(24))
    assert first != second


def test_each_batch_is_made_with_the_generator_of_its_step(backbone: Path, tmp_path: Path) -> None:
    """Six steps of two epochs: a step of the second epoch repeats no draw of the first."""
    method, drawn = simcse(backbone), dict[int, int]()
    collate = method.collate

    def recorded(rows: Sequence[Row], *, step: int, rng: np.random.Generator) -> Batch:
        drawn[step] = int(rng.integers(2**62))
        return collate(rows, step=step, rng=rng)

    method.collate = recorded  # type: ignore[method-assign]
    trainer = tiny.trainer(method, tmp_path)
    trainer.fit(tiny.rows())
    assert drawn == {step: generator(trainer.seed, "collate", step).integers(2**62) for step in range(6)}
    assert len(set(drawn.values())) == 6


def test_evaluating_more_often_does_not_change_training(backbone: Path, tmp_path: Path) -> None:
    rare, often = (train(backbone, tmp_path / str(every), eval_every=every) for every in (1, 6))
    losses = [[line["loss"] for line in lines(run.directory) if "loss" in line] for run in (rare, often)]
    assert len(losses[0]) == 6
    assert losses[0] == losses[1]


def test_bf16_runs_and_differs_from_fp32(backbone: Path, tmp_path: Path) -> None:
    wide, narrow = (train(backbone, tmp_path / name, precision=name) for name in ("fp32", "bf16"))
    first = [next(line for line in lines(run.directory) if "loss" in line)["loss"] for run in (wide, narrow)]
    assert first[0] != first[1]
    assert first[0] == pytest.approx(first[1], rel=0.2)


@pytest.mark.parametrize("changes", [{"steps": None}, {"epochs": 2}])
def test_a_training_has_steps_or_epochs_and_not_both(changes: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="exactly one of steps and epochs"):
        TrainConfig.model_validate({**tiny.TRAIN, **changes})


def test_a_method_may_have_another_encoder_watched_than_it_exports(backbone: Path, tmp_path: Path) -> None:
    seen: list[Encoder] = []

    def evaluate(encoder: Encoder) -> dict[str, float]:
        seen.append(encoder)
        return {"score": 0.0}

    method = simcse(backbone)
    other = tiny.sentence_encoder(backbone, pooling="last-two-avg")
    method.watched = lambda: (other,)  # type: ignore[method-assign]
    trainer = tiny.trainer(method, tmp_path)
    trainer.evaluate = evaluate
    trainer.fit(tiny.rows())
    assert all(encoder is other for encoder in seen)
    assert json.loads((trainer.best_folder / "sentbench.json").read_text())["pooling"] == "mean"


def test_of_two_candidates_the_better_one_is_kept_and_both_are_logged(backbone: Path, tmp_path: Path) -> None:
    """At step 3 the second is better, 7 against 5; at step 6 the first, 6 against 4, below that 7."""
    method, other = simcse(backbone), tiny.sentence_encoder(backbone)
    method.candidates = lambda: (method.encoder, other)  # type: ignore[method-assign]
    trainer = tiny.trainer(method, tmp_path)
    trainer.evaluate = scripted([0.0, 0.0, 5.0, 7.0, 6.0, 4.0])  # of both at each evaluation
    trainer.fit(tiny.rows())
    logged = [line for line in lines(tmp_path) if line.get("evaluation")]
    assert [(line["score"], line["score_1"], line["score_2"]) for line in logged] == [
        (0.0, 0.0, 0.0),
        (7.0, 5.0, 7.0),
        (6.0, 6.0, 4.0),
    ]
    assert (trainer.record.best, trainer.record.best_step, trainer.record.candidate) == (7.0, 3, 0)
    other.save(tmp_path / "other")  # it is in no loss here, so it stays as it was
    folders = (trainer.best_folder, trainer.folder.last, tmp_path / "other")
    best, last, untrained = ((folder / "model.safetensors").read_bytes() for folder in folders)
    assert best == untrained != last
