"""Valid checkpoints of other code are read; missing parts and code are reported in one line."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

from harness.models.read import read_any
from methods.core.checkpoints import load_tokenizer
from methods.core.errors import InputError
from methods.core.model_errors import check_stored, in_one_line
from tests.support import tiny
from tests.support.families import write_family, write_modules

TEXTS = ["a man runs", "the dog sleeps under the old tree"]
State = dict[str, torch.Tensor]


@pytest.fixture
def plain(tmp_path: Path) -> Path:
    return tiny.write_backbone(tmp_path / "plain")


def vectors(folder: Path) -> np.ndarray:
    return read_any(folder, pooling="cls").encoder.encode(TEXTS)


def store(folder: Path, change: Callable[[State], State]) -> None:
    state = change(load_file(folder / "model.safetensors"))
    save_file(
        {name: tensor.clone() for name, tensor in state.items()},
        folder / "model.safetensors",
        {"format": "pt"},
    )


def under_a_prefix(state: State) -> State:
    return {f"bert.{name}": tensor for name, tensor in state.items()}


def with_a_generator(state: State) -> State:
    layer = {
        f"generator.distilbert.transformer.layer.{n}.ffn.lin1.weight": torch.ones(2, 2) for n in range(9)
    }
    return {**under_a_prefix(state), **layer, "mlp.net.0.weight": torch.ones(2, 2)}


def with_a_momentum_copy(state: State) -> State:
    copy = {f"key_encoder.bert.{name}": torch.zeros_like(tensor) for name, tensor in state.items()}
    return {**under_a_prefix(state), **copy, "queue": torch.ones(4, 2)}


def with_a_teacher(state: State) -> State:
    return {**under_a_prefix(state), **{f"teacher.{name}": tensor * 2 for name, tensor in state.items()}}


def without_its_pooler(state: State) -> State:
    return {name: tensor for name, tensor in state.items() if "pooler" not in name}


CHECKPOINTS = (under_a_prefix, with_a_generator, with_a_momentum_copy, with_a_teacher, without_its_pooler)


@pytest.mark.parametrize("change", CHECKPOINTS, ids=lambda change: change.__name__)
@pytest.mark.parametrize("pickled", [False, True], ids=["safetensors", "pickle"])
def test_a_checkpoint_gives_the_encoders_vectors(
    plain: Path, change: Callable[[State], State], pickled: bool
) -> None:
    expected = vectors(plain)
    store(plain, change)
    if pickled:
        torch.save(load_file(plain / "model.safetensors"), plain / "pytorch_model.bin")
        (plain / "model.safetensors").unlink()
    assert np.array_equal(vectors(plain), expected)


def describe_layers(folder: Path, layers: int, key: str = "num_hidden_layers") -> None:
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**config, key: layers}))


def test_a_layer_more_than_described_and_a_weight_less_are_named(plain: Path) -> None:
    state = load_file(plain / "model.safetensors")
    more = {f"encoder.layer.2.{name[16:]}": value for name, value in state.items() if ".layer.1." in name}
    store(plain, lambda state: {**state, **more})
    with pytest.raises(InputError, match=r"encoder\.layer\.2\.\S+, a layer more"):
        vectors(plain)
    store(
        plain, lambda _: {name: value for name, value in state.items() if name != "embeddings.LayerNorm.bias"}
    )
    with pytest.raises(InputError, match=r"1 weights are missing, the first is embeddings\.LayerNorm\.bias"):
        vectors(plain)
    store(plain, lambda _: {f"module.bert.{name}": value for name, value in state.items()})
    with pytest.raises(InputError, match=r"there is module\.bert\.embeddings"):
        vectors(plain)


@pytest.mark.parametrize("key", ["hidden_size", "intermediate_size", "vocab_size", "max_position_embeddings"])
@pytest.mark.parametrize("own", [False, True], ids=["foreign", "own"])
def test_a_size_that_the_weights_do_not_have_is_refused(
    plain: Path, tmp_path: Path, key: str, own: bool
) -> None:
    folder = plain
    if own:
        tiny.sentence_encoder(plain, "cls").save(folder := tmp_path / "own")
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**config, key: 2 * config[key]}))
    with pytest.raises(InputError, match="cannot be read as"):
        vectors(folder)


@pytest.mark.parametrize("layers", [-1, 0, 1])
def test_layers_of_a_file_that_the_configuration_lacks_are_named(plain: Path, layers: int) -> None:
    describe_layers(plain, layers)
    first = rf"encoder\.layer\.{max(layers, 0)}\."
    with pytest.raises(InputError, match=rf"holds {first}\S+, a layer more than its configuration describes"):
        vectors(plain)
    store(plain, lambda state: {f"bert.{name}": value for name, value in state.items()})
    with pytest.raises(InputError, match=rf"holds bert\.{first}\S+, a layer more"):
        vectors(plain)


def test_layers_of_another_network_do_not_count_where_the_encoder_has_none(plain: Path) -> None:
    describe_layers(plain, 0)
    store(
        plain,
        lambda state: {
            f"momentum.{name}" if ".layer." in name else name: value for name, value in state.items()
        },
    )
    assert vectors(plain).shape[1] == 16


def test_a_layer_that_a_file_lacks_is_named(plain: Path) -> None:
    describe_layers(plain, 3)
    with pytest.raises(InputError, match=r"16 weights are missing, the first is encoder\.layer\.2\."):
        vectors(plain)


@pytest.mark.parametrize("family", ["distilbert", "gpt2", "mpnet", "roberta", "t5"])
def test_layers_of_a_file_are_named_in_every_family_whose_configuration_lacks_them(
    tmp_path: Path, family: str
) -> None:
    folder = write_family(tmp_path / family, family)
    key = {"distilbert": "n_layers", "gpt2": "n_layer", "t5": "num_layers"}.get(family, "num_hidden_layers")
    describe_layers(folder, 0, key)
    with pytest.raises(InputError, match="a layer more than its configuration describes"):
        read_any(folder)


def test_a_weight_that_the_library_would_start_at_random_is_named(tmp_path: Path) -> None:
    folder = write_family(tmp_path / "distilbert", "distilbert")
    store(
        folder, lambda state: {name: value for name, value in state.items() if "layer.1.ffn.lin1" not in name}
    )
    with pytest.raises(InputError, match=r"2 weights are missing, the first is transformer\.layer\.1\.ffn"):
        read_any(folder)


class Evil:
    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self) -> tuple[Any, ...]:
        return Path.touch, (self.mark,)


@pytest.mark.parametrize("option", [{}, {"model_args": {"weights_only": False}}], ids=["plain", "asked for"])
@pytest.mark.parametrize("modular", [False, True])
def test_code_in_a_pickle_does_not_run(plain: Path, option: dict[str, Any], modular: bool) -> None:
    mark = plain / "ran"
    torch.save({"x": Evil(mark)}, plain / "pytorch_model.bin")
    (plain / "model.safetensors").unlink()
    if modular:
        write_modules(plain, 16)
        (plain / "sentence_bert_config.json").write_text(json.dumps({"do_lower_case": True, **option}))
    with pytest.raises(InputError):
        read_any(plain, pooling=None if modular else "mean")
    assert not mark.exists()


def test_code_of_a_folder_is_not_run(plain: Path) -> None:
    (plain / "evil.py").write_text(f"open({str(plain / 'ran')!r}, 'w')")
    config = json.loads((plain / "config.json").read_text())
    code = {"AutoConfig": "evil.Config", "AutoModel": "evil.Model"}
    (plain / "config.json").write_text(json.dumps({**config, "model_type": "of-its-own", "auto_map": code}))
    with pytest.raises(InputError, match="contains Python code"):
        vectors(plain)
    (plain / "config.json").write_text(json.dumps({**config, "auto_map": code}))
    vectors(plain)  # a family that transformers has: its own code reads the folder
    for entry in (
        {"_attn_implementation": "someone/kernel"},
        {"text_config": {"attn_implementation": "a/b"}},
    ):
        (plain / "config.json").write_text(json.dumps({**config, **entry}))
        with pytest.raises(InputError, match="a kernel of the hub"):
            vectors(plain)
    assert not (plain / "ran").exists()


@pytest.mark.parametrize("name", ["tf_model.h5", "flax_model.msgpack", "model.onnx", "model.Q4_K_M.gguf"])
def test_weights_of_another_format_are_named(tmp_path: Path, name: str) -> None:
    (tmp_path / name).touch()
    with pytest.raises(InputError, match=f"has {name}"):
        check_stored(tmp_path)


def test_tokens_without_a_vector_may_be_there_and_may_not_occur(plain: Path) -> None:
    expected = vectors(plain)
    tokenizer = load_tokenizer(plain)
    tokenizer.add_tokens(["[TGT]", "riverbank"])
    tokenizer.save_pretrained(plain)
    encoder = read_any(plain, pooling="cls").encoder
    assert np.array_equal(encoder.encode(TEXTS), expected)
    with pytest.raises(InputError, match=r"'riverbank' of .* has id \d+ and the transformer \d+ vectors"):
        encoder.encode(["the riverbank"])


def write_pieces(folder: Path, **stated: Any) -> Any:
    """Writes a tokenizer.json of unigrams with entries of tokenizer_config.json next to it; returns it."""
    from tokenizers import Tokenizer, models, pre_tokenizers, processors

    words = [("<s>", 0.0), ("<pad>", 0.0), ("</s>", 0.0), ("<unk>", 0.0), ("\u2581", -3.0)]
    words += [(f"\u2581{word}", -2.0) for word in tiny.WORDS] + [(chr(97 + n), -6.0) for n in range(26)]
    file = Tokenizer(models.Unigram(words, unk_id=3))
    file.pre_tokenizer = pre_tokenizers.Metaspace()
    file.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", special_tokens=[("<s>", 0), ("</s>", 2)]
    )
    file.save(str(folder / "tokenizer.json"))
    special = {"pad_token": "<pad>", "unk_token": "<unk>", "cls_token": "<s>", "sep_token": "</s>"}
    (folder / "tokenizer_config.json").write_text(json.dumps({**special, **stated}))
    return file


@pytest.mark.parametrize("stated", [{}, {"tokenizer_class": "BertTokenizer"}])
def test_a_tokenizer_of_another_kind_than_tokenizer_json_is_not_used(
    plain: Path, stated: dict[str, str]
) -> None:
    file = write_pieces(plain, **stated)
    encoder, notes = read_any(plain, pooling="mean")
    assert encoder.token_ids(TEXTS) == [actual.ids for actual in file.encode_batch(TEXTS)]
    assert all("tokenizer.json, which is used" in note for note in notes)
    assert load_tokenizer(plain)(TEXTS)["input_ids"] == encoder.token_ids(TEXTS)


def test_special_tokens_that_a_stated_class_adds_are_kept_and_a_line_says_so(plain: Path) -> None:
    """T5 has an end token and no first one, whatever tokenizer.json has; so do sentence-transformers."""
    file = write_pieces(plain, tokenizer_class="T5Tokenizer")
    encoder, notes = read_any(plain, pooling="mean")
    assert encoder.token_ids(TEXTS) == [actual.ids[1:] for actual in file.encode_batch(TEXTS)]
    assert notes == [f"{plain}: T5Tokenizer gives other tokens than tokenizer.json"]


def test_a_library_error_is_one_line(tmp_path: Path) -> None:
    with (
        pytest.raises(InputError, match=r"cannot be read as a model \(ValueError: a b\)$"),
        in_one_line(tmp_path),
    ):
        raise ValueError("a\nb")


@pytest.mark.parametrize(
    "name",
    ["config.json", "modules.json", "1_Pooling/config.json", "config_sentence_transformers.json"],
)
def test_a_damaged_file_of_settings_is_named_alone_and_no_stage_is_said_to_make_it(
    plain: Path, name: str
) -> None:
    """Any folder of a user is read, and `dvc repro` makes none of these."""
    folder = write_modules(plain, 16)
    (folder / name).write_text("{")
    with pytest.raises(InputError, match=rf"plain/{name}: not a JSON file \(.*\); get the file again$"):
        read_any(folder)
