"""ConGen: its terms for given vectors, text fields, queue, and refusals."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from methods.ckd.method import contrastive_distillation
from methods.congen.method import distribution_distillation
from methods.core.distributions import Match
from methods.core.errors import InputError
from methods.core.losses import unit
from methods.core.rows import Row
from methods.core.teacher_queue import hold_out
from methods.core.teachers import write_teacher
from tests.methods.congen.sample import SAMPLES
from tests.support import tiny
from tests.support.tiny import collate
from tests.support.vectors import assert_equal_with_gradients, drawn

ROWS = tiny.rows(30, augmentations=2)


@pytest.fixture(scope="module")
def ground(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Returns a backbone without dropout and a folder of teacher vectors of width 24."""
    top = tmp_path_factory.mktemp("congen")
    teacher = tiny.sentence_encoder(tiny.write_backbone(top / "wide", width=24, seed=5))
    (top / "teacher").mkdir()
    write_teacher(top / "teacher", teacher, ROWS, {})
    return tiny.write_backbone(top / "bert", dropout=0.0), top / "teacher"


def build(ground: tuple[Path, Path], **changes: Any) -> Any:
    return tiny.changed(SAMPLES[0], ground[0], parent=ground[1], **changes)


def taught(ground: tuple[Path, Path], rows: list[Row], view: int) -> torch.Tensor:
    vectors = np.load(ground[1] / "vectors.npy")
    return unit(torch.from_numpy(vectors[[row.index for row in rows], view]))


def test_the_teacher_reads_its_column_and_the_student_both_in_order(ground: tuple[Path, Path]) -> None:
    """Columns 1 and 2 are a row's augmentations, all first views before all second ones; 0 is not read."""
    method = build(ground)
    chosen = list(method.prepare(ROWS))[:4]
    batch = collate(method, chosen)
    torch.testing.assert_close(unit(batch["teacher"]), taught(ground, chosen, 1))
    groups = [tokens for name, tokens in batch["views"].items() if name != "rows"]
    padded = [[piece for piece in row if piece] for group in groups for row in group["input_ids"].tolist()]
    texts = [row.augmentations[view] for view in (0, 1) for row in chosen]
    assert [padded[index] for index in batch["views"]["rows"].tolist()] == method.encoder.token_ids(texts)


def test_the_queue_starts_with_held_out_sentences_which_are_not_trained_on(
    ground: tuple[Path, Path],
) -> None:
    method = build(ground, queue_size=12)
    kept = list(method.prepare(ROWS))
    held = [row for row in ROWS if row.index not in {row.index for row in kept}]
    assert (len(held), len(kept)) == (12, 18)
    torch.testing.assert_close(method.queue.newest(method.queue.size), taught(ground, held, 1))
    other = build(ground, queue_size=12, queue_seed=1)
    assert list(other.prepare(ROWS)) != kept


def test_the_queue_takes_the_batch_after_the_step_and_drops_its_oldest(ground: tuple[Path, Path]) -> None:
    """Queue of 10, batches of 6, 6 and 3: afterwards the last row of batch 1, then batches 2 and 3."""
    method = build(ground, queue_size=10)
    kept = list(method.prepare(ROWS))
    for step, part in enumerate([slice(0, 6), slice(6, 12), slice(12, 15)]):
        before = method.queue.ring.clone()
        loss = method.loss(collate(method, kept[part]))
        assert torch.equal(method.queue.ring, before)
        assert loss.parts["keys"].item() == 10 + part.stop - part.start
        loss.total.backward()
        method.after_step(step)
    torch.testing.assert_close(method.queue.newest(method.queue.size), taught(ground, kept[5:15], 1))
    assert not method.queue.ring.requires_grad


