"""The parts of PCL, DCLR and PT-BERT after the encoder, against the released or printed forms.

Each result is one step of that part, forward and backward; both forms get the same vectors, and their losses
and gradients are compared before a time counts.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from benchmarks.runner import Side, agree, compare
from harness.report.measurements import BenchmarkResult
from methods.core.encoder import SentenceEncoder
from methods.core.grouping import LENGTH_GROUPS, encode_in_groups, pad_in_groups
from methods.core.heads import TanhHead
from methods.core.losses import cosine_similarities
from methods.core.transfers import to_device
from methods.dclr.noise import ascend
from methods.dclr.objective import binary_cross_entropy
from methods.pcl.config import PCLConfig
from methods.pcl.objective import pcl_loss
from methods.pt_bert.block import PseudoTokenBlock, factorised, plain
from tests.methods.pcl.sample import SAMPLES

TAU = 0.05
ASCENT_STEPS, STEP_SIZE = 4, 1.0e-3


def leaves(count: int, *shape: int, device: str) -> list[Tensor]:
    """Returns so many random tensors that take a gradient."""
    generator = torch.Generator().manual_seed(0)
    return [torch.randn(*shape, generator=generator).to(device).requires_grad_() for _ in range(count)]


def step(loss: Callable[..., Any], inputs: list[Tensor], *rest: Tensor) -> Callable[[], list[Tensor]]:
    """Returns a step that gives all outputs of a loss, the loss last, and the gradients of the inputs."""

    def run() -> list[Tensor]:
        found = loss(*inputs, *rest)
        outputs = found if isinstance(found, tuple) else (found,)
        return [*(one.detach() for one in outputs), *torch.autograd.grad(outputs[-1], inputs)]

    return run


def forms(name: str, sides: dict[str, Side], tolerance: float, **about: Any) -> BenchmarkResult:
    """Returns the first form next to the second, once their outputs and gradients were compared."""
    ours, theirs = (side() for side in sides.values())
    words = agree(ours, theirs, tolerance=tolerance, what="losses and gradients")
    return compare(name, sides, agreement=words, **about)


# PCL


def pcl(rounds: int, short: bool, device: str = "cpu") -> list[BenchmarkResult]:
    """Returns PCL's loss at the sizes of the papers' settings, and the encoder's part of a step."""
    results = []
    for sentences, positives, width in (
        [(16, 3, 64)] if short else [(64, 9, 768), (64, 4, 1024), (256, 9, 768)]
    ):
        inputs = leaves(2, sentences, positives + 1, width, device=device)
        own = {"positives": positives, "edits": ["shuffle"] * (positives - 1), "coupling": "separate"}
        config = PCLConfig.model_validate({**SAMPLES[0].config, **own})
        sides = {
            "products": step(lambda main, peer, config=config: pcl_loss(main, peer, config).total, inputs),
            "released form": step(released_pcl, inputs),
        }
        name = f"PCL's loss, B={sentences} K={positives} d={width}"
        results.append(
            forms(name, sides, 2e-4, rounds=rounds, targets={"released form": 20.0}, device=device)
        )
    return [*results, pcl_network(*((8, 3, 1) if short else (16, 4, 6)), rounds, device)]


def released_pcl(main: Tensor, peer: Tensor) -> Tensor:
    """Returns the released preset's loss, every distribution and cosine computed again where it is used."""
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


def broadcast_logits(anchors: Tensor, candidates: Tensor) -> Tensor:
    """Returns the logits with every cosine from a broadcast [B, B, d], as the released code takes them."""
    size, views, _ = candidates.shape
    own = [functional.cosine_similarity(anchors[:, 0], candidates[:, k], dim=-1) for k in range(1, views)]
    everyone = functional.cosine_similarity(anchors[:, None, 0], candidates[None, :, 0], dim=-1)
    others = [torch.cat([everyone[i, :i], everyone[i, i + 1 :]]) for i in range(size)]
    return torch.cat([torch.stack(own, dim=1), torch.stack(others)], dim=1) / TAU


