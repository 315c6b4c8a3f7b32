"""Completion in a real shell."""

import shutil
import subprocess
from contextlib import redirect_stdout
from io import StringIO

import pytest

from harness.cli import main

ASK = """
source /dev/stdin
COMP_WORDS=({words}) COMP_CWORD={last}
_shtab_sentbench
printf '%s\\n' "${{COMPREPLY[@]}}"
"""


def script_of(shell: str) -> str:
    with redirect_stdout(StringIO()) as printed:
        assert main(["--print-completion", shell]) == 0
    return printed.getvalue()


@pytest.fixture(scope="module")
def script() -> str:
    return script_of("bash")


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("sentbench ver", {"verify"}),
        ("sentbench comp", {"compare"}),
        ("sentbench evaluate --po", {"--pooling"}),
        ("sentbench check --format g", {"github"}),
    ],
)
def test_bash_completes_commands_options_and_choices(script: str, words: str, expected: set[str]) -> None:
    bash = shutil.which("bash")
    if bash is None:
        pytest.skip("no bash")
    ask = ASK.format(words=words, last=len(words.split()) - 1)
    done = subprocess.run([bash, "-c", ask], input=script, capture_output=True, text=True, check=True)
    assert set(done.stdout.split()) == expected
