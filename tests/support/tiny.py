"""A two-layer BERT of width 16 with a real word-piece tokenizer, and everything a few-step run needs."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch

from methods.core import streams
from methods.core.encoder import SentenceEncoder
from methods.core.method import Method
from methods.core.networks import Networks
from methods.core.teachers import write_teacher
from methods.core.trainer import TrainConfig, Trainer
from methods.core.types import Batch, Encoder, Row

WORDS = [
    "a", "the", "man", "woman", "child", "dog", "cat", "horse", "is", "was", "runs", "sits", "eats",
    "sleeps", "plays", "reads", "in", "on", "under", "near", "house", "tree", "river", "road", "garden",
    "big", "small", "old", "young", "red", "green", "quickly", "slowly", "and", "or", "not", "with",
    "without", "two", "three",
]  # fmt: skip
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
TRAIN: dict[str, Any] = {
    "steps": 6,
    "epochs": None,
    "batch_size": 8,
    "drop_last": True,
    "learning_rate": 1.0e-3,
    "schedule": "linear",
    "warmup_share": 0.0,
    "betas": [0.9, 0.999],
    "epsilon": 1.0e-8,
    "bias_correction": True,
    "adam": "torch",
    "weight_decay": 0.0,
    "decay_everything": True,
    "max_grad_norm": 1.0,
    "precision": "fp32",
    "eval_every": 3,
    "eval_within": "run",
    "eval_epoch_ends": False,
    "patience": None,
    "save_every": 2,
}


class Sample(NamedTuple):
    """One configuration of a method that every law is tested on.

    parent: None, "encoder" (a frozen tiny encoder), "teacher" (vectors of the tiny corpus) or "generator" (a
    tiny masked language model).
    zero_gradients: names of trained parameters that a fact of the paper says receive exactly zero gradient.
    """

    method: str
    label: str
    config: Mapping[str, Any]
    parent: str | None = None
    backbone: str = "bert"
    trained: bool = True
    export_tolerance: float = 1e-5
    portable: bool = True
    zero_gradients: tuple[str, ...] = ()


def write_backbone(
    folder: Path,
    *,
    width: int = 16,
    layers: int = 2,
    seed: int = 0,
    dropout: float = 0.1,
    masked_model: bool = False,
    **sizes: Any,
) -> Path:
    """Writes a randomly initialised BERT with its tokenizer as a plain Hugging Face folder.

    masked_model: with the output layer of a masked language model. sizes: other values of its BertConfig.
    """
    from tokenizers import Tokenizer
    from tokenizers.models import WordPiece
    from tokenizers.normalizers import BertNormalizer
    from tokenizers.pre_tokenizers import BertPreTokenizer
    from tokenizers.processors import TemplateProcessing
    from transformers import BertConfig, BertForMaskedLM, BertModel, PreTrainedTokenizerFast

    letters = [chr(code) for code in range(ord("a"), ord("z") + 1)]
    vocabulary = [
        *SPECIAL,
        *WORDS,
        *(x for x in letters if x not in WORDS),
        *(f"##{x}" for x in letters),
        ".",
        ",",
    ]
    core = Tokenizer(WordPiece({word: number for number, word in enumerate(vocabulary)}, unk_token="[UNK]"))
    core.normalizer = BertNormalizer(lowercase=True)
    core.pre_tokenizer = BertPreTokenizer()
    core.post_processor = TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    names = {"pad_token": "[PAD]", "unk_token": "[UNK]", "cls_token": "[CLS]", "sep_token": "[SEP]"}
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=core, mask_token="[MASK]", **names)
    torch.manual_seed(seed)
    usual = {
        "vocab_size": len(vocabulary),
        "hidden_size": width,
        "num_hidden_layers": layers,
        "num_attention_heads": 2,
        "intermediate_size": 2 * width,
        "max_position_embeddings": 64,
        "hidden_dropout_prob": dropout,
        "attention_probs_dropout_prob": dropout,
        "initializer_range": 0.2,
    }
    config = BertConfig(**{**usual, **sizes})
    (BertForMaskedLM if masked_model else BertModel)(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def rows(count: int = 24, *, augmentations: int = 0, seed: int = 1) -> list[Row]:
    """Returns sentences of 2 to 9 known words, each with shuffled copies as augmentations."""
    rng = np.random.default_rng(seed)
    made = []
    for index in range(count):
        words = list(rng.choice(WORDS, size=rng.integers(2, 10)))
        others = tuple(" ".join(rng.permutation(words)) for _ in range(augmentations))
        made.append(Row(index, " ".join(words), others))
    return made


def stsb(texts: int = 16) -> str:
    """Returns pairs in the layout of STS-B with gold scores from 0 to 4.9."""
    made = rows(texts)
    return "".join(
        f"main-captions\tMSRvid\t2012test\t{k}\t{0.7 * (k % 8):.1f}\t{first.text}\t{second.text}\n"
        for k, (first, second) in enumerate(zip(made[::2], made[1::2], strict=True))
    )


def write_parent(folder: Path, kind: str | None, corpus: Sequence[Row]) -> Path | None:
    """Writes the parent a sample asks for and returns its folder."""
    if kind is None:
        return None
    if kind == "generator":
        return write_backbone(folder / kind, seed=8, masked_model=True)
    plain = write_backbone(folder / "plain", seed=7)
    from methods.core.folders import load_encoder

    encoder: Any = load_encoder(plain, pooling="mean")
    folder = folder / "parent"
    folder.mkdir(parents=True)
    if kind == "teacher":
        write_teacher(folder, encoder, corpus, {"teacher": "tiny"})
    else:
        encoder.save(folder)
    return folder


def build(
    sample: Sample, backbone: Path, *, parent: Path | None, seed: int = 3, pooling: str = "mean"
) -> Method:
    """Returns the sample's method with weights drawn from the seed."""
    from methods.registry import load_method

    method = load_method(sample.method)
    torch.manual_seed(streams.torch_seed(seed, streams.INITIALISE))
    return method(
        method.Config.model_validate(sample.config), Networks(backbone, pooling=pooling, parent=parent)
    )


