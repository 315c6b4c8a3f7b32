"""Comparison of a tokenizer built by transformers with tokenizer.json, which takes precedence.

transformers chooses a tokenizer by the class name in tokenizer_config.json. If the name is missing or wrong,
it silently builds a tokenizer of another kind from the same words.
"""

import json
from pathlib import Path
from typing import Any

from tokenizers import Tokenizer

from methods.core.errors import InputError, OtherWay
from methods.core.model_files import in_one_line, read_json

FILE, CONFIG = "tokenizer.json", "tokenizer_config.json"

PROBES = (
    "A man plays the GUITAR.",
    "Café naı\u0308ve  two  spaces",
    "don't re-do it: 3.14%",
    "\ufb01ne 你好",
)
"""Texts that tokenizers with different settings split differently: case, accents, spaces, punctuation."""

OF_A_CALL = {"version", "truncation", "padding"}
"""Entries of tokenizer.json that do not change tokens: each call sets them."""

STATED = ("do_lower_case", "strip_accents", "tokenize_chinese_chars", "add_prefix_space")
"""Entries of tokenizer_config.json that take precedence over tokenizer.json."""


def as_in_file(tokenizer: Any, folder: Path) -> Any:
    """Returns the tokenizer of a folder, consistent with tokenizer.json if the file exists.

    Its attribute `instead` is a note if another tokenizer was built at first, None otherwise.
    Errors: InputError if no class of transformers gives these tokens.
    """
    from transformers import PreTrainedTokenizerFast

    tokenizer.instead = None
    if type(tokenizer) is PreTrainedTokenizerFast or not hasattr(tokenizer, "backend_tokenizer"):
        return tokenizer
    if not (folder / FILE).is_file():
        return tokenizer
    if _is_written(tokenizer.backend_tokenizer, folder / FILE):
        return tokenizer
    with in_one_line(folder, "a tokenizer"):
        file = Tokenizer.from_file(str(folder / FILE))
        difference = _difference(tokenizer.backend_tokenizer, file)
        if difference is None or (difference == "word pieces of a text" and _states_a_setting(folder)):
            return tokenizer
        read = PreTrainedTokenizerFast.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
    if _difference(read.backend_tokenizer, file) is not None:
        raise InputError(f"{folder}: {CONFIG} and {FILE} differ in {difference}")
    read.instead = (
        f"{folder / CONFIG}: {type(tokenizer).__name__} has another {difference} than {FILE}, which is used"
    )
    return read


def check_reading(encoder: Any, folder: Path) -> None:
    """Raises OtherWay unless the tokenizer's own call gives the inputs that the encoder uses.

    Compares ids, padding on the right, the mask, a single token type, and truncation.
    """
    limit, tokenizer = encoder.input_limit, encoder.tokenizer
    texts = [*PROBES, " ".join([PROBES[0]] * (limit // 4 + 1))]  # at least four words
    encoding = tokenizer(texts, padding=True, truncation=True, max_length=limit)
    tokenizer.backend_tokenizer.no_truncation()
    tokenizer.backend_tokenizer.no_padding()
    expected = encoder.tokenize(texts)
    same = {name: encoding.get(name) == tensor.tolist() for name, tensor in expected.items()}
    different = [name for name, equal in same.items() if not equal]
    if any(any(row) for row in encoding.get("token_type_ids", [])):
        different.append("token_type_ids")
    if different:
        raise OtherWay(f"{folder / CONFIG}: its settings give other {different[0]}")


def pad_with_another(tokenizer: Any, folder: Path) -> None:
    """Sets a padding token if the tokenizer has none: padding is masked, so no vector depends on it.

    Errors: InputError if the tokenizer has no special token.
    """
    if tokenizer.pad_token_id is not None:
        return
    known = tokenizer.get_vocab()
    names = ("eos_token", "sep_token", "unk_token", "bos_token", "cls_token")
    for token in (getattr(tokenizer, name) for name in names):
        if token is not None and str(token) in known:
            tokenizer.pad_token = str(token)
            return
    raise InputError(f"{folder}: the tokenizer has no special token to pad with; set pad_token in its config")


def _is_written(built: Tokenizer, path: Path) -> bool:
    """Returns whether a file states every setting of a built tokenizer, without building it again.

    Otherwise the two may still be equal, because older files use another syntax.
    """
    stated, actual = read_json(path), json.loads(built.to_str())
    names = (stated.keys() | actual.keys()) - OF_A_CALL
    return all(stated.get(name) == actual.get(name) for name in names)


def _difference(built: Tokenizer, file: Tokenizer) -> str | None:
    """Returns the difference between two tokenizers, None if they are equal."""
    if type(built.model) is not type(file.model):
        return "kind of model"
    for tokenizer in (built, file):
        tokenizer.no_truncation()
        tokenizer.no_padding()
    if built.get_vocab(with_added_tokens=False) != file.get_vocab(with_added_tokens=False):
        return "vocabulary"
    pieces = [[encoding.ids for encoding in one.encode_batch(list(PROBES))] for one in (built, file)]
    return None if pieces[0] == pieces[1] else "word pieces of a text"


def _states_a_setting(folder: Path) -> bool:
    config = read_json(folder / CONFIG) if (folder / CONFIG).is_file() else {}
    return any(config.get(key) is not None for key in STATED)
