"""What settings state about a run: text fields, parent, dropout of zero, modes that stay."""

from collections.abc import Iterator, Mapping
from typing import Any

import pytest
import torch
from torch import nn

from methods.core.errors import InputError
from methods.core.types import HOST_MASK, MASK
from methods.registry import METHODS, load_method
from tests.support import tiny
from tests.support.samples import SampleFolders, make, samples_of
from tests.support.tiny import Sample

SENTENCE = (0,)
NEEDS: list[tuple[str, str, dict[str, Any], tuple[int, ...], str | None]] = [
    # method, sample, changed settings: text fields that are tokenised, kind of the parent
    ("bert-flow", "released", {"sides": "pairs"}, (0, 1), None),
    ("bert-flow", "released", {"sides": "sentences"}, SENTENCE, None),
    ("ckd", "released", {"teacher_view": 0}, SENTENCE, "teacher"),
    ("ckd", "released", {"teacher_view": 3}, (3,), "teacher"),
    ("ckd", "original", {"teacher": "network"}, SENTENCE, "encoder"),
    ("congen", "released", {"teacher_view": 0, "student_view": 4}, (0, 4), "teacher"),
    ("congen", "released", {"teacher_view": 4, "student_view": 0}, (4, 0), "teacher"),
    ("dclr", "released", {}, SENTENCE, "encoder"),
    ("dclr", "self-weighting", {}, SENTENCE, None),
    ("dclr", "self-weighting", {"student_from": "parent"}, SENTENCE, "encoder"),
    ("dclr", "self-weighting", {"distillation_weight": 0.1}, SENTENCE, "encoder"),
    ("dclr", "simcse", {}, SENTENCE, None),
    ("distill", "mapped", {}, SENTENCE, "teacher"),
    ("pcl", "released", {}, SENTENCE, None),
    ("pcl", "fixed-peer", {}, SENTENCE, "encoder"),
    ("sct", "released", {"views": [2, 0]}, (2, 0), None),
    ("sct", "second-stage", {}, (1, 2), "teacher"),
    ("sct", "joint", {}, (1, 2), "teacher"),
    ("sg-opt", "released", {}, SENTENCE, None),
    ("sg-opt", "back-translation", {}, (0, 1), None),
    ("simcse", "paraphrase", {}, (0, 1), None),
    ("simcse", "info-nce", {}, SENTENCE, None),
    ("una", "released", {"positive": "dropout"}, (0, 0), None),
    ("una", "released", {"positive": "paraphrase"}, (0, 1), None),
]
DROPOUT = ("simcse", "consert", "ct", "mirror-bert")
"""Methods whose setting `dropout` replaces the backbone's."""


def sample_of(method: str, label: str, **changes: Any) -> Sample:
    sample = next(sample for sample in samples_of(method) if sample.label == label)
    return sample._replace(config={**sample.config, **changes})


@pytest.mark.parametrize(("method", "label", "changes", "columns", "parent"), NEEDS)
def test_settings_state_the_text_fields_and_the_parent_of_a_run(
    method: str, label: str, changes: dict[str, Any], columns: tuple[int, ...], parent: str | None
) -> None:
    config = load_method(method).Config.model_validate(sample_of(method, label, **changes).config)
    assert (tuple(config.columns), config.parent_kind) == (columns, parent)


def test_all_other_methods_read_the_sentence_and_no_parent() -> None:
    for method in METHODS.keys() - {name for name, *_ in NEEDS}:
        for sample in samples_of(method):
            config = load_method(method).Config.model_validate(sample.config)
            assert (tuple(config.columns), config.parent_kind) == (SENTENCE, None), method


def rates_of(method: Any) -> set[float]:
    return {part.p for part in method.modules() if isinstance(part, nn.Dropout)}


@pytest.mark.parametrize("method", DROPOUT)
@pytest.mark.parametrize(("dropout", "rate"), [(None, 0.1), (0.0, 0.0), (0.37, 0.37)])
def test_dropout_of_zero_is_a_rate_and_null_is_the_backbones(
    method: str, dropout: float | None, rate: float, folders: SampleFolders
) -> None:
    sample = sample_of(method, samples_of(method)[0].label, dropout=dropout)
    assert rates_of(make(sample, folders.of(sample))) == {rate}


def test_every_method_with_such_a_setting_is_tried() -> None:
    with_dropout = {name for name in METHODS if "dropout" in load_method(name).Config.model_fields}
    assert with_dropout == set(DROPOUT)


def test_a_threshold_of_zero_is_a_number(folders: SampleFolders) -> None:
    """Null would let all pairs count."""
    sample = sample_of("dclr", "self-weighting", threshold=0.0)
    made: Any = make(sample, folders.of(sample))

    assert made._masked(torch.tensor([[1.0, 0.1], [-0.1, 1.0]])).tolist() == [[False, True], [False, False]]
    without = sample_of("dclr", "simcse")
    assert make(without, folders.of(without))._masked(torch.ones(2, 2)) is None


