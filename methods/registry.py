"""Methods of the benchmark by name: every package of `methods` with a file method.py.

A package has the name of its method, with `_` for `-`. Importing this module loads no heavy library.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from methods.core.errors import InputError, near_matches

if TYPE_CHECKING:
    from methods.core.method import Method

METHODS: dict[str, str] = {
    path.parent.name.replace("_", "-"): f"methods.{path.parent.name}.method"
    for path in sorted(Path(__file__).parent.glob("*/method.py"))
    if path.parent.name != "core"
}
"""Name of a method -> module of its class."""


def load_method(name: str) -> type[Method]:
    """Returns the class of a method: the subclass of Method that its module defines.

    Errors: InputError if the name is not in METHODS, TypeError unless the module defines exactly one.
    """
    if name not in METHODS:
        raise InputError(
            f"method {name!r} is not known, expected one of {', '.join(METHODS)}"
            f"{near_matches(name, list(METHODS))}"
        )
    from methods.core.method import Method

    module = import_module(METHODS[name])
    classes = [
        value
        for value in vars(module).values()
        if isinstance(value, type) and issubclass(value, Method) and value.__module__ == module.__name__
    ]
    if len(classes) != 1:
        raise TypeError(f"{module.__name__} defines {len(classes)} methods, expected one")
    return classes[0]
