"""Every method and what evaluates it on a simulated card: equal to the CPU, with next to no waits."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.nn import functional

from harness.tasks.features import MatrixFeatures
from harness.tasks.logistic import Fold, Training, fit
from methods.core import streams
from methods.core.errors import InputError
from methods.core.method import Method
from methods.core.optimizer import build_optimizer, set_rate
from methods.core.train_config import TrainConfig
from methods.core.transfers import to_device
from methods.core.types import Batch, Loss, Row
from methods.registry import METHODS
from methods.simcse.method import SimCSE
from tests.support import tiny
from tests.support.samples import Ground, folder_bytes, make, samples_of
from tests.support.simulated_device import DEVICE, Card, TwoDevicesError, on_host, simulated_device
from tests.support.tiny import Sample

WAITS_OF_A_STEP = 1

NONDETERMINISTIC = {
    "AvgPool3d": "avg_pool3d_backward",
    "AdaptiveAvgPool2d": "_adaptive_avg_pool2d_backward",
    "AdaptiveAvgPool3d": "_adaptive_avg_pool3d_backward",
    "AdaptiveMaxPool2d": "adaptive_max_pool2d_backward",
    "FractionalMaxPool2d": "fractional_max_pool2d_backward",
    "FractionalMaxPool3d": "fractional_max_pool3d_backward",
    "MaxUnpool1d": "max_unpool2d",
    "MaxUnpool2d": "max_unpool2d",
    "MaxUnpool3d": "max_unpool3d",
    "interpolate": "upsample_",
    "ReflectionPad1d": "reflection_pad1d_backward",
    "ReflectionPad2d": "reflection_pad2d_backward",
    "ReflectionPad3d": "reflection_pad3d_backward",
    "NLLLoss": "nll_loss2d",
    "CTCLoss": "_ctc_loss_backward",
    "EmbeddingBag": "_embedding_bag_dense_backward",
    "put_": "put_",
    "histc": "histc",
    "bincount": "bincount",
    "median": "median",
    "grid_sample": "grid_sampler_",
    "cumsum": "cumsum",
    "scatter_reduce": "scatter_reduce",
    "resize_": "resize_",
}
"""What torch documents to have no deterministic form on a card, and how its operators' names begin. Of the
negative log-likelihood that holds for images alone."""


@contextmanager
def without_dropout() -> Iterator[None]:
    """Turns off all dropout, whose draws differ between a CPU and a card."""
    attention = functional.scaled_dot_product_attention

    def undropped(*given: Tensor, dropout_p: float = 0.0, **settings: Any) -> Tensor:
        return attention(*given, **settings)

    def unchanged(inputs: Tensor, *_: Any, **__: Any) -> Tensor:
        return inputs

    with (
        mock.patch("methods.core.fast.dropout.dropped", unchanged),
        mock.patch("torch.nn.functional.dropout", unchanged),
        mock.patch("torch.nn.functional.scaled_dot_product_attention", undropped),
    ):
        yield


COMPARED = [
    pytest.param(sample, id=f"{name}-{sample.label}", marks=[] if number < 2 else [pytest.mark.slow])
    for name in METHODS
    for number, sample in enumerate(samples_of(name))
    if sample.trained
]
RESUMED = [
    pytest.param(samples_of(name)[0], id=name, marks=[] if name in ("moco", "congen") else [pytest.mark.slow])
    for name in METHODS
    if samples_of(name)[0].trained
]
"""All samples; those that the default run leaves out are marked as slow."""


class Steps(NamedTuple):
    """Losses and the host's waits of a few steps, and the gradients of the first."""

    losses: list[float]
    waits: list[dict[str, int]]
    gradients: dict[str, Tensor]


def steps_on(device: str, method: Method, rows: list[Row], card: Card, *, count: int = 2) -> Steps:
    """Takes the first steps of a training."""
    found = Steps([], [], {})
    method.to(device).train()
    config = TrainConfig.model_validate(tiny.TRAIN)
    optimizer = build_optimizer(method, config)
    for step in range(count):
        rng = streams.generator(3, streams.COLLATE, step)
        batch = to_device(method.collate(rows[:8], step=step, rng=rng), device)
        card.waits.clear()
        torch.manual_seed(step)
        set_rate(optimizer, config, step=step, factor=1.0)
        loss = method.loss(batch).total
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        gradients = {name: value.grad for name, value in method.named_parameters() if value.grad is not None}
        optimizer.step()
        method.after_step(step)
        found.waits.append(dict(card.waits))
        found.losses.append(float(on_host(loss.detach())))
        if step == 0:
            found.gradients.update({name: on_host(value).clone() for name, value in gradients.items()})
    return found


def both(first: Method, second: Method, rows: list[Row]) -> tuple[Steps, Steps, Card]:
    """Returns the same steps of two equal methods, on the CPU and on a simulated card."""
    first_rows, second_rows = first.prepare(rows), second.prepare(rows)
    with without_dropout():
        on_cpu = steps_on("cpu", first, list(first_rows), Card())
        with simulated_device() as card:
            return on_cpu, steps_on(DEVICE, second, list(second_rows), card), card


