"""Networks and tokenizers in the layout of transformers, from which trainings start: read in fp32.

Code of a folder never runs. The validity of settings is left to transformers.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from methods.core.errors import InputError
from methods.core.model_errors import check_stored, in_one_line, read_json

if TYPE_CHECKING:
    from torch import Tensor, nn

SETTINGS = ("config.json", "sentence_*_config.json")
"""Files whose entries are passed to a network's constructor."""

LAYER = re.compile(r"(^|\.)(layers?|h|blocks?)\.\d+\.")
"""Pattern of layer weights; unused heads of other tasks are allowed, unused layers are not."""

TOKENIZER, VOCABULARY, BYTE_PAIRS = "tokenizer.json", "vocab.txt", "vocab.json and merges.txt"
TOKENIZER_FILES = (TOKENIZER, VOCABULARY, BYTE_PAIRS)
"""Files that a tokenizer is built from; the first one in a folder counts."""

TEXTS = ("A man plays the GUITAR.", "Café naı\u0308ve  two  spaces", "\ufb01ne 你好")
"""Texts that tokenizers with different settings split differently: case, accents, spaces."""

POOLERS = ("bert", "roberta", "xlm-roberta", "mpnet", "camembert")
"""Values of `model_type` whose networks may be built without a pooler."""


def load_backbone(folder: Path, *, hf_pooler: bool = False) -> nn.Module:
    """Returns the transformer of a folder in fp32 and eval mode.

    `hf_pooler` keeps the pre-trained pooler. Attention is computed as the library chooses for the family.
    Errors: InputError if the folder has no model, contains code or lacks weights.
    """
    from transformers import AutoModel

    settings = read_settings(folder)
    extra: dict[str, Any] = {"add_pooling_layer": hf_pooler} if settings.model_type in POOLERS else {}
    return read_model(AutoModel, folder, expected="every weight of a transformer", config=settings, **extra)


def read_settings(folder: Path) -> Any:
    """Returns the content of config.json. Errors: InputError if it is not a configuration."""
    from transformers import AutoConfig

    check_kernels(folder)
    if not (folder / "config.json").is_file():
        raise InputError(f"{folder}: no config.json, so not a Hugging Face model folder")
    with in_one_line(folder, "a model"):
        return AutoConfig.from_pretrained(folder, trust_remote_code=False, local_files_only=True)


def read_model(
    kind: Any, folder: Path, *, expected: str, computed: str = "position_ids", **options: Any
) -> nn.Module:
    """Returns the network that an Auto class of transformers (`kind`) loads, in fp32 and eval mode.

    Weights are safetensors or a pickle of tensors only. Weights with `computed` in their name may be missing.
    Errors: InputError, which names the `expected` network, if the folder has no such network, contains code,
    or describes a network that does not match its weights.
    """
    import torch

    check_kernels(folder)
    check_stored(folder)
    with in_one_line(folder, expected):
        model, report = kind.from_pretrained(
            folder,
            trust_remote_code=False,
            local_files_only=True,
            weights_only=True,
            dtype=torch.float32,
            output_loading_info=True,
            **options,
        )
    missing = [key for key in report["missing_keys"] if computed not in key]
    check_weights(folder, model, missing, report["unexpected_keys"], expected=expected)
    return model.eval()


def check_weights(
    folder: Path, model: Any, missing: Iterable[str], unexpected: Iterable[str], *, expected: str
) -> None:
    """Raises InputError if weights are missing or a layer of the network is unused.

    Other networks in the file (a generator, a momentum copy) do not count.
    """
    absent, unused = sorted(missing), sorted(unexpected)
    if absent:
        under = next((key for key in unused if key.endswith(f".{absent[0]}")), None)
        hint = f" (there is {under})" if under else ""
        raise InputError(
            f"{folder}: {len(absent)} weights are missing, the first is {absent[0]}{hint}; "
            f"expected {expected}"
        )
    prefix = f"{model.base_model_prefix}."
    names = {_without_numbers(name.removeprefix(prefix)) for name in model.state_dict()}
    empty = {f"{name.removeprefix(prefix)}." for name in _empty_stacks(model)}
    for key in unused:
        layer, name = LAYER.search(key), key.removeprefix(prefix)
        if layer and (_without_numbers(name) in names or name.startswith(tuple(empty))):
            raise InputError(f"{folder}: holds {key}, a layer more than its configuration describes")


def check_kernels(folder: Path) -> None:
    """Raises InputError if settings name kernels of the hub, which are code."""
    for pattern in SETTINGS:
        for path in sorted([*folder.glob(pattern), *folder.glob(f"*/{pattern}")]):
            _check_entry(path, read_json(path))


