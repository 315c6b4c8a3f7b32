"""CKD: its loss of given vectors, both presets, the teacher as vectors or as a network, the queue."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from methods.ckd.method import contrastive_distillation
from methods.core.errors import InputError
from methods.core.folders import load_encoder
from methods.core.losses import unit
from methods.core.rows import Row
from tests.methods.ckd.sample import ORIGINAL, RELEASED, SAMPLES
from tests.support import tiny
from tests.support.tiny import collate
from tests.support.vectors import assert_equal_with_gradients, drawn

ROWS = tiny.rows(30)


@pytest.fixture(scope="module")
def top(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Returns a folder with a backbone, and its like of another seed as encoder and as vectors."""
    folder = tmp_path_factory.mktemp("ckd")
    tiny.write_backbone(folder / "bert", dropout=0.0)
    for kind in ("teacher", "encoder"):
        tiny.write_parent(folder / kind, kind, ROWS)
    return folder


def build(top: Path, config: dict[str, Any] = RELEASED, *, pooling: str = "mean", **changes: Any) -> Any:
    merged = {**config, **changes}
    parent = top / ("teacher" if merged["teacher"] == "vectors" else "encoder") / "parent"
    return tiny.changed(SAMPLES[0], top / "bert", parent=parent, pooling=pooling, **merged)


def taught(top: Path, rows: list[Row]) -> torch.Tensor:
    vectors = np.load(top / "teacher/parent/vectors.npy")
    return unit(torch.from_numpy(vectors[[row.index for row in rows], 0]))


def test_the_student_reads_the_text_of_its_teacher(top: Path) -> None:
    assert list(build(top, teacher_view=0).columns) == [0]
    assert list(build(top, teacher_view=1).columns) == [1]


def test_a_step_is_info_nce_over_batch_and_queue(top: Path) -> None:
    """After one step of 6 a queue of 8 holds the last 2 of its start, then the 6: 12 choices at 1 / .05."""
    method = build(top)
    kept = list(method.prepare(ROWS))
    method.loss(collate(method, kept[:6]))
    method.after_step(0)
    chosen = kept[6:10]
    held = [row for row in ROWS if row.index not in {row.index for row in kept}]
    keys = taught(top, [*chosen, *held[6:], *kept[:6]])
    student = unit(method.encoder.finish(method.encoder(method.encoder.tokenize([r.text for r in chosen]))))
    expected = torch.nn.functional.cross_entropy(student @ keys.T / 0.05, torch.arange(4))
    loss = method.loss(collate(method, chosen))
    assert loss.total.item() == pytest.approx(expected.item(), rel=1e-5)
    assert loss.parts["keys"].item() == 12


def test_a_network_teacher_without_dropout_gives_the_loss_of_its_vectors(top: Path) -> None:
    """The parent encoder is the one whose vectors the other folder holds."""
    same = {"mapping": "none", "queue_start": "empty", "queue_seed": None}
    stored = build(top, **same)
    live = build(top, **same, teacher="network")
    losses = []
    for method in (stored, live):
        kept = list(method.prepare(ROWS))
        for step in range(3):
            losses.append(method.loss(collate(method, kept[6 * step : 6 * step + 6])).total.item())
            method.after_step(step)
    assert losses[:3] == pytest.approx(losses[3:], rel=1e-4)
    assert len(set(losses[:3])) == 3


def test_the_teachers_dropout_follows_the_settings_in_either_mode(top: Path) -> None:
    for active in (False, True):
        method = build(top, ORIGINAL, teacher_dropout=active).train()
        batch = collate(method, list(method.prepare(ROWS))[:6])
        first, second = (method.read_teacher(batch["teacher"]) for _ in range(2))
        assert torch.equal(first, second) is not active
        assert all(part.training is active for part in method.eval().network.module.modules())


def test_a_network_teacher_pools_as_its_setting_says_and_without_one_as_its_folder(top: Path) -> None:
    """The folder states the mean."""
    poolings = [
        build(top, ORIGINAL, teacher_pooling=pooling).network.module.pooling
        for pooling in (None, "cls", "mean")
    ]
    assert poolings == ["mean", "cls", "mean"]


def test_a_network_teacher_reads_tokens_of_its_own_tokenizer(top: Path, tmp_path: Path) -> None:
    """A teacher that does not lower the case gets other ids than the student, and gives its own vectors."""
    other = load_encoder(top / "encoder/parent")
    other.tokenizer.backend_tokenizer.normalizer = None  # type: ignore[union-attr]
    other.save(tmp_path / "parent")
    settings = {**ORIGINAL, "teacher_dropout": False}
    method = tiny.changed(SAMPLES[0], top / "bert", parent=tmp_path / "parent", **settings)
    rows = [row._replace(text=row.text.upper()) for row in ROWS]
    chosen = list(method.prepare(rows))[:6]
    batch = collate(method, chosen)
    assert not torch.equal(batch["anchor"]["input_ids"], batch["teacher"]["input_ids"])
    expected = load_encoder(tmp_path / "parent").encode([row.text for row in chosen])
    actual = method.read_teacher(batch["teacher"])
    np.testing.assert_allclose(actual.numpy(), expected, atol=1e-5)


