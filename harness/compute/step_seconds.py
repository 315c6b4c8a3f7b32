"""Seconds of a training step on this machine with all its cores at work, for the estimates of a plan."""

from __future__ import annotations

import multiprocessing
import statistics
import time
from collections.abc import Mapping
from concurrent.futures import ProcessPoolExecutor
from itertools import repeat
from typing import Any, NamedTuple

import torch

from methods.core.fast.choices import Library, training_products, use_for_training
from methods.core.fast.packed import pooled_vectors
from methods.core.losses import info_nce

SHORTEST, LONGEST = 22, 32
"""Word pieces of the sentences: a sixth of the padded places is padding, as in SimCSE's corpus."""
SECONDS = 4.0
"""How long the steps of one backbone are repeated, at least twice."""


class Sizes(NamedTuple):
    """The sizes of a BERT, and the sentences of a batch."""

    layers: int
    width: int
    inner: int
    vocabulary: int
    batch: int


def seconds_of_steps(backbones: Mapping[str, Sizes], processes: int) -> dict[str, float]:
    """Returns the seconds of SimCSE's step in fp32 by backbone, with so many processes of one thread at once.

    Each is the mean of the processes: runs that share a machine wait for each other's memory.
    """
    fresh = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(processes, mp_context=fresh) as pool:
        taken = list(pool.map(_measured, repeat(dict(backbones), processes), repeat(training_products())))
    return {name: statistics.fmean(one[name] for one in taken) for name in backbones}


def _measured(backbones: Mapping[str, Sizes], products: Library) -> dict[str, float]:
    torch.set_num_threads(1)
    use_for_training(products)
    return {name: seconds_of_a_step(sizes) for name, sizes in backbones.items()}


def seconds_of_a_step(sizes: Sizes, seconds: float = SECONDS) -> float:
    """Returns the mean seconds of SimCSE's step on random weights and tokens; the first is not counted."""
    from transformers import BertConfig, BertModel

    torch.manual_seed(0)
    model: Any = BertModel(
        BertConfig(
            vocab_size=sizes.vocabulary,
            hidden_size=sizes.width,
            num_hidden_layers=sizes.layers,
            num_attention_heads=max(1, sizes.width // 64),
            intermediate_size=sizes.inner,
        ),
        add_pooling_layer=False,
    ).train()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5, fused=True)
    lengths = torch.randint(SHORTEST, LONGEST + 1, (sizes.batch,)).repeat(2)  # [2B]
    tokens = {
        "input_ids": torch.randint(sizes.vocabulary, (sizes.batch, LONGEST)).repeat(2, 1),
        "attention_mask": (torch.arange(LONGEST) < lengths[:, None]).long(),
    }

    def step() -> None:
        first, second = pooled_vectors(model, tokens, "cls").chunk(2)
        optimizer.zero_grad(set_to_none=True)
        info_nce(first, second, temperature=0.05).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()

    step()
    taken: list[float] = []
    while len(taken) < 2 or sum(taken) < seconds:
        started = time.perf_counter()
        step()
        taken.append(time.perf_counter() - started)
    return statistics.fmean(taken)