def load_tokenizer(folder: Path) -> Any:
    """Returns the fast tokenizer of a folder without its truncation and padding settings.

    Its `stated_length` is the longest input in tokens that the folder states.
    Errors: InputError if the folder has none of TOKENIZER_FILES, a word is repeated, or no token can be used
    as padding.
    """
    from transformers import AddedToken

    file = _tokenizer_file(folder)
    # RoBERTa's mask includes the space before it; transformers 5 builds one that does not.
    mask = {"mask_token": AddedToken("<mask>", lstrip=True)} if file == BYTE_PAIRS else {}
    tokenizer = as_stored(read_tokenizer(folder, **mask), folder)
    if not hasattr(tokenizer, "backend_tokenizer"):
        raise InputError(f"{folder}: {type(tokenizer).__name__} is not a fast tokenizer; add {TOKENIZER}")
    ids = tokenizer.get_vocab().values()
    tokenizer.highest_id = max(ids, default=-1)
    if len(set(ids)) < len(ids):
        raise InputError(f"{folder}: two words of the tokenizer have the same id")
    tokenizer.backend_tokenizer.no_truncation()
    tokenizer.backend_tokenizer.no_padding()
    tokenizer.stated_length = tokenizer.model_max_length
    pad_with_another(tokenizer, folder)
    return tokenizer


def read_tokenizer(folder: Path, **options: Any) -> Any:
    """Returns the tokenizer of a folder as transformers reads it. Errors: InputError if there is none."""
    from transformers import AutoTokenizer

    with in_one_line(folder, "a tokenizer"):
        return AutoTokenizer.from_pretrained(
            folder, trust_remote_code=False, local_files_only=True, **options
        )


def as_stored(tokenizer: Any, folder: Path) -> Any:
    """Returns the tokenizer that transformers built, or that of tokenizer.json if it is of another kind.

    transformers chooses a tokenizer by the class name in tokenizer_config.json. If the name is missing or
    wrong, it silently builds one with another kind of model or other words. Other differences, such as a
    stated end token, stay. `instead` is a note in both cases.
    """
    from tokenizers import Tokenizer
    from transformers import PreTrainedTokenizerFast

    built = getattr(tokenizer, "backend_tokenizer", None)
    if type(tokenizer) is PreTrainedTokenizerFast or built is None or not (folder / TOKENIZER).is_file():
        return tokenizer
    with in_one_line(folder, "a tokenizer"):
        stored = Tokenizer.from_file(str(folder / TOKENIZER))
        for one in (built, stored):
            one.no_truncation()
            one.no_padding()
        if type(built.model) is not type(stored.model):
            difference = "kind of model"
        elif built.get_vocab(with_added_tokens=False) != stored.get_vocab(with_added_tokens=False):
            difference = "vocabulary"
        else:
            pieces = [[text.ids for text in one.encode_batch([*TEXTS])] for one in (built, stored)]
            if pieces[0] != pieces[1]:
                tokenizer.instead = (
                    f"{folder}: {type(tokenizer).__name__} gives other tokens than {TOKENIZER}"
                )
            return tokenizer
        read = PreTrainedTokenizerFast.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
    kind = type(tokenizer).__name__
    read.instead = f"{folder}: {kind} has another {difference} than {TOKENIZER}, which is used"
    return read


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


def read_words(path: Path) -> list[str]:
    """Returns the words in a file, one per line. Errors: InputError for bytes that are not UTF-8 or a
    repeated word."""
    try:
        words = path.read_text(encoding="utf-8").removesuffix("\n").split("\n")
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not UTF-8 ({error}); fetch it again") from None
    seen = set[str]()
    repeated = next((word for word in words if word in seen or seen.add(word)), None)  # type: ignore[func-returns-value]
    if repeated is not None:
        raise InputError(f"{path}: {repeated!r} is repeated")
    return words


def read_tensors(path: Path) -> dict[str, Tensor]:
    """Returns the tensors in a safetensors file. Errors: InputError for any other file."""
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    try:
        return load_file(path)
    except (FileNotFoundError, SafetensorError) as error:
        raise InputError(f"{path}: cannot be read ({error}), expected a safetensors file") from None


def _tokenizer_file(folder: Path) -> str:
    """Returns the first of TOKENIZER_FILES in a folder, after a check of its words."""
    for names in TOKENIZER_FILES:
        if all((folder / name).is_file() for name in names.split(" and ")):
            if names == VOCABULARY:
                read_words(folder / VOCABULARY)
            return names
    raise InputError(
        f"{folder}: no tokenizer.json, expected the tokenizer next to the model "
        f"({', or '.join(TOKENIZER_FILES)}); add it"
    )


def _check_entry(path: Path, value: Any) -> None:
    for entry in value if isinstance(value, list) else ():
        _check_entry(path, entry)
    for key, entry in value.items() if isinstance(value, dict) else ():
        if key.endswith("_implementation") and "/" in str(entry):
            raise InputError(f"{path}: {key} is {entry!r}, a kernel of the hub, which is not run")
        if key in ("use_kernels", "kernel_config") and entry:
            raise InputError(f"{path}: has {key!r}: kernels of the hub are not run")
        _check_entry(path, entry)


def _empty_stacks(model: nn.Module) -> list[str]:
    """Returns the names of the network's stacks of layers that have no layer."""
    from torch.nn import ModuleList

    return [name for name, part in model.named_modules() if isinstance(part, ModuleList) and not len(part)]


def _without_numbers(name: str) -> str:
    return re.sub(r"\.\d+(?=\.)", ".", name)
