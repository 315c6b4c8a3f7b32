"""What a model folder from anywhere may hold, checked before a library reads it.

What transformers would import, fetch or unpickle on its behalf is refused, and so is a config.json that
describes far more than the weights hold, before memory is allocated.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from methods.core.errors import InputError

if TYPE_CHECKING:
    from torch import Tensor, nn

WEIGHTS, INDEX = "model.safetensors", "model.safetensors.index.json"
MODULES, OWN_MODULES = "modules.json", "sentbench-modules.json"
"""List of the folder's modules: as sentence-transformers reads it, and where it must not."""

MODULE_PACKAGES = ("sentence_transformers", "sentbench")
"""Packages whose classes a list of modules may name; neither is imported."""

ELSEWHERE = {
    "auto_map": "the folder brings Python code of its own, which is not run",
    "fusion_config": "fused layers are not supported",
    "gguf_file": "GGUF files are not read",
    "quantization_config": "quantised weights are not read",
    "transformers_weights": "weights under another name are not read",
}
"""Entry of a configuration -> why a folder that has it is refused."""

MOST = 100_000
"""Largest number of layers, heads or labels: libraries make lists of that length before any weight."""

LAYER = re.compile(r"(^|\.)(layers?|h|blocks?)\.\d+\.")
"""Name of a weight of a layer; heads that another task needs may be left unused, layers may not."""

SLACK = 4
"""A network may have so many times the tensors and numbers of its file: tied weights are stored once."""

AGAIN = "get the folder again, or make it again with `dvc repro`"


def check_model_folder(folder: Path) -> None:
    """Raises InputError if a configuration in a folder, or one level below, names code or other files."""
    if (folder / "adapter_config.json").exists():
        raise InputError(f"{folder}: holds an adapter, expected a whole model; merge it into its base model")
    for path in sorted([*folder.glob("*.json"), *folder.glob("*/*.json")]):
        if path.name in (MODULES, OWN_MODULES):
            module_list(path)
        elif "config" in path.name:
            _check_values(path, read_json(path))


