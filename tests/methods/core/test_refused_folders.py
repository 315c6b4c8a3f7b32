"""Every way in which a folder of this project may be damaged has one line, which names the file."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file

from methods.core.checkpoints import check_kernels, read_settings, read_words
from methods.core.errors import InputError
from methods.core.folders import is_own, load_encoder, read_marker, transformer_folder
from methods.core.saving import LIBRARY
from methods.core.words import load_word_average
from tests.support import tiny
from tests.support.samples import write_words

Edit = Callable[[Path], Any]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """An encoder with an output layer and Normalize, one that the library cannot read, and word vectors."""
    top = tmp_path_factory.mktemp("made")
    encoder = tiny.sentence_encoder(tiny.write_backbone(top / "bert"))
    encoder.output, encoder.activation, encoder.normalize = torch.nn.Linear(16, 6), "tanh", True
    encoder.save(top / "whole")
    encoder.pooling = "last-two-avg"
    encoder.save(top / "hidden")
    words = load_word_average(write_words(top / "average"))
    words.output = torch.nn.Linear(16, 3)
    words.save(top / "words")
    return {name: top / name for name in ("whole", "hidden", "words")}


@pytest.fixture
def copy_of(made: dict[str, Path], tmp_path: Path) -> Callable[[str], Path]:
    def copied(name: str) -> Path:
        shutil.copytree(made[name], tmp_path / name, copy_function=shutil.copyfile)
        return tmp_path / name

    return copied


def edited(name: str, change: Callable[[Any], Any]) -> Edit:
    def edit(folder: Path) -> None:
        path = folder / name
        path.write_text(json.dumps(change(json.loads(path.read_text()))))

    return edit


def removed(name: str) -> Edit:
    return lambda folder: (folder / name).unlink()


def with_tensors(name: str, change: Callable[[dict[str, Any]], dict[str, Any]]) -> Edit:
    return lambda folder: save_file(change(load_file(folder / name)), folder / name)


def without_pooling(**modes: bool) -> Edit:
    """The marker of an earlier release has no pooling; the folder's own file states it."""

    def edit(folder: Path) -> None:
        edited("sentbench.json", lambda marker: {**marker, "pooling": None})(folder)
        plain = {"pooling_mode_cls_token": False, "pooling_mode_mean_tokens": False}
        (folder / "1_Pooling/config.json").write_text(
            json.dumps({"word_embedding_dimension": 16, **plain, **modes})
        )

    return edit


def modules(*names: str) -> Edit:
    def listed(_: Any) -> Any:
        return [{"idx": n, "path": "", "type": LIBRARY + name} for n, name in enumerate(names)]

    return edited("modules.json", listed)


DENSE = "2_Dense/model.safetensors"
HELD = r"and holds one of \(16, 6, True\), expected one for 16"
OUTPUT = r"expected weight \[out, in\] and optionally bias \[out\]"
WHOLE: list[tuple[Edit, str]] = [
    (edited("sentbench.json", lambda marker: {**marker, "format": 2}), "encoder format 2, expected 1; exp"),
    (edited("sentbench.json", lambda marker: {"kind": "transformer"}), "encoder format None, expected 1"),
    (edited("sentbench.json", lambda marker: [marker]), "sentbench.json: holds a list, expected a dict"),
    (removed("modules.json"), r"no modules\.json; export it again"),
    (edited("modules.json", lambda made: {"modules": made}), "modules.json: holds a dict, expected a list"),
    (edited("modules.json", lambda made: [{"path": ""}, *made[1:]]), "a module needs a type and a path"),
    (edited("modules.json", lambda made: [made[0], {"type": "a"}]), "a module needs a type and a path"),
    (edited("modules.json", lambda made: [*made[:2], "2_Dense"]), "a module needs a type and a path"),
    (modules("Transformer"), "modules Transformer, expected Transformer, Pooling and perhaps Normalize"),
    (modules("Pooling", "Transformer"), "modules Pooling, Transformer, expected Transformer, Pooling and p"),
    (
        modules("Transformer", "Pooling", "Normalize", "Dense"),
        "modules Transformer, Pooling, Normalize, Dense, expected Transformer, Pooling and perhaps Normalize",
    ),
    (
        modules("Transformer", "Pooling", "Dense", "Dense"),
        "Dense, Dense, expected Transformer, Pooling, Dense and perhaps Normalize",
    ),
    (without_pooling(), r"1_Pooling/config\.json: pools by nothing, expected cls or mean"),
    (without_pooling(pooling_mode_max_tokens=True), "pools by pooling_mode_max_tokens, expected cls or mean"),
    (
        without_pooling(pooling_mode_cls_token=True, pooling_mode_mean_tokens=True),
        "pools by pooling_mode_cls_token, pooling_mode_mean_tokens, expected",
    ),
    (
        edited("2_Dense/config.json", lambda layer: {**layer, "activation_function": "torch.nn.ReLU"}),
        r"2_Dense/config\.json: activation_function is 'torch\.nn\.ReLU'",
    ),
    (
        edited("2_Dense/config.json", lambda layer: {**layer, "in_features": 15}),
        rf"states a layer of \(15, 6, True\) {HELD}",
    ),
    (
        edited("2_Dense/config.json", lambda layer: {**layer, "out_features": 5}),
        rf"states a layer of \(16, 5, True\) {HELD}",
    ),
    (
        edited("2_Dense/config.json", lambda layer: {**layer, "bias": False}),
        rf"states a layer of \(16, 6, False\) {HELD}",
    ),
    (with_tensors(DENSE, lambda layer: {**layer, "more": torch.ones(1)}), rf"more.*{OUTPUT}"),
    (with_tensors(DENSE, lambda layer: {"linear.bias": layer["linear.bias"]}), OUTPUT),
    (with_tensors(DENSE, lambda layer: {**layer, "linear.bias": torch.ones(5)}), rf"\[5\].*{OUTPUT}"),
    (with_tensors(DENSE, lambda layer: {"linear.weight": torch.ones(0, 16)}), rf"\[0, 16\].*{OUTPUT}"),
    (with_tensors(DENSE, lambda layer: {"linear.weight": torch.ones(6)}), rf"\[6\].*{OUTPUT}"),
    (lambda folder: (folder / DENSE).write_bytes(b"no tensors"), "cannot be read .*, expected a safetensors"),
    (removed(DENSE), "cannot be read .*, expected a safetensors"),
]


