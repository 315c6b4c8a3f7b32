"""Libraries read a folder's files alone: no hub, no code, no pickle of objects, in single precision."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
import transformers

from harness.models import foreign
from methods.core import checkpoints
from methods.core.checkpoints import check_weights, load_backbone, read_model, read_settings, read_tokenizer
from methods.core.errors import InputError
from methods.core.networks import MaskedModel
from tests.support import tiny

LOCAL = {"local_files_only": True, "trust_remote_code": False}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny.write_backbone(tmp_path_factory.mktemp("local") / "bert")


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What is asked of each class that reads a folder."""
    seen: list[Any] = []

    def recording(name: str) -> Any:
        def read(folder: Any, **named: Any) -> Any:
            seen.append((name, folder, named))
            report = {"missing_keys": [], "unexpected_keys": []}
            made = SimpleNamespace(
                eval=lambda: name, base_model_prefix="", state_dict=dict, named_modules=list
            )
            return (made, report) if named.get("output_loading_info") else made

        return read

    for kind in (
        "AutoConfig",
        "AutoTokenizer",
        "AutoModel",
        "AutoModelForMaskedLM",
        "PreTrainedTokenizerFast",
    ):
        monkeypatch.setattr(getattr(transformers, kind), "from_pretrained", recording(kind))
    return seen


WEIGHTS = {**LOCAL, "weights_only": True, "dtype": torch.float32, "output_loading_info": True}


def test_settings_tokenizers_and_weights_are_read_from_the_folder_alone(
    folder: Path, asked: list[Any]
) -> None:
    read_settings(folder)
    read_tokenizer(folder, mask_token="m")
    assert read_model(transformers.AutoModel, folder, expected="a test", config=3) == "AutoModel"
    assert asked == [
        ("AutoConfig", folder, LOCAL),
        ("AutoTokenizer", folder, {**LOCAL, "mask_token": "m"}),
        ("AutoModel", folder, {**WEIGHTS, "config": 3}),
    ]


