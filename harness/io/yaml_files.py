"""Reading of YAML files, with one-line errors."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml
from yaml.constructor import ConstructorError

from harness.errors import CONTROL, InputError


def read_yaml(path: Path) -> Any:
    """Returns the content of a YAML file.

    Errors: InputError in one line for a file that is missing, not UTF-8, not YAML, or has a repeated key
    (YAML would silently keep the last) or a character that changes what a terminal or a page shows.
    """
    if not path.is_file():
        raise InputError(f"{path}: no such file")
    try:
        loader = yaml.CSafeLoader(path.read_text(encoding="utf-8"))
        try:
            node = loader.get_single_node()
            for inner in _nodes(node):
                _check_node(inner)
            return None if node is None else loader.construct_document(node)
        finally:
            loader.dispose()
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: byte {error.start} is not UTF-8") from None
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        line = f"line {mark.line + 1}: " if mark else ""
        reason = " ".join(str(getattr(error, "problem", None) or error).split())
        raise InputError(f"{path}: {line}not YAML ({reason}); correct the file") from None


def _nodes(root: yaml.Node | None) -> Iterator[yaml.Node]:
    """Yields every node of a file once, before aliases and `<<` are expanded."""
    waiting, seen = [root], set()
    while waiting:
        node = waiting.pop()
        if node is not None and id(node) not in seen:
            seen.add(id(node))
            yield node
            if not isinstance(node, yaml.ScalarNode):
                for child in node.value:
                    waiting += child if isinstance(child, tuple) else (child,)


def _check_node(node: yaml.Node) -> None:
    """Errors: yaml.YAMLError for a text with a control character, or a mapping with a repeated key."""
    if isinstance(node, yaml.ScalarNode) and (control := CONTROL.search(node.value)):
        raise ConstructorError(
            None, None, f"character {control[0]!a} is not allowed in a text", node.start_mark
        )
    seen = set()
    for key, _ in node.value if isinstance(node, yaml.MappingNode) else ():
        if isinstance(key, yaml.ScalarNode):
            if (key.tag, key.value) in seen:
                raise ConstructorError(None, None, f"key {key.value!r} appears twice", key.start_mark)
            seen.add((key.tag, key.value))