def test_the_learned_scale_starts_at_e_and_is_trained_and_logged(top: Path) -> None:
    method = build(top, ORIGINAL)
    assert method.log_scale.item() == pytest.approx(1.0, abs=1e-6)
    loss = method.loss(collate(method, list(method.prepare(ROWS))[:6]))
    loss.total.backward()
    assert method.log_scale.grad.item() != 0
    assert loss.parts["scale"].item() == pytest.approx(math.e, rel=1e-6)
    assert build(top).log_scale is None


def test_an_empty_queue_grows_to_its_size(top: Path) -> None:
    """Batches of 6 and a queue of 8: 6, then 12, then 14 choices."""
    method = build(top, ORIGINAL)
    kept = list(method.prepare(ROWS))
    assert kept == ROWS
    counts = []
    for step in range(3):
        loss = method.loss(collate(method, kept[6 * step : 6 * step + 6]))
        method.after_step(step)
        counts.append(loss.parts["keys"].item())
    assert counts == [6, 12, 14]


def test_a_mapping_that_is_not_kept_is_trained_and_not_exported(top: Path) -> None:
    """Laws say that a layer next to the encoder changes no exported vector and has a gradient."""
    kept, dropped = build(top), build(top, ORIGINAL)
    assert kept.encoder.output is not None
    assert dropped.encoder.output is None
    assert isinstance(dropped.projection, torch.nn.Linear)


def test_the_pooler_of_a_checkpoint_is_the_exported_layer(top: Path) -> None:
    """tanh(W h + b) of the first token, with the checkpoint's own W and b."""
    method = build(top, ORIGINAL, student_vector="pooler", pooling="cls")
    tokens = method.encoder.tokenize(["the man runs"])
    from transformers import BertModel

    expected = BertModel.from_pretrained(top / "bert", trust_remote_code=False).eval()(**tokens).pooler_output
    np.testing.assert_allclose(
        method.exported().encode(["the man runs"]), expected.detach().numpy(), atol=1e-5
    )
    with pytest.raises(InputError, match="student_vector pooler with pooling mean: set `pooling: cls`"):
        build(top, ORIGINAL, student_vector="pooler")


QUEUE = torch.tensor([[0.0, 1.0]], dtype=torch.float64)
TEACHERS = torch.tensor([[1.0, 0.0], [0.6, 0.8]], dtype=torch.float64)
STUDENTS = torch.tensor([[0.6, 0.8], [0.0, 1.0]], dtype=torch.float64)


def double_loop(students: Tensor, teachers: Tensor, queue: Tensor, scale: Tensor) -> Tensor:
    total = torch.zeros((), dtype=torch.float64)
    for n, student in enumerate(students):
        q = student / (student * student).sum().sqrt()
        below = sum((scale * (q * k).sum()).exp() for k in [*teachers, *queue])
        total = total - ((scale * (q * teachers[n]).sum()).exp() / below).log()
    return total / len(students)


@pytest.mark.parametrize(("scale", "expected"), [(math.e, 1.390418), (20.0, 6.018315)])
def test_the_worked_example(scale: float, expected: float) -> None:
    """Row 1 has cosines .6 with its own vector, 1 with the other, .8 with the queue; row 2 has .8, 0 and 1.
    The loss is the mean of log(e^.6c + e^c + e^.8c) - .6c and log(e^0 + e^.8c + e^c) - .8c."""
    actual = contrastive_distillation(STUDENTS, TEACHERS, QUEUE, scale=scale).item()
    assert actual == pytest.approx(expected, abs=5e-7)


@pytest.mark.parametrize(("batch", "rows"), [(5, 17), (1, 3), (4, 0)])
def test_the_loss_equals_a_double_loop_with_gradients_to_1e_8(batch: int, rows: int) -> None:
    """Gradients of the student and of a trained scale."""
    teachers, queue = unit(drawn(batch, 7, seed=1)).detach(), unit(drawn(rows, 7, seed=2)).detach()
    students = drawn(batch, 7, seed=3)
    scale = torch.tensor(6.5, dtype=torch.float64, requires_grad=True)
    fast = contrastive_distillation(students, teachers, queue, scale=scale)
    slow = double_loop(students, teachers, queue, scale)
    assert_equal_with_gradients(fast, slow, [students, scale])


@pytest.mark.parametrize("activation", ["identity", "tanh"])
def test_a_network_teachers_vectors_are_behind_its_own_output_layer(
    top: Path, tmp_path: Path, activation: str
) -> None:
    """A teacher of width 12 behind a layer of 16: its vectors, without norm, are those of its `encode`."""
    made: Any = load_encoder(top / "encoder/parent")
    torch.manual_seed(2)
    made.output, made.activation = torch.nn.Linear(made.width, 12), activation
    made.save(tmp_path / "parent")
    settings = {**ORIGINAL, "teacher_dropout": False}
    method = tiny.changed(SAMPLES[0], top / "bert", parent=tmp_path / "parent", **settings)
    chosen = list(method.prepare(ROWS))[:6]
    batch = collate(method, chosen)
    expected = load_encoder(tmp_path / "parent").encode([row.text for row in chosen])
    actual = method.read_teacher(batch["teacher"])
    assert actual.shape == (6, 12) == expected.shape
    np.testing.assert_allclose(actual.detach().numpy(), expected, atol=1e-5)
    assert method.teacher_dim == 12
