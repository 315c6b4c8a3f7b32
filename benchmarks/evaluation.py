"""STS evaluation: ours, sentence-transformers' encode, mteb's evaluation, and a loop of pairs as in SentEval.

A round is one evaluation of the whole collection, and all sides get the same texts; with a mirror it is the
papers' seven sets, without one STS-B and the parts of the others that it holds.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import torch

from benchmarks.evaluation_peers import Scorer, mteb_evaluation, pair_loop, sentence_transformers_loop
from benchmarks.material import backbone, encoder
from benchmarks.measurement import Disagreement, Result, alternate, share_of_rates, summarised
from harness.data.sts import ScoredPair
from harness.data.tiers import mirror_folder
from harness.tasks.evaluation import evaluate_tasks
from harness.tasks.registry import build_tasks
from harness.tasks.sts import StsTask
from methods.core.batching import unique
from methods.core.encoder import SentenceEncoder
from tests.support import tiny

SETS = ("STSB", "STS16", "STS13", "STS12", "STS15", "SICKR", "STS14")
EMBEDDED = ("STSB", "STS12-part", "STS14-part", "STS13-part", "STS15-part", "STS16-part")
MADE_UP_PAIRS = 60
TOLERANCE = 1e-4
"""Largest difference allowed between the correlations of two sides in fp32: 0.01 points."""
FLOOR_SHARE = 0.8
TARGETS = {"SentEval's loop": 2.6, "sentence-transformers": 2.3, "mteb": 2.3}
HALF_TARGETS = {"SentEval's loop": 4.2, "sentence-transformers": 3.7, "mteb": 3.7}
"""For processors on which oneDNN's product in fp32 is no faster than MKL's, which the peers use."""
OURS, HALF = "ours", "ours, bf16"
PROFILE = (
    "in a profile of torch's operators, one thread of an Intel processor under tcmalloc: products with GELU "
    "87 %, attention 6 %, layer norm 2 %, selecting rows for attention 2 %, residuals 1 %; tokenising takes "
    "another 1 %"
)
HALF_PROFILE = (
    "in a profile of torch's operators, one thread of a processor with bf16 matrix units, under tcmalloc: "
    "products 41 %, attention over short sentences 22 %, casts 12 %, layer norm and residuals 12 %, GELU "
    "8 %, selecting rows 3 %; tokenising takes another 2 %"
)


def measure(rounds: int, short: bool, device: str = "cpu") -> list[Result]:
    """Returns our time in fp32 and in bf16, each against the peers in fp32."""
    ours, sides = _sides(short, device)
    tasks = [made_up()] if short else test_sets()
    for score in sides.values():
        score([made_up()])
    counts, operations = _work(ours, tasks)  # reads the sets before anything is timed
    scores: dict[str, list[float]] = {name: [] for name in sides}
    times, rates = alternate(
        {name: partial(_keep, scores[name], score, tasks) for name, score in sides.items()},
        rounds=rounds,
        device=device,
    )
    peers = {name: taken for name, taken in times.items() if name not in (OURS, HALF)}
    summary = partial(summarised, rates=rates, unit="s")
    full = summary(
        "STS evaluation, fp32",
        {OURS: times[OURS], **peers},
        targets=TARGETS,
        agreement=_agreement(scores),
        note=f"{counts}; {share_of_rates(operations, times[OURS], rates, device)}, "
        f"target {FLOOR_SHARE:.0%} of the second; {PROFILE}",
    )
    apart = max(abs(one - other) for one, other in zip(scores[OURS], scores[HALF], strict=True))
    half = summary(
        "STS evaluation, bf16 against fp32",
        {OURS: times[HALF], **peers},
        targets=HALF_TARGETS,
        agreement=f"Spearman is up to {100 * apart:.3f} points from fp32's: no result is recorded in bf16",
        note=HALF_PROFILE,
    )
    return [full, half]


def _sides(short: bool, device: str) -> tuple[SentenceEncoder, dict[str, Scorer]]:
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Pooling, Transformer

    ours = encoder(short, "mean").to(device)
    transformer: Any = Transformer(str(backbone(short)))
    pooling = Pooling(transformer.get_embedding_dimension(), pooling_mode="mean")
    peer = SentenceTransformer(modules=[transformer, pooling], device=device, trust_remote_code=False)
    sides: dict[str, Scorer] = {
        OURS: partial(our_scores, ours),
        HALF: partial(our_scores, ours, half=True),
        "SentEval's loop": pair_loop(ours),
        "sentence-transformers": sentence_transformers_loop(peer),
        "mteb": mteb_evaluation(peer),
    }
    return ours, sides


def _keep(scores: list[float], score: Scorer, tasks: Sequence[StsTask]) -> None:
    """Scores the tasks once more and adds what was found, so that every round is compared."""
    scores += score(tasks)


def our_scores(model: SentenceEncoder, tasks: Sequence[StsTask], *, half: bool = False) -> list[float]:
    """What selection does in training: unique texts once, batches of equal length, cosines in float64.

    `sentbench evaluate` does the same and keeps the vectors in files.
    """
    with torch.autocast(model.device.type, torch.bfloat16, enabled=half):
        found = evaluate_tasks(list(tasks), model.encode)  # type: ignore[arg-type]
    pooled = {
        score.task: score.value for score in found if (score.metric, score.setting) == ("spearman", "all")
    }
    return [pooled[task.name] for task in tasks]


def test_sets() -> list[StsTask]:
    """Returns the papers' seven sets, or without a mirror what STS-B holds of them."""
    names = SETS if mirror_folder() is not None else EMBEDDED
    return build_tasks(names, text="senteval")  # type: ignore[return-value]


