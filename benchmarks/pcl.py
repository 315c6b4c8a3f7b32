"""PCL: the loss against the form its authors released, and a pass over all views with and without padding."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from benchmarks.measurement import Form, Result, agree, compare
from methods.core.encoder import SentenceEncoder
from methods.core.grouping import LENGTH_GROUPS, encode_in_groups, pad_in_groups
from methods.core.heads import TanhHead
from methods.core.transfers import to_device
from methods.pcl.config import PCLConfig
from methods.pcl.objective import pcl_loss

TAU, LOSS_TARGET = 0.05, 20.0
AGREEMENT = 2e-4
"""Largest difference allowed between the two fp32 losses and, relative to the largest, their gradients."""


def config(positives: int) -> PCLConfig:
    return PCLConfig(
        max_length=32,
        positives=positives,
        edits=["shuffle"] * (positives - 1),
        edit_share=0.2,
        edit_unit="piece",
        deletion="first-occurrence",
        temperature=TAU,
        coupling="separate",
        peer_head="cls-shared-mlp",
        peer_attention_mask=True,
        peer_views="shared",
        contrast="dropout-and-group",
        contrast_weight=1.0,
        kl_pairs="consistency-agreement",
        kl_direction="peer-main",
        kl_reduction="element-mean",
        recompute=False,
    )


def broadcast_logits(anchors: Tensor, candidates: Tensor) -> Tensor:
    """Returns the logits with every cosine from a broadcast [B, B, d], as the released code takes them."""
    size, views, _ = candidates.shape
    own = [functional.cosine_similarity(anchors[:, 0], candidates[:, k], dim=-1) for k in range(1, views)]
    everyone = functional.cosine_similarity(anchors[:, None, 0], candidates[None, :, 0], dim=-1)
    others = [torch.cat([everyone[i, :i], everyone[i, i + 1 :]]) for i in range(size)]
    return torch.cat([torch.stack(own, dim=1), torch.stack(others)], dim=1) / TAU


def broadcast_loss(main: Tensor, peer: Tensor) -> Tensor:
    """Returns the released preset's loss, every distribution and cosine computed anew where it is used."""
    size, views, _ = main.shape
    total = main.new_zeros(())
    for network in (main, peer):
        cosines = functional.cosine_similarity(network[:, None, 0], network[None, :, 1], dim=-1)
        total = total + functional.cross_entropy(cosines / TAU, torch.arange(size, device=main.device))
        probabilities = broadcast_logits(network, network).softmax(dim=1)
        target = torch.zeros_like(probabilities)
        target[:, : views - 1] = 1
        total = total + functional.binary_cross_entropy_with_logits(probabilities, target)
    for target_pair, guess_pair in (((peer, peer), (main, main)), ((peer, main), (main, peer))):
        target = broadcast_logits(*target_pair).log_softmax(dim=1)
        guess = broadcast_logits(*guess_pair).log_softmax(dim=1)
        total = total + (target.exp() * (target - guess)).mean()
    return total


def backward(loss: Callable[[], Tensor], *inputs: Tensor) -> Callable[[], tuple[Tensor, ...]]:
    return lambda: torch.autograd.grad(loss(), inputs)


def loss_result(sentences: int, positives: int, width: int, rounds: int, device: str) -> Result:
    """Returns the loss with its gradients as the method computes it, against the released form."""
    generator = torch.Generator().manual_seed(0)
    main, peer = (
        torch.randn(sentences, positives + 1, width, generator=generator).to(device).requires_grad_()
        for _ in range(2)
    )
    losses: dict[str, Callable[[], Tensor]] = {
        "products": lambda: pcl_loss(main, peer, config(positives)).total,
        "released form": lambda: broadcast_loss(main, peer),
    }
    computed = [
        [loss().detach(), torch.cat([gradient.flatten() for gradient in backward(loss, main, peer)()])]
        for loss in losses.values()
    ]
    return compare(
        f"PCL's loss, B={sentences} K={positives} d={width}",
        {form: backward(loss, main, peer) for form, loss in losses.items()},
        rounds=rounds,
        targets={"released form": LOSS_TARGET},
        device=device,
        agreement=agree(*computed, tolerance=AGREEMENT, what="loss and gradients"),
    )


def random_encoder(layers: int, width: int) -> SentenceEncoder:
    from transformers import BertConfig, BertModel

    settings = BertConfig(
        num_hidden_layers=layers,
        hidden_size=width,
        num_attention_heads=width // 32,
        intermediate_size=4 * width,
    )

    class Padding:
        pad_token_id = 0

    return SentenceEncoder(BertModel(settings, add_pooling_layer=False), Padding(), pooling="cls").train()


def step_result(sentences: int, positives: int, layers: int, rounds: int, device: str) -> Result:
    """Returns the main network's forward and backward pass over all views; half the sentences are at 32."""
    width = 384
    rng = np.random.default_rng(0)
    lengths = np.where(rng.random(sentences) < 0.5, 32, rng.integers(6, 32, size=sentences))
    ids = [rng.integers(1000, 30000, size=n) for n in lengths for _ in range(positives + 1)]
    torch.manual_seed(0)
    encoder = random_encoder(layers, width).to(device)
    head = TanhHead(width).to(device)

    def step(groups: int, masked: bool = True) -> Form:
        batch = to_device(pad_in_groups(encoder, ids, groups=groups, masked=masked), device)
        return lambda: head(encode_in_groups(encoder, batch)).square().sum().backward()

    return compare(
        f"PCL's main network, B={sentences} K={positives} layers={layers}",
        {
            "blocks": step(LENGTH_GROUPS),
            "one block": step(1),
            "blocks, padding read": step(LENGTH_GROUPS, False),
        },
        rounds=rounds,
        device=device,
    )


def measure(rounds: int, short: bool, device: str = "cpu") -> list[Result]:
    """Returns the loss at the sizes of the papers' settings, and the encoder's part of a step."""
    sizes = [(16, 3, 64)] if short else [(64, 9, 768), (64, 4, 1024), (256, 9, 768)]
    sentences, positives, layers = (8, 3, 1) if short else (16, 4, 6)
    results = [loss_result(*size, rounds, device) for size in sizes]
    return [*results, step_result(sentences, positives, layers, rounds, device)]