def pcl_network(sentences: int, positives: int, layers: int, rounds: int, device: str) -> BenchmarkResult:
    """Returns the main network's forward and backward pass over all views; half the sentences are at 32."""
    from transformers import BertConfig, BertModel

    class Padding:
        pad_token_id = 0

    width, rng = 384, np.random.default_rng(0)
    lengths = np.where(rng.random(sentences) < 0.5, 32, rng.integers(6, 32, size=sentences))
    ids = [rng.integers(1000, 30000, size=n) for n in lengths for _ in range(positives + 1)]
    torch.manual_seed(0)
    sizes = {"hidden_size": width, "num_attention_heads": width // 32, "intermediate_size": 4 * width}
    bert = BertModel(BertConfig(num_hidden_layers=layers, **sizes), add_pooling_layer=False)
    encoder = SentenceEncoder(bert, Padding(), pooling="cls").train().to(device)
    head = TanhHead(width).to(device)

    def form(groups: int, masked: bool = True) -> Side:
        batch = to_device(pad_in_groups(encoder, ids, groups=groups, masked=masked), device)
        return lambda: head(encode_in_groups(encoder, batch)).square().sum().backward()

    sides = {
        "blocks": form(LENGTH_GROUPS),
        "one block": form(1),
        "blocks, padding read": form(LENGTH_GROUPS, False),
    }
    name = f"PCL's main network, B={sentences} K={positives} layers={layers}"
    return compare(name, sides, rounds=rounds, device=device)


# DCLR


def dclr(rounds: int, short: bool, device: str = "cpu") -> list[BenchmarkResult]:
    """Returns four ascent steps, all cosines and the released loss of DCLR at three sizes."""
    shapes = {
        "base, k 1": (128, 128, 768),
        "base, k 2.5": (128, 320, 768),
        "base, batch 256": (256, 256, 768),
    }
    results = []
    for name, (batch, count, width) in ({"small": (16, 40, 64)} if short else shapes).items():
        views = leaves(2, batch, width, device=device)
        noise = torch.randn(count, width, generator=torch.Generator().manual_seed(1)).to(device)
        sides = {
            "products": step(dclr_loss, views, noise),
            "broadcast cosines": step(broadcast_dclr_loss, views, noise),
        }
        results.append(forms(f"DCLR's noise and loss, {name}", sides, 1e-3, rounds=rounds, device=device))
    return results


def dclr_loss(first: Tensor, second: Tensor, noise: Tensor) -> tuple[Tensor, Tensor]:
    """Returns the moved noise and the loss as the method computes them."""
    settings = {"temperature": TAU, "steps": ASCENT_STEPS, "step_size": STEP_SIZE}
    moved = ascend(noise, first, second, **settings, denominator="all")
    cosines = [cosine_similarities(first, second), cosine_similarities(first, moved)]
    return moved, binary_cross_entropy(torch.cat(cosines, dim=1) / TAU)


def broadcast_dclr_loss(first: Tensor, second: Tensor, noise: Tensor) -> tuple[Tensor, Tensor]:
    """Returns the same by autograd over cosines of broadcast vectors [B, M, d]."""

    def logits(noise: Tensor) -> Tensor:
        keys = torch.cat([second, noise])
        return functional.cosine_similarity(first.unsqueeze(1), keys.unsqueeze(0), dim=-1) / TAU

    for _ in range(ASCENT_STEPS):
        noise = noise.detach().requires_grad_()
        target = torch.arange(len(first), device=first.device)
        (gradient,) = torch.autograd.grad(functional.cross_entropy(logits(noise), target), noise)
        noise = noise + STEP_SIZE * gradient / gradient.norm(dim=1, keepdim=True)
    return noise.detach(), binary_cross_entropy(logits(noise.detach()))


# PT-BERT


def pt_bert(rounds: int, short: bool, device: str = "cpu") -> list[BenchmarkResult]:
    """Returns PT-BERT's pseudo-token block at the lengths of the paper's ablation, under equal masks."""
    results = []
    for batch, width, length in [(8, 96, 16)] if short else [(64, 768, length) for length in (64, 128, 360)]:
        torch.manual_seed(0)
        block = PseudoTokenBlock(width, length=length, heads=12, dropout=0.1, form="plain").to(device)
        (pooled,) = leaves(1, batch, width, device=device)
        masks = block.keep(pooled, (length, 1)), block.keep(pooled, (1, length))
        weights = [block.value.weight, block.value.bias, block.query.weight, block.key.weight]

        def printed(pooled: Tensor, *_: Tensor) -> tuple[Tensor, Tensor]:
            output = plain(block, block, pooled, pooled.unsqueeze(1), None, *masks)  # noqa: B023
            return output, output.square().sum()

        def ours(pooled: Tensor, *_: Tensor) -> tuple[Tensor, Tensor]:
            output = factorised(block, block, pooled, masks[0].squeeze(-1), masks[1].squeeze(-2))  # noqa: B023
            return output, output.square().sum()

        sides = {
            "factorised": step(ours, [pooled, *weights]),
            "as printed": step(printed, [pooled, *weights]),
        }
        name = f"PT-BERT's block, B={batch} d={width} m={length}"
        results.append(forms(name, sides, 1e-4, rounds=rounds, device=device))
    return results
