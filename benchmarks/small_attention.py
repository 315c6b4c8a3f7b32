"""Attention of [CLS] to a word by the word's corpus frequency, before and after training."""

import math
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np
import torch

from benchmarks.small_trainings import Trainings
from harness.data.corpora import read_corpus
from harness.plan.entries import Run
from harness.report.drawing import svg_of

SENTENCES, BATCH = 4_096, 64
LEAST = 20
"""Fewest occurrences of a shown word."""
FIRST, EVERY = 12, 40
"""Labelled words: number of the most frequent ones, and the step among the others."""
NOT_SPOKEN = {mark: {"aria": False} for mark in ("point", "text", "rule", "axis")}
"""Marks have no text for screen readers, because the page has the figure's conclusion."""


class Word(NamedTuple):
    """A word: its occurrences in the sentences, and its mean weight before and after training.

    A weight is the attention of [CLS] to the word, averaged over heads, times the sentence length in tokens:
    1 is the word's share of a plain mean.
    """

    text: str
    occurrences: int
    before: float
    after: float


def weights_of_words(trainings: Trainings, run: Run) -> list[Word]:
    """Returns the words of the corpus, most frequent first, with the weights before and after a run."""
    texts = [row.text for row in read_corpus(Path(run.corpus))][:SENTENCES]
    with TemporaryDirectory(prefix="sentbench-") as scratch:
        trained = Path(scratch, "trained")
        trainings.encoder(run, trained)
        counts, before = mean_weights(Path(run.backbone), texts)
        _, after = mean_weights(trained, texts)
    common = [word for word, count in counts.most_common() if count >= LEAST]
    return [Word(word, counts[word], before[word], after[word]) for word in common]


@torch.no_grad()
def mean_weights(folder: Path, texts: Sequence[str]) -> tuple[Counter[str], dict[str, float]]:
    """Returns the count of each word in the texts, and its mean weight in [CLS] of the first layer."""
    from transformers import AutoModel, AutoTokenizer

    tokenizer: Any = AutoTokenizer.from_pretrained(folder, trust_remote_code=False)
    model: Any = AutoModel.from_pretrained(
        folder, attn_implementation="eager", trust_remote_code=False
    ).eval()
    counts, sums = np.zeros(len(tokenizer)), np.zeros(len(tokenizer))
    for start in range(0, len(texts), BATCH):
        batch = tokenizer(
            list(texts[start : start + BATCH]),
            padding=True,
            truncation=True,
            max_length=32,
            return_tensors="pt",
        )
        attention = model(**batch, output_attentions=True).attentions[0]  # [B, H, L, L]
        mask = batch["attention_mask"].bool()  # [B, L]
        weights = attention.mean(dim=1)[:, 0] * mask.sum(dim=1, keepdim=True)  # [B, L], 1 for a plain mean
        np.add.at(counts, batch["input_ids"][mask].numpy(), 1)
        np.add.at(sums, batch["input_ids"][mask].numpy(), weights[mask].double().numpy())
    met = [number for number in np.flatnonzero(counts).tolist() if number not in tokenizer.all_special_ids]
    words = dict(zip(met, tokenizer.convert_ids_to_tokens(met), strict=True))
    return (
        Counter({words[number]: int(counts[number]) for number in met}),
        {words[number]: float(sums[number] / counts[number]) for number in met},
    )


def rank_correlation(words: Sequence[Word]) -> float:
    """Returns Spearman's correlation of frequency and the weight after training."""
    from scipy.stats import spearmanr

    return float(spearmanr([word.occurrences for word in words], [word.after for word in words]).statistic)


def attention_picture(words: Sequence[Word]) -> str:
    """Returns the figure as SVG: a point per word, with labels for the most frequent and some other words."""
    most = math.ceil(math.log10(max(word.occurrences for word in words)))
    points = [
        {
            "word": word.text if word.text.isalpha() and (rank < FIRST or rank % EVERY == 0) else "",
            "count": word.occurrences,
            "weight": round(word.after, 3),
        }
        for rank, word in enumerate(words)
    ]
    axes = {
        "x": {
            "field": "count",
            "type": "quantitative",
            "scale": {"type": "log", "domain": [LEAST, 10**most]},
            "title": f"occurrences in {SENTENCES:,} sentences",
        },
        "y": {
            "field": "weight",
            "type": "quantitative",
            "title": "attention of [CLS] after training, 1 = before it",
        },
    }
    spec = {
        "width": 560,
        "height": 320,
        "background": "#ffffff",
        "data": {"values": points},
        "encoding": axes,
        "layer": [
            {
                "mark": {"type": "rule", "strokeDash": [4, 4], "color": "#58606a"},
                "encoding": {"x": None, "y": {"datum": 1}},
            },
            {"mark": {"type": "point", "filled": True, "size": 22, "opacity": 0.5, "color": "#0b62a5"}},
            {
                "transform": [{"filter": "datum.word"}],
                "mark": {"type": "text", "dx": 5, "align": "left", "fontSize": 11},
                "encoding": {"text": {"field": "word"}},
            },
        ],
        "config": {"font": "Liberation Sans", "view": {"stroke": None}, **NOT_SPOKEN},
    }
    svg = svg_of(spec, "attention").replace(' aria-hidden="true"', "")
    return re.sub(r"(\.\d\d)\d+", r"\1", svg) + "\n"