@pytest.mark.parametrize(("damage", "words"), WHOLE)
def test_a_damaged_encoder_is_refused_in_one_line(
    copy_of: Callable[[str], Path], damage: Edit, words: str
) -> None:
    folder = copy_of("whole")
    damage(folder)
    with pytest.raises(InputError, match=rf"^{folder}[^\n]*{words}[^\n]*$"):
        load_encoder(folder)


def test_a_layer_of_another_width_than_the_transformers_is_refused(copy_of: Callable[[str], Path]) -> None:
    """It states what it holds."""
    folder = copy_of("whole")
    save_file({"linear.weight": torch.ones(6, 8), "linear.bias": torch.ones(6)}, folder / DENSE)
    edited("2_Dense/config.json", lambda layer: {**layer, "in_features": 8})(folder)
    held = r"\(8, 6, True\) and holds one of \(8, 6, True\), expected one for 16"
    with pytest.raises(InputError, match=held):
        load_encoder(folder)


@pytest.mark.parametrize(("mode", "pooling"), [("cls_token", "cls"), ("mean_tokens", "mean")])
def test_a_folder_without_a_pooling_in_its_marker_has_the_one_of_its_module(
    copy_of: Callable[[str], Path], mode: str, pooling: str
) -> None:
    folder = copy_of("whole")
    without_pooling(**{f"pooling_mode_{mode}": True})(folder)
    encoder: Any = load_encoder(folder)
    assert (encoder.pooling, encoder.activation, encoder.normalize) == (pooling, "tanh", True)
    assert encoder.output.out_features == 6


def test_another_pooling_drops_output_layer_and_normalisation(copy_of: Callable[[str], Path]) -> None:
    for name in ("whole", "hidden"):
        encoder: Any = load_encoder(copy_of(name), pooling="cls")
        assert (encoder.pooling, encoder.output, encoder.normalize) == ("cls", None, False)


def test_a_folder_that_the_library_cannot_read_has_its_transformer_below(
    copy_of: Callable[[str], Path],
) -> None:
    folder = copy_of("hidden")
    assert transformer_folder(folder) == folder / "transformer"
    encoder: Any = load_encoder(folder)
    assert (encoder.pooling, encoder.activation, encoder.normalize) == ("last-two-avg", "tanh", True)
    (folder / "sentbench-modules.json").unlink()
    with pytest.raises(InputError, match=r"no sentbench-modules\.json; export it again"):
        load_encoder(folder)


def test_a_transformer_is_in_the_folder_of_the_first_module(copy_of: Callable[[str], Path]) -> None:
    folder = copy_of("whole")
    assert transformer_folder(folder) == folder
    edited("modules.json", lambda made: [{**made[0], "path": "0_Transformer"}, *made[1:]])(folder)
    assert transformer_folder(folder) == folder / "0_Transformer"
    edited("modules.json", lambda made: [{"type": one["type"], "path": "1"} for one in made])(folder)
    assert transformer_folder(folder) == folder / "1", "a type and a path are enough"


def test_a_folder_of_no_program_names_what_it_lacks(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="none: no such folder"):
        load_encoder(tmp_path / "none")
    with pytest.raises(InputError, match=r"no modules\.json and no config\.json, expected an encoder folder"):
        load_encoder(tmp_path)
    with pytest.raises(InputError, match=r"no config\.json, so not a Hugging Face model folder"):
        load_encoder(tmp_path, pooling="cls")
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(InputError, match=r"no modules\.json that states the pooling; give --pooling"):
        load_encoder(tmp_path)
    with pytest.raises(InputError, match=r"pooling 'meen' is not known; .*did you mean mean"):
        load_encoder(tmp_path, pooling="meen")


