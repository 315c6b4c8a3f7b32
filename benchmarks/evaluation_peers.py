"""What else evaluates an encoder on scored pairs: SentEval's loop, sentence-transformers, mteb."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import torch

from harness.tasks.sts import StsTask, spearman, unit_rows
from methods.core.encoder import SentenceEncoder
from methods.core.pooling import masked_mean

SENTEVAL_BATCH, PEER_BATCH = 128, 64
Scorer = Callable[[Sequence[StsTask]], list[float]]
"""Encodes and scores the pairs of some sets; returns Spearman's correlation over all of each, in [-1, 1]."""


def pair_loop(model: SentenceEncoder) -> Scorer:
    """Batches of pairs as in SentEval: both sides of a batch padded, all layers kept, a cosine per pair."""

    def embed(texts: list[str]) -> np.ndarray:
        tokens = {name: ids.to(model.device) for name, ids in model.tokenize(texts).items()}
        states = model.backbone(**tokens, output_hidden_states=True).hidden_states
        return masked_mean(states[-1], tokens["attention_mask"]).cpu().numpy()

    @torch.no_grad()
    def score_set(task: StsTask) -> float:
        model.eval()
        pairs = sorted(task.pairs, key=lambda pair: (len(pair.first.split()), len(pair.second.split())))
        similarities = []
        for start in range(0, len(pairs), SENTEVAL_BATCH):
            batch = pairs[start : start + SENTEVAL_BATCH]
            sides = embed([pair.first for pair in batch]), embed([pair.second for pair in batch])
            for one, other in zip(*sides, strict=True):
                similarities.append(one @ other / (np.linalg.norm(one) * np.linalg.norm(other)))
        return spearman(np.array([pair.score for pair in pairs]), np.array(similarities))

    return lambda tasks: [score_set(task) for task in tasks]


def sentence_transformers_loop(model: Any) -> Scorer:
    """`SentenceTransformer.encode` on both sides; cosines in float64."""

    def score_set(task: StsTask) -> float:
        sides = (
            unit_rows(model.encode(texts, batch_size=PEER_BATCH, show_progress_bar=False))
            for texts in ([pair.first for pair in task.pairs], [pair.second for pair in task.pairs])
        )
        similarities = np.einsum("nd,nd->n", *sides)
        return spearman(np.array([pair.score for pair in task.pairs]), similarities)

    return lambda tasks: [score_set(task) for task in tasks]


def mteb_evaluation(model: Any) -> Scorer:
    """`mteb.evaluate` of an STS task of mteb that was given our pairs, with mteb's own batch size."""
    import mteb
    from datasets import Dataset, DatasetDict
    from mteb.models import SentenceTransformerEncoderWrapper

    wrapped = SentenceTransformerEncoderWrapper(model)

    def score_set(task: StsTask) -> float:
        given = mteb.get_task("STSBenchmark")
        columns = zip(*task.pairs, strict=True)
        rows = dict(zip(("sentence1", "sentence2", "score"), map(list, columns), strict=True))
        given.dataset, given.data_loaded = DatasetDict({"test": Dataset.from_dict(rows)}), True
        with TemporaryDirectory() as folder:
            results = mteb.evaluate(
                wrapped,
                [given],
                cache=mteb.ResultCache(Path(folder)),
                overwrite_strategy="always",
                show_progress_bar=False,
            )
        return float(results[0].get_score())

    return lambda tasks: [score_set(task) for task in tasks]
