"""PCL: the loss against the form its authors released, and a step with and without blocks of like length.

    python benchmarks/pcl.py [--rounds N] [--short]

Prints the machine, medians and ratios. Both forms of the loss are first checked to agree, gradients too.
"""

from __future__ import annotations

import argparse
import platform
import statistics
import time
from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from methods.core.encoder import SentenceEncoder
from methods.core.grouping import encode_in_groups, pad_in_groups
from methods.core.heads import TanhHead
from methods.pcl.method import LENGTH_GROUPS, PCLConfig
from methods.pcl.objective import pcl_loss

TAU = 0.05
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


def seconds(work: Callable[[], object], device: str) -> float:
    if device == "cuda":
        torch.cuda.synchronize()
    start = time.perf_counter()
    work()
    if device == "cuda":
        torch.cuda.synchronize()
    return time.perf_counter() - start


def compare(name: str, forms: dict[str, Callable[[], object]], rounds: int, device: str) -> None:
    """Prints medians of interleaved rounds and the ratio of the first form to each other."""
    for work in forms.values():
        work()
    times: dict[str, list[float]] = {form: [] for form in forms}
    for _ in range(rounds):
        for form, work in forms.items():
            times[form].append(seconds(work, device))
    first = next(iter(forms))
    for form, measured in times.items():
        ratio = statistics.median(a / b for a, b in zip(times[first], measured, strict=True))
        print(
            f"{name:34} {form:24} {1e3 * statistics.median(measured):10.2f} ms   {first} / this {ratio:6.2f}"
        )


def backward(loss: Callable[[], Tensor], *inputs: Tensor) -> Callable[[], tuple[Tensor, ...]]:
    return lambda: torch.autograd.grad(loss(), inputs)


def measure_loss(sentences: int, positives: int, width: int, rounds: int, device: str) -> None:
    generator = torch.Generator().manual_seed(0)
    main, peer = (
        torch.randn(sentences, positives + 1, width, generator=generator).to(device).requires_grad_()
        for _ in range(2)
    )
    forms: dict[str, Callable[[], Tensor]] = {
        "released form": lambda: broadcast_loss(main, peer),
        "products": lambda: pcl_loss(main, peer, config(positives)).total,
    }
    values = [form().item() for form in forms.values()]
    slow, fast = (torch.cat([g.flatten() for g in backward(form, main, peer)()]) for form in forms.values())
    apart = ((slow - fast).abs().max() / slow.abs().max()).item()
    if abs(values[0] - values[1]) > AGREEMENT or apart > AGREEMENT:
        raise SystemExit(f"the two forms of the loss differ: {values}, gradients by {apart:.2g}")
    name = f"loss B={sentences} K={positives} d={width}"
    compare(name, {form: backward(loss, main, peer) for form, loss in forms.items()}, rounds, device)


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


def measure_step(sentences: int, positives: int, layers: int, rounds: int, device: str) -> None:
    """Measures the main network's forward and backward pass over all views; half the sentences are at 32."""
    width = 384
    rng = np.random.default_rng(0)
    lengths = np.where(rng.random(sentences) < 0.5, 32, rng.integers(6, 32, size=sentences))
    ids = [rng.integers(1000, 30000, size=n) for n in lengths for _ in range(positives + 1)]
    torch.manual_seed(0)
    encoder = random_encoder(layers, width).to(device)
    head = TanhHead(width).to(device)

    def step(groups: int, masked: bool = True) -> Callable[[], object]:
        padded = pad_in_groups(encoder, ids, groups=groups, masked=masked)
        moved = {
            name: value.to(device)
            if isinstance(value, Tensor)
            else {k: t.to(device) for k, t in value.items()}
            for name, value in padded.items()
        }
        return lambda: head(encode_in_groups(encoder, moved)).square().sum().backward()

    forms = {
        "one block": step(1),
        "blocks": step(LENGTH_GROUPS),
        "blocks, no mask": step(LENGTH_GROUPS, False),
    }
    compare(f"encode B={sentences} K={positives} layers={layers}", forms, rounds, device)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--rounds", type=int, default=10, help="measurements of each form (default 10)")
    parser.add_argument("--short", action="store_true", help="small sizes, a few seconds in all")
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cpu")
    given = parser.parse_args()
    print(
        f"{platform.machine()} {platform.processor() or 'cpu'}, torch {torch.__version__}, "
        f"{torch.get_num_threads()} threads, device {given.device}, {given.rounds} rounds"
    )
    sizes = [(16, 3, 64)] if given.short else [(64, 9, 768), (64, 4, 1024), (256, 9, 768)]
    for sentences, positives, width in sizes:
        measure_loss(sentences, positives, width, given.rounds, given.device)
    measure_step(
        16 if given.short else 64,
        3 if given.short else 9,
        1 if given.short else 6,
        given.rounds,
        given.device,
    )


if __name__ == "__main__":
    main()
