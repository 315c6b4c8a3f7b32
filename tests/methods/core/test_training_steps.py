"""The training loop step by step: when it evaluates, logs, saves and stops, and what a step gets."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch import nn

from methods.core import trainer as module
from methods.core.errors import NotFiniteError
from methods.core.optimizer import build_optimizer, set_rate
from methods.core.step_line import StepLine
from methods.core.train_config import StepPlan, TrainConfig
from methods.core.trainer import Trainer, TrainRecord
from methods.core.types import Loss
from tests.support import tiny
from tests.support.toy import ROWS, toy_trainer


def own(step: int, **changes: Any) -> Any:
    """The parts of a trainer of three epochs of three steps that decide what is due."""
    settings = {
        "eval_within": "run",
        "eval_every": 4,
        "eval_epoch_ends": False,
        "save_every": 3,
        "patience": None,
    }
    return SimpleNamespace(
        plan=StepPlan(rows=6, batch_size=2, drop_last=False, steps=None, epochs=3),
        record=TrainRecord(step=step),
        config=SimpleNamespace(**{**settings, **changes}),
        seconds_between=10.0,
        _committed_at=100.0,
        folder=SimpleNamespace(is_writing=False),
    )


@pytest.mark.parametrize(
    ("changes", "due"),
    [
        ({}, [0, 4, 8, 9]),
        ({"eval_every": 3}, [0, 3, 6, 9]),
        ({"eval_every": 100}, [0, 9]),
        ({"eval_every": 100, "eval_epoch_ends": True}, [0, 3, 6, 9]),
        ({"eval_every": 2, "eval_within": "epoch"}, [0, 2, 5, 8, 9]),
        ({"eval_every": 3, "eval_within": "epoch"}, [0, 3, 6, 9]),
        ({"eval_every": 1}, [*range(10)]),
    ],
)
def test_an_evaluation_is_due_before_the_first_and_after_the_last_step_and_as_stated(
    changes: dict[str, Any], due: list[int]
) -> None:
    assert [step for step in range(10) if Trainer._evaluation_is_due(own(step, **changes), step)] == due


@pytest.mark.parametrize(
    ("step", "evaluated", "passed", "writing", "due"),
    [
        (3, False, 10.0, False, True),
        (3, False, 9.9, False, False),
        (3, False, 10.0, True, False),
        (4, False, 99.0, False, False),
        (4, True, 10.0, False, True),
        (4, True, 9.9, False, False),
        (9, False, 0.0, True, True),
    ],
)
def test_a_resume_point_is_due_if_time_has_passed_and_always_at_the_end(
    step: int, evaluated: bool, passed: float, writing: bool, due: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = own(step)
    made.folder.is_writing = writing
    monkeypatch.setattr(module.time, "monotonic", lambda: 100.0 + passed)
    assert Trainer._resume_point_is_due(made, evaluated=evaluated) is due
    made.record.stopped = True
    assert Trainer._resume_point_is_due(made, evaluated=evaluated)


@pytest.mark.parametrize(
    ("step", "stopped", "yielded"), [(0, False, 9), (4, False, 5), (4, True, 0), (9, False, 0)]
)
def test_a_training_that_has_stopped_takes_no_further_step_when_it_is_resumed(
    step: int, stopped: bool, yielded: int
) -> None:
    made = own(step)
    made.seed, made.device, made.record.stopped = 0, torch.device("cpu"), stopped
    made.method = SimpleNamespace(collate=lambda rows, *, step, rng: {})
    assert [at for at, _ in Trainer._batches(made, list(range(6)))] == [*range(9 - yielded, 9)]  # type: ignore[arg-type]


@pytest.mark.parametrize(("device", "kept"), [("cpu", 0), ("cuda", 1)])
def test_the_numbers_of_a_step_on_a_gpu_are_read_after_the_next_has_begun(device: str, kept: int) -> None:
    """But before an evaluation."""
    logged: list[int] = []
    for evaluates, left in ((False, kept), (True, 0)):
        made = own(5)
        made.device, made._begun = device, []
        made._evaluation_is_due = lambda step, evaluates=evaluates: evaluates
        made._log_steps = lambda *, but: logged.append(but)
        made._scored = lambda: {"score": 1.0}
        made._resume_point_is_due = lambda *, evaluated: False
        made.folder = SimpleNamespace(settle=lambda: None)
        made.report = lambda *given: None
        logged.clear()
        Trainer._finish_step(made)
        assert logged == [left]


def test_what_is_logged_waits_for_its_turn() -> None:
    lines: list[Any] = []
    steps = [SimpleNamespace(finished=lambda n=n: {"step": n}) for n in range(3)]
    made: Any = SimpleNamespace(_begun=steps, folder=SimpleNamespace(log=lines.extend))
    Trainer._log_steps(made, but=1)
    assert lines == [{"step": 0}, {"step": 1}]
    Trainer._log_steps(made, but=0)
    assert lines[-1] == {"step": 2}


def test_a_training_is_in_training_mode_whatever_it_was_in_before(tmp_path: Path) -> None:
    made = toy_trainer(tmp_path / "a", {})
    modes: list[bool] = []
    loss = made.method.loss
    made.method.loss = lambda batch: (modes.append(made.method.training), loss(batch))[1]  # type: ignore[method-assign]
    made.method.eval()
    made.fit(ROWS)
    assert modes == [True] * 8


def test_every_step_is_told_with_all_steps_and_the_measures_of_its_evaluation(tmp_path: Path) -> None:
    told: list[Any] = []
    made = toy_trainer(tmp_path, {0: 1.0, 4: 3.0, 8: 2.0}, eval_every=4)
    made.report = lambda step, total, entry: told.append((step, total, dict(entry)))
    record = made.fit(ROWS)
    assert told == [(0, 8, {"score": 1.0}), (4, 8, {"score": 3.0}), (8, 8, {"score": 2.0})]
    assert record == TrainRecord(
        step=8, initial=1.0, best_step=4, best=3.0, last=2.0, epoch_best=3.0, epochs_below=1
    )
    assert made.best_folder == tmp_path / "best-4"


@pytest.mark.parametrize("name", ["method", "config", "train", "seed", "device"])
def test_a_run_is_known_by_every_setting_except_how_often_it_is_saved(name: str, tmp_path: Path) -> None:
    settings = toy_trainer(tmp_path, {})._settings()
    assert settings["method"] == "methods.core.method.MethodConfig"
    assert settings["config"] == {"max_length": 3, "control": None}
    assert (settings["seed"], settings["device"]) == (3, "cpu")
    assert settings["train"].keys() == TrainConfig.model_fields.keys() - {"save_every"}
    assert name in settings
    assert len(settings) == 5
    other = toy_trainer(tmp_path, {})
    other.device = "cuda:1"
    assert other._settings() == {**settings, "device": "cuda"}


ADAM = {"betas": [0.8, 0.99], "epsilon": 1e-3}


class Two(nn.Module):
    """A weight, a bias, a norm and a frozen weight."""

    def __init__(self) -> None:
        super().__init__()
        self.layer, self.norm = nn.Linear(2, 2), nn.LayerNorm(2)
        self.frozen = nn.Parameter(torch.ones(2), requires_grad=False)
        self.tied = self.layer.weight


@pytest.mark.parametrize("everything", [False, True])
def test_weights_are_decayed_and_biases_and_norms_only_if_stated(everything: bool) -> None:
    config = TrainConfig.model_validate(
        {
            **tiny.TRAIN,
            "weight_decay": 0.5,
            "decay_everything": everything,
            "betas": [0.8, 0.99],
            "epsilon": 1e-3,
        }
    )
    made = Two()
    groups = build_optimizer(made, config).param_groups
    shares = {id(weight): group["decay"] for group in groups for weight in group["params"]}
    free = 0.5 if everything else 0.0
    assert shares == {
        id(made.layer.weight): 0.5, id(made.layer.bias): free,
        id(made.norm.weight): free, id(made.norm.bias): free,
    }  # fmt: skip
    assert len(groups) == (1 if everything else 2)
    for group in groups:
        assert (group["betas"], group["eps"], group["lr"]) == ((0.8, 0.99), 1e-3, config.learning_rate)
        assert group["decay_after"] == 0.0


@pytest.mark.parametrize(
    ("adam", "corrected", "rate", "epsilon", "decay", "after"),
    [
        # beta1^2 = 0.64 and beta2^2 = 0.9801 after two steps: c1 = 0.36, c2 = 0.141067
        ("torch", True, 0.5, 1e-3, 0.25, 0.0),
        ("torch", False, 0.5 * 0.36 / 0.141067, 1e-3 / 0.141067, 0.25 * 0.141067 / 0.36, 0.0),
        ("transformers", True, 0.5, 1e-3 / 0.141067, 0.0, 0.125),
        ("transformers", False, 0.5 * 0.36 / 0.141067, 1e-3 / 0.141067, 0.0, 0.125),
    ],
)
def test_rate_epsilon_and_decay_of_the_second_step(
    adam: str, corrected: bool, rate: float, epsilon: float, decay: float, after: float
) -> None:
    config = TrainConfig.model_validate(
        {
            **tiny.TRAIN, **ADAM, "weight_decay": 0.25, "decay_everything": True,
            "learning_rate": 1.0, "adam": adam, "bias_correction": corrected,
        }
    )  # fmt: skip
    optimizer = build_optimizer(Two(), config)
    assert set_rate(optimizer, config, step=1, factor=0.5) == 0.5
    (group,) = optimizer.param_groups
    actual = [group[name] for name in ("lr", "eps", "weight_decay", "decay_after")]
    assert actual == pytest.approx([rate, epsilon, decay, after], rel=1e-5)


@pytest.mark.parametrize(("bound", "logged"), [(None, False), (0.001, True)])
def test_gradients_are_bounded_and_their_norm_is_logged_only_with_a_bound(
    bound: float | None, logged: bool, tmp_path: Path
) -> None:
    made = toy_trainer(tmp_path, {}, max_grad_norm=bound)
    made.plan = StepPlan(rows=4, batch_size=2, drop_last=False, steps=1, epochs=None)
    made.optimizer = build_optimizer(made.method, made.config)
    line = made._train_step(0, {"points": torch.zeros(2, 2)}).finished()
    assert ("grad_norm" in line) is logged
    gradient = next(made.method.parameters()).grad
    assert gradient is not None
    assert (float(gradient.norm()) <= 0.0011) is logged
    assert line.keys() >= {"step", "learning_rate", "loss"}


@pytest.mark.parametrize("loss", [float("nan"), float("inf"), -float("inf")])
def test_a_loss_that_is_no_number_is_told_with_its_parts(loss: float) -> None:
    scalars = {"loss": torch.tensor(loss), "contrast": torch.tensor(1.25), "grad_norm": torch.tensor(3.0)}
    line = StepLine({"step": 4}, scalars)
    with pytest.raises(NotFiniteError) as caught:
        line.finished()
    assert str(caught.value) == (
        f"step 4: the loss is not finite (loss {loss:g}, contrast 1.25); lower the learning rate"
    )
    whole = StepLine({"step": 4}, {"loss": torch.tensor(1.0), "contrast": torch.tensor(loss)}).finished()
    assert (whole["step"], whole["loss"]) == (4, 1.0)


@pytest.mark.parametrize("precision", ["fp32", "bf16"])
def test_the_loss_is_computed_in_the_precision_of_the_run(precision: str, tmp_path: Path) -> None:
    made = toy_trainer(tmp_path, {}, precision=precision)
    seen: list[Any] = []

    def loss(batch: Any) -> Loss:
        seen.append((torch.is_autocast_enabled("cpu"), torch.get_autocast_dtype("cpu")))
        return Loss(made.method.encoder.weight.sum(), {})  # type: ignore[union-attr, operator]

    made.method.loss = loss  # type: ignore[method-assign]
    made.fit(ROWS)
    assert set(seen) == {(precision == "bf16", torch.bfloat16)}
    assert len(seen) == 8


SAVED = ("log but 0", "commit")


@pytest.mark.parametrize(
    ("evaluates", "saves", "calls"),
    [
        (False, False, ["log but 0", "settle", "due? False"]),
        (False, True, ["log but 0", "settle", "due? False", *SAVED]),
        (True, False, ["log but 0", "evaluate", "settle", "due? True", "report 5 of 9"]),
        (
            True,
            True,
            ["log but 0", "evaluate", "settle", "due? True", "log but 0", "commit", "report 5 of 9"],
        ),
    ],
)
def test_a_step_ends_in_this_order(evaluates: bool, saves: bool, calls: list[str]) -> None:
    """An evaluation is in the resume point of its step, and is told when that is on its way."""
    seen: list[str] = []
    made = own(5)
    made.device, made.folder = "cpu", SimpleNamespace(settle=lambda: seen.append("settle"))
    made._evaluation_is_due = lambda step: evaluates
    made._log_steps = lambda *, but: seen.append(f"log but {but}")
    made._scored = lambda: (seen.append("evaluate"), {"score": 1.0})[1]
    made._resume_point_is_due = lambda *, evaluated: (seen.append(f"due? {evaluated}"), saves)[1]
    made._commit = lambda: seen.append("commit")
    made.report = lambda step, total, entry: seen.append(f"report {step} of {total}")
    Trainer._finish_step(made)
    assert seen == calls


def test_a_step_draws_from_its_own_stream_and_leaves_no_gradient_of_the_last(tmp_path: Path) -> None:
    """Two steps of equal batches have different draws; with a rate of zero the gradient is one step's."""
    made = toy_trainer(tmp_path, {}, learning_rate=1e-9)
    made.plan = StepPlan(rows=4, batch_size=2, drop_last=False, steps=3, epochs=None)
    made.optimizer = build_optimizer(made.method, made.config)
    batch = {"points": torch.zeros(2, 2)}
    weight = next(made.method.parameters())
    losses, gradients = [], []
    for step in (1, 1, 2):
        losses.append(made._train_step(step, batch).finished()["loss"])
        assert weight.grad is not None
        gradients.append(weight.grad.clone())
    assert losses[0] == pytest.approx(losses[1], abs=1e-5)
    assert losses[1] != pytest.approx(losses[2], abs=1e-3)
    torch.testing.assert_close(gradients[0], gradients[1], atol=1e-5, rtol=0)
    assert int(made.method.encoder.steps) == 3  # type: ignore[call-overload]
