"""Every command and option that a message, a document, a template or a declaration names exists."""

import ast
import re
import shlex
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from harness.command_line import COMMANDS, command_of, overview, parser_of
from harness.errors import InputError

ROOT = Path(__file__).parents[2]
CODE = [
    path for room in ("harness", "methods", "sentbench", "benchmarks") for path in (ROOT / room).rglob("*.py")
]
TEXTS = [
    *(path for path in ROOT.glob("*.md") if path.name != "CHANGELOG.md"),  # names what is gone
    *(path for path in (ROOT / "docs").rglob("*.md") if "reference" not in path.parts),
    *(ROOT / "methods").rglob("*.md"),
    *(ROOT / "leaderboards").rglob("*.j2"),
    *(path for room in ("leaderboards", "recipes", ".github") for path in (ROOT / room).rglob("*.y*ml")),
    *(ROOT / name for name in ("Makefile", "dvc.yaml", ".ci/run")),
]
VALUE = "VALUE"
"""Stands for a value of an f-string."""
COMMAND = re.compile(
    r"(?:`|<code>|\$ |^(?: {2,}|\t@?|.*(?:run|cmd): )|[;&] *)sentbench ([a-z-][^`<\n|;&#]*)",
    flags=re.MULTILINE,
)
OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]*\b")
FOREIGN = {"--head", "--write", "--only-changed", "--name", "--dirty", "--force"}
"""Options of other programs: of ray, benchmarks, git, Slurm and DVC."""


def texts_of(path: Path) -> Iterator[str]:
    """Yields the texts of a file; of a module each of its strings, with VALUE for values."""
    text = path.read_text(encoding="utf-8")
    if path.suffix != ".py":
        yield text
        return
    tree = ast.parse(text)
    joined = [node for node in ast.walk(tree) if isinstance(node, ast.JoinedStr)]
    parts = {part for node in joined for part in node.values}
    for node in joined:
        yield "".join(str(part.value) if isinstance(part, ast.Constant) else VALUE for part in node.values)
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in parts:
            yield node.value


@cache
def choices_of(command: str) -> list[str]:
    """Returns the values of a command's first argument if only some are allowed, otherwise an empty list."""
    positional = [action for action in parser_of(command)._actions if not action.option_strings]
    return [*map(str, positional[0].choices)] if positional and positional[0].choices else []


@cache
def options() -> set[str]:
    """Returns the options of all commands."""
    parsers = [overview(), *map(parser_of, COMMANDS)]
    return {"--include"}.union(*(parser._option_string_actions for parser in parsers))


def fault_of(words: list[str]) -> str:
    """Returns what is wrong with the words of a command, empty if nothing is."""
    if words[:1] == ["--include"]:
        words = words[2:]
    if not words or words[0].startswith("-") or re.search("[A-Z$]", " ".join(words[:1])):
        return ""
    if words == ["stage", "NAME"]:
        return ""
    try:
        name, *rest = words
        command_of(name)
    except InputError:
        return "no such command"
    plain = [word for word in rest if re.fullmatch("[a-z-]+", word)]
    if (choices := choices_of(name)) and plain[:1] and plain[0] not in choices:
        return f"{plain[0]}: expected one of {', '.join(choices)}"
    given = {word.partition("=")[0] for word in rest if word.startswith("--")}
    unknown = given - parser_of(name)._option_string_actions.keys()
    return f"no option {', '.join(sorted(unknown))}" if unknown else ""


def words_in(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError:  # a quote that ends behind the matched part
        return text.split()


def faults_in(text: str) -> list[str]:
    """Returns a line for each command of a text that does not exist as it is written."""
    named = [" ".join(match.split()) for match in COMMAND.findall(text)]
    return [f"sentbench {command}: {fault}" for command in named if (fault := fault_of(words_in(command)))]


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("see `sentbench list systems`", "systems: expected one of methods, tasks"),
        ("run `sentbench lis`", "no such command"),
        ("    sentbench plan small --no-such-option 3", "no option --no-such-option"),
        ("<code>sentbench stage bake</code>", "bake: expected one of entries"),
        ("see `sentbench list tables` and `sentbench plan NAME --dry-run`", ""),
    ],
)
def test_a_wrong_reference_is_found(text: str, fault: str) -> None:
    found = faults_in(text)
    assert bool(found) is bool(fault)
    assert fault in "".join(found)


def test_every_command_that_is_named_exists_with_its_options() -> None:
    faults = {
        (str(path.relative_to(ROOT)), fault)
        for path in (*CODE, *TEXTS)
        for text in texts_of(path)
        for fault in faults_in(text)
    }
    assert not faults
    assert sum(len(COMMAND.findall(text)) for path in (*CODE, *TEXTS) for text in texts_of(path)) > 150


def test_no_message_installs_an_extra_of_the_current_folder() -> None:
    """A wheel runs in any folder, where `.[NAME]` names nothing: `harness.cli` names the packages."""
    assert [path for path in CODE for text in texts_of(path) if re.search(r"pip install.*\.\[", text)] == []


def test_every_option_that_a_message_or_a_document_names_alone_exists() -> None:
    """In modules of the harness in strings of several words; in other texts between backticks."""
    named = {
        (str(path.relative_to(ROOT)), option)
        for path in CODE
        for text in texts_of(path)
        if " " in text.strip() and path.parts[len(ROOT.parts)] != "benchmarks"
        for option in OPTION.findall(text)
    }
    named |= {
        (str(path.relative_to(ROOT)), option)
        for path in TEXTS
        for option in re.findall(r"`(--[a-z][a-z-]*)", path.read_text(encoding="utf-8"))
    }
    assert len(named) > 80
    assert {(path, option) for path, option in named if option not in options() | FOREIGN} == set()
