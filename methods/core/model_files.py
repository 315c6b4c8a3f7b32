"""Safe reading of model folders: foreign code is refused, and library errors become one line.

The validity of settings is left to transformers and sentence-transformers.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from methods.core.errors import InputError, without_advice

if TYPE_CHECKING:
    from torch import Tensor, nn

WEIGHTS, PICKLED = "model.safetensors", "pytorch_model.bin"
STORED = (WEIGHTS, f"{WEIGHTS}.index.json", PICKLED, f"{PICKLED}.index.json")
"""Weight files that transformers reads; the first one that exists counts."""

MODULES, OWN_MODULES = "modules.json", "sentbench-modules.json"
"""File with the list of modules: as sentence-transformers reads it, and hidden from it."""

MODULE_PACKAGES = ("sentence_transformers", "sentbench")
"""Packages allowed in a list of modules."""

SETTINGS = ("config.json", "sentence_*_config.json")
"""Files whose entries are passed to a network's constructor."""

LAYER = re.compile(r"(^|\.)(layers?|h|blocks?)\.\d+\.")
"""Pattern of layer weights; unused heads of other tasks are allowed, unused layers are not."""

REMOTE_CODE = "trust_remote_code"
"""Library option named in their errors about folders with Python code."""


def check_model_folder(folder: Path) -> None:
    """Raises InputError if a file names modules of another package, kernels of the hub or pickled objects."""
    for name in (MODULES, OWN_MODULES):
        if (folder / name).is_file():
            module_list(folder / name)
    for pattern in SETTINGS:
        for path in sorted([*folder.glob(pattern), *folder.glob(f"*/{pattern}")]):
            _check_code(path, read_json(path))


def read_json(path: Path, kind: type = dict) -> Any:
    """Returns the JSON object, or value of another `kind`, in a file. Errors: InputError for any other
    content."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path}: not a JSON file ({error}); get the file again") from None
    if not isinstance(content, kind):
        raise InputError(f"{path}: holds a {type(content).__name__}, expected a {kind.__name__}")
    return content


def module_list(path: Path) -> list[dict[str, Any]]:
    """Returns the modules in a list; InputError if one is from another package or outside the folder."""
    modules = read_json(path, list)
    for module in modules:
        if not isinstance(module, dict) or not all(
            isinstance(module.get(key), str) for key in ("type", "path")
        ):
            raise InputError(f"{path}: a module needs a type and a path, both text")
        if module["type"].split(".")[0] not in MODULE_PACKAGES:
            raise InputError(
                f"{path}: module {module['type']!r} is not part of sentence-transformers and is not run"
            )
        folder_within(path, module["path"])
    return modules


def folder_within(path: Path, name: Any) -> Path:
    """Returns the folder that a file names. Errors: InputError if it lies outside the file's folder."""
    if not is_inside(name):
        raise InputError(f"{path}: names the folder {name!r}, expected one inside the model folder")
    return path.parent / PurePosixPath(name)


def is_inside(name: Any) -> bool:
    """Returns whether a relative path stays inside the folder that it starts from."""
    place = PurePosixPath(name if isinstance(name, str) else "..")
    return not (place.is_absolute() or ".." in place.parts or "\0" in str(place))


def read_model(
    kind: Any, folder: Path, *, expected: str, computed: str = "position_ids", **options: Any
) -> nn.Module:
    """Returns the network that an Auto class of transformers (`kind`) loads, in fp32 and eval mode.

    Weights are safetensors or a pickle of tensors only. Weights with `computed` in their name may be missing.
    Errors: InputError, which names the `expected` network, if the folder has no such network, contains code,
    or describes a network that does not match its weights.
    """
    import torch

    check_model_folder(folder)
    check_stored(folder)
    check_real(folder / WEIGHTS)
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


