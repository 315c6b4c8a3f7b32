"""Stand-ins for real encoders and corpora in short benchmarks and tests: a tiny BERT with a WordPiece
tokenizer, sentences of its words, and settings of a short training.
"""

from pathlib import Path
from typing import Any

import numpy as np
import torch

from methods.core.rows import Row

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

    masked_model: adds the output layer of a masked language model. sizes: overrides of its BertConfig.
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
