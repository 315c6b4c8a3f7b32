"""Parts of an encoder that whole encodings rarely reach: many texts, few layers, other devices, progress."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

from methods.core import encoder as module
from methods.core.coupling_flow import Coupling
from methods.core.encoder import SentenceEncoder
from methods.core.fast.packed import can_pack
from methods.core.folders import cut_as_stated, load_encoder
from methods.core.heads import BatchNormHead, TanhHead, training_head
from methods.core.pooling import LAYERS, PORTABLE, needs_last_only
from methods.core.types import HOST_MASK, MASK, doubled, library_inputs, mask_on_host, to_device
from tests.support import tiny

TEXTS = ["the man runs", "a cat", "the big dog sleeps under the old tree", "the man runs", "a dog"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny.write_backbone(tmp_path_factory.mktemp("parts") / "bert")


@pytest.fixture
def encoder(folder: Path) -> SentenceEncoder:
    return tiny.sentence_encoder(folder)


@pytest.mark.parametrize("together", [1, 2, 3])
def test_texts_have_their_tokens_however_many_are_tokenised_at_once(
    encoder: SentenceEncoder, together: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = encoder.token_ids(TEXTS)
    assert len(expected) == len(TEXTS)
    monkeypatch.setattr(module, "TOKENIZED_TOGETHER", together)
    assert encoder.token_ids(TEXTS) == expected


@pytest.mark.parametrize("shard", [1, 2, 3, 100])
def test_texts_have_their_vectors_in_any_shard(
    encoder: SentenceEncoder, shard: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = encoder.encode(TEXTS)
    monkeypatch.setattr(module, "SHARD", shard)
    for size in (1, 128):
        np.testing.assert_allclose(encoder.encode(TEXTS, batch_size=size), expected, atol=1e-6)


def test_a_batch_has_32_tokens_for_each_of_its_texts(
    encoder: SentenceEncoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    budgets: list[int] = []
    plan = module.plan_batches

    def planned(lengths: np.ndarray, *, token_budget: int) -> Any:
        budgets.append(token_budget)
        return plan(lengths, token_budget=token_budget)

    monkeypatch.setattr(module, "plan_batches", planned)
    encoder.encode(TEXTS)
    encoder.encode(TEXTS, batch_size=3)
    assert budgets == [128 * 32, 3 * 32]


@pytest.mark.parametrize("progress", [None, False, True])
def test_a_bar_counts_every_unique_text_if_it_is_asked_for(
    encoder: SentenceEncoder, progress: bool | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    bars: list[tuple[int, str, bool]] = []
    counted: list[int] = []

    @contextmanager
    def bar(total: int, unit: str, *, shown: bool) -> Iterator[Any]:
        bars.append((total, unit, shown))
        yield SimpleNamespace(update=counted.append)

    monkeypatch.setattr(module, "progress_bar", bar)
    encoder.encode(TEXTS, **({} if progress is None else {"progress": progress}))
    assert bars == [(4, "texts", bool(progress))]
    assert sum(counted) == 4


def test_a_bert_has_all_of_its_positions_and_the_tokenizers_limit_counts_if_it_is_shorter(
    encoder: SentenceEncoder,
) -> None:
    """RoBERTa counts from behind its padding; a network without positions takes 512 tokens."""
    config: Any = encoder.backbone.config
    config.max_position_embeddings = 20
    assert (encoder.first_position, encoder.position_limit) == (0, 20)
    encoder.tokenizer.model_max_length = 30
    assert encoder.input_limit == 20
    assert len(encoder.token_ids(["the cat " * 20])[0]) == 20
    encoder.tokenizer.model_max_length = 19
    assert encoder.input_limit == 19
    config.max_position_embeddings = 0
    assert encoder.position_limit is None
    encoder.tokenizer.model_max_length = 10**9
    assert encoder.input_limit == 512
    for family in ("roberta", "xlm-roberta", "camembert", "mpnet"):
        stand_in: Any = SimpleNamespace(
            backbone=SimpleNamespace(config=SimpleNamespace(model_type=family, pad_token_id=1))
        )
        assert SentenceEncoder.first_position.fget(stand_in) == 2  # type: ignore[attr-defined]


def test_a_length_of_training_is_cut_at_the_positions(encoder: SentenceEncoder) -> None:
    config: Any = encoder.backbone.config
    config.max_position_embeddings = 12
    long = "the cat " * 20
    assert [len(encoder.token_ids([long], max_length=length)[0]) for length in (5, 12, 40)] == [5, 12, 12]


def test_a_text_without_tokens_is_one_padding_token(encoder: SentenceEncoder) -> None:
    encoder.tokenizer.backend_tokenizer.post_processor = None
    assert encoder.token_ids(["", "cat"])[0] == [encoder.tokenizer.pad_token_id]


def test_rows_are_padded_on_the_right_with_the_tokenizers_token(encoder: SentenceEncoder) -> None:
    encoder.tokenizer.pad_token = "[MASK]"
    pad = encoder.tokenizer.convert_tokens_to_ids("[MASK]")
    tokens = encoder.pad([[5], [6, 7, 8]])
    assert tokens["input_ids"].tolist() == [[5, pad, pad], [6, 7, 8]]
    assert tokens["attention_mask"].tolist() == [[1, 0, 0], [1, 1, 1]]
    assert {tensor.dtype for tensor in tokens.values()} == {torch.int64}


def test_given_word_embeddings_replace_the_ids_in_the_networks_own_pass(encoder: SentenceEncoder) -> None:
    encoder.eval().pooling = "static-last-avg"
    tokens = encoder.tokenize(TEXTS)
    words: Any = encoder.backbone.get_input_embeddings()  # type: ignore[operator]
    with torch.no_grad():
        expected = encoder.states(tokens)
        given = encoder.states(tokens, inputs_embeds=words(tokens["input_ids"]))
        halved = encoder.states(tokens, embedding_factors=torch.full((1, 1, 1), 0.5))
    for state, other in zip(expected, given, strict=True):
        torch.testing.assert_close(state, other)
    torch.testing.assert_close(halved[0], expected[0] / 2)
    assert "input_ids" in tokens


@pytest.mark.parametrize("pooling", list(LAYERS))
def test_a_pooling_of_the_last_layer_reads_that_state_alone(encoder: SentenceEncoder, pooling: str) -> None:
    """Two layers have three states, the embedding layer's first."""
    last = pooling in ("cls", "mean")
    assert needs_last_only(pooling) is last
    assert (pooling in PORTABLE) is last
    encoder.pooling = pooling
    assert len(encoder.states(encoder.tokenize(TEXTS))) == (1 if last else 3)


