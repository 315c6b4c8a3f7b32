"""The laws every method obeys, over every sample of every entry of METHODS; `pytest -m gpu`: on a GPU.

In the default run over the first sample of each method, in `make test-thorough` over the others.
"""

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
import torch

from methods.core.folders import load_encoder
from methods.core.method import Method
from methods.core.rows import Row
from methods.core.trainer import Trainer
from methods.core.types import to_device
from methods.registry import METHODS
from tests.support import tiny
from tests.support.samples import SampleInputs, folder_bytes, make, samples_of
from tests.support.tiny import Sample

pytestmark = pytest.mark.usefixtures("each_backbone_is_read_once")
SAMPLES = [sample for name in METHODS for sample in samples_of(name)]
TRAINED = [sample for sample in SAMPLES if sample.trained]
FIRST = {sample.method: sample.label for sample in reversed(SAMPLES)}
"""The first sample of each method."""


def kind_of(sample: Sample) -> list[pytest.MarkDecorator]:
    """Returns no mark for the first sample of each method."""
    return [] if FIRST[sample.method] == sample.label else [pytest.mark.thorough]


def marks_of(number: int, sample: Sample) -> list[pytest.MarkDecorator]:
    """Whole trainings: of the samples after the first, every sixth is thorough and the others are slow."""
    return kind_of(sample) if number % 6 == 0 else kind_of(sample) and [pytest.mark.slow]


def name_of(sample: Sample) -> str:
    return f"{sample.method}-{sample.label}"


def over(samples: list[Sample]) -> pytest.MarkDecorator:
    """Returns the mark of a law that is tested over these samples."""
    each = [pytest.param(sample, id=name_of(sample), marks=kind_of(sample)) for sample in samples]
    return pytest.mark.parametrize("sample", each)


every_sample, every_trained = over(SAMPLES), over(TRAINED)

SHORT = {"steps": 4, "eval_every": 2, "save_every": 1}
STOPS = (1, 2, 3)
KILLS = [
    pytest.param(
        sample,
        stop,
        id=f"{name_of(sample)}-{stop}",
        marks=marks_of(number, sample) if order == number % len(STOPS) else [pytest.mark.slow],
    )
    for number, sample in enumerate(TRAINED)
    for order, stop in enumerate(STOPS)
]
"""Steps after which a sample is killed: of the first sample of each method one of them, in turn."""


def trainer_of(method: Method, folder: Path, device: str, **settings: Any) -> Trainer:
    """Returns a trainer of a few steps. settings: `seed`, and overrides of SHORT."""
    trainer = tiny.trainer(method, folder, **{**SHORT, **settings})
    trainer.device = device
    return trainer


def steps_of(sample: Sample) -> dict[str, int]:
    return {} if sample.trained else {"steps": 0}


READ_ELSEWHERE = [
    pytest.param(
        sample,
        id=name_of(sample),
        marks=kind_of(sample)
        if sample.export_tolerance > 1e-5 or not sample.portable
        else marks_of(number, sample),
    )
    for number, sample in enumerate(SAMPLES)
]
"""Samples that another library reads: every unusual export, and those of `marks_of`."""


class Whole(NamedTuple):
    """A sample's uninterrupted training, the shapes of its state before, and its output files."""

    trainer: Trainer
    shapes: dict[str, torch.Size]
    best: dict[str, bytes]
    last: dict[str, bytes]
    log: bytes


def shapes_of(method: Method) -> dict[str, torch.Size]:
    return {name: tensor.shape for name, tensor in method.state_dict().items()}


def fit(trainer: Trainer, rows: list[Row]) -> Whole:
    """Trains to the end and returns the output files."""
    shapes = shapes_of(trainer.method)
    trainer.fit(rows)
    saved = folder_bytes(trainer.best_folder), folder_bytes(trainer.folder.last)
    return Whole(trainer, shapes, *saved, (trainer.directory / "train.jsonl").read_bytes())


@pytest.fixture(scope="session")
def whole(
    inputs_of: Callable[[Sample], SampleInputs], tmp_path_factory: pytest.TempPathFactory
) -> Callable[[Sample, str], Whole]:
    """Returns a sample's training on a device, which several laws share."""
    done: dict[str, Whole] = {}
    top = tmp_path_factory.mktemp("whole")

    def of(sample: Sample, device: str) -> Whole:
        name, base = f"{name_of(sample)}-{device}", inputs_of(sample)
        if name not in done:
            trainer = trainer_of(make(sample, base), top / name, device, **steps_of(sample))
            done[name] = fit(trainer, base.rows)
        return done[name]

    return of


