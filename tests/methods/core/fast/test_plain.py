"""Whatever is attached to a backbone takes part: the network then runs its own forward pass."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn.modules.module import register_module_forward_hook, register_module_forward_pre_hook
from torch.nn.utils import parametrize
from transformers import BertConfig, BertModel, RobertaConfig, RobertaModel, XLMRobertaConfig, XLMRobertaModel

from methods.core.dropout import add_drop_head
from methods.core.encoder import SentenceEncoder
from methods.core.fast.linear import linear
from methods.core.fast.packed import can_pack
from methods.core.fast.plain import is_plain
from methods.core.pooling import pool
from tests.methods.core.fast.test_packed import SIZES, batch

FAMILIES = [(BertModel, BertConfig), (RobertaModel, RobertaConfig), (XLMRobertaModel, XLMRobertaConfig)]


def network(number: int = 0, **sizes: Any) -> Any:
    torch.manual_seed(0)
    kind, config = FAMILIES[number]
    return kind(config(**{**SIZES, "initializer_range": 0.3, **sizes}, pad_token_id=1)).eval()


def parts_of(model: nn.Module) -> list[str]:
    return [name for name, part in model.named_modules() if not isinstance(part, nn.ModuleList)]


PARTS = [name for name in parts_of(network(num_hidden_layers=1)) if not name.startswith("pooler")]
"""Names of the modules of one layer and of the embeddings; the network itself has the empty name."""


def twice(module: nn.Module, given: Any, made: Any) -> Any:
    if isinstance(made, tuple):
        return (2 * made[0], *made[1:])
    if isinstance(made, Tensor):
        return 2 * made
    made["last_hidden_state"] = 2 * made["last_hidden_state"]
    return made


def vectors(model: Any, *, pooling: str = "mean") -> tuple[Tensor, Tensor]:
    """Returns the vectors of an encoder's call, and of the network's own forward pass."""
    encoder, tokens = SentenceEncoder(model, None, pooling=pooling), batch()
    with torch.no_grad():
        return encoder(tokens), pool(encoder.states(tokens), tokens["attention_mask"], pooling)


@pytest.mark.parametrize("family", range(len(FAMILIES)))
def test_a_fresh_network_is_computed_here_also_after_all_its_states_were_read(family: int) -> None:
    model = network(family)
    assert is_plain(model)
    model(**batch(), output_hidden_states=True, output_attentions=False)  # leaves the library's own hooks
    assert any(part._forward_hooks for part in model.modules())
    assert is_plain(model)


def test_heads_that_are_dropped_by_this_package_are_computed_here() -> None:
    model = network()
    add_drop_head(model, 0.5, when_none="redraw")
    assert is_plain(model)


@pytest.mark.parametrize("part", PARTS)
def test_a_hook_on_any_module_takes_part_until_it_is_removed(part: str) -> None:
    model = network(num_hidden_layers=1)
    plain, _ = vectors(model)
    handle = model.get_submodule(part).register_forward_hook(twice)
    here, own = vectors(model)
    torch.testing.assert_close(here, own, rtol=0, atol=0)
    assert (here - plain).abs().max() > 1e-3 or part == "encoder.layer.0.attention.self.dropout"  # not called
    assert not is_plain(model)
    handle.remove()
    assert is_plain(model)
    torch.testing.assert_close(vectors(model)[0], plain, rtol=0, atol=0)


class LowRank(nn.Linear):
    def forward(self, inputs: Tensor) -> Tensor:
        return super().forward(inputs) + inputs.abs().sum(dim=-1, keepdim=True)


class Around(nn.Module):
    def __init__(self, inner: nn.Module) -> None:
        super().__init__()
        self.inner = inner

    def forward(self, *given: Any, **named: Any) -> Any:
        return twice(self, given, self.inner(*given, **named))


class Louder(nn.Module):
    def forward(self, inputs: Tensor) -> Tensor:
        return 1.5 * inputs


def low_rank(model: Any) -> None:
    attention = model.encoder.layer[0].attention.self
    made = LowRank(16, 16)
    made.load_state_dict(attention.value.state_dict())
    attention.value = made


def patched_forward(model: Any) -> None:
    part = model.encoder.layer[1].output.dense
    forward = part.forward
    part.forward = lambda inputs: 2 * forward(inputs)


def on_the_network(model: Any) -> None:
    forward = model.forward
    model.forward = lambda **given: twice(model, (), forward(**given))


def parametrised(model: Any) -> None:
    parametrize.register_parametrization(model.encoder.layer[0].intermediate.dense, "weight", Louder())


def weight_norm(model: Any) -> None:
    """A pre-hook sets the weight."""
    layer = torch.nn.utils.weight_norm(model.encoder.layer[0].output.dense)
    with torch.no_grad():
        layer.weight_g.mul_(3)


def around_a_layer(model: Any) -> None:
    model.encoder.layer[0] = Around(model.encoder.layer[0])


def another_norm(model: Any) -> None:
    model.embeddings.LayerNorm = Louder()


def another_activation(model: Any) -> None:
    model.encoder.layer[0].intermediate.intermediate_act_fn = Louder()


def inputs_changed(model: Any) -> None:
    model.encoder.layer[1].register_forward_pre_hook(lambda layer, given: (2 * given[0], *given[1:]))


ATTACHED: list[Callable[[Any], None]] = [
    *(low_rank, patched_forward, on_the_network, parametrised, weight_norm),
    *(around_a_layer, another_norm, another_activation, inputs_changed),
]


@pytest.mark.parametrize("attach", ATTACHED, ids=lambda attach: attach.__name__)
@pytest.mark.filterwarnings("ignore:.*weight_norm")
def test_what_is_attached_or_replaced_takes_part(attach: Callable[[Any], None]) -> None:
    model = network()
    plain, _ = vectors(model)
    attach(model)
    here, own = vectors(model)
    torch.testing.assert_close(here, own, rtol=0, atol=0)
    assert (here - plain).abs().max() > 1e-3
    assert not can_pack(model, batch())


def backward_hook(model: Any) -> None:
    model.encoder.layer[0].register_full_backward_hook(lambda layer, given, made: None)


def checkpointing(model: Any) -> None:
    model.gradient_checkpointing_enable()


def half_precision(model: Any) -> None:
    model.encoder.layer[1].to(torch.bfloat16)


def double_precision(model: Any) -> None:
    model.double()


@pytest.mark.parametrize("attach", [backward_hook, checkpointing, half_precision, double_precision])
def test_what_changes_gradients_memory_or_precision_is_left_to_the_network(
    attach: Callable[[Any], None],
) -> None:
    model = network()
    attach(model)
    assert not is_plain(model)


@contextmanager
def patched_class(kind: Any) -> Iterator[None]:
    forward = kind.forward
    kind.forward = lambda self, *given, **named: twice(self, given, forward(self, *given, **named))
    try:
        yield
    finally:
        kind.forward = forward


@contextmanager
def everywhere(register: Callable[..., Any], hook: Callable[..., Any]) -> Iterator[None]:
    handle = register(hook)
    try:
        yield
    finally:
        handle.remove()


@pytest.mark.parametrize(
    "attached",
    [
        lambda: patched_class(nn.Linear),
        lambda: everywhere(register_module_forward_hook, lambda *given: None),
        lambda: everywhere(register_module_forward_pre_hook, lambda *given: None),
    ],
    ids=["class", "hook", "pre-hook"],
)
def test_a_patched_class_and_a_hook_on_all_modules_take_part(attached: Callable[[], Any]) -> None:
    model, layer, rows = network(), nn.Linear(128, 128), torch.randn(3, 128)
    assert is_plain(model)
    with attached():
        assert not is_plain(model)
        here, own = vectors(model)
        torch.testing.assert_close(here, own, rtol=0, atol=0)
        torch.testing.assert_close(linear(layer, rows), layer(rows), rtol=0, atol=0)
    assert is_plain(model)


@pytest.mark.parametrize("kind", [nn.Linear, LowRank])
def test_a_layer_outside_of_a_backbone_is_called_if_anything_is_attached(kind: type[nn.Linear]) -> None:
    layer, rows = kind(128, 128), torch.randn(3, 128)
    if kind is nn.Linear:
        layer.register_forward_hook(twice)
    torch.testing.assert_close(linear(layer, rows), layer(rows), rtol=0, atol=0)


def test_an_adapter_takes_part_while_texts_are_encoded(tmp_path: Any) -> None:
    from tests.support import tiny

    encoder = tiny.sentence_encoder(tiny.write_backbone(tmp_path / "model")).eval()
    texts = ["the man runs", "a cat"] * 150
    plain = encoder.encode(texts)
    handle = encoder.backbone.encoder.register_forward_hook(  # type: ignore[union-attr]
        lambda module, given, made: twice(module, given, made)
    )
    assert abs(encoder.encode(texts) - 2 * plain).max() < 1e-5
    handle.remove()
    assert (encoder.encode(texts) == plain).all()