WORDS: list[tuple[Edit, str]] = [
    (removed("vocab.txt"), r"no vocab\.txt; fetch it again"),
    (with_tensors("vectors.safetensors", lambda _: {"vectors": torch.ones(2)}), "needs a tensor `vectors`"),
    (with_tensors("vectors.safetensors", lambda _: {"table": torch.ones(2, 2)}), "needs a tensor `vectors`"),
    (
        with_tensors("vectors.safetensors", lambda made: {"vectors": made["vectors"].int()}),
        r"vectors\.safetensors: needs a tensor `vectors` \[V, width\] of floats",
    ),
    (with_tensors("vectors.safetensors", lambda _: {"vectors": torch.ones(0, 2)}), "of floats"),
    (
        with_tensors("vectors.safetensors", lambda made: {"vectors": made["vectors"][1:]}),
        rf"{len(tiny.WORDS)} words but {len(tiny.WORDS) - 1} vectors; fetch it again",
    ),
    (
        with_tensors("output.safetensors", lambda _: {"weight": torch.ones(3, 15)}),
        "the output layer reads 15 numbers, not 16",
    ),
    (with_tensors("output.safetensors", lambda _: {"bias": torch.ones(3)}), OUTPUT),
]


@pytest.mark.parametrize(("damage", "words"), WORDS)
def test_damaged_word_vectors_are_refused_in_one_line(
    copy_of: Callable[[str], Path], damage: Edit, words: str
) -> None:
    folder = copy_of("words")
    damage(folder)
    with pytest.raises(InputError, match=rf"^{folder}[^\n]*{words}[^\n]*$"):
        load_encoder(folder)


def test_word_vectors_are_known_by_their_marker_or_by_their_file(copy_of: Callable[[str], Path]) -> None:
    folder = copy_of("words")
    assert read_marker(folder) == {"format": 1, "kind": "word-average"}
    encoder: Any = load_encoder(folder)
    assert (encoder.width, encoder.dim) == (16, 3)
    (folder / "sentbench.json").unlink()
    assert is_own(folder)
    assert load_encoder(folder).dim == 3
    (folder / "sentbench.json").write_text('{"kind": "word-average"}')
    (folder / "vectors.safetensors").unlink()
    assert is_own(folder)
    with pytest.raises(InputError, match=r"no vectors\.safetensors; fetch it again"):
        load_encoder(folder)


@pytest.mark.parametrize(
    ("content", "words"),
    [(b"one\ntwo\none\n", "'one' is repeated"), (b"caf\xe9\n", r"not UTF-8 \(.*\); fetch it again")],
)
def test_words_that_cannot_be_counted_are_refused(tmp_path: Path, content: bytes, words: str) -> None:
    (tmp_path / "vocab.txt").write_bytes(content)
    with pytest.raises(InputError, match=rf"vocab\.txt: {words}"):
        read_words(tmp_path / "vocab.txt")


def test_a_last_line_counts_with_its_end_and_without() -> None:
    """A word may be a kind of blank, which does not end a line."""
    for text in ("a\nb\u2028c\n", "a\nb\u2028c"):
        path: Any = type("Text", (), {"read_text": lambda self, encoding, text=text: text})()
        assert read_words(path) == ["a", "b\u2028c"]


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"use_kernels": True}, "has 'use_kernels': kernels of the hub are not run"),
        ({"kernel_config": {"a": 1}}, "has 'kernel_config': kernels of the hub are not run"),
        ({"text": [{"deep": {"use_kernels": 1}}]}, "has 'use_kernels'"),
        ({"attn_implementation": "lab/kernel"}, "attn_implementation is 'lab/kernel', a kernel of the hub"),
        ({"text": {"_experts_implementation": "lab/kernel@main"}}, "which is not run"),
    ],
)
@pytest.mark.parametrize("file", ["config.json", "0_Transformer/config.json", "sentence_bert_config.json"])
def test_kernels_of_the_hub_are_refused_wherever_settings_name_them(
    tmp_path: Path, file: str, settings: dict[str, Any], words: str
) -> None:
    (tmp_path / "0_Transformer").mkdir()
    (tmp_path / file).write_text(json.dumps(settings))
    with pytest.raises(InputError, match=rf"{file}: .*{words}"):
        check_kernels(tmp_path)
    with pytest.raises(InputError, match=words):
        read_settings(tmp_path)


def test_settings_that_turn_kernels_off_are_read(tmp_path: Path) -> None:
    off = {"use_kernels": False, "kernel_config": None, "attn_implementation": "sdpa", "path": "lab/kernel"}
    (tmp_path / "config.json").write_text(json.dumps(off))
    check_kernels(tmp_path)
