"""Tiny random models of many families, as folders of sentence-transformers."""

import json
from pathlib import Path
from typing import Any

import torch

from tests.support import tiny

SIZES: dict[str, Any] = {
    "hidden_size": 16, "d_model": 16, "dim": 16, "emb_dim": 16, "n_embd": 16, "embedding_size": 16,
    "entity_emb_size": 16, "entity_vocab_size": 128,
    "hidden_dim": 32, "intermediate_size": 32, "d_ff": 32, "ffn_dim": 32, "d_inner": 32,
    "encoder_ffn_dim": 32, "decoder_ffn_dim": 32,
    "num_hidden_layers": 2, "n_layers": 2, "n_layer": 2, "num_layers": 2, "num_decoder_layers": 1,
    "encoder_layers": 2, "decoder_layers": 1, "num_encoder_layers": 2,
    "num_attention_heads": 2, "n_heads": 2, "n_head": 2, "num_heads": 2, "num_key_value_heads": 2,
    "encoder_attention_heads": 2, "decoder_attention_heads": 2, "num_encoder_attention_heads": 2,
    "num_decoder_attention_heads": 2,
    "d_kv": 8, "head_dim": 8, "d_head": 8, "max_position_embeddings": 80, "initializer_range": 0.2,
}  # fmt: skip
"""Name of a size in configurations -> a small size. Each family reads those that it has."""

MORE: dict[str, dict[str, Any]] = {
    "albert": {"num_hidden_groups": 1},
    "big_bird": {"attention_type": "original_full"},
    "convbert": {"head_ratio": 1, "conv_kernel_size": 3},
    "deberta-v2": {"relative_attention": True},
    "funnel": {"block_sizes": [1, 1], "num_decoder_layers": 1, "num_hidden_layers": None},
    "longformer": {"attention_window": 4},
    "mobilebert": {"intra_bottleneck_size": 16, "embedding_size": 16, "true_hidden_size": 16},
    "reformer": {
        "attn_layers": ["local", "local"], "axial_pos_embds": False, "local_attn_chunk_length": 128,
        "attention_head_size": 8, "feed_forward_size": 32,
    },
    "xmod": {"languages": ["en_XX"], "default_language": "en_XX"},
}  # fmt: skip
"""Other values that a tiny model of a family needs."""


def tiny_config(model_type: str, **others: Any) -> Any:
    """Returns a configuration of a family with the sizes of SIZES that it has.

    others: other values; those that the family does not have are left out.
    """
    from transformers.models.auto.configuration_auto import CONFIG_MAPPING

    kind: Any = CONFIG_MAPPING[model_type]
    plain = kind()
    known = {**SIZES, **MORE.get(model_type, {}), **others}
    sizes = {key: known[key] for key in known if hasattr(plain, key) and known[key] is not None}
    return kind(**{**sizes, "vocab_size": 128, "pad_token_id": 0})


def write_family(folder: Path, model_type: str, *, pooling: str = "mean", **others: Any) -> Path:
    """Writes a tiny random model of a family with the word pieces of `tests.support.tiny`, mean pooled.

    others: other values of its configuration; those that the family does not have are left out.
    """
    from transformers import AutoModel

    tiny.write_backbone(folder)
    for name in ("config.json", "model.safetensors"):
        (folder / name).unlink()
    config = tiny_config(model_type, **others)
    torch.manual_seed(0)
    AutoModel.from_config(config, trust_remote_code=False).save_pretrained(folder)
    write_modules(folder, int(getattr(config, "hidden_size", 16)), pooling)
    return folder


def write_modules(folder: Path, width: int, pooling: str = "mean", *kinds: str) -> Path:
    """Turns a plain folder into one of sentence-transformers, in the form of its releases 2 to 4."""
    listed = [
        ("", "Transformer"),
        ("1_Pooling", "Pooling"),
        *((f"{n}_{k}", k) for n, k in enumerate(kinds, 2)),
    ]
    modules = [
        {"idx": number, "name": str(number), "path": path, "type": f"sentence_transformers.models.{kind}"}
        for number, (path, kind) in enumerate(listed)
    ]
    (folder / "modules.json").write_text(json.dumps(modules))
    (folder / "1_Pooling").mkdir(exist_ok=True)
    modes = {f"pooling_mode_{mode}": mode.startswith(pooling) for mode in ("cls_token", "mean_tokens")}
    config = {"word_embedding_dimension": width, **modes}
    (folder / "1_Pooling/config.json").write_text(json.dumps(config))
    return folder
