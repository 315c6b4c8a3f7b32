"""Folders of this project with another pooling, and what a training reads from any folder."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from harness.models import fast, foreign, read
from harness.models.fast import Unrecognised, pooled_by
from harness.models.foreign import LibraryEncoder
from harness.models.read import CheckedNetworks, read_any, read_encoder
from methods.core.encoder import SentenceEncoder
from methods.core.errors import InputError
from methods.core.folders import cut_as_stated, load_encoder
from methods.core.pooling import LAYERS
from tests.harness.models.test_read import TEXTS, edit
from tests.support import tiny
from tests.support.families import write_modules
from tests.support.samples import write_words


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny.write_backbone(tmp_path_factory.mktemp("own") / "plain")


def saved(plain: Path, folder: Path, *, normalize: bool = False, output: nn.Linear | None = None) -> Path:
    """A folder of this project that pools by the mean and keeps the transformer's pooler."""
    encoder: Any = load_encoder(plain, pooling="mean", hf_pooler=True)
    encoder.normalize, encoder.output = normalize, output
    encoder.save(folder)
    return folder


@pytest.mark.parametrize("normalize", [False, True])
@pytest.mark.parametrize("pooling", [*LAYERS, "pooler"])
def test_another_pooling_over_a_folder_of_this_project_keeps_normalize(
    plain: Path, tmp_path: Path, pooling: str, normalize: bool
) -> None:
    expected = read_any(plain, pooling=pooling).encoder.encode(TEXTS)
    if normalize:
        expected = expected / np.linalg.norm(expected, axis=1, keepdims=True)
    own, notes = read_any(saved(plain, tmp_path / "own", normalize=normalize), pooling=pooling)
    assert isinstance(own, SentenceEncoder)
    assert not notes
    np.testing.assert_allclose(own.encode(TEXTS), expected, atol=2e-6)


def test_a_pooling_that_an_output_layer_follows_is_not_replaced(plain: Path, tmp_path: Path) -> None:
    folder = saved(plain, tmp_path / "own", output=nn.Linear(16, 4))
    assert read_any(folder, pooling="mean").encoder.dim == 4
    for pooling in ("cls", "pooler"):
        with pytest.raises(InputError, match=rf"\(mean\), which its output layer .* pooling {pooling} gives"):
            read_any(folder, pooling=pooling)


def test_word_vectors_have_no_pooling_to_replace(tmp_path: Path) -> None:
    folder = write_words(tmp_path / "words")
    stated = read_any(folder).encoder.encode(TEXTS)
    np.testing.assert_array_equal(read_any(folder, pooling="cls").encoder.encode(TEXTS), stated)


def test_an_unknown_pooling_and_a_missing_folder_are_named(plain: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"pooling 'poller' is not known; .*did you mean pooler"):
        read_any(plain, pooling="poller")
    with pytest.raises(InputError, match="nothing: no such folder"):
        read_any(tmp_path / "nothing", pooling="mean")


