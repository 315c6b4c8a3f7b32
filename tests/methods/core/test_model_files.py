"""Weights and tokenizers in any layout: which file counts, what is missing, and one line for an error."""

import json
import shutil
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from methods.core import checkpoints
from methods.core.checkpoints import TEXTS, as_stored, load_tokenizer, pad_with_another, read_tokenizer
from methods.core.errors import InputError, near_matches, without_advice
from methods.core.model_errors import check_stored, in_one_line, read_json
from tests.support import tiny


@pytest.fixture(scope="module")
def backbone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny.write_backbone(tmp_path_factory.mktemp("files") / "bert")


@pytest.fixture
def folder(backbone: Path, tmp_path: Path) -> Path:
    """The tokenizer of a backbone alone."""
    for name in ("tokenizer.json", "tokenizer_config.json", "config.json"):
        shutil.copyfile(backbone / name, tmp_path / name)
    return tmp_path


STORED = (
    "model.safetensors",
    "model.safetensors.index.json",
    "pytorch_model.bin",
    "pytorch_model.bin.index.json",
)
INSTEAD = ("a.onnx", "a.gguf", "a.h5", "a.msgpack", "a.xml", "a.bin", "a.safetensors", "a.pt")
"""Weights of other formats, in the order in which one of them is named."""


@pytest.mark.parametrize("name", STORED)
def test_one_of_four_files_is_enough(tmp_path: Path, name: str) -> None:
    (tmp_path / name).touch()
    check_stored(tmp_path)


def test_weights_of_another_format_are_named_in_a_fixed_order(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    for name in ("a.json", "a.txt"):
        (tmp_path / name).write_text("{}")
    for name in INSTEAD:
        (tmp_path / "deep" / name).touch()
    for name in INSTEAD:
        with pytest.raises(
            InputError, match=rf": no weights, has deep/{name}; expected model\.safetensors or pytorch_model"
        ):
            check_stored(tmp_path)
        (tmp_path / "deep" / name).unlink()
    with pytest.raises(InputError, match=r": no weights; expected model\.safetensors or pytorch_model\.bin$"):
        check_stored(tmp_path)


def test_of_several_weights_of_one_format_the_first_by_name_is_told(tmp_path: Path) -> None:
    for name in ("d", "b", "a", "c", "e"):
        (tmp_path / f"{name}.onnx").touch()
    with pytest.raises(InputError, match=r"has a\.onnx; expected"):
        check_stored(tmp_path)


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (
            ValueError("set\n trust_remote_code=True"),
            "contains Python code (auto_map or a custom module), which",
        ),
        (
            RuntimeError("Weights only load failed. GLOBAL os.system was not allowed"),
            "contains objects other than tensors (os.system), which are not read",
        ),
        (RuntimeError("weights only load failed"), "contains objects other than tensors, which are not read"),
        (KeyError("x" * 400), f"cannot be read as a test (KeyError: '{'x' * 299})"),
        (Exception("a\n  b"), "cannot be read as a test (Exception: a b)"),
        (OSError("no number"), "cannot be read as a test (OSError: no number)"),
    ],
)
def test_an_error_of_a_library_is_one_line_about_the_folder(
    tmp_path: Path, error: Exception, words: str
) -> None:
    (tmp_path / "model.safetensors").touch()
    with pytest.raises(InputError) as caught, in_one_line(tmp_path, "a test"):
        raise error
    assert str(caught.value).startswith(f"{tmp_path}: {words}")
    assert "\n" not in str(caught.value)


def test_a_damaged_file_of_settings_is_the_cause_and_weights_that_are_missing_the_next(
    tmp_path: Path,
) -> None:
    def said() -> str:
        with pytest.raises(InputError) as caught, in_one_line(tmp_path):
            raise ValueError("a reason")
        return str(caught.value).removeprefix(str(tmp_path))

    assert said() == ": cannot be read as a model (ValueError: a reason)"
    (tmp_path / "model.onnx").touch()
    assert said() == ": no weights, has model.onnx; expected model.safetensors or pytorch_model.bin"
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep/a.json").write_text("[1]")
    (tmp_path / "deep/pytorch_model.bin").touch()
    assert said() == ": cannot be read as a model (ValueError: a reason)"
    (tmp_path / "deep/b.json").write_text("{")
    assert said().startswith("/deep/b.json: not a JSON file (")


