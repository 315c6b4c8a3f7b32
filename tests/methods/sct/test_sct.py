"""SCT's training: queues, references, stages, exported encoder, bad settings."""

from collections import deque
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from methods.core.losses import unit
from methods.core.teachers import write_teacher
from methods.core.types import Batch
from methods.sct.method import SCT, Projector, random_queues
from methods.sct.objective import cross_view_loss
from tests.methods.sct.sample import JOINT, PAPER, RELEASED, SAMPLES, SECOND_STAGE, with_self_supervision
from tests.methods.sct.test_objective import slow_loss
from tests.support import tiny

ROWS = tiny.rows(augmentations=2)
TAUS = {"online_temperature": 0.05, "reference_temperature": 0.04}


@pytest.fixture(scope="module")
def backbone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny BERT without dropout, so that two passes of equal weights agree."""
    return tiny.write_backbone(tmp_path_factory.mktemp("still") / "bert", dropout=0.0)


@pytest.fixture(scope="module")
def teacher(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tiny.write_parent(tmp_path_factory.mktemp("taught"), "teacher", ROWS)
    assert folder is not None
    return folder


def built(backbone: Path, config: dict[str, Any], parent: Path | None = None) -> Any:
    method = tiny.changed(SAMPLES[0], backbone, parent=parent, **config)
    method.prepare(ROWS)
    return method


def batch_of(method: SCT, *indices: int) -> Batch:
    return tiny.collate(method, [ROWS[index] for index in indices])


def pooled(method: SCT, batch: Batch) -> torch.Tensor:
    groups = [method.encoder(tokens) for name, tokens in batch["views"].items() if name != "rows"]
    return torch.cat(groups)[batch["views"]["rows"]]


def references_of(method: SCT, batch: Batch) -> torch.Tensor:
    return unit(method.reference_vectors(batch, method.config.self_supervision)).unflatten(0, (2, -1))


def gradients(method: SCT, batch: Batch) -> dict[str, torch.Tensor]:
    method.zero_grad()
    method.loss(batch).total.backward()
    return {n: p.grad.clone() for n, p in method.encoder.named_parameters() if p.grad is not None}


def test_the_queues_hold_the_newest_references_of_their_view_in_order(backbone: Path) -> None:
    """Seven steps with batches of 8 and one of 3 into queues of 20: more than two rounds, no random row left;
    the loss of each step is that over the joined queue, in which no batch is compared with itself twice."""
    method = built(backbone, RELEASED)
    naive = [deque(queue.newest(queue.size).tolist(), maxlen=20) for queue in method.queues]
    for step, size in enumerate([8, 8, 3, 8, 8, 8, 8]):
        batch = batch_of(method, *[(5 * step + index) % len(ROWS) for index in range(size)])
        references = references_of(method, batch).double()
        online = unit(method.projector(pooled(method, batch))).unflatten(0, (2, -1)).double()
        joined = [torch.tensor(list(rows), dtype=torch.float64) for rows in naive]
        expected = slow_loss(online, references, joined, **TAUS)
        assert method.loss(batch).total.item() == pytest.approx(expected.item(), abs=1e-4, rel=1e-4)
        for queue, rows, view in zip(method.queues, naive, references, strict=True):
            rows.extend(view.tolist())
            np.testing.assert_allclose(queue.newest(queue.size).tolist(), list(rows), atol=1e-6)


def test_the_settings_differ_in_whether_the_queue_holds_the_batch(backbone: Path) -> None:
    """Queue 20, batch 8: released 28 keys, paper 20 with the batch; two views in one queue: 20 + 16.

    A single queue that holds the batch has 20 keys too: the 16 of both views, and the newest 4 of its rows.
    """
    keys = {
        name: built(backbone, config).loss(batch_of(built(backbone, config), *range(8))).parts["own_keys"]
        for name, config in (
            ("released", RELEASED),
            ("paper", PAPER),
            ("one", with_self_supervision(queues="one")),
            ("one with the batch", {**with_self_supervision(queues="one"), "queue_holds_batch": True}),
        )
    }
    expected = {"released": 28, "paper": 20, "one": 36, "one with the batch": 20}
    assert {name: int(value) for name, value in keys.items()} == expected


def test_the_paper_reading_compares_with_the_newest_rows_only(backbone: Path) -> None:
    """The oldest 8 of 20 rows make room for the batch: replacing them has no effect, replacing others has."""
    method = built(backbone, PAPER)
    batch = batch_of(method, *range(8))
    state = {name: value.clone() for name, value in method.state_dict().items()}
    losses = []
    for changed in (slice(0, 0), slice(0, 8), slice(8, 9)):
        method.load_state_dict(state)
        method.queues[0].ring[changed] = -method.queues[0].ring[changed]
        losses.append(method.loss(batch).total.item())
    assert losses[1] == losses[0]
    assert losses[2] != losses[0]


def test_queues_start_as_random_directions_where_every_target_is_one_hot() -> None:
    """Width 128, 16,384 rows, tau 0.03: the own key has a share above 0.99999, the entropy is below 3e-4."""
    queues = random_queues(16384, 128, count=2)
    lengths = torch.cat([queue.ring.norm(dim=1) for queue in queues])
    assert torch.allclose(lengths, torch.ones(32768), atol=1e-5)
    assert not torch.equal(queues[0].ring, queues[1].ring)
    references = unit(torch.randn(2, 4, 128, generator=torch.Generator().manual_seed(1)))
    match = cross_view_loss(
        references,
        references,
        [[queue.stored()] for queue in queues],
        online_temperature=0.04,
        reference_temperature=0.03,
    )
    assert float(match.entropy) < 3e-4
    assert match.keys == 16388


def test_queues_can_be_frozen_or_absent(backbone: Path) -> None:
    frozen = built(backbone, with_self_supervision(queue_update=False))
    before = [queue.ring.clone() for queue in frozen.queues]
    for _ in range(2):
        assert int(frozen.loss(batch_of(frozen, *range(8))).parts["own_keys"]) == 28
    assert all(torch.equal(queue.ring, ring) for queue, ring in zip(frozen.queues, before, strict=True))
    none = built(backbone, {**RELEASED, "queue_size": 0})
    assert int(none.loss(batch_of(none, *range(8))).parts["own_keys"]) == 8
    assert not [name for name in none.state_dict() if "queue" in name]


def test_the_reference_is_the_encoder_itself_without_gradient(backbone: Path) -> None:
    """A copy that never moves gives the same loss and gradients, and receives none."""
    shared = built(backbone, RELEASED)
    copied = built(backbone, with_self_supervision(momentum=1.0))
    for name, value in shared.state_dict().items():  # equal projector and queues
        copied.state_dict()[name].copy_(value)
    batch = batch_of(shared, *range(8))
    mine, theirs = gradients(shared, batch), gradients(copied, batch)
    assert mine.keys() == theirs.keys()
    assert all(torch.allclose(mine[name], theirs[name], atol=1e-6) for name in mine)
    assert all(weight.grad is None for weight in copied.reference.parameters())
    assert not references_of(shared, batch).requires_grad


@pytest.mark.parametrize(("dropout", "equal"), [(True, False), (False, True)])
@pytest.mark.parametrize("momentum", [None, 0.5])
def test_reference_dropout_is_as_configured(
    tmp_path: Path, dropout: bool, equal: bool, momentum: float | None
) -> None:
    method = built(
        tiny.write_backbone(tmp_path / "bert"),
        with_self_supervision(reference_dropout=dropout, momentum=momentum),
    )
    batch = batch_of(method, *range(8))
    assert torch.equal(references_of(method, batch), references_of(method, batch)) is equal
    assert method.encoder.training


def test_a_momentum_reference_follows_the_encoder(backbone: Path) -> None:
    """Momentum 0.9: after one step the copy is 0.9 old + 0.1 new."""
    method = built(backbone, with_self_supervision(momentum=0.9))
    old = [weight.clone() for weight in method.reference.parameters()]
    with torch.no_grad():
        for weight in method.encoder.parameters():
            weight.add_(1.0)
    method.after_step(0)
    for weight, before in zip(method.reference.parameters(), old, strict=True):
        assert torch.allclose(weight, before + 0.1, atol=1e-6)


def test_the_loss_weight_scales_loss_and_gradient(backbone: Path) -> None:
    single = built(backbone, RELEASED)
    batch = batch_of(single, *range(8))
    half = built(backbone, {**RELEASED, "loss_weight": 0.5})
    mine, theirs = gradients(single, batch), gradients(half, batch)
    assert all(torch.allclose(mine[name], 2 * theirs[name], atol=1e-6) for name in mine)


def test_the_projector_has_three_blocks_of_two_layers() -> None:
    """60 d^2 + 33 d weights; d = 16: 15,360 + 528 = 15,888."""
    assert sum(weight.numel() for weight in Projector(16, blocks=3, factor=10).parameters()) == 15_888


def test_the_second_stage_reads_the_teachers_vectors_of_both_views(backbone: Path, teacher: Path) -> None:
    """Rows 5, 2, 17: the vectors of augmentations 1 and 2; the queues take them, normalised, in order."""
    method = built(backbone, {**SECOND_STAGE, "queue_size": 3}, teacher)
    batch = batch_of(method, 5, 2, 17)
    stored = np.load(teacher / "vectors.npy")
    expected = np.stack([stored[[5, 2, 17], view] for view in (1, 2)])
    np.testing.assert_array_equal(batch["teacher"].numpy(), expected)
    method.loss(batch)
    held = torch.stack([queue.newest(queue.size) for queue in method.teacher_queues])
    assert torch.equal(held, unit(torch.from_numpy(expected)))


def test_the_second_stage_is_the_slow_loss_against_teacher_vectors(backbone: Path, teacher: Path) -> None:
    method = built(backbone, SECOND_STAGE, teacher)
    batch = batch_of(method, *range(8))
    queues = [queue.stored().double().clone() for queue in method.teacher_queues]
    students = unit(method.encoder.finish(pooled(method, batch))).unflatten(0, (2, -1)).double()
    expected = slow_loss(students, unit(batch["teacher"]).double(), queues, **TAUS)
    assert method.loss(batch).total.item() == pytest.approx(expected.item(), rel=1e-4)


def test_one_run_on_both_losses_has_their_weighted_sum_and_four_queues(backbone: Path, teacher: Path) -> None:
    method = built(backbone, JOINT, teacher)
    loss = method.loss(batch_of(method, *range(8)))
    assert loss.total.item() == pytest.approx(0.5 * float(loss.parts["own"] + loss.parts["teacher"]))
    assert [len(queue) for queue in (*method.queues, *method.teacher_queues)] == [20] * 4
    assert min(float(loss.parts["own"]), float(loss.parts["teacher"])) > 0.01


def test_the_layer_to_the_teachers_width_is_exported(tmp_path: Path, teacher: Path) -> None:
    """Student of width 32, teacher of 16: exported vectors have 16 entries between -1 and 1."""
    method = built(tiny.write_backbone(tmp_path / "wide", width=32), SECOND_STAGE, teacher)
    vectors = method.exported().encode([row.text for row in ROWS])
    assert vectors.shape == (len(ROWS), 16)
    assert np.abs(vectors).max() < 1


def test_a_student_that_is_its_teacher_has_no_squared_error(backbone: Path, tmp_path: Path) -> None:
    write_teacher(tmp_path, tiny.sentence_encoder(backbone), ROWS, {})
    config = {**SECOND_STAGE, "distillation": {"loss": "squared-error", "mapping": "none"}}
    method = built(backbone, config, tmp_path)
    assert method.loss(batch_of(method, *range(8))).total.item() == pytest.approx(0.0, abs=1e-9)
    assert len(method.teacher_queues) == 0
    with torch.no_grad():
        for value in method.encoder.parameters():
            value.add_(0.05)
    assert method.loss(batch_of(method, *range(8))).total.item() > 1e-3
