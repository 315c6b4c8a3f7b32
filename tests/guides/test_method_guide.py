"""The guide "Add a method" followed: the skeleton keeps every law, and its facts fail until written."""

from __future__ import annotations

import subprocess

import pytest

from tests.guides.conftest import Checkout


def test_the_skeleton_of_a_method_keeps_every_law_and_lacks_its_facts_alone(checkout: Checkout) -> None:
    said = checkout.sentbench("new", "method", "toy-one")
    files = {
        "methods/toy_one/config.py",
        "methods/toy_one/method.py",
        "methods/toy_one/README.md",
        "tests/methods/toy_one/sample.py",
        "tests/methods/toy_one/test_toy_one.py",
    }
    assert checkout.touched() == files
    assert files <= set(said.split())
    assert "toy-one" in checkout.sentbench("list", "methods").split()
    laws = [f"tests/conformance/test_{name}.py" for name in ("laws", "readmes")]
    checkout.pytest(*laws, "-k", "toy", "-m", "not slow")
    with pytest.raises(AssertionError, match=r"^FFF "):
        checkout.pytest("tests/methods/toy_one")
    with pytest.raises(AssertionError, match="exists already"):
        checkout.sentbench("new", "method", "toy-one")
    assert checkout.touched() == files
    lint = ["ruff", "check", "--no-cache", "methods/toy_one", "tests/methods/toy_one"]
    done = subprocess.run(lint, cwd=checkout.folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
    lint[1:2] = ["format", "--check"]
    assert subprocess.run(lint, cwd=checkout.folder, capture_output=True).returncode == 0
