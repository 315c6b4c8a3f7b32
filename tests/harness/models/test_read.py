"""A folder has one vector for a text, however it is loaded: built from the libraries' own lists."""

import json
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from harness.models.foreign import LibraryEncoder
from harness.models.read import read_any
from methods.core.encoder import SentenceEncoder
from methods.core.errors import InputError
from tests.support import tiny
from tests.support.families import tiny_config, write_family, write_modules

TEXTS = [
    "a man runs",
    "Cat",
    "the dog sleeps under the old tree near the river and the cat sits",
    "woman, or dog",
]
LARGEST = 20_000_000
"""Largest number of weights of a family that is tried; most tiny models have a few thousand."""
LONG = " ".join(["the old dog sleeps and the cat sits"] * 30)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_modules(tiny.write_backbone(tmp_path / "model"), 16)


def edit(path: Path, **entries: Any) -> None:
    before = json.loads(path.read_text()) if path.is_file() else {}
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps({**before, **entries}))


def library(folder: Path) -> Any:
    from sentence_transformers import SentenceTransformer

    return SentenceTransformer(str(folder), device="cpu", local_files_only=True, trust_remote_code=False)


def theirs(folder: Path, texts: list[str]) -> np.ndarray:
    return np.asarray(library(folder).encode(texts), dtype=np.float32)


def assert_same(folder: Path, *, fast: bool | None = None, texts: Sequence[str] = (*TEXTS, LONG)) -> None:
    encoder, notes = read_any(folder)
    if fast is not None:
        assert isinstance(encoder, SentenceEncoder if fast else LibraryEncoder), notes
    assert notes or not isinstance(encoder, LibraryEncoder)
    np.testing.assert_allclose(encoder.encode(texts), theirs(folder, list(texts)), atol=2e-5)


TEXT_ENCODERS = (
    *("albert", "bert", "camembert", "deberta-v2", "distilbert", "electra", "gpt2", "modernbert", "mpnet"),
    *("roberta", "t5", "xlm-roberta"),
)
"""Families of the default run; a slow test tries every one in the libraries' lists."""
COMPUTED_HERE = {"bert", "roberta", "xlm-roberta"}


@pytest.mark.parametrize("family", TEXT_ENCODERS)
def test_a_family_has_the_vectors_of_sentence_transformers(tmp_path: Path, family: str) -> None:
    assert_same(write_family(tmp_path / family, family), fast=family in COMPUTED_HERE, texts=TEXTS)


UNUSUAL = {
    "embedding_size": 8,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "intermediate_size": 40,
    "layer_norm_eps": 0.1,
    "hidden_act": "relu",
    "type_vocab_size": 3,
    "initializer_range": 0.5,
}
"""Values by which families of one kind of layer differ: none equals another size or a default."""


@pytest.mark.parametrize("family", sorted(COMPUTED_HERE))
def test_a_family_that_is_computed_here_has_the_librarys_vectors_at_unequal_sizes(
    tmp_path: Path, family: str
) -> None:
    assert_same(write_family(tmp_path / family, family, **UNUSUAL), fast=True, texts=TEXTS)


@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("pooling", ["mean", "lasttoken"])
def test_a_decoder_with_its_own_tokenizer_has_the_vectors_of_sentence_transformers(
    tmp_path: Path, side: str, pooling: str
) -> None:
    """Attention is causal, padding on either side; the family's tokenizer reads byte pairs."""
    from tokenizers.pre_tokenizers import ByteLevel
    from transformers import Qwen2Tokenizer

    folder = write_family(tmp_path / "qwen2", "qwen2")
    (folder / "tokenizer.json").unlink()
    letters = {letter: number for number, letter in enumerate(sorted(ByteLevel.alphabet())[:126])}
    Qwen2Tokenizer(vocab=letters, merges=[], padding_side=side).save_pretrained(folder)
    (folder / "1_Pooling/config.json").write_text(
        json.dumps({"embedding_dimension": 16, "pooling_mode": pooling})
    )
    assert_same(folder, fast=False, texts=TEXTS)