def test_a_network_without_layers_has_the_vectors_of_its_embedding_layer(encoder: SentenceEncoder) -> None:
    network: Any = encoder.eval().backbone
    network.encoder.layer = network.encoder.layer[:0]
    network.config.num_hidden_layers = 0
    tokens = encoder.tokenize(["the man runs"])
    assert not can_pack(network, tokens)
    expected = network.embeddings(input_ids=tokens["input_ids"]).mean(dim=1)
    np.testing.assert_allclose(encoder.encode(["the man runs"]), expected.detach().numpy(), atol=1e-6)


def test_tokens_of_a_tokenizer_with_more_words_are_not_kept(folder: Path, tmp_path: Path) -> None:
    """A token without a vector is refused per encoder, so each one tokenises the texts itself."""
    encoder = tiny.sentence_encoder(folder)
    encoder.piece_folder = tmp_path / "pieces"
    encoder._spare = True
    encoder.encode(TEXTS, batch_size=1)
    assert not list(tmp_path.iterdir())
    encoder._spare = False
    encoder.encode(TEXTS, batch_size=1)
    assert list((tmp_path / "pieces").glob("*.npy"))


def test_a_batch_goes_to_a_device_at_every_depth_and_leaves_its_mask_on_the_host() -> None:
    mask = torch.tensor([[1, 0]])
    batch = {"anchor": {"input_ids": mask + 1, MASK: mask}, "numbers": {"a": mask.float()}, "step": 3}
    moved = to_device(batch, "meta")
    assert moved["step"] == 3
    assert moved["anchor"][HOST_MASK] is mask
    assert HOST_MASK not in moved["numbers"]
    assert {moved["anchor"][name].device.type for name in ("input_ids", MASK)} == {"meta"}
    assert moved["numbers"]["a"].device.type == "meta"
    here = to_device(batch, "cpu")
    assert set(here["anchor"]) == {"input_ids", MASK}
    assert mask_on_host(moved["anchor"]) is mask
    assert mask_on_host(here["anchor"]) is mask
    assert mask_on_host({"input_ids": mask}) is None
    assert doubled(here["anchor"])[MASK].tolist() == [[1, 0], [1, 0]]


