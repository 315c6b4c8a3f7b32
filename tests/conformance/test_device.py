"""Every method and the evaluation on a GPU, simulated or real: equal to the CPU, with almost no waits.

`pytest -m gpu` takes this machine's own GPU.
"""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import torch

from harness.data.sts import ScoredPair
from harness.tasks.geometry import alignment, anisotropy, uniformity
from harness.tasks.logistic import SENTEVAL
from harness.tasks.sts import StsTask
from methods.core.errors import InputError
from methods.core.folders import load_encoder
from methods.core.method import Method
from methods.core.rows import Row
from methods.core.types import Batch, Loss
from methods.registry import METHODS
from methods.simcse.method import SimCSE
from tests.harness.tasks.layouts import LAYOUTS, declared_task
from tests.support import tiny
from tests.support.on_device import Card, Steps, card, killed_and_resumed, steps_on, without_dropout
from tests.support.samples import SampleInputs, make, samples_of
from tests.support.simulated_device import TwoDevicesError
from tests.support.tiny import Sample

pytestmark = [pytest.mark.thorough, pytest.mark.usefixtures("each_backbone_is_read_once")]
WAITS_OF_A_STEP = 1
APART = {"fp32": 1e-4, "bf16": 0.3}
"""Tolerance of a loss relative to the CPU's."""

NONDETERMINISTIC = (
    *("avg_pool3d_backward", "_adaptive_avg_pool", "adaptive_max_pool2d_backward", "fractional_max_pool"),
    *("max_unpool", "upsample_", "reflection_pad", "nll_loss2d", "_ctc_loss_backward", "grid_sampler_"),
    *("_embedding_bag_dense_backward", "put_", "histc", "bincount", "median", "cumsum", "scatter_reduce"),
    "resize_",
)
"""Prefixes of operators without a deterministic form on a GPU, as documented by torch."""

COMPARED = [
    pytest.param(sample, id=f"{name}-{sample.label}", marks=[] if number == 0 else [pytest.mark.slow])
    for name in METHODS
    for number, sample in enumerate(samples_of(name))
    if sample.trained
]
FIRST = [
    pytest.param(samples_of(name)[0], id=name, marks=[] if name in ("moco", "congen") else [pytest.mark.slow])
    for name in METHODS
    if samples_of(name)[0].trained
]
"""All samples, and the first of each method; those that the default run leaves out are marked as slow."""
Opens = Callable[[], AbstractContextManager[Card]]


@pytest.fixture(params=["simulated", pytest.param("cuda", marks=pytest.mark.gpu)])
def gpu(request: pytest.FixtureRequest) -> Opens:
    """Opens the simulated GPU, and in `pytest -m gpu` this machine's own."""
    return lambda: card(request.param)


def both(
    opened: AbstractContextManager[Card],
    first: Method,
    second: Method,
    rows: list[Row],
    precision: str = "fp32",
) -> tuple[Steps, Steps, Card]:
    """Returns the same steps of two equal methods, on the CPU and on a GPU."""
    first_rows, second_rows = list(first.prepare(rows)), list(second.prepare(rows))
    with without_dropout():
        on_cpu = steps_on("cpu", first, first_rows, precision=precision)
        with opened as actual:
            on_gpu = steps_on(actual.device, second, second_rows, actual.waits, precision=precision)
    return on_cpu, on_gpu, actual


@pytest.mark.parametrize("sample", COMPARED)
def test_steps_on_a_gpu_equal_those_on_the_cpu_without_waits(
    sample: Sample, inputs_of: Callable[[Sample], SampleInputs], gpu: Opens
) -> None:
    """A frozen network moves to the GPU in the first step; from the second on the budget holds."""
    base = inputs_of(sample)
    on_cpu, on_gpu, actual = both(gpu(), make(sample, base), make(sample, base), base.rows)
    assert on_gpu.waits[1] <= WAITS_OF_A_STEP
    np.testing.assert_allclose(on_gpu.losses, on_cpu.losses, rtol=APART["fp32"], atol=1e-5)
    assert on_gpu.gradients.keys() == on_cpu.gradients.keys()
    largest = max(float(gradient.abs().max()) for gradient in on_cpu.gradients.values())
    for name, gradient in on_cpu.gradients.items():
        torch.testing.assert_close(on_gpu.gradients[name], gradient, rtol=1e-3, atol=1e-4 * largest)
    names = {name.removeprefix("aten::") for name in actual.operators}
    assert not [name for name in names if name.startswith(NONDETERMINISTIC)]


