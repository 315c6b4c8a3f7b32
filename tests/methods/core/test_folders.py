"""Folders of every legitimate kind are read; tokenizers without a padding token too."""

import json
import shutil
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
from methods.core.folders import cut_layers, load_encoder
from tests.support import tiny

TEXTS = ["a man runs", "", "the dog sleeps under the old tree near the river and the cat sits", "cat"]


@pytest.fixture
def plain(tmp_path: Path) -> Path:
    return tiny.write_backbone(tmp_path / "plain")


@pytest.fixture
def saved(plain: Path, tmp_path: Path) -> Path:
    """A folder of sentence-transformers' old kind, without the marker of this project."""
    encoder = tiny.sentence_encoder(plain).eval()
    encoder.normalize = True
    encoder.save(tmp_path / "saved")
    (tmp_path / "saved/sentbench.json").unlink()
    return tmp_path / "saved"


def edit(path: Path, change: Callable[[Any], Any]) -> None:
    path.write_text(json.dumps(change(json.loads(path.read_text()))))


def new_names(folder: Path) -> None:
    """Gives the modules the class names that sentence-transformers writes from its sixth release on."""
    rooms = {
        "Transformer": "base.modules.transformer",
        "Pooling": "sentence_transformer.modules.pooling",
        "Normalize": "sentence_transformer.modules.normalize",
    }

    def named(module: dict[str, Any]) -> dict[str, Any]:
        kind = module["type"].rsplit(".", 1)[-1]
        return {**module, "type": f"sentence_transformers.{rooms[kind]}.{kind}"}

    edit(folder / "modules.json", lambda modules: [named(module) for module in modules])
    (folder / "1_Pooling/config.json").write_text('{"embedding_dimension": 16, "pooling_mode": "mean"}')


def move_network(folder: Path) -> None:
    """Puts network and tokenizer into a separate folder, as in the first releases."""
    (folder / "0_Transformer").mkdir()
    for path in [path for path in folder.iterdir() if path.is_file() and path.name != "modules.json"]:
        path.rename(folder / "0_Transformer" / path.name)
    edit(folder / "modules.json", lambda modules: [{**modules[0], "path": "0_Transformer"}, *modules[1:]])


def split_weights(folder: Path) -> None:
    """Splits the weights into two files with an index."""
    tensors = load_file(folder / "model.safetensors")
    (folder / "model.safetensors").unlink()
    files = {name: f"model-0000{number % 2 + 1}-of-00002.safetensors" for number, name in enumerate(tensors)}
    for file in set(files.values()):
        save_file(
            {name: tensors[name] for name in tensors if files[name] == file}, folder / file, {"format": "pt"}
        )
    index = {"metadata": {"total_size": 1}, "weight_map": files}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))


def link_files(folder: Path) -> None:
    """Makes every file a link to one outside of the folder, as the cache of the hub has it."""
    blobs = folder.parent / "blobs"
    blobs.mkdir()
    for number, path in enumerate(path for path in sorted(folder.rglob("*")) if path.is_file()):
        path.rename(blobs / str(number))
        path.symlink_to(blobs / str(number))


def old_paths(folder: Path) -> None:
    """Leaves paths of another machine in the tokenizer's configuration, which are not followed."""
    other = folder.parent / "other"
    other.mkdir()
    (other / "tokenizer.json").write_text("{")
    (other / "vocab.txt").write_text("x")
    stale = {
        "tokenizer_file": str(other / "tokenizer.json"),
        "vocab_file": str(other / "vocab.txt"),
        "special_tokens_map_file": str(other / "nothing.json"),
        "name_or_path": "../other",
    }
    edit(folder / "tokenizer_config.json", lambda config: {**config, **stale})


@pytest.mark.parametrize("bias", [True, False])
def test_a_saved_dense_layer_comes_before_the_normalisation_with_a_bias_only_if_it_has_one(
    plain: Path, tmp_path: Path, bias: bool
) -> None:
    from sentence_transformers import SentenceTransformer

    encoder = tiny.sentence_encoder(plain).eval()
    encoder.normalize = True
    torch.manual_seed(0)
    encoder.output = torch.nn.Linear(16, 6, bias=bias)
    encoder.save(tmp_path / "saved")
    expected = encoder.encode(TEXTS)
    np.testing.assert_allclose(np.linalg.norm(expected, axis=1), 1, rtol=1e-6)
    written = load_file(tmp_path / "saved/2_Dense/model.safetensors")
    assert set(written) == ({"linear.weight", "linear.bias"} if bias else {"linear.weight"})
    theirs = SentenceTransformer(
        str(tmp_path / "saved"), device="cpu", local_files_only=True, trust_remote_code=False
    )
    for vectors in (theirs.encode(TEXTS), load_encoder(tmp_path / "saved").encode(TEXTS)):
        np.testing.assert_allclose(vectors, expected, rtol=0, atol=1e-6)


