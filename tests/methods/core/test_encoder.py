"""Pooling by hand, encoding against the plain loop, folders that load alike or are refused."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from methods.core.encoder import SentenceEncoder
from methods.core.errors import InputError
from methods.core.folders import cut_layers, load_encoder
from methods.core.pooling import LAYERS, masked_mean, pool
from methods.core.saving import save_backbone
from tests.support import tiny
from tests.support.samples import folder_bytes

TEXTS = [
    "the man runs",
    "a cat",
    "the big dog sleeps under the old tree near the river",
    "the man runs",
    "a dog",
]


@pytest.fixture(scope="module")
def backbone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny.write_backbone(tmp_path_factory.mktemp("encoder") / "bert", layers=3)


def load(folder: Path, **given: Any) -> SentenceEncoder:
    return load_encoder(folder, **given)  # type: ignore[return-value]


@pytest.mark.parametrize(
    ("pooling", "expected"),
    [
        ("cls", 30.0),
        ("mean", 35.0),
        ("static-last-avg", 20.0),
        ("first-last-avg", 25.0),
        ("last-two-avg", 30.0),
    ],
)
def test_poolings_of_two_tokens_and_one_pad_are_worked_by_hand(pooling: str, expected: float) -> None:
    """Layer l has token values 10 l, 10 l + 10 and 99 at the pad; layers 0 to 3; width 1.

    mean of layer l is 10 l + 5: last 35, with layer 0 (5) 20, with layer 1 (15) 25, with layer 2 (25) 30.
    """
    states = [torch.tensor([[[10.0 * layer], [10.0 * layer + 10], [99.0]]]) for layer in range(4)]
    assert len(LAYERS) == 5
    assert pool(states, torch.tensor([[1, 1, 0]]), pooling).item() == pytest.approx(expected)


def test_the_mean_of_no_token_is_zero_and_has_no_gradient() -> None:
    """Row 1 attends to 3 and 5, mean 4; row 2 to no token: 0, not the quotient 0 / 0."""
    hidden = torch.tensor([[[3.0], [5.0]], [[7.0], [9.0]]], requires_grad=True)
    mean = masked_mean(hidden, torch.tensor([[1, 1], [0, 0]]))
    assert mean.tolist() == [[4.0], [0.0]]
    mean.sum().backward()
    assert hidden.grad is not None
    assert hidden.grad.flatten().tolist() == [0.5, 0.5, 0.0, 0.0]


@pytest.mark.parametrize("pooling", list(LAYERS))
def test_encode_equals_one_text_at_a_time_with_the_model_itself(backbone: Path, pooling: str) -> None:
    encoder = load(backbone, pooling=pooling)
    vectors = encoder.encode(TEXTS, batch_size=1)
    encoder.eval()
    for text, vector in zip(TEXTS, vectors, strict=True):
        with torch.no_grad():
            states = encoder.backbone(**encoder.tokenize([text]), output_hidden_states=True).hidden_states
        alone = pool(states, None, pooling)[0].numpy()
        np.testing.assert_allclose(vector, alone, rtol=0, atol=1e-5)


def test_encode_computes_each_unique_text_once(backbone: Path) -> None:
    encoder, seen = load(backbone, pooling="mean"), list[torch.Size]()
    encoder.register_forward_pre_hook(lambda module, given: seen.append(given[0]["input_ids"].shape))
    assert encoder.encode(TEXTS).shape == (5, 16)
    assert sum(rows for rows, _ in seen) == 4
    assert encoder.encode([]).shape == (0, 16)


def test_encoding_has_no_dropout_and_leaves_every_module_in_its_mode(backbone: Path) -> None:
    encoder = load(backbone, pooling="mean").train()
    layers: Any = encoder.backbone
    layers.encoder.layer[1].eval()
    before = {name: part.training for name, part in encoder.named_modules()}
    first, second = encoder.encode(TEXTS), encoder.encode(TEXTS)
    assert {name: part.training for name, part in encoder.named_modules()} == before
    assert set(before.values()) == {True, False}
    np.testing.assert_array_equal(first, second)
    np.testing.assert_array_equal(first, encoder.eval().encode(TEXTS))


@pytest.mark.parametrize(
    ("activation", "normalize", "expected"),
    [
        ("identity", False, [3.0, -4.0]),
        ("identity", True, [0.6, -0.8]),
        ("tanh", False, [0.995055, -0.999329]),
        ("tanh", True, [0.705590, -0.708621]),
    ],
)
def test_an_output_layer_its_activation_and_normalisation_follow_in_this_order(
    backbone: Path, activation: str, normalize: bool, expected: list[float]
) -> None:
    """The layer gives (3, -4), of length 5; tanh makes it (0.995055, -0.999329), of length 1.410246."""
    encoder = load(backbone, pooling="mean")
    encoder.output = nn.Linear(encoder.width, 2)
    nn.init.zeros_(encoder.output.weight)
    encoder.output.bias.data = torch.tensor([3.0, -4.0])
    encoder.activation, encoder.normalize = activation, normalize
    np.testing.assert_allclose(encoder.encode(["a cat"])[0], expected, rtol=2e-6)


def test_training_truncates_and_keeps_the_special_tokens(backbone: Path) -> None:
    encoder = load(backbone, pooling="cls")
    long, short = encoder.token_ids([TEXTS[2]]), encoder.token_ids([TEXTS[2]], max_length=5)
    assert len(long[0]) == 13
    assert short[0] == [*long[0][:4], long[0][-1]]


@pytest.mark.parametrize("pooling", list(LAYERS))
def test_a_saved_folder_gives_identical_vectors_and_bytes(
    backbone: Path, pooling: str, tmp_path: Path
) -> None:
    encoder = load(backbone, pooling=pooling)
    encoder.output = nn.Linear(16, 4)
    encoder.normalize = True
    vectors = encoder.encode(TEXTS)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-6)
    encoder.save(tmp_path / "a")
    again = load(tmp_path / "a")
    np.testing.assert_array_equal(again.encode(TEXTS), vectors)
    again.save(tmp_path / "b")
    assert folder_bytes(tmp_path / "a") == folder_bytes(tmp_path / "b")


def test_cutting_keeps_the_first_layers(backbone: Path, tmp_path: Path) -> None:
    whole = load(backbone, pooling="last-two-avg").eval()
    states = whole.backbone(**whole.tokenize(TEXTS), output_hidden_states=True).hidden_states
    save_backbone(cut_layers(load(backbone, pooling="mean"), 2), tmp_path)
    cut = load(tmp_path, pooling="mean").eval()
    torch.testing.assert_close(cut.states(cut.tokenize(TEXTS))[-1], states[2])
    with pytest.raises(InputError, match="cannot keep 4 layers of 3"):
        cut_layers(load(backbone, pooling="mean"), 4)


def test_a_roberta_has_no_position_for_its_padding_and_those_before_it(backbone: Path) -> None:
    """With the padding's id 1 positions start at 2, so 20 positions take 18 tokens."""
    from transformers import RobertaConfig, RobertaModel

    config = RobertaConfig(
        vocab_size=200, hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=32,
        max_position_embeddings=20, pad_token_id=1,
    )  # fmt: skip
    encoder = SentenceEncoder(RobertaModel(config), load(backbone, pooling="mean").tokenizer, pooling="mean")
    assert len(encoder.token_ids(["the cat " * 20])[0]) == 18
    assert np.isfinite(encoder.encode(["the cat " * 20])).all()


def test_sentence_transformers_cannot_load_a_pooling_it_lacks(backbone: Path, tmp_path: Path) -> None:
    from sentence_transformers import SentenceTransformer

    load(backbone, pooling="static-last-avg").save(tmp_path)
    with pytest.raises((OSError, ValueError, KeyError)):
        SentenceTransformer(str(tmp_path), device="cpu", trust_remote_code=False)
