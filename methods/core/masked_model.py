"""A masked language model: how probable each word piece is at each position of a text.

Legend: B rows, L tokens, V vocabulary.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

from torch import Tensor, nn

from methods.core.folders import load_backbone, load_tokenizer
from methods.core.model_files import read_model
from methods.core.transfers import library_inputs
from methods.core.types import Tokens

OutputLayer = Literal["own", "word-embeddings"]
"""What turns states into scores of word pieces: the model's own layer, or its word embeddings alone."""


class MaskedModel(nn.Module):
    """A transformer with an output layer over its vocabulary, and the tokenizer that it reads.

    With `word-embeddings` a plain encoder serves: the score of a piece is the product of its embedding with
    the state. That is no language model, but all that a folder without an output layer can give.
    """

    def __init__(self, folder: Path, *, output: OutputLayer) -> None:
        super().__init__()
        self.tokenizer = load_tokenizer(folder)
        self.network = load_masked_model(folder) if output == "own" else load_backbone(folder)
        self.output = output

    def forward(self, tokens: Tokens) -> Tensor:
        """Returns the scores of all pieces at all positions; [B, L] tokens to [B, L, V]."""
        network: Any = self.network
        found = network(**library_inputs(network, tokens))
        if self.output == "own":
            return found.logits
        return found.last_hidden_state @ network.get_input_embeddings().weight.T


def load_masked_model(folder: Path) -> nn.Module:
    """Returns the masked language model of a folder in fp32 and eval mode.

    Errors: InputError if the folder holds none, or its weights lack the output layer.
    """
    from transformers import AutoModelForMaskedLM

    return read_model(
        AutoModelForMaskedLM,
        folder,
        expected="a masked language model with its output layer",
        attn_implementation="sdpa",
    )