class Stepped(NamedTuple):
    """A sample's method after its first steps, what it was before, and what the steps gave.

    `untrained` is another method of the same seed that takes no step; several laws read it.
    """

    method: Method
    untrained: Method
    shapes: dict[str, torch.Size]
    parts: list[dict[str, torch.Tensor]]
    moved: set[str]


@pytest.fixture(scope="session")
def built(inputs_of: Callable[[Sample], SampleInputs]) -> Callable[[Sample, str], Method]:
    """Returns a sample's method on a device in training mode; no law changes a number of it."""
    done: dict[str, Method] = {}

    def of(sample: Sample, device: str) -> Method:
        name = f"{name_of(sample)}-{device}"
        if name not in done:
            done[name] = make(sample, inputs_of(sample)).to(device)
        return done[name].train()

    return of


@pytest.fixture(scope="session")
def stepped(
    inputs_of: Callable[[Sample], SampleInputs], built: Callable[[Sample, str], Method]
) -> Callable[[Sample, str], Stepped]:
    """Returns a trained sample after three steps of gradient descent, which several laws share."""
    done: dict[str, Stepped] = {}

    def of(sample: Sample, device: str) -> Stepped:
        name = f"{name_of(sample)}-{device}"
        if name not in done:
            done[name] = take_steps(sample, inputs_of(sample), built(sample, device), device)
        return done[name]

    return of


def take_steps(sample: Sample, base: SampleInputs, untrained: Method, device: str) -> Stepped:
    """Takes three steps without a trainer: collate, loss, gradient, `after_step`; the last also updates."""
    method = make(sample, base).to(device).train()
    shapes, parts = shapes_of(method), []
    rows = list(method.prepare(base.rows))
    trained = {name: p for name, p in method.named_parameters() if p.requires_grad}
    optimizer = torch.optim.SGD(trained.values(), lr=0.01)
    for step in range(3):
        batch = to_device(tiny.collate(method, rows[:8], step=step), device)
        optimizer.zero_grad()
        torch.manual_seed(step)
        loss = method.loss(batch)
        parts.append(loss.parts)
        loss.total.backward()
        if step == 2:
            optimizer.step()
        method.after_step(step)
    moved = {name for name, p in trained.items() if p.grad is not None and bool(p.grad.ne(0).any())}
    return Stepped(method, untrained, shapes, parts, moved)


@pytest.fixture(scope="session")
def after_training(
    whole: Callable[[Sample, str], Whole], stepped: Callable[[Sample, str], Stepped]
) -> Callable[[Sample, str], tuple[Method, dict[str, torch.Size]]]:
    """Returns a sample's method after its steps, or after what it fits without any, and its shapes before."""

    def of(sample: Sample, device: str) -> tuple[Method, dict[str, torch.Size]]:
        if sample.trained:
            taken = stepped(sample, device)
            return taken.method, taken.shapes
        return whole(sample, device).trainer.method, whole(sample, device).shapes

    return of


AfterTraining = Callable[[Sample, str], tuple[Method, dict[str, torch.Size]]]


def flat(value: Any, prefix: str = "") -> dict[str, torch.Tensor]:
    if isinstance(value, torch.Tensor):
        return {prefix: value}
    return {k: t for name, entry in value.items() for k, t in flat(entry, f"{prefix}/{name}").items()}


def test_every_method_has_samples_and_none_is_counted_twice() -> None:
    assert {sample.method for sample in SAMPLES} == set(METHODS)
    assert len({name_of(sample) for sample in SAMPLES}) == len(SAMPLES) >= 2 * len(METHODS) - 2


@every_trained
def test_law_1_collate_is_pure(
    sample: Sample, inputs_of: Callable[[Sample], SampleInputs], built: Callable[[Sample, str], Method]
) -> None:
    method = built(sample, "cpu")
    rows = list(method.prepare(inputs_of(sample).rows))[:8]

    torch.manual_seed(1)
    first = flat(tiny.collate(method, rows, step=4))
    torch.manual_seed(2)
    with ThreadPoolExecutor(1) as other:
        second = flat(other.submit(tiny.collate, method, rows, step=4).result())
    assert len(first) > 0
    torch.testing.assert_close(second, first, rtol=0, atol=0)
    assert all(tensor.device.type == "cpu" for tensor in first.values())


