"""YAML read and written by libyaml, as the harness reads it: a fifth of the time of PyYAML's own code.

And a reader that reads each declaration once, for the hundreds of commands of the tests.
"""

import hashlib
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import yaml


def load_yaml(text: str | bytes) -> Any:
    """Returns the value of a YAML text."""
    return yaml.load(text, Loader=yaml.CSafeLoader)


def dump_yaml(content: Any, **options: Any) -> str:
    """Returns a value as YAML. options: of yaml.safe_dump."""
    text: str = yaml.dump(content, Dumper=yaml.CSafeDumper, **options)
    return text


def remembering(read: Callable[[Path], Any]) -> Callable[[Path], Any]:
    """Returns a reader of YAML files that reads each content once; a refused file is read each time."""
    kept: dict[bytes, bytes] = {}

    def read_once(path: Path) -> Any:
        if not path.is_file():
            return read(path)
        content = hashlib.sha256(path.read_bytes()).digest()
        if content not in kept:
            kept[content] = pickle.dumps(read(path))
        return pickle.loads(kept[content])

    return read_once
