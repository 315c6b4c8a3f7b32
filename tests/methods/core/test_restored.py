"""What a block changes of a network is as before when it ends, also by an error."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from methods.core.dropout import dropout_rate, set_dropout
from methods.core.encoder import evaluating, multiplied
from methods.core.fast import linear
from methods.core.fast.linear import REORDERED, reordered
from methods.core.networks import states_at
from tests.support import tiny


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny.write_backbone(tmp_path_factory.mktemp("restored") / "bert")


def state_of(network: nn.Module) -> list[Any]:
    """Returns modes, rates, hooks and further attributes of every part."""
    return [
        (
            name,
            part.training,
            getattr(part, "p", None),
            len(part._forward_hooks),
            len(part._forward_pre_hooks),
            hasattr(part, REORDERED),
        )
        for name, part in network.named_modules()
    ]


BLOCKS: dict[str, Callable[[Any], AbstractContextManager[Any]]] = {
    "evaluating": evaluating,
    "multiplied": lambda network: multiplied(network, torch.ones(1)),
    "dropout_rate": lambda network: dropout_rate(network, 0.37),
    "reordered": lambda network: reordered(network, 64),
    "states_at": lambda network: states_at(network, torch.tensor([0])),
}


@pytest.mark.parametrize("name", BLOCKS)
def test_a_network_is_as_before_after_a_block_and_after_an_error_in_it(
    name: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(linear, "SMALLEST_WEIGHT", 1)  # also of these small layers
    network: Any = tiny.sentence_encoder(folder).backbone
    network.encoder.layer[1].eval()
    network.encoder.layer[0].output.dropout.p = 0.25
    before = state_of(network)
    with BLOCKS[name](network):
        inside = state_of(network)
    assert inside != before or (name == "reordered" and not linear.HAS_PRODUCTS)
    assert state_of(network) == before
    with pytest.raises(KeyError), BLOCKS[name](network):
        raise KeyError
    assert state_of(network) == before
    assert torch.is_grad_enabled()


def test_every_dropout_of_a_network_has_the_rate(folder: Path) -> None:
    network: Any = tiny.sentence_encoder(folder).backbone
    with dropout_rate(network, 0.37):
        rates = [part.p for part in network.modules() if isinstance(part, nn.Dropout)]
    assert set(rates) == {0.37}
    assert len(rates) == 1 + 2 * 3, "of the embeddings, and of attention and both outputs of two layers"
    set_dropout(network, 0.0)
    assert {part.p for part in network.modules() if isinstance(part, nn.Dropout)} == {0.0}


def test_without_factors_nothing_is_attached(folder: Path) -> None:
    network: Any = tiny.sentence_encoder(folder).backbone
    before = state_of(network)
    with multiplied(network, None):
        assert state_of(network) == before


def test_states_at_places_are_those_of_all_tokens_row_after_row(folder: Path) -> None:
    encoder = tiny.sentence_encoder(folder).eval()
    tokens = encoder.tokenize(["the man runs", "a cat"])
    network: Any = encoder.backbone
    with torch.no_grad():
        whole = network(**tokens).last_hidden_state.flatten(0, 1)
        with states_at(network, torch.tensor([6, 1])):
            chosen = network(**tokens).last_hidden_state
    torch.testing.assert_close(chosen, whole[[6, 1]][None])