def test_notes_are_printed_with_the_name_of_the_command(
    plain: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(read, "read_any", lambda folder, *, pooling: (pooling, ["one", "two"]))
    assert read_encoder(plain, pooling="cls") == "cls"
    output = capsys.readouterr()
    assert (output.out, output.err) == ("", "sentbench: one\nsentbench: two\n")


@pytest.mark.parametrize("vectors", [np.full((2, 3), np.nan), np.full((2, 3), np.inf), np.ones((2, 0))])
def test_an_encoder_whose_vectors_are_no_numbers_is_refused(vectors: np.ndarray) -> None:
    with pytest.raises(InputError, match="folder: vectors are not finite or have no numbers"):
        read.checked(SimpleNamespace(encode=lambda texts: vectors), Path("folder"))


def test_a_training_starts_from_a_folder_of_the_library_as_it_states(plain: Path, tmp_path: Path) -> None:
    """Also with the pooling of a run, but not if only the library computes the vectors."""
    folder = write_modules(tiny.write_backbone(tmp_path / "model"), 16, "cls")
    expected = read_any(folder).encoder.encode(TEXTS)
    started = CheckedNetworks(folder, pooling=None).new_encoder()
    assert started.training
    np.testing.assert_allclose(started.encode(TEXTS), expected, atol=2e-6)
    assert CheckedNetworks(folder, pooling="mean").new_encoder().pooling == "mean"
    edit(folder / "1_Pooling/config.json", pooling_mode="max")
    with pytest.raises(
        InputError, match=r"its pooling is max: computed by .*; a training needs one that is computed here"
    ):
        CheckedNetworks(folder, pooling=None).new_encoder()


def test_a_model_of_the_library_gets_its_batch_size_and_each_text_once() -> None:
    seen: list[Any] = []

    def encode(texts: list[str], **options: Any) -> np.ndarray:
        seen.append((texts, options))
        return np.array([[len(text)] for text in texts], dtype=np.float64)

    def tokenizer(texts: list[str], **options: Any) -> dict[str, Any]:
        return {"input_ids": [texts, options]}

    model = SimpleNamespace(encode=encode, tokenizer=tokenizer, parameters=lambda: ["weights"])
    encoder = LibraryEncoder(model, Path("folder"))
    vectors = encoder.encode(["aa", "b", "aa"])
    assert vectors.tolist() == [[2.0], [1.0], [2.0]]
    assert vectors.dtype == np.float32
    encoder.encode(["c"], batch_size=7, progress=True)
    assert seen == [
        (["aa", "b"], {"batch_size": 32, "show_progress_bar": False}),
        (["c"], {"batch_size": 7, "show_progress_bar": True}),
    ]
    assert encoder.token_ids(("a",)) == [["a"], {"truncation": True}]
    assert encoder.parameters() == ["weights"]


def test_loading_leaves_environment_warnings_and_random_numbers_as_they_were(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    import os
    import random
    import warnings

    monkeypatch.setenv("SENTBENCH_A", "before")
    monkeypatch.delenv("SENTBENCH_B", raising=False)
    drawn, filters = random.getstate(), [*warnings.filters]

    @foreign._leaving_no_trace()
    def load() -> None:
        os.environ["SENTBENCH_A"], os.environ["SENTBENCH_B"] = "after", "new"
        random.random()
        warnings.simplefilter("ignore")
        raise KeyError

    with pytest.raises(KeyError):
        load()
    assert os.environ["SENTBENCH_A"] == "before"
    assert "SENTBENCH_B" not in os.environ
    assert random.getstate() == drawn
    assert [*warnings.filters] == filters


def test_a_text_with_a_token_without_a_vector_is_no_probe() -> None:
    def refusing(texts: list[str]) -> list[list[int]]:
        if texts == ["bad"]:
            raise InputError("no vector")
        return [[1]]

    encoder: Any = SimpleNamespace(token_ids=refusing)
    assert [fast._has_vectors(encoder, text) for text in ("good", "bad")] == [True, False]


IDS, MASK = torch.tensor([[5, 6], [5, 0]]), torch.tensor([[1, 1], [1, 0]])
EXPECTED = {"input_ids": IDS, "attention_mask": MASK}


@pytest.mark.parametrize(
    ("theirs", "other"),
    [
        (EXPECTED, None),
        ({**EXPECTED, "token_type_ids": torch.zeros(2, 2)}, None),
        ({**EXPECTED, "token_type_ids": torch.tensor([[0, 1], [0, 0]])}, "token_type_ids"),
        ({**EXPECTED, "input_ids": IDS + 1}, "input_ids"),
        ({"attention_mask": MASK}, "input_ids"),
        ({**EXPECTED, "attention_mask": torch.ones_like(MASK)}, "attention_mask"),
        ({"input_ids": IDS}, "attention_mask"),
    ],
)
def test_a_library_that_gives_other_tokens_is_asked_itself(theirs: Any, other: str | None) -> None:
    if other is None:
        fast._compare_tokens(theirs, EXPECTED)
    else:
        with pytest.raises(Unrecognised, match=f"^its settings give other {other}$"):
            fast._compare_tokens(theirs, EXPECTED)


def transformer(**changes: Any) -> Any:
    tokenizer = SimpleNamespace(backend_tokenizer=object())
    return SimpleNamespace(**{"model": BertModel(), "tokenizer": tokenizer, "missing": [], **changes})


class BertModel(nn.Module):
    """A network with the name of one whose pooler is read."""


class OtherModel(nn.Module):
    """A network of another family."""


@pytest.mark.parametrize(
    ("given", "pooling", "words"),
    [
        (
            {"tokenizer": None},
            "last-two-avg",
            "pooling last-two-avg needs a transformer with a fast tokenizer",
        ),
        ({"model": OtherModel()}, "pooler", "is a OtherModel; the pooler is read of BertModel, RobertaModel"),
    ],
)
def test_a_pooling_that_a_transformer_cannot_have_is_refused(
    given: dict[str, Any], pooling: str, words: str
) -> None:
    with pytest.raises(InputError, match=f"^folder: {words}"):
        pooled_by([transformer(**given)], pooling, Path("folder"))


def test_a_pooler_that_a_folder_lacks_is_not_started_at_random(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(fast, "_encoder_of", lambda transformer, pooling: pooling)
    missing = ["pooler.dense.bias", "pooler.dense.weight"]
    with pytest.raises(
        InputError, match=r"^folder: 2 weights are missing, the first is pooler\.dense\.bias$"
    ):
        pooled_by([transformer(missing=["position_ids", *missing])], "pooler", Path("folder"))


def test_a_model_without_vectors_of_tokens_is_not_pooled(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: dict[str, Any] = {}

    def network(name: str, **options: Any) -> Any:
        seen.update(name=name, **options)
        return SimpleNamespace(module_output_name="sentence_embedding")

    monkeypatch.setattr(foreign, "checked_transformer", lambda: network)
    with pytest.raises(InputError, match="folder: gives sentence_embedding, expected vectors of tokens"):
        foreign._plain(Path("folder"), "mean")
    local = {"local_files_only": True, "trust_remote_code": False}
    assert seen == {
        "name": "folder",
        "model_kwargs": {"weights_only": True, **local},
        "processor_kwargs": local,
        "config_kwargs": local,
    }


@pytest.mark.parametrize(
    ("stated", "positions", "limit"),
    [(9, 80, 9), (90, 80, 80), (None, 80, 80), (9, 0, 9), (None, 0, 512)],
)
def test_texts_are_cut_at_the_stated_length_or_at_the_positions(
    plain: Path, stated: int | None, positions: int, limit: int
) -> None:
    encoder = tiny.sentence_encoder(plain)
    encoder.stated_length = stated
    config: Any = encoder.backbone.config
    config.max_position_embeddings = positions
    assert cut_as_stated(encoder).tokenizer.model_max_length == limit
