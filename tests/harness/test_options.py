"""Options arrive or are refused: an empty value is refused by every option that takes one."""

from collections.abc import Callable

import pytest

from harness.cli import commands, parser_of

OPTIONS = [
    (name, option)
    for name in commands()
    for action in parser_of(name)._actions
    if action.nargs != 0
    for option in action.option_strings
    if option.startswith("--")
]


@pytest.mark.parametrize(("command", "option"), OPTIONS)
def test_an_empty_value_of_an_option_is_refused(
    command: str, option: str, refused: Callable[..., str]
) -> None:
    for words in ([option, ""], [f"{option}="]):
        assert f"argument {option}: expected one argument" in refused(*command.split(), *words)


def test_options_of_many_commands_are_tried() -> None:
    assert len(OPTIONS) > 40
    assert {"report --print", "try --backbone", "stage fingerprint --data"} <= {" ".join(o) for o in OPTIONS}