def changed(
    sample: Sample, backbone: Path, *, parent: Path | None = None, pooling: str = "mean", **changes: Any
) -> Any:
    """Returns the sample's method in training mode, with other values of some settings."""
    sample = sample._replace(config={**sample.config, **changes})
    return build(sample, backbone, parent=parent, pooling=pooling).train()


def collate(method: Method, chosen: Sequence[Row], *, step: int = 0) -> Batch:
    """Returns the batch of prepared rows at a step, as a run of seed 3 draws it."""
    return method.collate(chosen, step=step, rng=streams.generator(3, streams.COLLATE, step))


def batch_of(
    method: Method, count: int = 6, *, start: int = 0, step: int = 0, corpus: Sequence[Row] | None = None
) -> Batch:
    """Prepares a method on a corpus and returns the batch of its first rows, or of those from a start."""
    return collate(method, method.prepare(corpus or rows())[start : start + count], step=step)


def dev_score(encoder: Encoder) -> dict[str, float]:
    """Returns a cheap stand-in for a dev score that depends on all weights."""
    first, second = encoder.encode(["the man runs", "a cat sleeps under the tree"])
    return {"score": float(np.dot(first, second))}


def trainer(method: Method, folder: Path, *, seed: int = 3, **train: Any) -> Trainer:
    """Returns a trainer of a few steps that writes a resume point whenever it may."""
    config = TrainConfig.model_validate({**TRAIN, **train})
    return Trainer(method, config, seed, dev_score, folder, seconds_between=0.0)


def sentence_encoder(folder: Path, pooling: str = "mean") -> SentenceEncoder:
    """Returns the encoder of a tiny backbone in training mode."""
    return Networks(folder, pooling=pooling).new_encoder()
