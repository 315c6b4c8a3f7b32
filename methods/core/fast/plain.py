"""Whether a network is exactly what the fast computation replaces: same classes, nothing attached or patched.

The fast computation reads the weights of layers and calls few of them, so a hook, an adapter, a
parametrisation or a replaced layer would take no part. A network with any of them runs its own forward pass.
The check follows the objects, so it also sees what is attached later.
"""

import sys
from functools import cache
from typing import Any, NamedTuple

import torch
from torch import nn
from torch.nn.modules.module import _has_any_global_hook

from methods.core.dropout import DROP_HEAD, DropHead, on_joined_heads
from methods.core.types import ARCHITECTURES

CAPTURES = "transformers.utils.output_capturing"
"""Module of the hooks by which transformers records hidden states; they change no value."""

ACTIVATIONS = ("transformers.activations", "torch.nn.modules.activation")
"""Modules whose classes may follow the first product of a feed-forward layer; they are called."""


class Shape(NamedTuple):
    """The class of a module, None for any activation, and the shape of each submodule that is computed."""

    kind: type | None
    parts: dict[str, "Shape"]


def is_untouched(part: nn.Module, kind: type) -> bool:
    """Returns whether a call of `part` runs the forward pass of exactly this class, in fp32, and no hook."""
    own = part.__dict__
    if (
        type(part) is not kind
        or own["_forward_pre_hooks"]
        or own["_backward_hooks"]
        or own["_backward_pre_hooks"]
        or (own["_forward_hooks"] and not all(map(_is_known, own["_forward_hooks"].values())))
        or "forward" in own
        or own.get("gradient_checkpointing")
    ):
        return False
    for weight in own["_parameters"].values():  # every forward pass comes here
        if weight is not None and weight.dtype is not torch.float32:
            return False
    return True


def is_plain_linear(layer: nn.Module) -> bool:
    """Returns whether a call of `layer` is the product with its fp32 weight and nothing else."""
    return is_untouched(layer, nn.Linear) and not _has_any_global_hook() and _is_unpatched(nn.Linear)


def is_plain(network: nn.Module) -> bool:
    """Returns whether a network is one of ARCHITECTURES in fp32, with nothing attached or replaced."""
    kind: Any = type(network)
    shape = _shape_of(kind)
    return (
        shape is not None
        and not _has_any_global_hook()
        and all(map(_is_unpatched, _kinds_of(kind)))
        and _has_shape(network, shape)
    )


def _has_shape(part: nn.Module, shape: Shape) -> bool:
    if shape.kind is None:
        return type(part).__module__ in ACTIVATIONS and is_untouched(part, type(part))
    if not is_untouched(part, shape.kind):
        return False
    children = part._modules
    if shape.kind is nn.ModuleList:
        (inner,) = shape.parts.values()
        return all(child is not None and _has_shape(child, inner) for child in children.values())
    for name, inner in shape.parts.items():
        child = children.get(name)
        if child is None:
            if name in ("pooler", DROP_HEAD):
                continue
            return False
        if not _has_shape(child, inner):
            return False
    return True


def _is_unpatched(kind: Any) -> bool:
    return bool(kind.forward.__module__ == kind.__module__)


def _is_known(hook: object) -> bool:
    return hook is on_joined_heads or getattr(hook, "__module__", None) == CAPTURES


@cache
def _shape_of(kind: type) -> Shape | None:
    """Returns the shape of a network of ARCHITECTURES; None for any other class."""
    if kind.__name__ not in ARCHITECTURES or not kind.__module__.startswith("transformers.models."):
        return None
    classes, family = sys.modules[kind.__module__], kind.__name__.removesuffix("Model")

    def of(name: str, **parts: Shape) -> Shape:
        return Shape(getattr(classes, family + name), parts)

    linear, norm, drop = Shape(nn.Linear, {}), Shape(nn.LayerNorm, {}), Shape(nn.Dropout, {})
    table, heads = Shape(nn.Embedding, {}), Shape(DropHead, {})
    tables = dict.fromkeys(("word_embeddings", "position_embeddings", "token_type_embeddings"), table)
    products = dict.fromkeys(("query", "key", "value"), linear)
    added = {"dense": linear, "LayerNorm": norm, "dropout": drop}
    layer = of(
        "Layer",
        attention=of(
            "Attention",
            self=of("SelfAttention", **products, dropout=drop, **{DROP_HEAD: heads}),
            output=of("SelfOutput", **added),
        ),
        intermediate=of("Intermediate", dense=linear, intermediate_act_fn=Shape(None, {})),
        output=of("Output", **added),
    )
    return of(
        "Model",
        embeddings=of("Embeddings", **tables, LayerNorm=norm, dropout=drop),
        encoder=of("Encoder", layer=Shape(nn.ModuleList, {"each": layer})),
        pooler=of("Pooler", dense=linear, activation=Shape(nn.Tanh, {})),
    )


@cache
def _kinds_of(kind: type) -> frozenset[type]:
    """Returns the classes of a network's shape whose forward pass is replaced."""

    def walk(shape: Shape) -> set[type]:
        inner = set[type]().union(*map(walk, shape.parts.values()))
        return inner if shape.kind in (None, nn.ModuleList) else {shape.kind, *inner}

    shape = _shape_of(kind)
    return frozenset(walk(shape)) if shape else frozenset()
