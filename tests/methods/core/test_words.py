"""A BERT over word vectors: its initial function, and equal vectors in other libraries."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from methods.core.encoder import SentenceEncoder
from methods.core.errors import InputError
from methods.core.folders import load_encoder
from methods.core.words import SPECIAL, WordAverageEncoder, centred, word_transformer

WORDS = ["the", "cat", "sat", ".", "café"]
SHAPE = {
    "vocabulary": 4,
    "copies": 1,
    "layers": 1,
    "heads": 2,
    "inner": 8,
    "positions": 512,
    "dropout": 0.1,
    "start": "identity",
    "pooling": "mean",
    "seed": 0,
}
VECTORS = torch.arange(20, dtype=torch.float32).view(5, 4).sin()


def built(**changes: object) -> SentenceEncoder:
    return word_transformer(WordAverageEncoder(VECTORS, WORDS), **{**SHAPE, **changes})  # type: ignore[arg-type]


def test_tokens_are_lower_cased_words_without_accents_and_rare_words_are_unknown() -> None:
    """Ids: five special tokens, then the words in their order; `cafe` is not among the first four."""
    encoder, long = built(), "the " * 600
    assert encoder.token_ids(["The  cat sat.", "café"]) == [[2, 5, 6, 7, 8, 3], [2, 1, 3]]
    assert len(encoder.tokenizer.get_vocab()) == len(SPECIAL) + 4
    assert len(encoder.tokenizer(long, truncation=True)["input_ids"]) == 512  # type: ignore[operator]
    assert len(encoder.token_ids([long])[0]) == 512


def test_a_layer_starts_as_the_identity_for_any_input() -> None:
    """Other queries, keys, values and inner weights have no effect: their outputs have weight zero."""
    encoder, texts = built(), ["the cat", "sat ."]
    before = encoder.encode(texts)
    (layer,) = encoder.backbone.encoder.layer  # type: ignore[union-attr, misc]
    with torch.no_grad():
        for part in (layer.attention.self.query, layer.attention.self.value, layer.intermediate.dense):
            part.weight.mul_(100)
    np.testing.assert_array_equal(encoder.encode(texts), before)
    assert np.isfinite(built(layers=0).encode(texts)).all()


def normed(vectors: torch.Tensor) -> torch.Tensor:
    """A layer norm with its first weights."""
    return torch.nn.functional.layer_norm(vectors, vectors.shape[-1:], eps=1e-12)


def test_the_first_token_starts_as_the_mean_of_all_tokens() -> None:
    """[CLS] and [SEP] are zero vectors, the others their words; two layer norms follow."""
    encoder, words = built(start="mean", pooling="cls"), normed(VECTORS[:3])
    actual = encoder.encode(["The cat sat"])
    mean = words.sum(dim=0) / 5
    np.testing.assert_allclose(actual[0], normed(normed(mean)).numpy(), atol=2e-3)
    assert encoder.pooling == "cls"
    np.testing.assert_allclose(encoder.encode(["sat the cat"]), actual, atol=1e-6)  # no positions at first


def test_copies_of_the_word_vectors_are_side_by_side() -> None:
    single, double = built(start="mean", pooling="cls"), built(start="mean", pooling="cls", copies=2)
    texts = ["the cat", "sat ."]
    assert double.width == 2 * single.width
    np.testing.assert_allclose(double.encode(texts), np.tile(single.encode(texts), 2), atol=5e-3)


def test_another_token_starts_as_its_word_plus_the_mean() -> None:
    encoder = built(start="mean").eval()
    with torch.no_grad():
        (states,) = encoder.states(encoder.tokenize(["the cat"]))
    words = normed(VECTORS[:2])
    expected = normed(normed(words + words.sum(dim=0) / 4))
    np.testing.assert_allclose(states[0, 1:3].numpy(), expected.numpy(), atol=2e-3)


def test_the_mean_that_is_taken_off_counts_each_word_as_often_as_the_texts_have_it() -> None:
    """`the` three times and `cat` once: a quarter of each vector; unknown words and [CLS] count nowhere."""
    words = WordAverageEncoder(VECTORS, WORDS)
    actual = centred(words, ["The cat", "the THE dog"], vocabulary=4)
    expected = VECTORS[:4] - (3 * VECTORS[0] + VECTORS[1]) / 4
    torch.testing.assert_close(actual.vectors, expected)
    assert actual.vocabulary == WORDS[:4]
    weighted = 3 * actual.vectors[0] + actual.vectors[1]
    torch.testing.assert_close(weighted, torch.zeros(4), atol=1e-6, rtol=0)


@pytest.mark.parametrize(("texts", "vocabulary"), [(["dog"], 4), (["the"], 6)])
def test_words_without_a_count_or_a_vector_are_refused(texts: list[str], vocabulary: int) -> None:
    with pytest.raises(InputError):
        centred(WordAverageEncoder(VECTORS, WORDS), texts, vocabulary=vocabulary)


def test_its_folder_gives_equal_vectors_in_sentence_transformers(tmp_path: Path) -> None:
    from sentence_transformers import SentenceTransformer

    encoder, texts = built(), ["The cat sat.", "a dog ."]
    encoder.save(tmp_path / "words")
    expected = encoder.encode(texts)
    np.testing.assert_array_equal(load_encoder(tmp_path / "words").encode(texts), expected)
    theirs = SentenceTransformer(str(tmp_path / "words"), device="cpu", trust_remote_code=False).encode(texts)
    np.testing.assert_allclose(theirs, expected, atol=1e-6)


def test_the_seed_decides_the_draws() -> None:
    positions = [built(seed=seed).backbone.embeddings.position_embeddings.weight for seed in (0, 0, 1)]
    assert torch.equal(positions[0], positions[1])
    assert not torch.equal(positions[0], positions[2])


def test_an_average_of_words_is_followed_by_its_output_layer() -> None:
    """Two words, a text without known words, and the layer's bias for it."""
    layer = torch.nn.Linear(4, 3)
    vectors = WordAverageEncoder(VECTORS, WORDS, output=layer).encode(["the cat", "dog"])
    with torch.no_grad():
        expected = layer(torch.stack([VECTORS[:2].mean(dim=0), torch.zeros(4)])).numpy()
    np.testing.assert_allclose(vectors, expected, atol=1e-6)