@pytest.mark.parametrize(
    "error", [InputError("own"), MemoryError(), OSError(28, "full"), KeyboardInterrupt()]
)
def test_own_errors_and_those_of_the_system_pass(tmp_path: Path, error: BaseException) -> None:
    with pytest.raises(type(error)) as caught, in_one_line(tmp_path):
        raise error
    assert caught.value is error


def test_a_json_file_holds_what_is_expected(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    for text, kind, expected in (("{}", dict, "dict"), ("[]", list, "list")):
        path.write_text(text)
        read_json(path, kind)
        read_json(path, object)
        with pytest.raises(InputError, match=rf"a\.json: holds a {expected}, expected a int"):
            read_json(path, int)
    for damaged in (b"{", b"\xff", b"[" * 100_000):
        path.write_bytes(damaged)
        with pytest.raises(InputError, match=r"a\.json: not a JSON file \(.*\); get the file again"):
            read_json(path)


def test_advice_of_torch_is_left_out_and_three_near_names_are_shown() -> None:
    assert without_advice("a reason") == "a reason"
    known = ["abcd", "abce", "abcf", "abcg", "zz"]
    assert near_matches("abc", known).count(",") == 2
    assert near_matches("xyz", known) == ""
    assert near_matches("abzz", ["abcd"]) == " (did you mean abcd?)"
    assert near_matches("azzz", ["abcd"]) == ""


def test_a_tokenizer_is_built_from_the_first_of_its_files(folder: Path) -> None:
    words = load_tokenizer(folder).get_vocab()
    ordered = sorted(words, key=words.__getitem__)
    (folder / "vocab.txt").write_text("\n".join([*ordered, ordered[7]]))
    assert load_tokenizer(folder).get_vocab() == words, "tokenizer.json counts"
    (folder / "tokenizer.json").unlink()
    with pytest.raises(InputError, match=rf"vocab\.txt: '{ordered[7]}' is repeated"):
        load_tokenizer(folder)
    (folder / "vocab.txt").unlink()
    files = r"\(tokenizer\.json, or vocab\.txt, or vocab\.json and merges\.txt\); add it"
    with pytest.raises(InputError, match=rf"no tokenizer\.json, expected the tokenizer .* {files}"):
        load_tokenizer(folder)


def edit(path: Path, change: Any) -> None:
    path.write_text(json.dumps(change(json.loads(path.read_text()))))


def test_length_and_padding_of_a_file_are_told_and_not_applied(folder: Path) -> None:
    edit(folder / "tokenizer_config.json", lambda config: {**config, "model_max_length": 7})
    limits = {
        "truncation": {"max_length": 3, "strategy": "LongestFirst", "stride": 0, "direction": "Right"},
        "padding": {
            "strategy": {"Fixed": 9}, "direction": "Right", "pad_to_multiple_of": None, "pad_id": 0,
            "pad_type_id": 0, "pad_token": "[PAD]",
        },
    }  # fmt: skip
    edit(folder / "tokenizer.json", lambda made: {**made, **limits})
    tokenizer = load_tokenizer(folder)
    assert tokenizer.stated_length == 7
    assert tokenizer.highest_id == max(tokenizer.get_vocab().values())
    texts = ["the man runs under the old tree", "cat"]
    lengths = [len(one.ids) for one in tokenizer.backend_tokenizer.encode_batch(texts)]
    assert lengths[0] > 7
    assert lengths[1] == 3


def test_two_words_of_one_id_are_refused(folder: Path) -> None:
    def twice(made: Any) -> Any:
        vocabulary = made["model"]["vocab"]
        vocabulary["another"] = vocabulary["the"]
        return made

    edit(folder / "tokenizer.json", twice)
    with pytest.raises(InputError, match="two words of the tokenizer have the same id"):
        load_tokenizer(folder)


def test_a_slow_tokenizer_is_refused(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkpoints, "read_tokenizer", lambda folder, **options: SimpleNamespace())
    with pytest.raises(InputError, match=r"SimpleNamespace is not a fast tokenizer; add tokenizer\.json"):
        load_tokenizer(folder)


class Other:
    """A tokenizer that transformers built from other files than tokenizer.json."""

    def __init__(self, backend: Any) -> None:
        self.backend_tokenizer = backend


def backend_of(folder: Path, change: Any = None) -> Any:
    from tokenizers import Tokenizer

    made = json.loads((folder / "tokenizer.json").read_text())
    if change:
        change(made)
    return Tokenizer.from_str(json.dumps(made))


def more_words(made: Any) -> None:
    made["model"]["vocab"]["another"] = len(made["model"]["vocab"])


def of_letters(made: Any) -> None:
    made["model"] = {"type": "BPE", "vocab": {"a": 0}, "merges": []}


def normalised(**settings: bool) -> Any:
    return lambda made: made["normalizer"].update(settings)


@pytest.mark.parametrize(
    ("change", "difference"), [(more_words, "vocabulary"), (of_letters, "kind of model")]
)
def test_tokenizer_json_is_read_if_another_tokenizer_was_built(
    folder: Path, change: Any, difference: str
) -> None:
    read = as_stored(Other(backend_of(folder, change)), folder)
    assert read.instead == f"{folder}: Other has another {difference} than tokenizer.json, which is used"
    assert read.get_vocab() == load_tokenizer(folder).get_vocab()


def test_other_tokens_of_equal_words_are_noted_and_equal_ones_are_not(folder: Path) -> None:
    note_of = f"{folder}: Other gives other tokens than tokenizer.json"
    cases = [
        (None, None),
        *((normalised(**{name: False}), note_of) for name in ("lowercase", "strip_accents")),
        (normalised(lowercase=True), None),
    ]
    for change, note in cases:
        given = Other(backend_of(folder, change))
        assert as_stored(given, folder) is given
        assert getattr(given, "instead", None) == note
    assert {text for text in TEXTS if text.isascii()} == {"A man plays the GUITAR."}, (
        "capitals without accents"
    )
    assert any("  " in text for text in TEXTS), "blanks"
    assert any("\ufb01" in text and "\u4f60" in text for text in TEXTS), "compatible and Chinese characters"
    (folder / "tokenizer.json").unlink()
    alone = Other(None)
    assert as_stored(alone, folder) is alone


@pytest.mark.parametrize(
    ("tokens", "padding"),
    [
        ({"eos_token": "e", "sep_token": "s", "unk_token": "u", "bos_token": "b", "cls_token": "c"}, "e"),
        ({"sep_token": "s", "unk_token": "u", "bos_token": "b", "cls_token": "c"}, "s"),
        ({"unk_token": "u", "bos_token": "b", "cls_token": "c"}, "u"),
        ({"bos_token": "b", "cls_token": "c"}, "b"),
        ({"cls_token": "c"}, "c"),
        ({"eos_token": "no word", "cls_token": "c"}, "c"),
    ],
)
def test_padding_is_the_first_special_token_that_is_a_word(tokens: dict[str, str], padding: str) -> None:
    names = ("eos_token", "sep_token", "unk_token", "bos_token", "cls_token")
    tokenizer = SimpleNamespace(
        pad_token_id=None, get_vocab=lambda: dict.fromkeys("esubc", 0), **{**dict.fromkeys(names), **tokens}
    )
    pad_with_another(tokenizer, Path("folder"))
    assert tokenizer.pad_token == padding
    known = SimpleNamespace(pad_token_id=0)
    pad_with_another(known, Path("folder"))
    assert vars(known) == {"pad_token_id": 0}


def test_an_unreadable_tokenizer_is_one_line(folder: Path) -> None:
    (folder / "tokenizer.json").write_text("{")
    with pytest.raises(InputError, match=r"tokenizer\.json: not a JSON file"):
        read_tokenizer(folder)
