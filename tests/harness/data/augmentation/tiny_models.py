"""Sequence-to-sequence models with random weights, small enough for a test to make."""

from pathlib import Path

import torch
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace
from tokenizers.processors import TemplateProcessing
from transformers import MarianConfig, MarianMTModel, PreTrainedTokenizerFast

from tests.support.tiny import WORDS

PAD, END, UNKNOWN = "<pad>", "</s>", "<unk>"


def write_marian(folder: Path, *, seed: int = 0, ends: str = "in time") -> Path:
    """Writes a Marian model over the tiny words that ends `in time`, `at once` or `never`."""
    vocabulary = {word: index for index, word in enumerate([PAD, END, UNKNOWN, *WORDS])}
    core = Tokenizer(WordLevel(vocabulary, unk_token=UNKNOWN))
    core.pre_tokenizer = Whitespace()
    core.post_processor = TemplateProcessing(single=f"$A {END}", special_tokens=[(END, 1)])
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=core, pad_token=PAD, eos_token=END, unk_token=UNKNOWN, model_max_length=512
    )
    torch.manual_seed(seed)
    config = MarianConfig(
        vocab_size=len(vocabulary),
        d_model=16,
        encoder_layers=1,
        decoder_layers=1,
        encoder_attention_heads=2,
        decoder_attention_heads=2,
        encoder_ffn_dim=32,
        decoder_ffn_dim=32,
        max_position_embeddings=64,
        pad_token_id=0,
        eos_token_id=1,
        decoder_start_token_id=0,
        forced_eos_token_id=None,
        bos_token_id=None,
        init_std=0.5,
    )
    model = MarianMTModel(config)
    model.final_logits_bias[0, [0, 2]] = -1e4  # neither padding nor an unknown word
    model.final_logits_bias[0, 1] = {"in time": -5.0, "at once": 1e4, "never": -1e4}[ends]
    model.generation_config.num_beams = 3
    model.generation_config.no_repeat_ngram_size = 1
    if ends == "in time":
        model.generation_config.exponential_decay_length_penalty = (2, 1.5)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder
