"""A BERT over word vectors: what it starts as, and that other libraries read it alike."""

from pathlib import Path

import numpy as np
import torch

from methods.core.encoder import SentenceEncoder
from methods.core.folders import load_encoder
from methods.core.words import SPECIAL, WordAverageEncoder, word_transformer

WORDS = ["the", "cat", "sat", ".", "café"]
SHAPE = {"vocabulary": 4, "layers": 1, "heads": 2, "inner": 8, "positions": 512, "dropout": 0.1, "seed": 0}


def built(**changes: int) -> SentenceEncoder:
    vectors = torch.arange(20, dtype=torch.float32).view(5, 4).sin()
    return word_transformer(WordAverageEncoder(vectors, WORDS), **{**SHAPE, **changes})  # type: ignore[arg-type]


def test_tokens_are_lower_cased_words_without_accents_and_rare_words_are_unknown() -> None:
    """Ids: five special tokens, then the words in their order; `cafe` is not among the first four."""
    encoder, long = built(), "the " * 600
    assert encoder.token_ids(["The  cat sat.", "café"]) == [[2, 5, 6, 7, 8, 3], [2, 1, 3]]
    assert len(encoder.tokenizer.get_vocab()) == len(SPECIAL) + 4
    assert len(encoder.tokenizer(long, truncation=True)["input_ids"]) == 512  # type: ignore[operator]
    assert len(encoder.token_ids([long])[0]) == 512


def test_a_layer_starts_as_the_identity_whatever_it_attends_to() -> None:
    """Other queries, keys, values and inner weights change nothing: what they lead to has weight zero."""
    encoder, texts = built(), ["the cat", "sat ."]
    before = encoder.encode(texts)
    (layer,) = encoder.backbone.encoder.layer  # type: ignore[union-attr, misc]
    with torch.no_grad():
        for part in (layer.attention.self.query, layer.attention.self.value, layer.intermediate.dense):
            part.weight.mul_(100)
    np.testing.assert_array_equal(encoder.encode(texts), before)
    assert np.isfinite(built(layers=0).encode(texts)).all()


def test_its_folder_gives_equal_vectors_in_sentence_transformers(tmp_path: Path) -> None:
    from sentence_transformers import SentenceTransformer

    encoder, texts = built(), ["The cat sat.", "a dog ."]
    encoder.save(tmp_path / "words")
    expected = encoder.encode(texts)
    np.testing.assert_array_equal(load_encoder(tmp_path / "words").encode(texts), expected)
    theirs = SentenceTransformer(str(tmp_path / "words"), device="cpu", trust_remote_code=False).encode(texts)
    np.testing.assert_allclose(theirs, expected, atol=1e-6)


def test_the_seed_decides_what_is_drawn() -> None:
    positions = [built(seed=seed).backbone.embeddings.position_embeddings.weight for seed in (0, 0, 1)]
    assert torch.equal(positions[0], positions[1])
    assert not torch.equal(positions[0], positions[2])