def test_a_momentum_of_zero_is_a_reference_of_its_own(folders: SampleFolders) -> None:
    supervision = sample_of("sct", "released").config["self_supervision"]
    for momentum, own in ((None, False), (0.0, True), (0.9, True)):
        sample = sample_of("sct", "released", self_supervision={**supervision, "momentum": momentum})
        made: Any = make(sample, folders.of(sample))
        assert (made.reference is not None) is own
        assert made.fixed_modes == ({"reference": True} if own else {})


MODES: list[tuple[str, str, dict[str, Any], dict[str, bool]]] = [
    ("bert-flow", "released", {"encoder_dropout": True}, {"encoder.backbone": True}),
    ("bert-flow", "released", {"encoder_dropout": False}, {"encoder.backbone": False}),
    ("moco", "released", {"key_dropout": True}, {"key_encoder": True, "key_head": True}),
    ("moco", "released", {"key_dropout": False}, {"key_encoder": False, "key_head": False}),
    (
        "pt-bert",
        "released",
        {"key_dropout": True},
        dict.fromkeys(("key_encoder", "key_head", "key_block"), True),
    ),
    (
        "pt-bert",
        "paper",
        {"key_dropout": False},
        dict.fromkeys(("key_encoder", "key_head", "key_block"), False),
    ),
    ("simcse", "info-nce", {}, {}),
]


@pytest.mark.parametrize(("method", "label", "changes", "modes"), MODES)
def test_networks_without_a_gradient_have_the_stated_mode(
    method: str, label: str, changes: dict[str, Any], modes: dict[str, bool], folders: SampleFolders
) -> None:
    sample = sample_of(method, label, **changes)
    made = make(sample, folders.of(sample))
    assert made.fixed_modes == modes
    for mode in (True, False):
        made.train(mode)
        for name, active in modes.items():
            assert made.get_submodule(name).training is active


@pytest.mark.parametrize("size", [0, 8])
@pytest.mark.parametrize(
    ("method", "label"), [("moco", "released"), ("ckd", "random-queue"), ("sct", "released")]
)
def test_a_queue_of_zero_is_none(method: str, label: str, size: int, folders: SampleFolders) -> None:
    start = {"queue_start": "random" if size else "empty"} if method == "ckd" else {}
    sample = sample_of(method, label, queue_size=size, **start)
    made: Any = make(sample, folders.of(sample))
    queues = [*made.queues] if method == "sct" else [made.queue] if made.queue is not None else []
    assert [queue.size for queue in queues] == [size] * (0 if not size else 2 if method == "sct" else 1)
    if size:
        assert all(len(queue) == (0 if method == "moco" else size) for queue in queues)


QUEUES = [
    ("moco", "released"),
    ("pt-bert", "released"),
    ("ckd", "no-queue"),
    ("congen", "no-queue"),
    ("sct", "released"),
]


@pytest.mark.parametrize(("method", "label"), QUEUES)
def test_a_queue_that_cannot_hold_a_batch_is_refused_at_the_first_step(
    method: str, label: str, folders: SampleFolders
) -> None:
    """Eight sentences; a queue of seven vectors."""
    for size, refused in ((7, True), (8, False)):
        sample = sample_of(method, label, queue_size=size)
        base = folders.of(sample)
        made: Any = make(sample, base).train()
        batch = tiny.collate(made, made.prepare(base.rows)[:8])
        if refused:
            with pytest.raises(
                InputError, match="queue of 7 vectors is smaller than a batch of 8; use at le"
            ):
                made.loss(batch)
        else:
            made.loss(batch)


def token_blocks(batch: Any) -> Iterator[torch.Tensor]:
    """Yields the ids of every block of tokens in a batch."""
    for name, value in batch.items():
        if isinstance(value, Mapping):
            yield from token_blocks(value)
        elif name in ("input_ids", "corrupted"):
            yield value


LONGEST = 6
CUT = [
    (method, sample.label)
    for method in METHODS
    for sample in samples_of(method)
    if sample.trained and sample.config.get("key_view") != "duplication"  # may exceed it, as in MoCo's code
]


@pytest.mark.parametrize(("method", "label"), CUT)
def test_every_text_of_a_step_is_cut_at_the_stated_length(
    method: str, label: str, folders: SampleFolders
) -> None:
    """Texts of the corpus have up to twelve pieces; views that are written in the step are cut too."""
    sample = sample_of(method, label, max_length=LONGEST)
    base = folders.of(sample)
    made = make(sample, base).train()
    batch = tiny.collate(made, made.prepare(base.rows)[:8])
    lengths = [ids.shape[1] for ids in token_blocks(batch)]
    assert lengths
    assert max(lengths) == LONGEST


@pytest.mark.parametrize("attends", [False, True])
def test_dclr_attends_to_padding_on_the_device_and_in_the_hosts_copy(
    attends: bool, folders: SampleFolders
) -> None:
    sample = sample_of("dclr", "simcse", attend_padding=attends)
    made: Any = make(sample, folders.of(sample))
    mask, ids = torch.tensor([[1, 1], [1, 0]]), torch.tensor([[5, 6], [5, 0]])
    tokens = made._attended({"input_ids": ids, MASK: mask, HOST_MASK: mask})
    assert tokens["input_ids"] is ids
    for name in (MASK, HOST_MASK):
        assert tokens[name].tolist() == ([[1, 1], [1, 1]] if attends else [[1, 1], [1, 0]])
