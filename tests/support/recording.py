"""Recording stubs: the arguments of every call of a function, by the names of its parameters."""

import inspect
from collections.abc import Callable
from importlib import import_module
from typing import Any

import pytest


class Reached(Exception):
    """Ends a command at a stub that stands for the rest of the work."""


class Calls:
    """The calls of some functions, each replaced by a stub with the same parameters."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._monkeypatch = monkeypatch
        self.seen: list[tuple[str, dict[str, Any]]] = []

    def replace(self, target: str, answer: Callable[..., Any] | None) -> None:
        """Replaces `module:name`; answer: called with the arguments; with None the stub ends the command."""
        module, _, name = target.partition(":")
        original = getattr(import_module(module), name)
        signature = inspect.signature(original)

        def stub(*given: Any, **options: Any) -> Any:
            bound = signature.bind(*given, **options)
            bound.apply_defaults()
            self.seen.append((name, dict(bound.arguments)))
            if answer is None:
                raise Reached
            return answer(*given, **options)

        self._monkeypatch.setattr(target.replace(":", "."), stub)

    def values(self, where: str) -> list[Any]:
        """Returns the values that `function.parameter` had, in the order of the calls; attributes follow
        further dots.
        """
        name, parameter, *attributes = where.split(".")
        found = [arguments[parameter] for called, arguments in self.seen if called == name]
        for attribute in attributes:
            found = [getattr(value, attribute) for value in found]
        return found