@pytest.mark.parametrize(
    "change",
    [new_names, move_network, split_weights, link_files, old_paths],
    ids=lambda f: f.__name__,
)
def test_folders_of_every_kind_give_the_same_vectors(saved: Path, change: Callable[[Path], None]) -> None:
    expected = load_encoder(saved).encode(TEXTS)
    change(saved)
    assert np.array_equal(read_any(saved).encoder.encode(TEXTS), expected)


def test_weights_in_half_precision_are_read(plain: Path) -> None:
    expected = load_encoder(plain, pooling="mean").encode(TEXTS)
    tensors = load_file(plain / "model.safetensors")
    save_file({name: tensor.half() for name, tensor in tensors.items()}, plain / "model.safetensors")
    np.testing.assert_allclose(load_encoder(plain, pooling="mean").encode(TEXTS), expected, atol=2e-2)


def without(folder: Path, *tokens: str, cls_and_sep: bool = True) -> Path:
    """Takes special tokens out of a tokenizer's configuration; without cls_and_sep it adds none to a text."""
    edit(
        folder / "tokenizer_config.json",
        lambda config: {key: value for key, value in config.items() if key not in tokens},
    )

    if not cls_and_sep:
        edit(folder / "tokenizer.json", lambda tokenizer: {**tokenizer, "post_processor": None})
    (folder / "special_tokens_map.json").unlink(missing_ok=True)
    return folder


def write_gpt(folder: Path, tokenizer: Path) -> Path:
    """Writes a decoder over the words of a tokenizer's folder, whose only special token ends a text."""
    from transformers import GPT2Config, GPT2Model

    torch.manual_seed(0)
    words = len(load_tokenizer(tokenizer).get_vocab())
    sizes = {"n_embd": 16, "n_layer": 2, "n_head": 2, "n_positions": 64}
    GPT2Model(GPT2Config(vocab_size=words, eos_token_id=3, bos_token_id=3, **sizes)).save_pretrained(folder)
    shutil.copy(tokenizer / "tokenizer.json", folder)
    config = {"tokenizer_class": "PreTrainedTokenizerFast", "eos_token": "[SEP]"}
    (folder / "tokenizer_config.json").write_text(json.dumps(config))
    return without(folder, cls_and_sep=False)


@pytest.mark.parametrize("kind", ["bert", "bert without special tokens in texts", "gpt"])
@pytest.mark.parametrize("pooling", ["mean", "cls", "first-last-avg"])
def test_vectors_without_a_padding_token_do_not_depend_on_neighbours(
    plain: Path, tmp_path: Path, kind: str, pooling: str
) -> None:
    if kind == "gpt":
        folder = write_gpt(tmp_path / "gpt", plain)
    else:
        folder = without(plain, "pad_token", cls_and_sep=kind == "bert")
    encoder = load_encoder(folder, pooling=pooling)
    alone = np.concatenate([encoder.encode([text]) for text in TEXTS])
    for size in (128, len(TEXTS)):
        np.testing.assert_allclose(encoder.encode(TEXTS, batch_size=size), alone, atol=1e-6)
    encoder.save(tmp_path / "again")
    np.testing.assert_allclose(load_encoder(tmp_path / "again").encode(TEXTS), alone, atol=1e-6)


def test_a_network_without_a_stack_of_layers_is_not_cut(plain: Path, tmp_path: Path) -> None:
    encoder = load_encoder(write_gpt(tmp_path / "gpt", plain), pooling="mean")
    with pytest.raises(InputError, match="GPT2Model has no layer stack to cut"):
        cut_layers(encoder, 1)


def test_a_stated_padding_token_is_kept_and_its_substitute_gives_the_same_vectors(plain: Path) -> None:
    before = load_encoder(plain, pooling="mean")
    assert before.tokenizer.pad_token == "[PAD]"  # type: ignore[union-attr]
    expected = before.encode(TEXTS)
    after = load_encoder(without(plain, "pad_token"), pooling="mean")
    assert after.tokenizer.pad_token == "[SEP]"  # type: ignore[union-attr]
    assert np.array_equal(after.encode(TEXTS), expected)


def test_a_tokenizer_without_special_tokens_is_refused_with_a_remedy(plain: Path) -> None:
    tokens = ("pad_token", "unk_token", "cls_token", "sep_token", "mask_token")
    with pytest.raises(InputError, match="no special token to pad with; set pad_token"):
        load_tokenizer(without(plain, *tokens))
