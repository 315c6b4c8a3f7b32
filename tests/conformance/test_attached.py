"""Law 11: what is attached to the encoder takes part in its vectors and in the loss of every method."""

from collections.abc import Callable
from typing import Any

import pytest
import torch

from methods.core.dropout import set_dropout
from methods.core.encoder import SentenceEncoder, evaluating
from methods.core.method import Method
from methods.core.pooling import pool
from methods.core.types import MASK
from tests.conformance.test_laws import Stepped, every_sample, every_trained
from tests.conformance.test_laws import built as built
from tests.conformance.test_laws import stepped as stepped
from tests.support import tiny
from tests.support.samples import SampleInputs, make
from tests.support.tiny import Sample

pytestmark = pytest.mark.usefixtures("each_backbone_is_read_once")
TEXTS = ["the man runs", "a cat sleeps under the old tree", "dog"]


def assert_own_layers(method: Method) -> None:
    """The vectors of a call are the pooled states of the network's own forward pass."""
    encoder = method.encoder
    assert isinstance(encoder, SentenceEncoder)
    tokens = encoder.tokenize(TEXTS)
    with evaluating(encoder):
        expected = pool(encoder.states(tokens), tokens[MASK], encoder.pooling)
        torch.testing.assert_close(encoder(tokens), expected, rtol=1e-4, atol=1e-5)


@every_sample
def test_law_11_a_call_gives_the_pooled_states_of_the_networks_own_layers(
    sample: Sample, stepped: Callable[[Sample, str], Stepped], built: Callable[[Sample, str], Method]
) -> None:
    methods = [built(sample, "cpu")]
    if sample.trained:
        taken = stepped(sample, "cpu")
        methods = [taken.untrained, taken.method]
    for method in methods:
        if isinstance(method.encoder, SentenceEncoder):
            assert_own_layers(method)


def loss_with(sample: Sample, base: SampleInputs, effect: float | None) -> float:
    """Returns the loss of a step without dropout; `effect` is added to the embedding layer by a hook."""
    rates = {name: 0.0 for name in sample.config if name.startswith("dropout_")}
    method: Any = make(sample._replace(config={**sample.config, **rates}), base).train()
    set_dropout(method, 0.0)
    if effect is not None:
        shift = effect * torch.linspace(-1, 1, method.encoder.width)
        method.encoder.backbone.embeddings.register_forward_hook(lambda layer, given, made: made + shift)
    batch = tiny.batch_of(method, 8, corpus=base.rows)
    torch.manual_seed(1)
    return float(method.loss(batch).total.detach())


@every_trained
def test_law_11_an_attached_module_changes_the_loss_by_its_effect_and_not_by_being_there(
    sample: Sample, inputs_of: Callable[[Sample], SampleInputs]
) -> None:
    base = inputs_of(sample)
    plain = loss_with(sample, base, None)
    by_being_there = abs(loss_with(sample, base, 0.0) - plain)
    assert by_being_there <= 1e-4 * max(abs(plain), 1e-2)
    assert abs(loss_with(sample, base, 1.0) - plain) > max(10 * by_being_there, 1e-5)