@pytest.mark.parametrize("weight", [0.5, 0.2])
def test_a_step_equals_the_formula_over_queue_and_batch(ground: tuple[Path, Path], weight: float) -> None:
    """The mean over rows, and the weighted sum of both views, of the cross-entropy of softmax(s Q / .07)
    under softmax(t Q / .05), where Q is the queue of 8 after two steps, followed by the batch."""
    method = build(ground, student_temperature=0.07, queue_size=8, control_weight=weight)
    kept = list(method.prepare(ROWS))
    for step in range(2):
        method.loss(collate(method, kept[6 * step : 6 * step + 6]))
        method.after_step(step)
    chosen = kept[12:18]
    keys = torch.cat([taught(ground, kept[4:12], 1), taught(ground, chosen, 1)]).double()
    target = torch.softmax(taught(ground, chosen, 1).double() @ keys.T / 0.05, dim=1)
    terms = []
    for view in (0, 1):
        texts = [row.augmentations[view] for row in chosen]
        student = unit(method.encoder.finish(method.encoder(method.encoder.tokenize(texts)))).double()
        terms.append(-(target * torch.log_softmax(student @ keys.T / 0.07, dim=1)).sum(dim=1).mean())
    actual = method.loss(collate(method, chosen)).total
    weighted = weight * terms[0] + (1 - weight) * terms[1]
    assert abs(terms[0] - terms[1]) > 1e-3
    assert actual.item() == pytest.approx(weighted.item(), rel=1e-5)


def test_a_repeated_sentence_leaves_training_with_its_duplicate() -> None:
    """Ten rows of five texts; holding two rows out removes every row that shares a text with them."""
    texts = [f"text {index // 2}" for index in range(10)]
    held, kept = hold_out(texts, count=2, seed=3)
    taken = {texts[index] for index in held}
    assert len(held) == 2
    assert [texts[index] in taken for index in kept] == [False] * (10 - 2 * len(taken))


def test_a_queue_as_large_as_the_corpus_is_refused(ground: tuple[Path, Path]) -> None:
    """29 of 30 leave one sentence to train on, 30 none."""
    assert len(build(ground, queue_size=29).prepare(ROWS)) == 1
    for size in (30, 31):
        with pytest.raises(InputError, match=rf"^the queue starts with {size} sentences of a corpus of 30, "):
            build(ground, queue_size=size).prepare(ROWS)


QUEUE = torch.tensor([[0.0, 1.0]], dtype=torch.float64)
TEACHERS = torch.tensor([[1.0, 0.0], [0.6, 0.8]], dtype=torch.float64)
CONTROL = torch.tensor([[0.6, 0.8], [0.0, 1.0]], dtype=torch.float64)
GENERALISE = torch.tensor([[1.0, 0.0], [0.8, -0.6]], dtype=torch.float64)


def terms(
    students: Tensor, teachers: Tensor, queue: Tensor, tau_t: float = 0.25, tau_s: float = 0.5
) -> Match:
    return distribution_distillation(
        students, teachers, queue, teacher_temperature=tau_t, student_temperature=tau_s
    )


def double_loop(students: Tensor, teachers: Tensor, queue: Tensor, tau_t: float, tau_s: float) -> Tensor:
    """Returns [V]: for every sentence and column, target share times the logarithm of the student's share."""
    columns = [*queue, *teachers]
    values = []
    for view in students:
        total = torch.zeros((), dtype=torch.float64)
        for s, t in zip(view, teachers, strict=True):
            s = s / (s * s).sum().sqrt()
            target = [((t * q).sum() / tau_t).exp() for q in columns]
            online = [((s * q).sum() / tau_s).exp() for q in columns]
            for p, c in zip(target, online, strict=True):
                total = total - (p / sum(target)) * (c / sum(online)).log()
        values.append(total / len(teachers))
    return torch.stack(values)


def test_the_worked_example() -> None:
    """Columns (0, 1), (1, 0), (.6, .8); temperatures 1/4 and 1/2. The first teacher row scores 0, 1, .6, so
    its target is as e^0, e^4, e^2.4. The terms are 1.245294 and 1.293464, their mean is the loss 1.269379,
    the target's entropy 0.719324, so the second divergence is 0.574140."""
    actual = terms(torch.stack([CONTROL, GENERALISE]), TEACHERS, QUEUE)
    assert actual.cross_entropy.tolist() == pytest.approx([1.245294, 1.293464], abs=5e-7)
    assert actual.entropy.item() == pytest.approx(0.719324, abs=5e-7)
    assert actual.divergence[1].item() == pytest.approx(0.574140, abs=5e-7)


