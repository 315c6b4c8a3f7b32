"""Lines of text files, decoded strictly, with their numbers."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from harness.errors import InputError


def decoded_lines(path: Path, encoding: str = "utf-8") -> Iterator[tuple[int, str]]:
    """Yields (number, text) of every line, counted from 1, without its line end.

    Only a line feed ends a line; one carriage return before it goes with it.
    Errors: InputError if there is no such file, or at the first line that cannot be decoded.
    """
    if not path.is_file():
        raise InputError(f"{path}: no such file, expected a text file; fetch its source again")
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            try:
                text = line.decode(encoding)
            except UnicodeDecodeError as error:
                raise InputError(
                    f"{path}: line {number} is not {encoding} ({error.reason} at byte {error.start}), "
                    "expected text in that encoding; convert the file or fetch it again"
                ) from None
            yield number, text.removesuffix("\n").removesuffix("\r")