def test_a_transformer_of_words_has_the_stated_shape_and_the_spread_of_a_new_bert() -> None:
    """Three copies of four numbers; positions and queries are drawn, token types and special tokens are 0."""
    words = WordAverageEncoder(VECTORS, WORDS)
    encoder = word_transformer(
        words, vocabulary=3, copies=3, layers=2, heads=6, inner=70, positions=90, dropout=0.3,
        start="identity", pooling="cls", seed=1,
    )  # fmt: skip
    network: Any = encoder.backbone
    stated = network.config
    assert (stated.vocab_size, stated.hidden_size, stated.num_hidden_layers) == (5 + 3, 12, 2)
    assert (stated.num_attention_heads, stated.intermediate_size) == (6, 70)
    assert (stated.hidden_dropout_prob, stated.attention_probs_dropout_prob) == (0.3, 0.3)
    assert (stated.max_position_embeddings, stated.pad_token_id) == (90, 0)
    assert (encoder.pooling, network.pooler) == ("cls", None)
    tables = network.embeddings
    assert not tables.token_type_embeddings.weight.any()
    assert not tables.word_embeddings.weight[:5].any()
    torch.testing.assert_close(tables.word_embeddings.weight[5:], VECTORS[:3].repeat(1, 3))
    assert tables.position_embeddings.weight.std().item() == pytest.approx(0.02, rel=0.1)
    assert network.encoder.layer[0].attention.self.query.weight.std().item() == pytest.approx(0.02, rel=0.2)
    assert network.encoder.layer[1].intermediate.dense.weight.std().item() == pytest.approx(0.02, rel=0.1)
    with pytest.raises(InputError, match="cannot keep 6 words of 5; expected 1 to 5"):
        built(vocabulary=6)
    with pytest.raises(InputError, match="5 heads do not divide a width of 12"):
        word_transformer(
            words, vocabulary=3, copies=3, layers=2, heads=5, inner=7, positions=9, dropout=0.3,
            start="mean", pooling="cls", seed=1,
        )  # fmt: skip


def test_an_average_says_its_width_and_that_of_its_vectors(tmp_path: Path) -> None:
    words = WordAverageEncoder(VECTORS, WORDS, output=torch.nn.Linear(4, 3, bias=False))
    assert (words.width, words.dim, words.encode([]).shape) == (4, 3, (0, 3))
    words.save(tmp_path)
    again: Any = load_encoder(tmp_path)
    assert (again.width, again.dim, again.output.bias) == (4, 3, None)
    np.testing.assert_array_equal(again.encode(["The cat!"]), words.encode(["the  CAT !"]))
    assert WordAverageEncoder(VECTORS, WORDS).dim == 4


def test_accents_are_stripped_and_a_word_with_one_is_never_met() -> None:
    words = WordAverageEncoder(VECTORS, ["the", "cafe", "sat", ".", "café"])
    encoder = word_transformer(words, **{**SHAPE, "vocabulary": 5})  # type: ignore[arg-type]
    assert encoder.token_ids(["Café", "CAFE"]) == [[2, 6, 3], [2, 6, 3]]