@pytest.mark.parametrize(
    ("weight", "divergence", "expected"),
    [
        (0.3, "cross-entropy", 0.3 * 1.245294 + 0.7 * 1.293464),
        (0.8, "cross-entropy", 0.8 * 1.245294 + 0.2 * 1.293464),
        (0.3, "kl", 0.3 * 0.525970 + 0.7 * 0.574140),
        (0.0, "kl", 0.574140),
    ],
)
def test_unequal_weights_of_the_worked_example(
    ground: tuple[Path, Path],
    monkeypatch: pytest.MonkeyPatch,
    weight: float,
    divergence: str,
    expected: float,
) -> None:
    """a times the term of the first view, which reads the teacher's own text, and 1 - a times the other.

    1.279013, 1.254928, 0.559689 and 0.574140: half and half would be 1.269379 and 0.550055.
    """
    method = build(
        ground,
        control_weight=weight,
        divergence=divergence,
        teacher_temperature=0.25,
        student_temperature=0.5,
    )
    views = torch.cat([CONTROL, GENERALISE])
    monkeypatch.setattr("methods.congen.method.encode_in_groups", lambda encoder, batch: views)
    monkeypatch.setattr(method.encoder, "finish", lambda pooled: pooled)
    monkeypatch.setattr(method, "earlier", lambda batch: QUEUE)
    loss = method.loss({"views": {}, "teacher": TEACHERS})
    assert loss.total.item() == pytest.approx(expected, abs=1e-6)
    lower = 0.719324 if divergence == "kl" else 0.0
    assert loss.parts["control"].item() == pytest.approx(1.245294 - lower, abs=1e-6)
    assert loss.parts["generalise"].item() == pytest.approx(1.293464 - lower, abs=1e-6)


@pytest.mark.parametrize(("batch", "rows"), [(5, 17), (1, 3), (4, 0)])
def test_the_terms_equal_a_double_loop_with_gradients_to_1e_8(batch: int, rows: int) -> None:
    teachers, queue = (unit(drawn(count, 7, seed=count)).detach() for count in (batch, rows))
    students = drawn(2, batch, 7, seed=3)
    fast = terms(students, teachers, queue, 0.1, 0.07).cross_entropy
    slow = double_loop(students, teachers, queue, 0.1, 0.07)
    for view in (0, 1):
        assert_equal_with_gradients(fast[view], slow[view], [students])


def test_no_term_is_below_the_entropy_and_equal_vectors_reach_it_without_gradient() -> None:
    teachers, queue = (unit(drawn(count, 6, seed=count)).detach() for count in (5, 9))
    students = torch.stack([teachers, drawn(5, 6, seed=3).detach()]).requires_grad_()
    actual = terms(students, teachers, queue, 0.2, 0.2)
    assert actual.divergence[0].item() == pytest.approx(0.0, abs=1e-12)
    assert actual.divergence[1].item() > 0.1
    (gradient,) = torch.autograd.grad(actual.cross_entropy.sum(), students)
    assert gradient[0].abs().max().item() < 1e-12


def test_a_sharp_teacher_and_the_control_term_alone_are_ckd() -> None:
    """As tau_T goes to 0 the target is one-hot on the sentence's own vector: InfoNCE at 1 / tau_S."""
    teachers, queue = (unit(drawn(count, 8, seed=count)).detach() for count in (6, 20))
    students = drawn(1, 6, 8, seed=4)
    sharp = terms(students, teachers, queue, 0.005, 0.1)
    ckd = contrastive_distillation(students[0], teachers, queue, scale=10.0)
    assert sharp.cross_entropy.item() == pytest.approx(ckd.item(), abs=1e-9)
    assert sharp.entropy.item() == pytest.approx(0.0, abs=1e-9)