def test_word_pieces_of_a_byte_pair_family_are_read_as_in_the_file(tmp_path: Path) -> None:
    """transformers builds byte pairs from the words: the library's vectors are of single letters then."""
    from tokenizers import Tokenizer

    folder = write_family(tmp_path / "qwen2", "qwen2")
    encoder, notes = read_any(folder)
    file = Tokenizer.from_file(str(folder / "tokenizer.json"))
    assert encoder.token_ids(TEXTS) == [actual.ids for actual in file.encode_batch(TEXTS)]
    assert any("tokenizer.json, which is used" in note for note in notes)
    assert np.abs(encoder.encode(TEXTS) - theirs(folder, TEXTS)).max() > 0.01


def libraries_families() -> list[str]:
    """Returns the masked models that transformers lists, and the encoders of sentence-transformers."""
    from sentence_transformers.base.modules import transformer
    from transformers.models.auto.modeling_auto import MODEL_FOR_MASKED_LM_MAPPING_NAMES as MASKED

    return sorted({*MASKED, *(kind.model_type for kind, _, _ in transformer._ENCODER_ONLY_MODELS)})


def number_of_weights(config: Any) -> int:
    """Returns the number of weights of a configuration's model, without memory for them."""
    from transformers import AutoModel

    with torch.device("meta"):
        return int(AutoModel.from_config(config, trust_remote_code=False).num_parameters())


@pytest.mark.slow
def test_every_family_of_the_libraries_is_the_same_or_neither_reads_it(tmp_path: Path) -> None:
    different = []
    for family in libraries_families():
        folder = tmp_path / family
        try:
            if number_of_weights(tiny_config(family)) > LARGEST:
                continue  # its sizes have other names
            write_family(folder, family)
            expected = theirs(folder, TEXTS)
        except Exception:  # noqa: BLE001  # not built by this test, or not of texts alone
            continue
        try:
            encoder, notes = read_any(folder)
        except InputError as error:
            again = theirs(folder, TEXTS)  # other vectors each time: the library starts weights at random
            if "weights are missing" not in str(error) or np.array_equal(again, expected):
                different.append(f"{family}: {error}")
            continue
        actual = encoder.encode(TEXTS)
        other_tokenizer = any("tokenizer.json, which is used" in note for note in notes)
        if not other_tokenizer and (actual.shape != expected.shape or np.abs(actual - expected).max() > 2e-5):
            different.append(family)
    assert not different