@pytest.mark.parametrize("sample", FIRST)
def test_losses_in_bf16_on_a_gpu_are_near_those_on_the_cpu_without_waits(
    sample: Sample, inputs_of: Callable[[Sample], SampleInputs], gpu: Opens
) -> None:
    base = inputs_of(sample)
    on_cpu, on_gpu, _ = both(gpu(), make(sample, base), make(sample, base), base.rows, "bf16")
    assert on_gpu.waits[1] <= WAITS_OF_A_STEP
    np.testing.assert_allclose(on_gpu.losses, on_cpu.losses, rtol=APART["bf16"], atol=1e-2 * APART["bf16"])


@pytest.mark.filterwarnings("ignore:.*to a meta parameter:UserWarning")  # `meta` is the simulated GPU
@pytest.mark.parametrize("sample", FIRST)
def test_a_training_on_a_gpu_is_killed_and_resumed_to_the_same_bytes(
    sample: Sample, inputs_of: Callable[[Sample], SampleInputs], gpu: Opens, tmp_path: Path
) -> None:
    base = inputs_of(sample)
    with gpu() as actual:
        resumed = killed_and_resumed(actual.device, sample, base, tmp_path)
    on_cpu = tiny.trainer(make(sample, base), resumed.directory, steps=4, eval_every=2)
    with pytest.raises(InputError, match="is of a run with another device") as caught:
        on_cpu.fit(base.rows)
    assert "\n" not in str(caught.value)


def test_evaluation_tasks_on_a_gpu_score_as_on_the_cpu_and_an_export_keeps_the_vectors(
    inputs_of: Callable[[Sample], SampleInputs], gpu: Opens, tmp_path: Path
) -> None:
    """Transfer, STS and geometry read the vectors that the GPU encoded."""
    encoder = tiny.sentence_encoder(inputs_of(samples_of("simcse")[0]).backbone)
    LAYOUTS["MR"](tmp_path)
    quick, texts = replace(SENTEVAL, folds=2, grid=(1e-2,)), [row.text for row in tiny.rows()]
    pairs = [ScoredPair(*pair, number % 6) for number, pair in enumerate(pairwise(texts))]

    def scores(device: str) -> list[float]:
        encoder.to(device)
        tasks = [
            declared_task("MR", "senteval", protocol=quick, folder=tmp_path),
            StsTask("made-up", "made-up", lambda folder: {"all": pairs}, folder=Path()),
        ]
        vectors = encoder.encode(texts)
        shape = [uniformity(vectors), anisotropy(vectors), alignment(vectors[1:], vectors[:-1])]
        return [score.value for task in tasks for score in task.evaluate(encoder.encode)] + shape

    expected, vectors = scores("cpu"), encoder.encode(texts)
    with gpu() as actual:
        np.testing.assert_allclose(scores(actual.device), expected, atol=1e-4)
        encoder.save(tmp_path / "exported")
    np.testing.assert_allclose(load_encoder(tmp_path / "exported").encode(texts), vectors, atol=1e-6)


class StrayTensor(SimCSE):
    def loss(self, batch: Batch) -> Loss:
        loss = super().loss(batch)
        return loss._replace(total=loss.total + (loss.total * torch.ones(3)).mean())


def test_tensors_of_two_devices_in_one_operator_are_an_error(
    inputs_of: Callable[[Sample], SampleInputs],
) -> None:
    sample = samples_of("simcse")[0]
    base = inputs_of(sample)
    methods = make(sample, base), make(sample, base)
    for method in methods:
        method.__class__ = StrayTensor
    with pytest.raises(TwoDevicesError):
        both(card("simulated"), *methods, base.rows)