@pytest.mark.parametrize("attention", ["sdpa", "eager"])
def test_a_network_of_the_library_gets_no_mask_or_one_that_needs_no_question(attention: str) -> None:
    """Row 2 hides its second token; only torch's attention reads a mask of four axes."""
    network = SimpleNamespace(config=SimpleNamespace(_attn_implementation=attention))
    whole, part = torch.ones(2, 2), torch.tensor([[1, 1], [1, 0]])
    ids = torch.zeros(2, 2)
    for host in (whole, part):
        tokens = {"input_ids": ids, MASK: host, HOST_MASK: host}
        inputs = library_inputs(network, tokens)
        assert HOST_MASK not in inputs
        assert HOST_MASK in tokens
        if attention == "eager":
            assert inputs[MASK] is host
        elif host is whole:
            assert MASK not in inputs
        else:
            assert inputs[MASK].shape == (2, 1, 2, 2)
            assert inputs[MASK].dtype == torch.bool
            assert inputs[MASK][1, 0].tolist() == [[True, False], [True, False]]
    assert library_inputs(network, {"input_ids": ids, MASK: part})[MASK] is part
    assert library_inputs(network, {"input_ids": ids, HOST_MASK: part}).keys() == {"input_ids"}


def test_new_layers_of_a_flow_and_of_heads_have_their_spread() -> None:
    """A coupling begins with 0.05 and ends with zero, so it adds nothing at first; heads begin with 0.02."""
    torch.manual_seed(0)
    coupling = Coupling(64, 60)
    for layer in (coupling.first, coupling.second):
        assert layer.weight.std().item() == pytest.approx(0.05, rel=0.1)
        assert layer.bias is None
    assert not coupling.last.weight.any()
    assert not coupling.last.bias.any()
    vectors = torch.randn(3, 64)
    torch.testing.assert_close(coupling(vectors), vectors)
    tanh, norm = TanhHead(64), BatchNormHead([64, 60, 50], first_bias=True)
    first, second = (part for part in norm if isinstance(part, torch.nn.Linear))
    for weight in (tanh.dense.weight, first.weight, second.weight):
        assert weight.std().item() == pytest.approx(0.02, rel=0.1)
    assert not tanh.dense.bias.any()
    assert not first.bias.any()
    assert second.bias is None
    assert [part.affine for part in norm if isinstance(part, torch.nn.BatchNorm1d)] == [True, False]
    assert [type(part).__name__ for part in norm] == [
        "Linear",
        "BatchNorm1d",
        "ReLU",
        "Linear",
        "BatchNorm1d",
    ]
    assert BatchNormHead([4, 3], first_bias=False)[0].bias is None
    assert isinstance(training_head("none", 4), torch.nn.Identity)
    assert isinstance(training_head("mlp", 4), TanhHead)


@pytest.mark.parametrize(
    ("threads", "items", "share"), [(16, 20, 2), (16, 8, 2), (16, 4, 4), (24, 99, 3), (3, 99, 1)]
)
def test_at_most_eight_batches_are_in_memory(
    threads: int, items: int, share: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Further threads work inside a batch; the caller has all of them again."""
    given: list[int] = []
    monkeypatch.setattr(torch, "get_num_threads", lambda: threads)
    monkeypatch.setattr(torch, "set_num_threads", given.append)
    assert [*module.side_by_side(lambda item: item, range(items))] == [*range(items)]
    assert set(given) == {share, threads}
    assert given[-1] == threads
    assert len(given) - 1 <= 8


def test_a_training_reads_512_tokens_and_an_evaluation_as_many_as_the_folder_states(tmp_path: Path) -> None:
    path = tiny.write_backbone(tmp_path / "bert", max_position_embeddings=600) / "tokenizer_config.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "model_max_length": 7}))
    encoder: Any = load_encoder(path.parent, pooling="mean")
    assert (encoder.stated_length, encoder.input_limit) == (7, 512)
    assert cut_as_stated(encoder).input_limit == 7
