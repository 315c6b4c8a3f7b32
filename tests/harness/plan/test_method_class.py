"""Methods of included folders and installed packages that cannot be used: one line with the place."""

import sys
from pathlib import Path

import pytest

from harness.errors import InputError
from harness.paths import MODULES
from harness.plan.method_class import included_file, method_class
from methods.registry import METHODS

NO_METHOD = "X = 1\n"
BROKEN = "import math\nraise OSError('no weights')\n"


@pytest.mark.parametrize(
    ("module", "file", "text", "line"),
    [
        ("aplace.one", "one.py", NO_METHOD, r"one\.py: must define exactly one subclass of Method"),
        ("aplace.one", "one.py", BROKEN, r"one\.py:2: OSError: no weights"),
        ("aplace.sub.method", "sub/method.py", BROKEN, r"sub/method\.py:2: OSError: no weights"),
        ("aplace.sub", "sub/__init__.py", BROKEN, r"sub/__init__\.py:2: OSError: no weights"),
        ("aplace", "__init__.py", BROKEN, r"aplace/__init__\.py:2: OSError: no weights"),
        ("aplace.gone", "one.py", NO_METHOD, r"ModuleNotFoundError: No module named 'aplace\.gone'"),
    ],
)
def test_a_method_of_an_installed_package_that_fails_is_one_line(
    module: str, file: str, text: str, line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "aplace"
    path = place / file
    for folder in (place, path.parent):
        folder.mkdir(exist_ok=True)
        (folder / "__init__.py").touch()
    path.write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setitem(METHODS, "mine", module)
    monkeypatch.setitem(MODULES, "aplace", place)
    try:
        with pytest.raises(InputError, match=line) as error:
            method_class("mine")
    finally:
        for name in [name for name in sys.modules if name.partition(".")[0] == "aplace"]:
            del sys.modules[name]
    assert "\n" not in str(error.value)
    if "gone" not in module:
        assert included_file(module) == path


def test_an_error_in_a_method_of_this_repository_keeps_its_traceback(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(METHODS, "mine", "methods.nothing.method")
    with pytest.raises(ModuleNotFoundError):
        method_class("mine")
    assert included_file("methods.simcse.method") is None
