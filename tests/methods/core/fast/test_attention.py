"""Each way to compute layers gives the values and gradients of the backbone's own pass."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from methods.core.fast import attention, packed
from methods.core.fast.choices import GpuLayers, layers_on, use_on_gpu
from methods.core.fast.packed import pooled_vectors
from tests.methods.core.fast.test_packed import backbone, batch, plain, with_gradients


@pytest.fixture
def everywhere(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Returns a function that makes the CPU compute layers as a GPU would."""

    def choose(layers: GpuLayers) -> None:
        for module in (attention, packed):
            monkeypatch.setattr(module, "layers_on", lambda device: layers)

    return choose


@pytest.mark.parametrize("kind", ["bert", "roberta"])
@pytest.mark.parametrize("rows", ["padded", "hidden", "equal"])
@pytest.mark.parametrize("pooling", ["cls", "mean"])
def test_attention_in_rows_of_their_own_lengths_reads_the_same(
    kind: str, rows: str, pooling: str, everywhere: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, tokens, calls = backbone(kind), batch(rows), []
    theirs = with_gradients(plain(model, tokens, pooling), model)
    everywhere("varlen")
    nested = attention.in_own_lengths
    monkeypatch.setattr(attention, "in_own_lengths", lambda *a, **k: calls.append(1) or nested(*a, **k))
    ours = with_gradients(pooled_vectors(model, tokens, pooling), model)
    assert len(calls) == (
        0 if rows == "equal" else 3
    )  # one a layer; without padding there is nothing to save
    for one, other in zip(ours, theirs, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-9, atol=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("pooling", ["cls", "mean"])
def test_compiled_layers_have_the_same_values_and_gradients_in_one_graph(
    pooling: str, everywhere: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Traced by torch.compile and run without its code generator, which needs a compiler."""
    from torch._dynamo.utils import counters

    model, tokens = backbone("bert"), batch()
    theirs = with_gradients(plain(model, tokens, pooling), model)
    monkeypatch.setattr(packed, "COMPILER", "aot_eager")
    packed._compiled_layer.cache_clear()
    torch._dynamo.reset()
    counters.clear()
    everywhere("compiled")
    ours = with_gradients(pooled_vectors(model, tokens, pooling), model)
    packed._compiled_layer.cache_clear()
    assert counters["frames"]["ok"] >= 1
    assert not counters["graph_break"]
    for one, other in zip(ours, theirs, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-9, atol=1e-9)


def test_a_cpu_keeps_to_padded_rows_whatever_is_chosen_for_a_gpu() -> None:
    use_on_gpu("varlen")
    try:
        assert layers_on("cpu") == "padded"
        assert layers_on("cuda") == layers_on("meta") == "varlen"
    finally:
        use_on_gpu("padded")
