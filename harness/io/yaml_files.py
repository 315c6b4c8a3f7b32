"""Reading of YAML files, with one-line errors.

It refuses nesting that crashes the parser, aliases that expand without end, keys that appear twice, and
characters that change what a terminal or a page shows.
"""

from collections.abc import Hashable
from pathlib import Path
from typing import Any

import yaml
from yaml.constructor import ConstructorError

from harness.errors import CONTROL, InputError

MOST_VALUES, DEEPEST, LONGEST_INTEGER = 1_000_000, 100, 25
"""Limits of a YAML file: values with aliases expanded, levels of nesting, characters of an integer."""
SAFE_BOUND = 10_000
"""Levels of nesting that libyaml reads safely; it crashes beyond about twice as many."""
_Read = tuple[Any, int, int]
"""A value, how many values it holds with itself, and the levels of its nesting."""
OPEN: _Read = (None, 0, 0)
"""Placeholder for an unfinished collection."""
TEXT, LIST, MAPPING = (f"tag:yaml.org,2002:{kind}" for kind in ("str", "seq", "map"))
KEYS = ("tag:yaml.org,2002:merge", "tag:yaml.org,2002:value")
"""`<<` and `=`, which are no values: YAML's own reader makes a collection that has them, or refuses it."""


class _Fault(Exception):
    """A node that is refused, and the reason."""


def read_yaml(path: Path) -> Any:
    """Returns the content of a YAML file.

    Errors: InputError in one line for a file that is missing, not UTF-8, not YAML, too large or too deep with
    aliases expanded, or has a repeated key (YAML would silently keep the last) or a control character.
    """
    if not path.is_file():
        raise InputError(f"{path}: no such file")
    try:
        text = path.read_text(encoding="utf-8")
        _check_depth(text)
        loader = yaml.CSafeLoader(text)
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: byte {error.start} is not UTF-8") from None
    except (yaml.YAMLError, ValueError) as error:
        raise InputError(_not_yaml(path, error)) from None
    try:
        node = loader.get_single_node()
        if node is None or node.tag in KEYS:
            return None if node is None else loader.construct_document(node)
        return _YamlReader(loader).read(node)[0]
    except _Fault as fault:
        wrong, words = fault.args
        raise InputError(f"{path}: line {wrong.start_mark.line + 1}: {words}") from None
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise InputError(_not_yaml(path, error)) from None
    finally:
        loader.dispose()


def _check_depth(text: str) -> None:
    """Raises ValueError for a text with more levels of nesting than libyaml can read.

    Few brackets and short lines cannot nest deeply; all other texts are parsed once for this check.
    """
    bound = text.count("[") + text.count("{") + max(map(len, text.split("\n")))
    if bound <= SAFE_BOUND:
        return
    depth = 0
    for event in yaml.parse(text, Loader=yaml.CSafeLoader):
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > DEEPEST:
            raise ValueError(f"more than {DEEPEST} levels of nesting")


class _YamlReader:
    """Turns the nodes of one file into values and counts them in one pass; a collection is read once."""

    def __init__(self, loader: yaml.CSafeLoader) -> None:
        """loader: constructs what is no plain text, list or mapping: numbers, dates, `<<`."""
        self.loader = loader
        self.known: dict[int, _Read] = {}
        """Value of each collection by its node; an alias repeats the node of its anchor."""

    def read(self, node: yaml.Node) -> _Read:
        """Returns the value of a node with its values and levels, aliases expanded.

        Errors: _Fault for the first refused node; yaml.YAMLError for a value that is not YAML's.
        """
        if isinstance(node, yaml.ScalarNode):
            _check_scalar(node)
            if node.tag in KEYS:
                return None, 1, 1
            return node.value if node.tag == TEXT else self.loader.construct_object(node, deep=True), 1, 1
        if id(node) not in self.known:
            self.known[id(node)] = OPEN
            self.known[id(node)] = self._collection(node)
        if self.known[id(node)] is OPEN:
            raise _Fault(node, "an alias is inside its own anchor")
        return self.known[id(node)]

    def _collection(self, node: yaml.Node) -> _Read:
        children = node.value
        if isinstance(node, yaml.MappingNode):
            _check_keys(node)
            children = [child for pair in node.value for child in pair]
        below = [self.read(child) for child in children]
        values = 1 + sum(count for _, count, _ in below)
        levels = 1 + max((deep for _, _, deep in below), default=0)
        if values > MOST_VALUES or levels > DEEPEST:
            raise _Fault(node, f"more than {MOST_VALUES:,} values or {DEEPEST} levels with aliases expanded")
        plain = MAPPING if isinstance(node, yaml.MappingNode) else LIST
        if node.tag != plain or any(child.tag in KEYS for child in children):
            return self.loader.construct_object(node, deep=True), values, levels
        if plain == LIST:
            return [value for value, _, _ in below], values, levels
        mapping = {}
        for (key, _), (name, _, _), (value, _, _) in zip(node.value, below[::2], below[1::2], strict=True):
            if not isinstance(name, Hashable):
                raise ConstructorError(None, None, "found unhashable key", key.start_mark)
            mapping[name] = value
        return mapping, values, levels


def _check_scalar(node: yaml.ScalarNode) -> None:
    """Errors: _Fault for a scalar that has a control character, or more digits than any number."""
    control = CONTROL.search(node.value)
    if control:
        raise _Fault(node, f"character {control[0]!a} is not allowed in a text")
    if node.tag == "tag:yaml.org,2002:int" and len(node.value) > LONGEST_INTEGER:
        size = len(node.value)
        raise _Fault(node, f"an integer of {size} characters, expected at most {LONGEST_INTEGER}")


def _check_keys(node: yaml.MappingNode) -> None:
    """Errors: _Fault for the first key that appears twice in a mapping."""
    seen: set[tuple[str, str]] = set()
    for key, _ in node.value:
        if isinstance(key, yaml.ScalarNode):
            if (key.tag, key.value) in seen:
                raise _Fault(key, f"key {key.value!r} appears twice")
            seen.add((key.tag, key.value))


def _not_yaml(path: Path, error: Exception) -> str:
    mark = getattr(error, "problem_mark", None)
    line = f"line {mark.line + 1}: " if mark else ""
    reason = " ".join(str(getattr(error, "problem", None) or error).split())
    return f"{path}: {line}not YAML ({reason}); correct the file"
