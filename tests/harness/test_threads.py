"""A command called directly makes waiting threads sleep before torch is loaded, if nobody says otherwise."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from harness.threads import PASSIVE, wait_asleep

CODE = """
import json, os, sys
class Seen:
    def find_spec(self, name, path=None, target=None):
        if name == "torch":
            print(json.dumps({key: os.environ.get(key) for key in sys.argv[1:]}), flush=True)
            os._exit(0)
sys.meta_path.insert(0, Seen())
from harness.cli import main
main(["evaluate", ".", "--tasks", "STSB"])
"""
"""Prints the variables at the moment at which torch would be imported, and ends there."""


def seen_by_torch(**settings: str) -> dict[str, str | None]:
    plain = {name: value for name, value in os.environ.items() if name not in PASSIVE}
    command = [sys.executable, "-c", CODE, *PASSIVE]
    done = subprocess.run(command, env={**plain, **settings}, capture_output=True, text=True, check=True)
    found: dict[str, str | None] = json.loads(done.stdout)
    return found


def test_threads_sleep_while_they_wait_where_nothing_is_said() -> None:
    assert seen_by_torch() == PASSIVE


@pytest.mark.parametrize("name", PASSIVE)
def test_who_sets_one_of_the_variables_decides(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "torch", raising=False)
    monkeypatch.setattr(os, "environ", {name: "1"})
    wait_asleep()
    assert os.environ == {name: "1"}


def test_after_torch_nothing_is_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "environ", {})
    monkeypatch.setitem(sys.modules, "torch", object())
    wait_asleep()
    assert os.environ == {}
    monkeypatch.delitem(sys.modules, "torch")
    wait_asleep()
    assert os.environ == PASSIVE
