"""Tiny networks with random weights in the layouts in which the hub has the real ones.

BERT as Google stores it: names begin with `bert.`, layer norms have gamma and beta, and the heads of
pre-training are next to the network. RoBERTa: names begin with `roberta.`, a head for its language model, no
pooler.
SimCSE: no prefix; its RoBERTa has vocab.json and merges.txt and no tokenizer.json.
"""

import io
import json
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save
from tokenizers import AddedToken, ByteLevelBPETokenizer

from tests.support import tiny

Files = dict[str, bytes]
SHAPE: dict[str, Any] = {
    "hidden_size": 24,  # of which the twelve heads of PT-BERT are a divisor
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 48,
    "max_position_embeddings": 256,
    "initializer_range": 0.2,
}


def bert(
    folder: Path, *, heads: bool, old_names: bool = False, seed: int = 0
) -> tuple[Files, dict[str, Any]]:
    """Returns the small files of a BERT repository and its weights by name.

    heads: as `BertForPreTraining` has them, with its prefix; old_names: gamma and beta in layer norms.
    """
    from transformers import BertConfig, BertForPreTraining

    tiny.write_backbone(folder)
    vocabulary = json.loads((folder / "tokenizer.json").read_text())["model"]["vocab"]
    config = BertConfig(vocab_size=len(vocabulary), **SHAPE)
    torch.manual_seed(seed)
    network = BertForPreTraining(config)
    weights = (network if heads else network.bert).state_dict()
    if old_names:
        weights = {
            name.replace("LayerNorm.weight", "LayerNorm.gamma").replace(
                "LayerNorm.bias", "LayerNorm.beta"
            ): value
            for name, value in weights.items()
        }
    files = {
        "config.json": _config(config, "BertForPreTraining"),
        "vocab.txt": "".join(f"{word}\n" for word in sorted(vocabulary, key=vocabulary.__getitem__)).encode(),
        "tokenizer.json": (folder / "tokenizer.json").read_bytes(),
        "tokenizer_config.json": b'{"do_lower_case": true}',
    }
    return files, weights


def roberta(folder: Path, *, head: bool, seed: int = 0) -> tuple[Files, dict[str, Any]]:
    """Returns the small files of a RoBERTa repository and its weights by name.

    head: as `RobertaForMaskedLM` has them, with its prefix and without a pooler.
    """
    from transformers import RobertaConfig, RobertaForMaskedLM, RobertaModel, RobertaTokenizer

    write_byte_pairs(folder)
    size = len(json.loads((folder / "vocab.json").read_text()))
    special = {"pad_token_id": 1, "bos_token_id": 0, "eos_token_id": 2, "type_vocab_size": 1}
    config = RobertaConfig(vocab_size=size, **SHAPE, **special)
    torch.manual_seed(seed)
    network = RobertaForMaskedLM(config) if head else RobertaModel(config)
    tokenizer = RobertaTokenizer.from_pretrained(
        folder, mask_token=AddedToken("<mask>", lstrip=True), trust_remote_code=False
    )
    tokenizer.save_pretrained(folder)
    names = ("vocab.json", "merges.txt", "tokenizer.json")
    files = {name: (folder / name).read_bytes() for name in names}
    files |= {"config.json": _config(config, "RobertaForMaskedLM"), "tokenizer_config.json": b"{}"}
    return files, network.state_dict()


def write_byte_pairs(folder: Path) -> Path:
    """Writes vocab.json and merges.txt learned from a few words, special tokens as RoBERTa has them."""
    folder.mkdir(parents=True, exist_ok=True)
    learner = ByteLevelBPETokenizer()
    special = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    learner.train_from_iterator(
        [f" {word}" for word in tiny.WORDS] * 3, vocab_size=400, min_frequency=2, special_tokens=special
    )
    learner.save_model(str(folder))
    return folder


def safetensors(weights: dict[str, Any]) -> bytes:
    """Returns the weights as the bytes of a safetensors file, each tensor with separate bytes."""
    return save({name: value.contiguous().clone() for name, value in weights.items()}, {"format": "pt"})


def pickled(weights: object) -> bytes:
    """Returns the weights as the bytes of a pytorch_model.bin."""
    whole = io.BytesIO()
    torch.save(weights, whole)
    return whole.getvalue()


def _config(config: Any, architecture: str) -> bytes:
    return json.dumps({**config.to_dict(), "architectures": [architecture]}).encode()