@pytest.mark.parametrize(
    ("family", "kept"),
    [
        *((family, True) for family in ("bert", "roberta", "xlm-roberta", "mpnet", "camembert")),
        *((family, False) for family in ("distilbert", "electra", "gpt2")),
    ],
)
def test_a_pooler_is_built_only_if_it_is_asked_for_and_the_family_has_one(
    folder: Path, family: str, kept: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[Any] = []
    settings = SimpleNamespace(model_type=family)
    monkeypatch.setattr(checkpoints, "read_settings", lambda folder: settings)
    monkeypatch.setattr(checkpoints, "read_model", lambda kind, folder, **named: seen.append((kind, named)))
    for wanted in (False, True):
        load_backbone(folder, hf_pooler=wanted)
        pooler = {"add_pooling_layer": wanted} if kept else {}
        named = {"expected": "every weight of a transformer", "config": settings, **pooler}
        assert seen.pop() == (transformers.AutoModel, named)


def test_a_masked_model_is_a_language_model_or_a_plain_transformer(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("methods.core.networks.load_tokenizer", lambda folder: "tokenizer")
    monkeypatch.setattr("methods.core.networks.load_backbone", lambda folder: torch.nn.Linear(1, 1))
    seen: list[Any] = []

    def model(kind: Any, folder: Path, *, expected: str) -> Any:
        seen.append((kind, expected))
        return torch.nn.Linear(2, 2)

    monkeypatch.setattr("methods.core.networks.read_model", model)
    own, embeddings = MaskedModel(folder, output="own"), MaskedModel(folder, output="word-embeddings")
    assert seen == [(transformers.AutoModelForMaskedLM, "a masked language model with its output layer")]
    assert [made.network.in_features for made in (own, embeddings)] == [2, 1]
    assert {made.tokenizer for made in (own, embeddings)} == {"tokenizer"}


def test_the_tokenizer_of_tokenizer_json_is_read_from_the_folder_alone(
    folder: Path, asked: list[Any]
) -> None:
    backend = transformers.BertTokenizerFast(vocab={"[UNK]": 0, "[PAD]": 1}).backend_tokenizer
    checkpoints.as_stored(SimpleNamespace(backend_tokenizer=backend), folder)
    assert asked == [("PreTrainedTokenizerFast", folder, LOCAL)]


def test_a_model_of_the_library_is_read_from_the_folder_alone(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from sentence_transformers import SentenceTransformer

    seen: list[Any] = []

    def read(name: str, classes: Any, **named: Any) -> None:
        seen.append((name, named))
        known = "sentence_transformers.models.Transformer"
        assert bool(classes)
        assert classes.get(known, int) is foreign.checked_transformer()
        assert classes.get("sentence_transformers.models.Pooling", int) is int
        assert classes.get("other.Transformer", int) is int
        assert classes.get("sentence_transformers.models.CLIPTransformer", int) is int

    monkeypatch.setattr(SentenceTransformer, "_load_with_module_classes", read)
    foreign._modular(folder)
    assert seen == [(str(folder), {"device": "cpu", "model_kwargs": {"weights_only": True}, **LOCAL})]


class Network:
    """Two layers, and a stack without layers, as a network of transformers names them."""

    base_model_prefix = "bert"

    def state_dict(self) -> dict[str, None]:
        return dict.fromkeys(("encoder.layer.0.weight", "encoder.layer.1.weight", "norm.weight"))

    def named_modules(self) -> Any:
        return [
            ("empty.layers", torch.nn.ModuleList()),
            ("encoder.layer", torch.nn.ModuleList([torch.nn.ReLU()])),
        ]


@pytest.mark.parametrize(
    ("missing", "unexpected", "words"),
    [
        (["b.w", "a.w"], [], r"2 weights are missing, the first is a\.w; expected a test$"),
        (["a.w"], ["z.b.w", "x.a.w"], r"1 weights are missing, the first is a\.w \(there is x\.a\.w\); exp"),
        (["a.w"], ["xa.w"], r"1 weights are missing, the first is a\.w; expected"),
        ([], ["encoder.layer.2.weight"], r"holds encoder\.layer\.2\.weight, a layer more than its conf"),
        ([], ["bert.encoder.layer.7.weight"], r"holds bert\.encoder\.layer\.7\.weight, a layer more"),
        ([], ["empty.layers.0.anything"], r"holds empty\.layers\.0\.anything, a layer more"),
        ([], ["encoder.layer.2.other", "generator.layer.0.weight", "head.weight", "norm.weight.0"], None),
        ([], ["encoder.blocks.2.weight", "encoder.layer.weight"], None),
    ],
)
def test_a_missing_weight_and_a_layer_too_many_are_named(
    missing: list[str], unexpected: list[str], words: str | None
) -> None:
    if words is None:
        check_weights(Path("folder"), Network(), missing, unexpected, expected="a test")
    else:
        with pytest.raises(InputError, match=f"^folder: {words}"):
            check_weights(Path("folder"), Network(), missing, unexpected, expected="a test")


@pytest.mark.parametrize("missing", [["embeddings.position_ids"], ["embeddings.position_ids", "a.w"]])
def test_computed_weights_may_be_missing(
    folder: Path, missing: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    checked: list[Any] = []
    report = {"missing_keys": missing, "unexpected_keys": ["more"]}
    kind = SimpleNamespace(
        from_pretrained=lambda folder, **named: (SimpleNamespace(eval=lambda: "eval"), report)
    )
    monkeypatch.setattr(
        checkpoints, "check_weights", lambda *given, **named: checked.append((given[2:], named))
    )
    assert read_model(kind, folder, expected="a test") == "eval"
    assert read_model(kind, folder, expected="a test", computed="a.") == "eval"
    first, second = (absent for (absent, _), _ in checked)
    assert first == [name for name in missing if name == "a.w"]
    assert second == ["embeddings.position_ids"]
    assert checked[0] == ((first, ["more"]), {"expected": "a test"})


def test_kernels_and_a_folder_without_weights_are_refused_before_a_library_reads(tmp_path: Path) -> None:
    """Of a language model too, whose settings nobody has read before."""
    kind = SimpleNamespace(from_pretrained=lambda *given, **named: pytest.fail("the library reads"))
    with pytest.raises(InputError, match=r": no weights; expected model\.safetensors or pytorch_model\.bin"):
        read_model(kind, tmp_path, expected="a test")
    (tmp_path / "model.safetensors").touch()
    (tmp_path / "config.json").write_text('{"use_kernels": true}')
    (tmp_path / "modules.json").write_text("[]")
    for read in (lambda: read_model(kind, tmp_path, expected="a test"), lambda: foreign.load_model(tmp_path)):
        with pytest.raises(InputError, match=r"config\.json: has 'use_kernels': kernels of the hub"):
            read()
    (tmp_path / "config_sentence_transformers.json").write_text('{"model_type": "SparseEncoder"}')
    with pytest.raises(InputError, match="is a SparseEncoder, whose vectors are sparse; expected a Sentence"):
        foreign.load_model(tmp_path)
