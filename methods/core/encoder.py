"""The encoder that is trained, evaluated and published: backbone, pooling and optional output layer."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import torch
from tokenizers import Tokenizer
from torch import Tensor, nn

from methods.core.batching import plan_batches, unique
from methods.core.corpus import Pieces, pieces_of
from methods.core.coupling_flow import CouplingFlow
from methods.core.errors import InputError
from methods.core.fast.linear import reordered
from methods.core.fast.packed import can_pack, pooled_vectors
from methods.core.fast.plain import is_plain
from methods.core.pooling import check_pooling, needs_last_only, pool
from methods.core.progress import progress_bar
from methods.core.saving import IDENTITY, TANH, save_encoder
from methods.core.types import MASK, Tokens, library_inputs, to_device

EVALUATION_LENGTH = 512
"""Longest input at evaluation in tokens; only training truncates earlier."""

TOKENS_PER_TEXT = 32
"""Budget of one encoding batch: batch_size texts of this many tokens."""

SHARD = 65_536
"""Number of texts that are tokenised and sorted together; the STS sets fit into one shard."""

TOKENIZED_TOGETHER = 8192
"""Number of texts that are tokenised at once: an encoding uses far more memory than its ids."""

PACKED_INPUTS = {"inputs_embeds", "position_ids", "embedding_factors"}
"""Inputs that the packed computation accepts besides tokens."""

COUNTS_FROM_PADDING = ("roberta", "xlm-roberta", "camembert", "mpnet")
"""Architectures whose first position is padding_idx + 1."""

MOST_AT_ONCE = 8
"""Most batches in parallel, because each keeps activations in memory; further threads work inside a batch."""

Item = TypeVar("Item")
Made = TypeVar("Made")


@contextmanager
def evaluating(module: nn.Module) -> Iterator[None]:
    """Puts `module` into eval mode without gradients and restores the mode of every submodule afterwards."""
    modes = {part: part.training for part in module.modules()}
    module.eval()
    try:
        with torch.no_grad():
            yield
    finally:
        for part, mode in modes.items():
            part.training = mode


@contextmanager
def multiplied(backbone: nn.Module, factors: Tensor | None) -> Iterator[None]:
    """Multiplies the output of the backbone's embedding layer by `factors` inside the context."""
    if factors is None:
        yield
        return
    embeddings: Any = backbone.embeddings
    handle = embeddings.register_forward_hook(lambda layer, inputs, output: output * factors)
    try:
        yield
    finally:
        handle.remove()