def made_up() -> StsTask:
    """Returns a set of pairs from a few dozen sentences with scores drawn once."""
    texts = [row.text for row in tiny.rows(24)]
    rng = np.random.default_rng(0)
    every = list(combinations(texts, 2))  # no pair twice: rounding would break its tie
    drawn = rng.choice(len(every), MADE_UP_PAIRS, replace=False)
    pairs = [ScoredPair(every[place][0], every[place][1], float(rng.integers(6))) for place in drawn]
    return StsTask("made-up", "made-up", lambda folder: {"all": pairs}, folder=Path())


def flops(model: SentenceEncoder, texts: Sequence[str]) -> float:
    """Returns the multiplications and additions of the linear layers and attention on the texts' tokens."""
    lengths = np.array([len(ids) for ids in model.token_ids(texts)], dtype=np.float64)
    config: Any = model.backbone.config
    width, inner = config.hidden_size, config.intermediate_size
    linear = 2 * width * (4 * width + 2 * inner) * lengths.sum()
    return float(config.num_hidden_layers * (linear + 4 * width * (lengths**2).sum()))


def _agreement(scores: dict[str, list[float]]) -> str:
    single = {name: found for name, found in scores.items() if name != HALF}
    apart = max(np.ptp(found) for found in zip(*single.values(), strict=True))
    if not apart <= TOLERANCE:
        raise Disagreement(
            f"Spearman correlations differ by {apart:.2g}, expected at most {TOLERANCE}: {single}"
        )
    return f"Spearman of all sides agrees within {100 * apart:.1g} points"


def _work(model: SentenceEncoder, tasks: Sequence[StsTask]) -> tuple[str, float]:
    """Returns what there is to compute in words, and the floating-point operations of it."""
    texts = [text for task in tasks for text in task.texts()]
    once, _ = unique(texts)
    tokens, fewer = (sum(len(ids) for ids in model.token_ids(some)) for some in (texts, once))
    names = ", ".join(task.name for task in tasks)
    counts = f"{names}: {len(texts)} sentences, {len(once)} unique; {tokens} tokens, {fewer} computed"
    return counts, flops(model, once)
