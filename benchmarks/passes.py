"""How often a step of each method encodes a sentence: as the specifications count it, and as it really does.

Unit: SimCSE's step, which encodes each of B sentences twice, forward and backward. A backward pass counts as
two forward passes, so with t rows a sentence that are trained and f that are only read, a step costs
(3 t + f) / 6. Views of unequal length cost unequally, so the same formula is also taken over tokens.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.modules.module import register_module_forward_hook, register_module_forward_pre_hook
from torch.utils.flop_counter import FlopCounterMode

from benchmarks.measurement import Disagreement
from methods.core.encoder import SentenceEncoder

TRAINED_PASS = 3
"""A forward and a backward pass in forward passes."""


class Passes(NamedTuple):
    """Rows that a step encodes for each sentence of its batch, the mean over a cycle of steps.

    trained: forward and backward. frozen: forward only. source: where the specification counts them.
    cycle: steps after which the pattern repeats. extra: work that the same place names beside the passes.
    products: how often the loss multiplies one sentence's vector with all keys of a queue, gradients too.
    beside: forward passes in networks that are no sentence encoders, and so are not counted in a real step.
    """

    trained: float
    frozen: float
    source: str
    cycle: int = 1
    extra: str = ""
    products: int = 0
    beside: float = 0

    @property
    def cost(self) -> float:
        """The step in units of SimCSE's, all views of one length."""
        return (TRAINED_PASS * self.trained + self.frozen) / (TRAINED_PASS * 2) + self.cost_beside

    @property
    def cost_beside(self) -> float:
        """The share of it that is not counted in a real step."""
        return self.beside / (TRAINED_PASS * 2)


PASSES: dict[str, Passes] = {
    "simcse": Passes(2, 0, "PT-BERT i: 2B forward and backward"),
    "moco": Passes(
        1, 1, "PT-BERT i and g: its passes without the block", extra="the moving average", products=2
    ),
    "pt-bert": Passes(
        1,
        1,
        "PT-BERT i: B forward and backward, B forward",
        extra="the moving average and the block",
        products=2,
    ),
    "pcl": Passes(20, 0, "PCL i: K = 9, separate, 2 x 10B"),
    "dclr": Passes(2, 2, "DCLR i: as released, 2F more for a complement of equal size"),
    "sct-bert-small": Passes(
        2,
        2,
        "SCT i: stage 1, two with and two without gradient",
        extra="projector and loss products",
        products=6,
    ),
    "sct-distill-bert-small": Passes(2, 0, "SCT i: stage 2", extra="loss products", products=6),
    "congen-bert-small": Passes(2, 0, "SCT i: ConGen", extra="loss products", products=5),
    "ckd-bert-small": Passes(1, 0, "SCT i: CKD, rerun style", extra="loss products", products=2),
    "mse-distill-bert-small": Passes(2, 0, "SCT g: squared error over both views"),
    "una": Passes(2.4, 0, "UNA i: 2B (1 + 1 / alpha), alpha = 5", cycle=5),
    "diffcse": Passes(
        2,
        0,
        "DiffCSE i: encoder 2 forward and backward",
        extra="projector and scores of all pieces",
        beside=2 * TRAINED_PASS + 2 * 0.5,
    ),
    "mirror-bert-roberta": Passes(2, 0, "Mirror-BERT i: 2 forward and backward"),
    "ct-paper": Passes(2, 0, "CT i: 2 a pair, one in each network; anchored, as many pairs as sentences"),
    "scd": Passes(2, 0, "SCD i: as SimCSE", extra="projector and correlations of its columns"),
    "modals-interpolation": Passes(2, 0, "UNA, table of positives: the second of two passes is moved"),
    "sg-opt": Passes(1, 1, "SG-OPT i: the tuned and the frozen copy", extra="the wide head on every layer"),
    "consert": Passes(2, 0, "ConSERT j: two views"),
    "bert-flow": Passes(0, 2, "BERT-flow j: one pass without graph of both sides", extra="the flow"),
    "bt-contrastive": Passes(2, 0, "back-translation e: both texts through the tuned copy"),
}
"""Run of a recipe -> what its specification counts. A letter names the section of the specification.

Products: each direction of SCT has the scores of target and learner and the gradient; ConGen has one target
for two learners; CKD, MoCo and PT-BERT have a learner only.
"""


