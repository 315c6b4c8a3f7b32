"""A wheel and a text small enough to be written by a test."""

import hashlib
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path

from harness.data.sources import Source

TEXT = b"one\ntwo\nthree\n"
WHEEL = "tiny_words-1.0-py3-none-any.whl"

Declare = Callable[..., Source]


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def write_wheel(path: Path, members: Mapping[str, bytes]) -> Path:
    """Writes a wheel that pip accepts, with these members."""
    path.parent.mkdir(parents=True, exist_ok=True)
    described = {
        "tiny_words-1.0.dist-info/METADATA": b"Metadata-Version: 2.1\nName: tiny-words\nVersion: 1.0\n",
        "tiny_words-1.0.dist-info/WHEEL": b"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        "tiny_words-1.0.dist-info/RECORD": b"",
    }
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as wheel:
        for name, content in {**members, **described}.items():
            wheel.writestr(name, content)
    return path