def read_json(path: Path, kind: type = dict) -> Any:
    """Returns the JSON object, or value of another `kind`, in a file. Errors: InputError if it is none."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path}: not a JSON file ({error}); {AGAIN}") from None
    if not isinstance(found, kind):
        raise InputError(f"{path}: holds a {type(found).__name__}, expected a {kind.__name__}")
    return found


def module_list(path: Path) -> list[dict[str, Any]]:
    """Returns the modules in a list; InputError if one is of another package, or its folder is elsewhere."""
    modules = read_json(path, list)
    for module in modules:
        if not isinstance(module, dict) or not all(
            isinstance(module.get(key), str) for key in ("type", "path")
        ):
            raise InputError(f"{path}: a module without type and path, expected both as text")
        if module["type"].split(".")[0] not in MODULE_PACKAGES:
            raise InputError(
                f"{path}: module {module['type']!r} is not one of sentence-transformers; it is not run"
            )
        folder_within(path, module["path"])
    return modules


def folder_within(path: Path, name: Any) -> Path:
    """Returns the folder that a file names. Errors: InputError unless it is in the folder of the file."""
    place = PurePosixPath(name if isinstance(name, str) else "..")
    if place.is_absolute() or ".." in place.parts or "\0" in str(place):
        raise InputError(f"{path}: names the folder {name!r}, expected one inside the model folder")
    return path.parent / place


def read_model(
    kind: Any, folder: Path, *, expected: str, computed: str = "position_ids", **options: Any
) -> nn.Module:
    """Returns the network of a folder in fp32 and eval mode, as an Auto class of transformers (`kind`) does.

    Weights with `computed` in their name need not be in the file.
    Errors: InputError, which names what was `expected`, if the folder has no such network in safetensors,
    brings code, or describes another network than its weights are of.
    """
    import torch

    check_model_folder(folder)
    with in_one_line(folder, expected), no_larger_than(*_stored(folder), folder):
        model, report = kind.from_pretrained(
            folder,
            trust_remote_code=False,
            local_files_only=True,
            use_safetensors=True,
            dtype=torch.float32,
            output_loading_info=True,
            **options,
        )
    missing = sorted(key for key in report["missing_keys"] if computed not in key)
    if missing:
        raise InputError(
            f"{folder}: {len(missing)} weights are missing, the first is {missing[0]}; expected {expected}"
        )
    unused = sorted(key for key in report["unexpected_keys"] if LAYER.search(key))
    if unused:
        raise InputError(f"{folder}: holds {unused[0]}, a layer more than its config.json describes")
    return model.eval()


def read_tokenizer(folder: Path, **options: Any) -> Any:
    """Returns the tokenizer of a folder as transformers reads it. Errors: InputError if it has none."""
    from transformers import AutoTokenizer

    check_model_folder(folder)
    with in_one_line(folder, "a tokenizer"):
        return AutoTokenizer.from_pretrained(
            folder, trust_remote_code=False, local_files_only=True, **options
        )


def read_settings(folder: Path) -> Any:
    """Returns what config.json says. Errors: InputError if it is no configuration."""
    from transformers import AutoConfig

    check_model_folder(folder)
    if not (folder / "config.json").is_file():
        raise InputError(
            f"{folder}: no config.json, expected a Hugging Face model folder; name another folder"
        )
    with in_one_line(folder, "a model"):
        return AutoConfig.from_pretrained(folder, trust_remote_code=False, local_files_only=True)


def read_tensors(path: Path) -> dict[str, Tensor]:
    """Returns the tensors in a safetensors file. Errors: InputError if it is none."""
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    try:
        return load_file(path)
    except (FileNotFoundError, SafetensorError) as error:
        raise InputError(f"{path}: cannot be read ({error}), expected a safetensors file") from None


@contextmanager
def in_one_line(folder: Path, expected: str = "a model") -> Iterator[None]:
    """Makes an InputError of what libraries raise in the block about the files of a model's folder.

    They have errors of many types, and tokenizers raises a bare Exception. Errors of the system, which have a
    number, are left as they are.
    """
    try:
        yield
    except (InputError, MemoryError):
        raise
    except Exception as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        reason = " ".join(str(error).split())[:200]
        raise InputError(
            f"{folder}: cannot be read as {expected} ({type(error).__name__}: {reason}); {AGAIN}"
        ) from error


def _check_values(path: Path, value: Any) -> None:
    if isinstance(value, list):
        for entry in value:
            _check_values(path, entry)
    if not isinstance(value, dict):
        return
    for key, entry in value.items():
        if key in ELSEWHERE and entry:
            raise InputError(f"{path}: has {key!r}: {ELSEWHERE[key]}")
        if key.endswith("_implementation") and "/" in str(entry):
            raise InputError(f"{path}: {key} is {entry!r}, a kernel of the hub; expected sdpa or eager")
        counts = key.startswith(("num_", "n_")) or "layer" in key
        if counts and isinstance(entry, int) and not 0 <= entry <= MOST:
            raise InputError(f"{path}: {key} is out of range, expected 0 to {MOST}")
        _check_values(path, entry)


def _stored(folder: Path) -> tuple[int, int]:
    """Returns how many tensors and numbers the safetensors files of a folder hold, from their headers."""
    from math import prod

    from safetensors import SafetensorError, safe_open

    names = [WEIGHTS]
    if not (folder / WEIGHTS).is_file():
        if not (folder / INDEX).is_file():
            raise InputError(
                f"{folder}: no .safetensors weights, expected {WEIGHTS}; convert them, pickle is not read"
            )
        listed = read_json(folder / INDEX).get("weight_map")
        names = sorted({str(name) for name in listed.values()}) if isinstance(listed, dict) else []
    shapes: list[list[int]] = []
    for name in names:
        if not name.endswith(".safetensors") or "/" in name or not (folder / name).is_file():
            raise InputError(f"{folder / INDEX}: names {name!r}, expected a .safetensors file next to it")
        try:
            with safe_open(folder / name, framework="pt") as file:
                slices = [file.get_slice(key) for key in file.keys()]  # noqa: SIM118
                shapes += [tensor.get_shape() for tensor in slices]
                complex_numbers = any(tensor.get_dtype().startswith("C") for tensor in slices)
        except SafetensorError as error:
            raise InputError(f"{folder / name}: the model cannot be read ({error}); fetch it again") from None
        if complex_numbers:
            raise InputError(f"{folder / name}: holds complex numbers, expected real ones")
    return len(shapes), sum(map(prod, shapes))


@contextmanager
def no_larger_than(tensors: int, numbers: int, folder: Path) -> Iterator[None]:
    """Raises InputError in the block once networks are built with far more tensors or numbers than these."""
    from torch.nn.modules import module

    left = [SLACK * tensors + 100, SLACK * numbers + 1_000_000]

    def count(owner: Any, name: str, tensor: Any) -> None:
        left[0] -= 1
        left[1] -= 0 if tensor is None else tensor.numel()
        if min(left) < 0:
            raise InputError(
                f"{folder}: describes a far larger network than the one whose {tensors} tensors it holds"
            )

    with ExitStack() as stack:
        for hook in ("parameter", "buffer"):
            handle = getattr(module, f"register_module_{hook}_registration_hook")(count)
            stack.callback(handle.remove)
        yield
