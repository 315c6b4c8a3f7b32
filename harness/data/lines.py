"""Lines of text files, decoded strictly, with their numbers."""

from codecs import BOM_UTF8
from collections.abc import Iterator, Sequence
from pathlib import Path

from harness.errors import InputError

EXAMPLES = "fetch its source again"


def decoded_lines(path: Path, encoding: str = "utf-8") -> Iterator[tuple[int, str]]:
    """Yields (number, text) of every line, counted from 1, without its line end.

    Only a line feed ends a line; one carriage return before it goes with it. A byte order mark of UTF-8 at
    the start of the file is no text. Errors: InputError if the file is missing, or at the first line that
    cannot be decoded.
    """
    if not path.is_file():
        raise InputError(f"{path}: no such file; fetch its source again")
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            content = line.removeprefix(BOM_UTF8) if number == 1 else line
            try:
                text = content.decode(encoding)
            except UnicodeDecodeError as error:
                raise InputError(
                    f"{path}: line {number} is not {encoding} ({error.reason} at byte {error.start}); "
                    f"convert the file or fetch it again"
                ) from None
            yield number, text.removesuffix("\n").removesuffix("\r")


def read_lines(path: Path, encoding: str) -> list[str]:
    """Returns the lines of `path`. Errors: as of `decoded_lines`; InputError for an empty file."""
    lines = [line for _, line in decoded_lines(path, encoding)]
    if not lines:
        raise InputError(f"{path} is empty; {EXAMPLES}")
    return lines


def tab_separated(path: Path, fewest: int, *, skip: int = 0) -> Iterator[tuple[int, list[str]]]:
    """Yields (number, fields) of every line after the first `skip`; fields have no blanks at their ends.

    Errors: as of `decoded_lines`; InputError for a file without lines, or fewer fields than `fewest`.
    """
    number = 0
    for number, line in decoded_lines(path):
        if number > skip:
            fields = [field.strip() for field in line.split("\t")]
            require_fields(path, number, fields, fewest)
            yield number, fields
    if not number:
        raise InputError(f"{path} is empty; {EXAMPLES}")


def require_fields(path: Path, number: int, fields: Sequence[str], fewest: int) -> None:
    """Raises InputError unless a line has at least `fewest` fields."""
    if len(fields) < fewest:
        raise InputError(
            f"{path}: line {number} has {len(fields)} columns, expected {fewest} separated by tabs; "
            "fetch the file again"
        )