def test_the_text_part_of_clip_has_the_vectors_of_sentence_transformers(folder: Path) -> None:
    from transformers import CLIPTextConfig, CLIPTextModel

    torch.manual_seed(0)
    sizes = {"hidden_size": 16, "intermediate_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2}
    ids = {"pad_token_id": 0, "bos_token_id": 2, "eos_token_id": 3}
    config = CLIPTextConfig(vocab_size=128, max_position_embeddings=77, **sizes, **ids)
    CLIPTextModel(config).save_pretrained(folder)
    assert_same(folder, fast=False)


def modules_after(name: str, network: Any) -> list[Any]:
    """Returns the modules of a model with one of each class that sentence-transformers names."""
    from sentence_transformers.sentence_transformer import modules as m
    from sentence_transformers.sentence_transformer.modules.tokenizer import WhitespaceTokenizer

    pooled = m.Pooling(16, "mean")
    words = ["[PAD]", *tiny.WORDS]

    def by_words() -> Any:
        table = np.random.default_rng(0).normal(size=(len(words), 16)).astype(np.float32)
        return m.WordEmbeddings(WhitespaceTokenizer(words), table)

    made: dict[str, Callable[[], list[Any]]] = {
        "Transformer": lambda: [network, pooled],
        "Pooling": lambda: [network, m.Pooling(16, ("cls", "max"))],
        "Dense": lambda: [network, pooled, m.Dense(16, 8, activation_function=torch.nn.GELU())],
        "Normalize": lambda: [network, pooled, m.Normalize()],
        "Dropout": lambda: [network, pooled, m.Dropout(0.5)],
        "LayerNorm": lambda: [network, pooled, m.LayerNorm(16)],
        "CNN": lambda: [network, m.CNN(16, 16, [1, 3]), m.Pooling(32, "mean")],
        "LSTM": lambda: [by_words(), m.LSTM(16, 8), m.Pooling(16, "mean")],
        "WordEmbeddings": lambda: [by_words(), m.Pooling(16, "max")],
        "Router": lambda: [m.Router.for_query_document([network, pooled], [network, pooled])],
        "BoW": lambda: [m.BoW(words, dict.fromkeys(words, 1.0))],
        "StaticEmbedding": lambda: [m.StaticEmbedding(network.tokenizer, embedding_dim=16)],
        "WordWeights": lambda: [by_words(), m.WordWeights(words, dict.fromkeys(words, 0.5)), pooled],
    }
    return made[name]()


NO_ENCODERS = {
    "Module": "the base of all modules",
    "InputModule": "the base of modules that read texts",
    "Asym": "the former name of Router",
    "CLIPModel": "a Transformer of pictures",
    "WeightedLayerPooling": "needs the states of all layers, which Transformer gives by its own settings",
}
"""Names in the library's list that make no model of texts by themselves."""

MODULES = (
    *("Transformer", "Pooling", "Dense", "Normalize", "Dropout", "LayerNorm", "CNN", "LSTM", "Router", "BoW"),
    *("StaticEmbedding", "WordEmbeddings", "WordWeights"),
)


@pytest.mark.parametrize("name", MODULES)
def test_a_module_has_the_vectors_of_sentence_transformers(folder: Path, tmp_path: Path, name: str) -> None:
    from sentence_transformers import SentenceTransformer

    (network, *_) = library(folder)
    torch.manual_seed(0)
    model = SentenceTransformer(modules=modules_after(name, network), device="cpu", trust_remote_code=False)
    model.save_pretrained(str(tmp_path / "made"), create_model_card=False)
    assert_same(tmp_path / "made", fast=name in ("Transformer", "Normalize"))


def arranged_as(name: str, network: Any) -> list[Any]:
    """Returns a model of known modules in an order or number that the library computes."""
    from sentence_transformers.sentence_transformer import modules as m

    tokens = {"module_input_name": "token_embeddings", "module_output_name": "token_embeddings"}
    cls, plain = m.Pooling(16, "cls"), m.Dense(16, 8)
    made: dict[str, Callable[[], list[Any]]] = {
        "Dense on tokens": lambda: [network, m.Dense(16, 8, **tokens), m.Pooling(8, "mean")],
        "two Dense": lambda: [network, cls, plain, m.Dense(8, 8)],
        "Normalize before Dense": lambda: [network, cls, m.Normalize(), plain],
        "other routes": lambda: [
            m.Router({"query": [network, m.Pooling(16, "mean")], "document": [network, cls]}, "document")
        ],
    }
    return made[name]()


@pytest.mark.parametrize("name", ["Dense on tokens", "two Dense", "Normalize before Dense", "other routes"])
@pytest.mark.parametrize("width", [None, 4])
def test_modules_in_any_order_have_the_vectors_of_sentence_transformers(
    folder: Path, tmp_path: Path, name: str, width: int | None
) -> None:
    from sentence_transformers import SentenceTransformer

    (network, *_) = library(folder)
    torch.manual_seed(0)
    modules = arranged_as(name, network)
    model = SentenceTransformer(modules=modules, device="cpu", trust_remote_code=False, truncate_dim=width)
    model.save_pretrained(str(tmp_path / "made"), create_model_card=False)
    edit(tmp_path / "made/config_sentence_transformers.json", truncate_dim=width)
    assert_same(tmp_path / "made", fast=False)


def test_every_module_of_the_library_is_tried() -> None:
    from sentence_transformers.sentence_transformer import modules

    assert {*modules.__all__} == {*MODULES, *NO_ENCODERS}


SETTINGS: dict[str, tuple[str, dict[str, Any]]] = {
    "length": ("sentence_bert_config.json", {"max_seq_length": 7}),
    "length under an old name": ("sentence_roberta_config.json", {"max_seq_length": 7}),
    "no length": ("sentence_bert_config.json", {"max_seq_length": None}),
    "lower case": ("sentence_bert_config.json", {"max_seq_length": 20, "do_lower_case": True}),
    "length of the tokenizer": ("tokenizer_config.json", {"model_max_length": 7}),
    "cut on the left": ("tokenizer_config.json", {"truncation_side": "left", "model_max_length": 9}),
    "long texts cut on the left": (
        "tokenizer_config.json",
        {"truncation_side": "left", "model_max_length": 40},
    ),
    "padding on the left": ("tokenizer_config.json", {"padding_side": "left"}),
    "inputs": ("tokenizer_config.json", {"model_input_names": ["input_ids"]}),
    "prompts": ("config_sentence_transformers.json", {"prompts": {"query": "the red "}}),
    "default prompt": (
        "config_sentence_transformers.json",
        {"prompts": {"query": "the red "}, "default_prompt_name": "query"},
    ),
    "width": ("config_sentence_transformers.json", {"truncate_dim": 8}),
    "similarity": ("config_sentence_transformers.json", {"similarity_fn_name": "dot"}),
    "two poolings": ("1_Pooling/config.json", {"pooling_mode_cls_token": True}),
    "weighted mean": (
        "1_Pooling/config.json",
        {"pooling_mode_mean_tokens": False, "pooling_mode_weightedmean_tokens": True},
    ),
    "last token": ("1_Pooling/config.json", {"pooling_mode": "lasttoken"}),
    "prompt not pooled": ("1_Pooling/config.json", {"include_prompt": False}),
    "options of the tokenizer": ("sentence_bert_config.json", {"tokenizer_args": {"model_max_length": 7}}),
    "options of the network": ("sentence_bert_config.json", {"model_args": {"attn_implementation": "eager"}}),
    "options of a call": (
        "sentence_bert_config.json",
        {"processing_kwargs": {"text": {"max_length": 7, "truncation": True}}},
    ),
    "options of a call for long texts": (
        "sentence_bert_config.json",
        {"processing_kwargs": {"text": {"max_length": 40, "truncation": True}}},
    ),
    "kernels of the network": ("sentence_bert_config.json", {"model_args": {"attn_implementation": "sdpa"}}),
    "precision of the network": ("sentence_bert_config.json", {"model_args": {"dtype": "bfloat16"}}),
    "padding to a multiple": (
        "sentence_bert_config.json",
        {"processing_kwargs": {"text": {"pad_to_multiple_of": 8}}},
    ),
    "length of queries": ("sentence_bert_config.json", {"query_length": 4}),
    "a width beyond the vectors": ("config_sentence_transformers.json", {"truncate_dim": 99}),
    "a width without the last numbers": ("config_sentence_transformers.json", {"truncate_dim": -1}),
    "three poolings": ("1_Pooling/config.json", {"pooling_mode": ["cls", "max", "mean"]}),
    "mean by the root of the length": ("1_Pooling/config.json", {"pooling_mode": "mean_sqrt_len_tokens"}),
    "a decoder": ("config.json", {"is_decoder": True}),
    "another activation": ("config.json", {"hidden_act": "relu"}),
    "half precision": ("config.json", {"dtype": "bfloat16"}),
}  # fmt: skip
BY_THE_LIBRARY = {
    *("cut on the left", "padding on the left", "inputs", "default prompt", "width", "two poolings"),
    *("weighted mean", "last token", "options of a call", "precision of the network", "three poolings"),
    *("long texts cut on the left", "options of a call for long texts"),
    *("a width without the last numbers", "mean by the root of the length", "half precision"),
}
"""Settings that are left to sentence-transformers."""


@pytest.mark.parametrize("name", SETTINGS)
def test_a_setting_is_followed(folder: Path, name: str) -> None:
    file, entries = SETTINGS[name]
    edit(folder / file, **entries)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert_same(folder, fast=name not in BY_THE_LIBRARY)


def test_a_prompt_that_is_the_default_is_not_pooled_where_the_folder_says_so(folder: Path) -> None:
    edit(folder / "1_Pooling/config.json", include_prompt=False)
    prompt = {"prompts": {"query": "the red "}, "default_prompt_name": "query"}
    edit(folder / "config_sentence_transformers.json", **prompt)
    assert_same(folder, fast=False)


def test_a_stated_pooling_has_no_effect_and_another_keeps_normalize(tmp_path: Path) -> None:
    folder = write_modules(tiny.write_backbone(tmp_path / "model"), 16, "mean", "Normalize")
    (folder / "2_Normalize").mkdir()
    stated = read_any(folder).encoder.encode(TEXTS)
    assert np.array_equal(read_any(folder, pooling="mean").encoder.encode(TEXTS), stated)
    other = read_any(folder, pooling="cls").encoder.encode(TEXTS)
    np.testing.assert_allclose(np.linalg.norm(other, axis=1), 1, atol=1e-6)
    write_modules(folder, 16, "cls", "Normalize")
    assert np.array_equal(other, read_any(folder).encoder.encode(TEXTS))


def test_a_pooling_that_another_layer_follows_is_not_replaced(folder: Path, tmp_path: Path) -> None:
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Dense

    model = SentenceTransformer(
        modules=[*library(folder), Dense(16, 8)], device="cpu", trust_remote_code=False
    )
    model.save_pretrained(str(tmp_path / "dense"), create_model_card=False)
    assert read_any(tmp_path / "dense", pooling="mean").encoder.encode(TEXTS).shape == (len(TEXTS), 8)
    with pytest.raises(InputError, match="Dense was trained with"):
        read_any(tmp_path / "dense", pooling="cls")


def test_the_pooler_is_the_first_state_behind_the_networks_own_layer(tmp_path: Path) -> None:
    from transformers import AutoModel

    from methods.core.checkpoints import load_tokenizer

    folder = tiny.write_backbone(tmp_path / "plain")
    tokens = load_tokenizer(folder)(TEXTS, padding=True, return_tensors="pt")
    with torch.no_grad():
        expected = (
            AutoModel.from_pretrained(folder, trust_remote_code=False).eval()(**tokens).pooler_output.numpy()
        )
    np.testing.assert_allclose(read_any(folder, pooling="pooler").encoder.encode(TEXTS), expected, atol=1e-5)


def test_a_width_of_no_numbers_is_refused(folder: Path) -> None:
    edit(folder / "config_sentence_transformers.json", truncate_dim=0)
    with pytest.raises(InputError, match="vectors are not finite or have no numbers"):
        read_any(folder)


@pytest.mark.parametrize(("width", "left"), [(8, 8), (99, 16), (-1, 15), (None, 16)])
def test_the_stated_width_of_an_encoder_is_the_width_of_its_vectors(
    folder: Path, width: int | None, left: int
) -> None:
    edit(folder / "config_sentence_transformers.json", truncate_dim=width)
    encoder, _ = read_any(folder)
    assert encoder.dim == left
    assert encoder.encode(TEXTS).shape == (len(TEXTS), left)


def test_code_that_is_not_run_is_named_where_the_librarys_own_class_reads_the_folder(folder: Path) -> None:
    edit(folder / "config.json", auto_map={"AutoModel": "evil.Model"})
    (folder / "evil.py").write_text("raise SystemExit(3)")
    _, notes = read_any(folder)
    assert notes == [f"{folder}: auto_map names Python code, which is not run; BertModel reads the folder"]


def test_an_end_token_that_is_stated_next_to_tokenizer_json_counts(folder: Path) -> None:
    """tokenizer.json of a RoBERTa, without the template that adds its first and last token."""
    from transformers import RobertaConfig, RobertaModel, RobertaTokenizer

    from tests.support.checkpoints import write_byte_pairs

    for name in ("tokenizer.json", "tokenizer_config.json", "vocab.txt"):
        (folder / name).unlink(missing_ok=True)
    write_byte_pairs(folder)
    RobertaTokenizer.from_pretrained(folder, trust_remote_code=False).save_pretrained(folder)
    stored = json.loads((folder / "tokenizer.json").read_text())
    (folder / "tokenizer.json").write_text(json.dumps({**stored, "post_processor": None}))
    sizes = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 32}
    torch.manual_seed(0)
    RobertaModel(RobertaConfig(vocab_size=400, pad_token_id=1, **sizes)).save_pretrained(folder)
    encoder, _ = read_any(folder)
    np.testing.assert_allclose(encoder.encode(TEXTS), theirs(folder, TEXTS), atol=2e-5)


def test_a_folder_of_this_project_is_read_without_sentence_transformers(tmp_path: Path) -> None:
    import subprocess
    import sys

    tiny.sentence_encoder(tiny.write_backbone(tmp_path / "plain")).save(tmp_path / "saved")
    code = "import sys, pathlib; from harness.models.read import read_any; "
    code += "read_any(pathlib.Path(sys.argv[1])); sys.exit('sentence_transformers' in sys.modules)"
    subprocess.run([sys.executable, "-c", code, str(tmp_path / "saved")], check=True, capture_output=True)


@pytest.mark.parametrize("place", ["network", "pooling", "model"])
def test_what_is_attached_to_a_loaded_model_is_not_taken_over(folder: Path, place: str) -> None:
    from harness.models.fast import Unrecognised, computed_here
    from harness.models.foreign import load_model

    model = load_model(folder)
    computed_here(model, folder)
    model = load_model(folder)
    part = {"network": model[0].model.encoder.layer[0], "pooling": model[1], "model": model}[place]
    part.register_forward_hook(lambda module, given, made: None)
    with pytest.raises(Unrecognised):
        computed_here(model, folder)
