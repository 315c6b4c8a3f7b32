"""Encoders over word vectors: their average (the GloVe row of every table), and a BERT of their width.

The BERT reads whole words. Their vectors may be centred; `Start` is the initial function of its layers.
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch
from safetensors.torch import save_file
from torch import Tensor, nn

from methods.core.batching import unique
from methods.core.checkpoints import VOCABULARY, read_tensors, read_words
from methods.core.encoder import EVALUATION_LENGTH, SentenceEncoder
from methods.core.errors import InputError
from methods.core.saving import remove_saved
from methods.core.streams import INITIALISE, torch_seed

VECTORS = "vectors.safetensors"
OUTPUT = "output.safetensors"
PAD, UNKNOWN, FIRST, LAST = "[PAD]", "[UNK]", "[CLS]", "[SEP]"
SPECIAL = (PAD, UNKNOWN, FIRST, LAST, "[MASK]")
"""Tokens before the words; their vectors start as zero."""
INITIAL_SD = 0.02
"""Standard deviation of random initial weights, as in BERT."""
Start = Literal["identity", "mean"]
"""Initial output of a layer, up to its layer norms.

identity: the token itself, because the output weights of attention and feed-forward are zero; positions are
drawn. mean: the token plus the mean of all tokens, because values and attention output are identities and
queries and keys nearly zero; positions are zero.
"""
_WORD = re.compile(r"\w+|[^\w\s]")


class WordAverageEncoder(nn.Module):
    """Maps a text to the mean vector of its known words, or to zero if there are none.

    Text is lower-cased and split into words and punctuation marks; GloVe 6B knows both.
    Shapes: V words, d width; `vectors` [V, d].
    """

    vectors: Tensor

    def __init__(
        self, vectors: Tensor, vocabulary: Sequence[str], *, output: nn.Linear | None = None
    ) -> None:
        super().__init__()
        self.register_buffer("vectors", vectors, persistent=False)
        self.vocabulary = list(vocabulary)
        self.index = {word: number for number, word in enumerate(self.vocabulary)}
        self.output = output

    @property
    def width(self) -> int:
        """Width of the word vectors."""
        return int(self.vectors.shape[1])

    @property
    def dim(self) -> int:
        """Width of the vectors that `encode` returns."""
        return self.width if self.output is None else self.output.out_features

    def encode(self, texts: Sequence[str], *, batch_size: int = 128, progress: bool = False) -> np.ndarray:
        """Returns [N, dim] fp32."""
        distinct, inverse = unique(texts)
        table = self.vectors.cpu().numpy()
        pooled = np.zeros((len(distinct), self.width), dtype=np.float32)
        for number, text in enumerate(distinct):
            known = [self.index[word] for word in _WORD.findall(text.lower()) if word in self.index]
            if known:
                pooled[number] = table[known].mean(axis=0)
        if self.output is not None:
            with torch.no_grad():
                pooled = self.output.cpu()(torch.from_numpy(pooled)).numpy()
        return pooled[inverse]

    def save(self, directory: Path) -> None:
        """Writes a folder that `load_encoder` reads; no other library splits words in the same way. It
        replaces an encoder that was saved there."""
        remove_saved(directory)
        directory.mkdir(parents=True, exist_ok=True)
        save_file({"vectors": self.vectors.cpu().contiguous()}, directory / VECTORS)
        (directory / VOCABULARY).write_text("\n".join(self.vocabulary) + "\n", encoding="utf-8")
        if self.output is not None:
            layer = {name: value.contiguous() for name, value in self.output.state_dict().items()}
            save_file(layer, directory / OUTPUT)
        marker = {"format": 1, "kind": "word-average"}
        (directory / "sentbench.json").write_text(json.dumps(marker) + "\n", encoding="utf-8")


def load_word_average(folder: Path) -> WordAverageEncoder:
    """Returns the word-average encoder of a folder. Errors: InputError if files are missing or invalid."""
    for name in (VECTORS, VOCABULARY):
        if not (folder / name).is_file():
            raise InputError(f"{folder}: no {name}; fetch it again")
    vectors = read_tensors(folder / VECTORS).get("vectors")
    if vectors is None or vectors.dim() != 2 or not vectors.is_floating_point() or not vectors.numel():
        raise InputError(f"{folder / VECTORS}: needs a tensor `vectors` [V, width] of floats")
    vocabulary = read_words(folder / VOCABULARY)
    if len(vocabulary) != len(vectors):
        raise InputError(f"{folder}: {len(vocabulary)} words but {len(vectors)} vectors; fetch it again")
    output = None
    if (folder / OUTPUT).is_file():
        output = linear_of(read_tensors(folder / OUTPUT), folder)
        if output.in_features != vectors.shape[1]:
            raise InputError(
                f"{folder}: the output layer reads {output.in_features} numbers, not {vectors.shape[1]}"
            )
    return WordAverageEncoder(vectors.float(), vocabulary, output=output)


def linear_of(tensors: Mapping[str, Tensor], folder: Path) -> nn.Linear:
    """Returns the fp32 layer of a `weight` [out, in] and an optional `bias`; InputError for other tensors."""
    shapes = {name: list(tensor.shape) for name, tensor in tensors.items()}
    weight = shapes.get("weight", [])
    if (
        len(weight) != 2
        or 0 in weight
        or shapes not in ({"weight": weight}, {"weight": weight, "bias": weight[:1]})
    ):
        raise InputError(f"{folder}: tensors {shapes}, expected weight [out, in] and optionally bias [out]")
    layer = nn.Linear(weight[1], weight[0], bias="bias" in shapes)
    layer.load_state_dict({name: tensor.float() for name, tensor in tensors.items()})
    return layer


def word_transformer(
    words: WordAverageEncoder,
    *,
    vocabulary: int,
    copies: int,
    layers: int,
    heads: int,
    inner: int,
    positions: int,
    dropout: float,
    start: Start,
    pooling: str,
    seed: int,
) -> SentenceEncoder:
    """Returns a BERT over the first `vocabulary` words with `copies` times the width of the vectors.

    With as many heads as copies, each head reads a whole vector.
    inner: width of the feed-forward layers. positions: longest input. seed: of all random draws.
    Errors: InputError if there are fewer words, or the heads do not divide the width.
    """
    from transformers import BertConfig, BertModel

    _check_vocabulary(words, vocabulary)
    width = words.width * copies
    if width % heads:
        raise InputError(f"{heads} heads do not divide a width of {width}")
    config = BertConfig(
        vocab_size=len(SPECIAL) + vocabulary,
        hidden_size=width,
        num_hidden_layers=layers,
        num_attention_heads=heads,
        intermediate_size=inner,
        hidden_dropout_prob=dropout,
        attention_probs_dropout_prob=dropout,
        max_position_embeddings=positions,
        initializer_range=INITIAL_SD,
        pad_token_id=SPECIAL.index(PAD),
    )
    torch.manual_seed(torch_seed(seed, INITIALISE))
    backbone = BertModel(config, add_pooling_layer=False)
    _set_start(backbone, words.vectors[:vocabulary].repeat(1, copies), start)
    return SentenceEncoder(backbone, word_tokenizer(words.vocabulary[:vocabulary]), pooling=pooling)


def centred(words: WordAverageEncoder, texts: Iterable[str], *, vocabulary: int) -> WordAverageEncoder:
    """Returns the first `vocabulary` words, centred by their frequency-weighted mean in the texts.

    This removes the direction that all sentences of such texts share. Words are split as in `word_tokenizer`.
    Sums run row by row in fp64, so every processor gives the same bits.
    Errors: InputError if there are fewer words, or the texts have none of them.
    """
    _check_vocabulary(words, vocabulary)
    tokenizer: Any = word_tokenizer(words.vocabulary[:vocabulary])
    counts = np.zeros(len(SPECIAL) + vocabulary)
    for encoding in tokenizer.backend_tokenizer.encode_batch(list(texts), add_special_tokens=False):
        np.add.at(counts, encoding.ids, 1)
    known = counts[len(SPECIAL) :]
    if not known.any():
        raise InputError(f"none of the first {vocabulary} words is in the corpus; use another corpus")
    table = words.vectors[:vocabulary].double().numpy()
    common = (table * known[:, None]).sum(axis=0) / known.sum()
    vectors = torch.from_numpy((table - common).astype(np.float32))
    return WordAverageEncoder(vectors, words.vocabulary[:vocabulary])


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


def _check_vocabulary(words: WordAverageEncoder, vocabulary: int) -> None:
    known = len(words.vocabulary)
    if not 1 <= vocabulary <= known:
        raise InputError(f"cannot keep {vocabulary} words of {known}; expected 1 to {known}")


@torch.no_grad()
def _set_start(backbone: Any, vectors: Tensor, start: Start) -> None:
    """Sets the word embeddings [V, d] and the weights that `start` fixes; the others stay random."""
    table = backbone.embeddings.word_embeddings.weight
    table[: len(SPECIAL)] = 0.0
    table[len(SPECIAL) :] = vectors
    backbone.embeddings.token_type_embeddings.weight.zero_()
    if start == "mean":
        backbone.embeddings.position_embeddings.weight.zero_()
    for layer in backbone.encoder.layer:
        for linear in (layer.attention.self.value, layer.attention.output.dense, layer.output.dense):
            linear.bias.zero_()
        layer.output.dense.weight.zero_()
        if start == "identity":
            layer.attention.output.dense.weight.zero_()
        else:
            for linear in (layer.attention.self.value, layer.attention.output.dense):
                nn.init.eye_(linear.weight)