def check_stored(folder: Path) -> None:
    """Raises InputError if no weights can be read; it names weights of other formats."""
    if any((folder / name).is_file() for name in STORED):
        return
    others = ("tf_model.h5", "flax_model.msgpack", "*.onnx", "*.gguf", "*.bin", "*.safetensors", "*.pt")
    unread = sorted(path.name for pattern in others for path in folder.glob(pattern))
    instead = f", has {unread[0]}" if unread else ""
    raise InputError(f"{folder}: no weights{instead}; expected {WEIGHTS} or {PICKLED}")


def check_real(path: Path) -> None:
    """Raises InputError if a safetensors file has complex numbers: libraries keep the real part."""
    from safetensors import SafetensorError, safe_open

    if not path.is_file():
        return
    try:
        with safe_open(path, framework="pt") as file:
            types = {file.get_slice(key).get_dtype() for key in file.keys()}  # noqa: SIM118
    except SafetensorError as error:
        raise InputError(f"{path}: damaged or cut off ({error}); get the file again") from None
    if any(name.startswith("C") for name in types):
        raise InputError(f"{path}: holds complex numbers, expected real ones")


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


def _empty_stacks(model: nn.Module) -> list[str]:
    """Returns the names of the network's stacks of layers that have no layer."""
    from torch.nn import ModuleList

    return [name for name, part in model.named_modules() if isinstance(part, ModuleList) and not len(part)]


def _without_numbers(name: str) -> str:
    return re.sub(r"\.\d+(?=\.)", ".", name)


def read_tokenizer(folder: Path, **options: Any) -> Any:
    """Returns the tokenizer of a folder as transformers reads it. Errors: InputError if there is none."""
    from transformers import AutoTokenizer

    check_model_folder(folder)
    with in_one_line(folder, "a tokenizer"):
        return AutoTokenizer.from_pretrained(
            folder, trust_remote_code=False, local_files_only=True, **options
        )


def read_settings(folder: Path) -> Any:
    """Returns the content of config.json. Errors: InputError if it is not a configuration."""
    from transformers import AutoConfig

    check_model_folder(folder)
    if not (folder / "config.json").is_file():
        raise InputError(f"{folder}: no config.json, so not a Hugging Face model folder")
    with in_one_line(folder, "a model"):
        return AutoConfig.from_pretrained(folder, trust_remote_code=False, local_files_only=True)


def read_tensors(path: Path) -> dict[str, Tensor]:
    """Returns the tensors in a safetensors file. Errors: InputError for any other file."""
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    try:
        return load_file(path)
    except (FileNotFoundError, SafetensorError) as error:
        raise InputError(f"{path}: cannot be read ({error}), expected a safetensors file") from None


@contextmanager
def in_one_line(folder: Path, expected: str = "a model") -> Iterator[None]:
    """Converts library errors about the files of a model folder into InputError.

    Libraries raise many types, and tokenizers raises a bare Exception. System errors, which have a number,
    pass through.
    """
    try:
        yield
    except (InputError, MemoryError):
        raise
    except Exception as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        reason = without_advice(" ".join(str(error).split()))
        if REMOTE_CODE in reason:
            raise InputError(
                f"{folder}: contains Python code (auto_map or a custom module), which is not run"
            ) from error
        raise InputError(
            f"{folder}: cannot be read as {expected} ({type(error).__name__}: {reason[:300]})"
        ) from error


def _check_code(path: Path, value: Any) -> None:
    """Raises InputError for an entry at any depth that makes a library load code or Python objects."""
    for entry in value if isinstance(value, list) else ():
        _check_code(path, entry)
    for key, entry in value.items() if isinstance(value, dict) else ():
        if key.endswith("_implementation") and "/" in str(entry):
            raise InputError(f"{path}: {key} is {entry!r}, a kernel of the hub, which is not run")
        if key in ("use_kernels", "kernel_config") and entry:
            raise InputError(f"{path}: has {key!r}: kernels of the hub are not run")
        if key == "weights_only" and not entry:
            raise InputError(f"{path}: has 'weights_only': {entry}: objects in a pickle are not read")
        _check_code(path, entry)