def _of_a_layer(inputs: Sequence[int], weight: Sequence[int], *_: Any, **__: Any) -> int:
    """Returns the operations of a linear layer; shapes [..., k] and [n, k]."""
    return 2 * math.prod(inputs) * weight[0]


OF_ONEDNN = {torch.ops.mkldnn._linear_pointwise: _of_a_layer}
"""An operator of methods/core/fast that torch's counter does not know."""


@dataclass
class Count:
    """What went through the encoders: rows and attended tokens, forward with and without gradient.

    computed: tokens that an encoder worked on. returned: those of them that a gradient came back for.
    operations: multiplications and additions of all products of matrices, in encoders and elsewhere.
    """

    trained_rows: int = 0
    frozen_rows: int = 0
    trained_tokens: int = 0
    frozen_tokens: int = 0
    computed: int = 0
    returned: int = 0
    operations: int = 0

    @property
    def cost(self) -> int:
        """Forward passes of one token."""
        return TRAINED_PASS * self.trained_tokens + self.frozen_tokens


@contextmanager
def counting() -> Iterator[Count]:
    """Counts every pass through a sentence encoder, whoever owns it, and every product of matrices.

    Tokens are counted where they enter the first layer: the layer norm of the embeddings. Operations are
    known once the block has ended.
    """
    count, entries = Count(), set[nn.Module]()

    def starts(module: nn.Module, inputs: tuple[Any, ...]) -> None:
        if isinstance(module, SentenceEncoder):
            entries.add(module.backbone.embeddings.LayerNorm)  # type: ignore[union-attr, arg-type]

    def ended(module: nn.Module, inputs: tuple[Any, ...], output: Any) -> None:
        if module in entries:
            _count_tokens(count, output)
        elif isinstance(module, SentenceEncoder):
            _count_rows(count, inputs[0], output)

    with ExitStack() as hooks:
        hooks.enter_context(register_module_forward_pre_hook(starts))
        hooks.enter_context(register_module_forward_hook(ended))
        products = hooks.enter_context(FlopCounterMode(display=False, custom_mapping=OF_ONEDNN))
        yield count
        count.operations = products.get_total_flops()


def check_passes(system: str, passes: Passes, count: Count, *, sentences: int) -> str:
    """Returns one sentence on what steps over so many sentences in all encoded.

    Errors: Disagreement if that is not what the table says, padding was computed, or a gradient is missing.
    """
    expected = (round(passes.trained * sentences), round(passes.frozen * sentences))
    found = (count.trained_rows, count.frozen_rows)
    if found != expected:
        raise Disagreement(
            f"{system}: {found[0]} rows with and {found[1]} without gradient for {sentences} sentences, "
            f"expected {expected[0]} and {expected[1]} ({passes.source})"
        )
    attended = count.trained_tokens + count.frozen_tokens
    if count.computed != attended:
        raise Disagreement(
            f"{system}: {count.computed} tokens computed, expected the {attended} attended ones"
        )
    if count.returned != count.trained_tokens:
        raise Disagreement(
            f"{system}: gradients of {count.returned} tokens, expected {count.trained_tokens}, the trained"
        )
    return (
        f"rows encoded in a real step agree with the count: {passes.trained:g} a sentence forward and "
        f"backward, {passes.frozen:g} forward only ({passes.source})"
    )


def _count_tokens(count: Count, entering: Tensor) -> None:
    tokens = entering.numel() // entering.shape[-1]
    count.computed += tokens
    if entering.requires_grad:

        def add(_: Tensor) -> None:
            count.returned += tokens

        entering.register_hook(add)


def _count_rows(count: Count, tokens: dict[str, Tensor], pooled: Tensor) -> None:
    mask = tokens.get("attention_mask")
    attended = tokens["input_ids"].numel() if mask is None else int(torch.count_nonzero(mask))
    if pooled.requires_grad:
        count.trained_rows += len(pooled)
        count.trained_tokens += attended
    else:
        count.frozen_rows += len(pooled)
        count.frozen_tokens += attended
