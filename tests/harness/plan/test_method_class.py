"""The method of an included folder: every way in which it may fail is one line with its place."""

import sys
from pathlib import Path

import pytest

import methods
from harness.errors import InputError
from harness.paths import MODULES
from harness.plan.method_class import method_class
from methods.registry import METHODS
from tests.faults.test_bad_days import FAILING

NONE = "VALUE = 1"
TWO = "from methods.core.method import Method\nclass A(Method): ...\nclass B(Method): ..."


@pytest.mark.parametrize("is_package", [False, True])
@pytest.mark.parametrize("code", [*FAILING, NONE, TWO])
def test_an_included_method_that_fails_is_one_line_with_its_place(
    code: str, is_package: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / ("one/method.py" if is_package else "one.py")
    file.parent.mkdir(exist_ok=True)
    file.write_text(f"{code}\n")
    module = "methods.one.method" if is_package else "methods.one"
    monkeypatch.setattr(methods, "__path__", [*methods.__path__, str(tmp_path)])
    monkeypatch.setitem(METHODS, "one", module)
    monkeypatch.setitem(MODULES, "methods.one", tmp_path / "one")
    for name in ("methods.one", "methods.one.method"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    expected = FAILING.get(code, "must define exactly one subclass of Method")
    with pytest.raises(InputError, match=expected.replace(r"one\.py", file.name)) as refusal:
        method_class("one")
    assert str(refusal.value).startswith(str(file))
    for name in ("methods.one", "methods.one.method"):
        sys.modules.pop(name, None)


def test_an_error_of_a_method_of_this_repository_keeps_its_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(METHODS, "one", "methods.nowhere")
    with pytest.raises(ModuleNotFoundError):
        method_class("one")
    with pytest.raises(InputError, match="method 'two' is not known"):
        method_class("two")