@pytest.mark.parametrize("sample", COMPARED)
def test_steps_on_a_card_equal_those_on_the_cpu_without_waits(
    sample: Sample, ground: Callable[[Sample], Ground]
) -> None:
    """A frozen network moves to the card in the first step; from the second on the budget holds."""
    base = ground(sample)
    on_cpu, on_card, card = both(make(sample, base), make(sample, base), base.rows)
    assert sum(on_card.waits[1].values()) <= WAITS_OF_A_STEP, on_card.waits[1]
    np.testing.assert_allclose(on_card.losses, on_cpu.losses, rtol=1e-4, atol=1e-5)
    assert on_card.gradients.keys() == on_cpu.gradients.keys()
    largest = max(float(gradient.abs().max()) for gradient in on_cpu.gradients.values())
    for name, gradient in on_cpu.gradients.items():
        torch.testing.assert_close(on_card.gradients[name], gradient, rtol=1e-3, atol=1e-4 * largest)
    names = {name.removeprefix("aten::") for name in card.operators}
    assert not [name for name in names if name.startswith(tuple(NONDETERMINISTIC.values()))]


def test_the_table_of_nondeterministic_operators_has_all_that_torch_documents() -> None:
    documented = torch.use_deterministic_algorithms.__doc__ or ""
    refused = documented.partition("will throw a")[2].partition("will throw a")[2]
    listed = {line.split("`")[1].rsplit(".", 1)[-1] for line in refused.splitlines() if "* :" in line}
    assert listed == set(NONDETERMINISTIC)


@pytest.mark.filterwarnings("ignore:.*to a meta parameter:UserWarning")  # `meta` is the simulated card
@pytest.mark.parametrize("sample", RESUMED)
def test_a_training_on_a_card_is_killed_and_resumed_to_the_same_bytes(
    sample: Sample, ground: Callable[[Sample], Ground], tmp_path: Path
) -> None:
    base = ground(sample)
    methods = [make(sample, base, seed) for seed in (3, 3, 99)]

    class Killed(Exception):
        pass

    def die(step: int) -> None:
        type(methods[1]).after_step(methods[1], step)
        if step == 2:
            raise Killed

    folders = tmp_path / "whole", tmp_path / "killed", tmp_path / "killed"
    whole, dying, resumed = (tiny.trainer(*pair) for pair in zip(methods, folders, strict=True))
    methods[1].after_step = die  # type: ignore[method-assign]
    for trainer in (whole, dying, resumed):
        trainer.device = DEVICE
    with simulated_device():
        whole.fit(base.rows)
        with pytest.raises(Killed):
            dying.fit(base.rows)
        resumed.fit(base.rows)
    assert resumed.record == whole.record
    assert folder_bytes(resumed.last_folder) == folder_bytes(whole.last_folder)
    assert (resumed.directory / "train.jsonl").read_bytes() == (whole.directory / "train.jsonl").read_bytes()
    on_cpu = tiny.trainer(make(sample, base), dying.directory)
    with pytest.raises(InputError, match="is of a run with another device") as caught:
        on_cpu.fit(base.rows)
    assert "\n" not in str(caught.value)


def test_vectors_of_an_encoder_on_a_card_are_those_of_the_cpu(ground: Callable[[Sample], Ground]) -> None:
    base = ground(samples_of("simcse")[0])
    encoder = tiny.sentence_encoder(base.backbone)
    texts = [row.text for row in base.rows]
    expected = encoder.encode(texts)
    with simulated_device() as card:
        found = encoder.to(DEVICE).encode(texts)
    np.testing.assert_allclose(found, expected, atol=1e-6)
    assert all(reason.startswith("copy") for reason in card.waits)


def test_classifiers_on_a_card_are_those_of_the_cpu() -> None:
    rng = np.random.default_rng(2)
    matrix, labels = torch.from_numpy(rng.normal(size=(40, 6)).astype(np.float32)), rng.integers(0, 2, 40)
    folds = [Fold(np.arange(30), np.arange(30, 40)), Fold(np.arange(10, 40), np.arange(10))]
    penalties = np.array([[0.0, 0.1], [0.0, 0.1]])
    training = Training("adam", 1e-2, 8, tenacity=2, epoch_size=2, max_epochs=6, seed=3)

    def correct(device: str) -> np.ndarray:
        features = MatrixFeatures(matrix.to(device))
        return fit(features, labels, folds, penalties, classes=2, training=training).correct

    expected = correct("cpu")
    with mock.patch.dict("harness.tasks.logistic.BATCH_BYTES", {DEVICE: 2**20}), simulated_device():
        np.testing.assert_array_equal(correct(DEVICE), expected)


class StrayTensor(SimCSE):
    def loss(self, batch: Batch) -> Loss:
        loss = super().loss(batch)
        return loss._replace(total=loss.total + (loss.total * torch.ones(3)).mean())


class ReadsEachRow(SimCSE):
    def loss(self, batch: Batch) -> Loss:
        loss = super().loss(batch)
        for row in batch["anchor"]["input_ids"]:
            row[0].item()
        return loss


class ForgetsItsBuffer(SimCSE):
    def prepare(self, rows: Any) -> Any:
        self.weights = torch.ones(self.encoder.width)
        return super().prepare(rows)

    def loss(self, batch: Batch) -> Loss:
        loss = super().loss(batch)
        first = self.encoder(batch["anchor"])
        return loss._replace(total=loss.total + (first * self.weights).mean())


@pytest.mark.parametrize("broken", [StrayTensor, ReadsEachRow, ForgetsItsBuffer])
def test_a_fault_that_only_a_card_shows_is_found(
    broken: type[SimCSE], ground: Callable[[Sample], Ground]
) -> None:
    sample = samples_of("simcse")[0]
    base = ground(sample)
    methods = make(sample, base), make(sample, base)
    for method in methods:
        method.__class__ = broken
    if broken is ReadsEachRow:
        assert sum(both(*methods, base.rows)[1].waits[1].values()) > WAITS_OF_A_STEP
        return
    with pytest.raises(TwoDevicesError):
        both(*methods, base.rows)
