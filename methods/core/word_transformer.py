"""A BERT-shaped encoder over word vectors: whole words as tokens, as wide as their vectors.

It starts as the average of its words: the output weights of attention and feed-forward are zero, so that
every layer begins as the identity (up to its layer norms), and position embeddings are small.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from methods.core.encoder import EVALUATION_LENGTH, SentenceEncoder
from methods.core.errors import InputError
from methods.core.streams import INITIALISE, torch_seed
from methods.core.word_average import WordAverageEncoder

PAD, UNKNOWN, FIRST, LAST = "[PAD]", "[UNK]", "[CLS]", "[SEP]"
SPECIAL = (PAD, UNKNOWN, FIRST, LAST, "[MASK]")
"""Tokens before the words; their vectors start as zero."""
POSITION_SD = 0.02
"""Standard deviation of position embeddings, as BERT draws them."""


def word_transformer(
    words: WordAverageEncoder,
    *,
    vocabulary: int,
    layers: int,
    heads: int,
    inner: int,
    positions: int,
    dropout: float,
    seed: int,
) -> SentenceEncoder:
    """Returns a BERT of the width of the word vectors, over the first `vocabulary` words, with mean pooling.

    inner: width of the feed-forward layers. positions: longest input. seed: of everything that is drawn. Word
    vectors come in the order of their frequency, so the first are the most frequent.
    Errors: InputError if there are fewer words, or the heads do not divide the width.
    """
    from transformers import BertConfig, BertModel

    if not 1 <= vocabulary <= len(words.vocabulary):
        raise InputError(
            f"cannot keep {vocabulary} words of {len(words.vocabulary)}; expected 1 to "
            f"{len(words.vocabulary)}"
        )
    if words.width % heads:
        raise InputError(f"{heads} heads do not divide a width of {words.width}; expected a divisor of it")
    config = BertConfig(
        vocab_size=len(SPECIAL) + vocabulary,
        hidden_size=words.width,
        num_hidden_layers=layers,
        num_attention_heads=heads,
        intermediate_size=inner,
        hidden_dropout_prob=dropout,
        attention_probs_dropout_prob=dropout,
        max_position_embeddings=positions,
        initializer_range=POSITION_SD,
        pad_token_id=SPECIAL.index(PAD),
    )
    torch.manual_seed(torch_seed(seed, INITIALISE))
    backbone = BertModel(config, add_pooling_layer=False)
    _start_as_average(backbone, words.vectors[:vocabulary])
    return SentenceEncoder(backbone, word_tokenizer(words.vocabulary[:vocabulary]), pooling="mean")


def word_tokenizer(vocabulary: Sequence[str]) -> object:
    """Returns a tokenizer of whole words: lower case, accents stripped, punctuation marks are words."""
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast

    index = {word: number for number, word in enumerate((*SPECIAL, *vocabulary))}
    tokenizer = Tokenizer(models.WordLevel(index, unk_token=UNKNOWN))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True, strip_accents=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.TemplateProcessing(
        single=f"{FIRST} $A {LAST}",
        pair=f"{FIRST} $A {LAST} $B:1 {LAST}:1",
        special_tokens=[(FIRST, index[FIRST]), (LAST, index[LAST])],
    )
    names = ("pad_token", "unk_token", "cls_token", "sep_token", "mask_token")
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        model_max_length=EVALUATION_LENGTH,
        **dict(zip(names, SPECIAL, strict=True)),
    )


@torch.no_grad()
def _start_as_average(backbone: Any, vectors: Tensor) -> None:
    """Sets the word embeddings [V, d], and the output weights of all layers to zero."""
    table = backbone.embeddings.word_embeddings.weight
    table[: len(SPECIAL)] = 0.0
    table[len(SPECIAL) :] = vectors
    backbone.embeddings.token_type_embeddings.weight.zero_()
    for layer in backbone.encoder.layer:
        for output in (layer.attention.output.dense, layer.output.dense):
            output.weight.zero_()
            output.bias.zero_()