@pytest.mark.parametrize(
    "sample", [pytest.param(s, id=name_of(s), marks=marks_of(n, s)) for n, s in enumerate(SAMPLES)]
)
def test_law_2_same_seed_same_bytes_other_seed_other_bytes(
    sample: Sample,
    inputs_of: Callable[[Sample], SampleInputs],
    whole: Callable[[Sample, str], Whole],
    device: str,
    tmp_path: Path,
) -> None:
    """Law 3 compares a trained sample with a second training of its seed."""
    base, first = inputs_of(sample), whole(sample, device)
    if sample.trained:
        other = trainer_of(make(sample, base, seed=4), tmp_path, device, seed=4, steps=1)
        assert first_loss(fit(other, base.rows)) != first_loss(first)
        return
    second = fit(trainer_of(make(sample, base), tmp_path, device, steps=0), base.rows)
    assert second.trainer.record == first.trainer.record
    assert second[1:] == first[1:]


def first_loss(trained: Whole) -> float:
    lines = map(json.loads, trained.log.splitlines())
    return next(line["loss"] for line in lines if "loss" in line)


@pytest.mark.parametrize(("sample", "stop"), KILLS)
def test_law_3_a_run_killed_at_any_step_continues_to_the_same_bytes(
    sample: Sample,
    stop: int,
    inputs_of: Callable[[Sample], SampleInputs],
    whole: Callable[[Sample, str], Whole],
    device: str,
    tmp_path: Path,
) -> None:
    base = inputs_of(sample)
    method = make(sample, base)
    after_step = method.after_step

    def dying(step: int) -> None:
        after_step(step)
        if step == stop:
            raise RuntimeError("killed")

    method.after_step = dying  # type: ignore[method-assign]
    with pytest.raises(RuntimeError, match="killed"):
        trainer_of(method, tmp_path, device).fit(base.rows)
    resumed = fit(trainer_of(make(sample, base, seed=99), tmp_path, device), base.rows)
    assert shapes_of(resumed.trainer.method) == resumed.shapes
    assert resumed.trainer.record == whole(sample, device).trainer.record
    assert resumed[1:] == whole(sample, device)[1:]


@every_sample
def test_law_4_prepare_and_training_create_no_state(
    sample: Sample, after_training: AfterTraining, device: str
) -> None:
    """In steps without a trainer; law 3 looks at the state after a whole training."""
    method, shapes = after_training(sample, device)
    assert shapes_of(method) == shapes


@every_trained
def test_law_5_stated_dropout_modes_survive_train_and_eval(
    sample: Sample,
    inputs_of: Callable[[Sample], SampleInputs],
    built: Callable[[Sample, str], Method],
    device: str,
) -> None:
    method = built(sample, device)
    for mode in (True, False, True):
        method.train(mode)
        for name, active in method.fixed_modes.items():
            assert all(part.training is active for part in method.get_submodule(name).modules())
    method.prepare(inputs_of(sample).rows)
    method.exported().encode(["the man runs"])
    assert method.encoder.training
    for name, active in method.fixed_modes.items():
        assert method.get_submodule(name).training is active


@every_trained
def test_law_6_parents_are_outside_the_module_tree_and_never_learn(
    sample: Sample, stepped: Callable[[Sample, str], Stepped], device: str
) -> None:
    method, new = stepped(sample, device).method, stepped(sample, device).untrained
    for name, value in vars(method).items():
        module = getattr(value, "module", None)
        if isinstance(module, torch.nn.Module):
            inside = {id(parameter) for parameter in method.parameters()}
            assert not any(id(parameter) in inside for parameter in module.parameters())
            assert not any(parameter.requires_grad for parameter in module.parameters())
            untrained = vars(new)[name].module.state_dict()
            torch.testing.assert_close(module.state_dict(), untrained, rtol=0, atol=0, check_device=False)
    assert any(parameter.requires_grad for parameter in method.parameters())