def side_by_side(work: Callable[[Item], Made], items: Sequence[Item]) -> Iterator[Made]:
    """Yields the result of `work` for each item on a CPU, in order, with torch's threads divided evenly.

    Threads that share a batch synchronise after each operation, so all wait for the slowest; with a batch per
    thread, a busy core delays only its own batch. Values equal a computation on one thread. All threads use
    the calling thread's autocast and gradient mode.
    Errors: the first that `work` raises; items that have not begun are then skipped.
    """
    threads = torch.get_num_threads()
    workers = min(threads, len(items), MOST_AT_ONCE)
    if workers < 2:
        yield from map(work, items)
        return
    grad, half = torch.is_grad_enabled(), torch.is_autocast_enabled("cpu")
    dtype = torch.get_autocast_dtype("cpu")

    def begin() -> None:
        torch.set_num_threads(threads // workers)
        torch.set_grad_enabled(grad)
        torch.set_autocast_dtype("cpu", dtype)
        torch.set_autocast_enabled("cpu", half)

    try:
        with ThreadPoolExecutor(workers, initializer=begin) as pool:
            yield from pool.map(work, items)
    finally:
        torch.set_num_threads(threads)  # the number set in a worker also applies to threads started later


class SentenceEncoder(nn.Module):
    """Maps texts to vectors: tokenizer, transformer, pooling, optional output layer, optional normalisation.

    activation: after the output layer, IDENTITY or TANH.
    Shapes: B texts, L tokens, d backbone width; `forward` returns [B, d], `encode` returns [N, dim].
    """

    def __init__(
        self, backbone: nn.Module, tokenizer: Any, *, pooling: str, output: nn.Linear | None = None
    ) -> None:
        super().__init__()
        self.backbone = backbone
        self.tokenizer = tokenizer  # never called, so it is saved as it was loaded
        self.pooling = check_pooling(pooling)
        self.output: nn.Linear | CouplingFlow | None = output
        self.activation = IDENTITY
        self.normalize = False
        self.stated_length: int | None = None  # longest input in tokens that its folder states
        self.piece_folder: Path | None = None  # cache of tokenised texts; None disables it
        self._last_pieces: tuple[int, Sequence[str], Pieces] | None = None
        self._tokenizers: dict[int, Tokenizer] = {}
        self._spare: bool | None = None

    @property
    def width(self) -> int:
        """Width d of the backbone's hidden states."""
        return int(self.backbone.config.hidden_size)  # type: ignore[union-attr, arg-type]

    @property
    def dim(self) -> int:
        """Width of the vectors that `encode` returns."""
        return self.width if self.output is None else self.output.out_features

    @property
    def first_position(self) -> int:
        """Index of a sentence's first position."""
        config: Any = self.backbone.config
        return config.pad_token_id + 1 if config.model_type in COUNTS_FROM_PADDING else 0

    @property
    def device(self) -> torch.device:
        return next(self.backbone.parameters()).device

    @property
    def position_limit(self) -> int | None:
        """Number of positions of the transformer, None if it is not bounded."""
        config: Any = self.backbone.config
        positions = getattr(config, "max_position_embeddings", None)
        return int(positions) - self.first_position if positions else None

    @property
    def input_limit(self) -> int:
        """Longest input in tokens at evaluation: the tokenizer's, but at most the number of positions."""
        stated = int(self.tokenizer.model_max_length)
        return min(stated, self.position_limit or EVALUATION_LENGTH)

    def token_ids(self, texts: Sequence[str], *, max_length: int | None = None) -> list[list[int]]:
        """Returns the token ids of each text with special tokens, truncated to max_length or input_limit.

        A text without tokens becomes one padding token, so its vector does not depend on other texts.
        Errors: InputError for a text with a token that has no vector in the transformer.
        """
        tokenizer = self._truncating(self.input_limit if max_length is None else max_length)
        ids: list[list[int]] = []
        for start in range(0, len(texts), TOKENIZED_TOGETHER):
            encodings = tokenizer.encode_batch(list(texts[start : start + TOKENIZED_TOGETHER]))
            ids += [encoding.ids or [self.tokenizer.pad_token_id] for encoding in encodings]
        if self._has_spare_pieces():
            self._check_pieces(texts, ids)
        return ids

    def tokenizer_state(self, max_length: int) -> str:
        """Returns everything that determines the result of `token_ids`: the tokenizer with its truncation."""
        return str(self._truncating(max_length).to_str())

    def pad(self, ids: Sequence[Sequence[int] | np.ndarray]) -> Tokens:
        """Returns `input_ids` and `attention_mask`, each [B, L] int64 on the CPU, padded on the right."""
        longest = max(len(row) for row in ids)
        input_ids = np.full((len(ids), longest), self.tokenizer.pad_token_id, dtype=np.int64)
        mask = np.zeros((len(ids), longest), dtype=np.int64)
        for number, row in enumerate(ids):
            input_ids[number, : len(row)] = row
            mask[number, : len(row)] = 1
        return {"input_ids": torch.from_numpy(input_ids), "attention_mask": torch.from_numpy(mask)}

    def tokenize(self, texts: Sequence[str], *, max_length: int | None = None) -> Tokens:
        """Returns the padded word pieces of `texts`, each tensor [B, L]."""
        return self.pad(self.token_ids(texts, max_length=max_length))

    def states(self, tokens: Tokens, **embeddings: Tensor) -> tuple[Tensor, ...]:
        """Returns the states [B, L, d] that the pooling needs: all, embedding layer first, or the last alone.

        `embeddings` replaces inputs (`inputs_embeds`, `position_ids`), or is `embedding_factors`, which
        broadcasts to [B, L, d] and multiplies the output of the embedding layer, after norm and dropout.
        """
        inputs = {**library_inputs(self.backbone, tokens), **embeddings}
        factors = inputs.pop("embedding_factors", None)
        if "inputs_embeds" in inputs:
            inputs.pop("input_ids", None)
        every = not needs_last_only(self.pooling)
        with multiplied(self.backbone, factors):
            output = self.backbone(**inputs, output_hidden_states=every, return_dict=True)
        return tuple(output.hidden_states) if every else (output.last_hidden_state,)

    def forward(self, tokens: Tokens, **embeddings: Tensor) -> Tensor:
        """Returns pooled vectors [B, d] before the output layer, the input of training objectives.

        Padding is skipped if the backbone's layers are known and unchanged (methods/core/fast).
        """
        if can_pack(self.backbone, tokens) and set(embeddings) <= PACKED_INPUTS:
            return pooled_vectors(self.backbone, tokens, self.pooling, **embeddings)
        return pool(self.states(tokens, **embeddings), tokens.get("attention_mask"), self.pooling)

    def finish(self, pooled: Tensor) -> Tensor:
        """Returns the vectors that are exported: output layer and normalisation applied; [B, dim]."""
        if self.output is not None:
            pooled = self.output(pooled)
            pooled = pooled.tanh() if self.activation == TANH else pooled
        return nn.functional.normalize(pooled, dim=-1) if self.normalize else pooled

    def encode(self, texts: Sequence[str], *, batch_size: int = 128, progress: bool = False) -> np.ndarray:
        """Returns [N, dim] fp32: each unique text is computed once, in eval mode, longest first.

        A batch holds at most `batch_size` times 32 positions. Texts are tokenised and sorted in shards, so
        memory hardly grows with N, except for texts and vectors.
        """
        distinct, inverse = unique(texts)
        vectors = np.empty((len(distinct), self.dim), dtype=np.float32)
        budget = batch_size * TOKENS_PER_TEXT
        known = is_plain(self.backbone)
        many_at_once = side_by_side if known and self.device.type == "cpu" else map
        with (
            evaluating(self),
            reordered(self.backbone, budget) if known and len(distinct) > batch_size else nullcontext(),
            progress_bar(len(distinct), "texts", shown=progress) as bar,
        ):
            for start in range(0, len(distinct), SHARD):
                some = distinct[start : start + SHARD]
                ids = self._pieces_of(some) if len(some) > batch_size else self.token_ids(some)
                lengths = np.array([len(row) for row in ids])
                batches = plan_batches(lengths, token_budget=budget)
                parts = [[ids[index] for index in batch] for batch in batches]
                for batch, encoded in zip(batches, many_at_once(self._encode_ids, parts), strict=True):
                    vectors[start + batch] = encoded
                    bar.update(len(batch))
        return vectors if len(distinct) == len(inverse) else vectors[inverse]

    def save(self, directory: Path) -> None:
        """Writes a folder that sentence-transformers, AutoModel and `load_encoder` read alike."""
        save_encoder(self, directory)

    def _pieces_of(self, texts: Sequence[str]) -> list[list[int]] | list[np.ndarray]:
        """Returns the result of `token_ids`; the texts of the last call are not tokenised again.

        They are also cached in `piece_folder` unless it is None.
        """
        limit = self.input_limit
        if self._has_spare_pieces():  # tokens without a vector are refused per encoder
            return self.token_ids(texts)
        if self._last_pieces is None or self._last_pieces[:2] != (limit, texts):
            self._last_pieces = limit, texts, pieces_of(self, texts, limit)
        pieces = self._last_pieces[2]
        return [pieces.ids(position) for position in range(len(texts))]

    def _encode_ids(self, ids: Sequence[Sequence[int] | np.ndarray]) -> np.ndarray:
        tokens = self.pad(ids)
        if len(ids[0]) == len(ids[-1]):  # equal lengths: no padding, so no mask is needed
            tokens.pop(MASK)
        return self.finish(self(to_device(tokens, self.device)).float()).cpu().numpy()

    def _truncating(self, max_length: int) -> Tokenizer:
        if max_length not in self._tokenizers:
            fresh = Tokenizer.from_str(self.tokenizer.backend_tokenizer.to_str())
            fresh.no_padding()
            fresh.enable_truncation(max_length=min(max_length, self.position_limit or max_length))
            self._tokenizers[max_length] = fresh
        return self._tokenizers[max_length]

    def _has_spare_pieces(self) -> bool:
        """Returns whether the tokenizer has more tokens than the transformer has vectors."""
        if self._spare is None:
            network: Any = self.backbone
            vectors = network.get_input_embeddings().num_embeddings
            highest = getattr(self.tokenizer, "highest_id", None)
            if highest is None:
                highest = max(self.tokenizer.get_vocab().values(), default=-1)
            self._spare = highest >= vectors
        return self._spare

    def _check_pieces(self, texts: Sequence[str], ids: Sequence[Sequence[int]]) -> None:
        network: Any = self.backbone
        vectors = network.get_input_embeddings().num_embeddings
        for text, row in zip(texts, ids, strict=True):
            if max(row) >= vectors:
                piece = self.tokenizer.convert_ids_to_tokens(max(row))
                raise InputError(
                    f"token {piece!r} of {text[:60]!r} has id {max(row)} and the transformer {vectors} "
                    f"vectors; the tokenizer belongs to another model"
                )
