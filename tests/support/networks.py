"""Networks of tiny folders without the time that a library takes for each of them."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file

from methods.core import checkpoints
from methods.core.model_errors import WEIGHTS


@contextmanager
def each_network_is_built_once(of: Callable[[Path], bool] = lambda folder: True) -> Iterator[None]:
    """Of some folders, networks are copies of the first one of their settings, with the folder's weights.

    The first one is the library's; so is one whose weights have other names. Draws at random are those of
    a training in which nothing is read. Settings and tokenizers are copies of the first ones that the
    library read from files with the same bytes.
    """
    read, built = checkpoints.read_model, dict[str, torch.nn.Module]()
    read_settings, read_tokenizer = checkpoints.read_settings, checkpoints.read_tokenizer
    parsed: dict[tuple[object, ...], Any] = {}

    def copied(kind: Any, folder: Path, *, config: Any, **options: Any) -> torch.nn.Module:
        if not of(folder):
            return read(kind, folder, config=config, **options)
        weights, name = load_file(folder / WEIGHTS), f"{kind} {config.to_json_string()} {options}"
        if name not in built or not built[name].state_dict().keys() <= weights.keys():
            with torch.random.fork_rng(devices=[]):
                network = read(kind, folder, config=config, **options)
            if not network.state_dict().keys() <= weights.keys():
                return network
            built[name] = network
        network = twin_of(built[name])
        network.load_state_dict({key: weights[key] for key in network.state_dict()})
        return network

    def settings_of(folder: Path) -> Any:
        return once(folder, ("config.json",), lambda: read_settings(folder))

    def tokenizer_of(folder: Path, **options: Any) -> Any:
        files = tuple(sorted(path.name for path in folder.iterdir() if path.suffix in (".json", ".txt")))
        return once(folder, files, lambda: read_tokenizer(folder, **options), str(options))

    def once(folder: Path, files: tuple[str, ...], parse: Callable[[], Any], options: str = "") -> Any:
        if not of(folder) or not all((folder / name).is_file() for name in files):
            return parse()
        key = (options, files, *((folder / name).read_bytes() for name in files))
        if key not in parsed:
            parsed[key] = parse()
        copy = deepcopy(parsed[key])
        copy.name_or_path = str(folder)
        return copy

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(checkpoints, "read_model", copied)
        patched.setattr(checkpoints, "read_settings", settings_of)
        patched.setattr(checkpoints, "read_tokenizer", tokenizer_of)
        yield


def twin_of(network: torch.nn.Module) -> torch.nn.Module:
    """Returns what `deepcopy` does, without its time for the many empty collections of every module."""
    parts = list(network.modules())
    memo: dict[int, Any] = {id(part): object.__new__(type(part)) for part in parts}
    for part in parts:
        for name, value in vars(part).items():
            if name == "_modules":
                copied: Any = {key: memo.get(id(child)) for key, child in value.items()}
            elif isinstance(value, dict | set) and not value:
                copied = type(value)()
            else:
                copied = deepcopy(value, memo)
            vars(memo[id(part)])[name] = copied
    twin: torch.nn.Module = memo[id(network)]
    return twin