@every_sample
def test_law_7_a_vector_does_not_depend_on_its_neighbours(
    sample: Sample, inputs_of: Callable[[Sample], SampleInputs], after_training: AfterTraining, device: str
) -> None:
    base = inputs_of(sample)
    encoder = after_training(sample, device)[0].exported()
    texts = [row.text for row in base.rows]
    together = encoder.encode(texts)
    alone = np.concatenate([encoder.encode([text]) for text in texts[::3]])
    scale = np.abs(alone).max() if sample.export_tolerance > 1e-5 else 1.0
    assert together.shape == (len(texts), encoder.dim)
    assert together.dtype == np.float32
    np.testing.assert_allclose(together[::3], alone, atol=sample.export_tolerance * scale)
    np.testing.assert_array_equal(together, encoder.encode(texts))


@every_trained
def test_parts_that_are_not_exported_change_no_vector(
    sample: Sample, inputs_of: Callable[[Sample], SampleInputs], device: str
) -> None:
    """Heads, key sides and second networks: all weights except the exported encoder's are 0.3."""
    base = inputs_of(sample)
    method = make(sample, base).to(device)
    exported: Any = method.exported()
    texts = [row.text for row in base.rows[:4]]
    before = exported.encode(texts)
    kept = {id(parameter) for parameter in exported.parameters()}
    with torch.no_grad():
        for parameter in method.parameters():
            if id(parameter) not in kept:
                parameter.fill_(0.3)
    np.testing.assert_array_equal(exported.encode(texts), before)


@every_trained
def test_law_8_losses_are_scalars_in_fp32_also_under_autocast(
    sample: Sample,
    inputs_of: Callable[[Sample], SampleInputs],
    built: Callable[[Sample, str], Method],
    device: str,
) -> None:
    method = built(sample, device)
    batch = to_device(tiny.batch_of(method, 8, corpus=inputs_of(sample).rows), device)
    torch.manual_seed(1)
    with torch.autocast(device, torch.bfloat16):
        loss = method.loss(batch)
    assert loss.total.shape == ()
    assert loss.total.dtype == torch.float32
    assert torch.isfinite(loss.total)


@every_sample
def test_law_10_the_saved_folder_gives_the_same_vectors(
    sample: Sample,
    inputs_of: Callable[[Sample], SampleInputs],
    after_training: AfterTraining,
    device: str,
    tmp_path: Path,
) -> None:
    encoder = after_training(sample, device)[0].exported()
    encoder.save(tmp_path / "folder")
    texts = [row.text for row in inputs_of(sample).rows]
    expected = encoder.encode(texts)
    loaded = load_encoder(tmp_path / "folder").encode(texts)
    if device == "cpu":
        np.testing.assert_array_equal(loaded, expected)
    else:
        np.testing.assert_allclose(loaded, expected, rtol=0, atol=1e-4 * np.abs(expected).max())


@pytest.mark.parametrize("sample", READ_ELSEWHERE)
def test_law_10_sentence_transformers_computes_the_same_vectors_or_refuses_the_folder(
    sample: Sample,
    inputs_of: Callable[[Sample], SampleInputs],
    after_training: AfterTraining,
    device: str,
    tmp_path: Path,
) -> None:
    """tests/conformance/test_exports.py looks at the files of every sample."""
    from sentence_transformers import SentenceTransformer

    encoder = after_training(sample, device)[0].exported()
    encoder.save(tmp_path / "folder")
    texts = [row.text for row in inputs_of(sample).rows]

    def theirs() -> Any:
        folder = str(tmp_path / "folder")
        return SentenceTransformer(folder, device="cpu", trust_remote_code=False).encode(texts)

    if sample.portable:
        expected = encoder.encode(texts)
        scale = np.abs(expected).max()
        np.testing.assert_allclose(theirs(), expected, rtol=0, atol=sample.export_tolerance * scale)
    else:  # no model at its top, so no other library loads it without its last layer
        with pytest.raises((OSError, ValueError)):
            theirs()


@every_trained
def test_law_9_parts_are_detached_scalars_and_gradients_are_zero_only_where_a_fact_says_so(
    sample: Sample, stepped: Callable[[Sample, str], Stepped], device: str
) -> None:
    taken = stepped(sample, device)
    for parts in taken.parts:
        assert all(part.shape == () and not part.requires_grad for part in parts.values())
    trained = {name for name, parameter in taken.method.named_parameters() if parameter.requires_grad}
    assert trained - taken.moved == set(sample.zero_gradients)
