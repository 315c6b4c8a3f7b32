"""Networks of a method: new copies of the backbone, and frozen parents outside the module tree.

Legend: B rows, L tokens, P places, V vocabulary.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import Any, Literal

import torch
from torch import Tensor, nn

from methods.core.checkpoints import load_backbone, load_tokenizer, read_model
from methods.core.encoder import SentenceEncoder
from methods.core.errors import InputError
from methods.core.fast.linear import product
from methods.core.folders import load_encoder
from methods.core.teachers import TeacherVectors
from methods.core.types import Tokens, library_inputs

OutputLayer = Literal["own", "word-embeddings"]
"""Output layer from states to token scores: the model's own layer, or only its word embeddings."""


class Frozen:
    """A frozen network, outside the state dict and the optimiser (law 6)."""

    def __init__(self, module: nn.Module, *, dropout: bool) -> None:
        self.module = module.requires_grad_(False)
        self.module.train(dropout)

    @torch.no_grad()
    def __call__(self, tokens: Tokens) -> Tensor:
        """Returns the module's output for `tokens` without a graph, on their device."""
        self.module.to(tokens["input_ids"].device)
        return self.module(tokens)


class MaskedModel(nn.Module):
    """A transformer with an output layer over its vocabulary, and the tokenizer that it reads.

    With `word-embeddings` a plain encoder is enough: the score of a token is the product of its embedding and
    the state. This is not a language model, but needs no output layer.
    Errors: InputError if the folder contains no such network or lacks the weights of the output layer.
    """

    def __init__(self, folder: Path, *, output: OutputLayer) -> None:
        super().__init__()
        self.tokenizer = load_tokenizer(folder)
        self.output = output
        if output == "word-embeddings":
            self.network = load_backbone(folder)
        else:
            from transformers import AutoModelForMaskedLM

            self.network = read_model(
                AutoModelForMaskedLM,
                folder,
                expected="a masked language model with its output layer",
            )

    def forward(self, tokens: Tokens) -> Tensor:
        """Returns the scores of all tokens at the given positions only.

        Shapes: [B, L] tokens, and `places` [P], positions counted row after row; returns [P, V].
        """
        network: Any = self.network
        inputs = library_inputs(network, tokens)
        places = inputs.pop("places")
        if self.output == "own":
            with states_at(network.base_model, places):
                return network(**inputs).logits[0]
        states = network(**inputs).last_hidden_state.flatten(0, 1).index_select(0, places)
        return product(states, network.get_input_embeddings().weight)


@contextmanager
def states_at(transformer: nn.Module, places: Tensor) -> Iterator[None]:
    """Reduces a transformer's last states [B, L, d] to P positions, [1, P, d], inside the context.

    An output layer, which works position by position, then computes only these.
    """

    def chosen(module: nn.Module, inputs: Any, output: Any) -> Any:
        output["last_hidden_state"] = output["last_hidden_state"].flatten(0, 1)[None, places]
        return output

    handle = transformer.register_forward_hook(chosen)
    try:
        yield
    finally:
        handle.remove()


@dataclass
class Networks:
    """Networks of a run: copies of its backbone, its parent, its teacher's vectors.

    parent: the folder of a trained or public encoder, or of teacher vectors. pieces: cache of tokenised
    corpora. `needs` of the methods names the user of the parent, for the message.
    """

    backbone: Path
    _: KW_ONLY
    pooling: str | None
    parent: Path | None = None
    pieces: Path | None = None

    def read(self, folder: Path, *, pooling: str | None, hf_pooler: bool) -> Any:
        """Returns the encoder of a folder; `harness.models.read` also reads folders of other programs."""
        return load_encoder(folder, pooling=pooling, hf_pooler=hf_pooler)

    def new_encoder(self, *, hf_pooler: bool = False) -> SentenceEncoder:
        """Returns a new trainable copy of the backbone."""
        encoder: Any = self.read(self.backbone, pooling=self.pooling, hf_pooler=hf_pooler)
        encoder.piece_folder = self.pieces
        return encoder.train()

    def parent_encoder(
        self,
        needs: str,
        *,
        pooling: str | None = None,
        hf_pooler: bool = False,
        like: SentenceEncoder | None = None,
    ) -> SentenceEncoder:
        """Returns the parent as an encoder (wrap it in `Frozen`, or train on from it).

        Errors: InputError if the run has no parent, the parent is not a transformer, or its tokenizer differs
        from the tokenizer of `like`, whose tokens it will read.
        """
        encoder = self.read(self._parent_folder(needs), pooling=pooling, hf_pooler=hf_pooler)
        if not isinstance(encoder, SentenceEncoder):
            raise InputError(
                f"{self.parent}: the parent is not a transformer, {needs} expects one; "
                "name a trained encoder as `parent`"
            )
        if like is not None:
            self._check_pieces(needs, encoder.tokenizer, like)
        encoder.piece_folder = self.pieces
        return encoder

    def parent_masked_model(self, needs: str, *, output: OutputLayer, like: SentenceEncoder) -> MaskedModel:
        """Returns the parent as a masked language model with the tokenizer of `like` (wrap it in `Frozen`).

        Errors: InputError if the run has no parent, the parent has no such output layer, or the tokenizers
        differ.
        """
        model = MaskedModel(self._parent_folder(needs), output=output)
        self._check_pieces(needs, model.tokenizer, like)
        return model

    def teacher_vectors(self, needs: str) -> TeacherVectors:
        """Returns the parent's vectors of the corpus; InputError if the parent is not a folder of vectors."""
        return TeacherVectors(self._parent_folder(needs), needs=needs)

    def _check_pieces(self, needs: str, tokenizer: Any, like: SentenceEncoder) -> None:
        if tokenizer.get_vocab() != like.tokenizer.get_vocab():
            raise InputError(
                f"{self.parent}: the parent's tokenizer differs from {self.backbone}'s; {needs} "
                "expects the same pieces and ids; name a `parent` of the same family"
            )

    def _parent_folder(self, needs: str) -> Path:
        if self.parent is None:
            raise InputError(f"{needs} needs a parent and the run has none; set `parent` in its recipe")
        if not self.parent.is_dir():
            raise InputError(
                f"{self.parent}: no such folder, {needs} expects its parent there; run the parent first"
            )
        return self.parent
