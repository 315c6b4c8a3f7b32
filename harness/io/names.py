"""Names, paths and links that may be part of a path or a page; a path stays in its folder."""

import re
from pathlib import PurePosixPath

LONGEST_NAME = 160
"""Most characters of a name: file systems allow 255 bytes, and stages append suffixes."""


def check_name(name: str) -> str:
    """Returns the name if it may be part of a path; ValueError otherwise."""
    if not re.fullmatch(r"[a-z0-9][a-z0-9_-]*", name) or len(name) > LONGEST_NAME:
        raise ValueError(
            f"expected a name of lower-case letters, digits, - and _, at most {LONGEST_NAME} characters long"
        )
    return name


def check_table_key(key: str) -> str:
    """Returns the key of a table, `paper/table2` or a single name; ValueError otherwise."""
    if key.count("/") > 1:
        raise ValueError("expected one name, or two with / between them")
    for part in key.split("/"):
        check_name(part)
    return key


def check_relative_path(path: str) -> str:
    """Returns a path that stays below its folder; ValueError for any other."""
    if not path or PurePosixPath(path).is_absolute() or ".." in PurePosixPath(path).parts or "\0" in path:
        raise ValueError("expected a relative path without ..")
    return path


def check_link(address: str) -> str:
    """Returns a web address that is safe in a page; ValueError for any other scheme or form."""
    if not re.fullmatch(r"https://[\w.-]+(:\d+)?(/[\w./~%#?&=+,;:@!()-]*)?", address, flags=re.ASCII):
        raise ValueError("expected an address that begins with https:// and has no quotes or spaces")
    return address
