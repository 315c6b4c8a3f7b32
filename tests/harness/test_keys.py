"""Keys of caches and identities: each field changed alone changes the key; what does not count does not."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness.commands.mteb import mteb_identity
from harness.io.files import write_record
from methods.core import corpus

TEXTS = ["a dog", "two cats"]


class Tokenizing:
    """A tokenizer with a state."""

    def __init__(self, state: str = "state") -> None:
        self.state = state

    def token_ids(self, texts: Any, *, max_length: int) -> list[list[int]]:
        return [[len(text)] for text in texts]

    def tokenizer_state(self, max_length: int) -> str:
        return f"{self.state} {max_length}"


@pytest.mark.parametrize(
    "change",
    [
        {"texts": ["a dog", "two Cats"]},
        {"texts": ["two cats", "a dog"]},
        {"texts": ["a dogt", "wo cats"]},
        {"texts": ["a dog", "two cats", ""]},
        {"max_length": 33},
        {"state": "another"},
        {"version": "0.0.0"},
    ],
)
def test_every_part_of_the_key_of_tokens_changes_it(
    change: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    def key(texts: Any = TEXTS, max_length: int = 32, state: str = "state", version: str = "") -> str:
        if version:
            monkeypatch.setattr(corpus.tokenizers, "__version__", version)
        return corpus._key(Tokenizing(state), texts, max_length)  # type: ignore[arg-type]

    known = key()
    assert known == key()
    assert key(**change) != known


FILES = {
    "config.json": b"{}",
    "model.safetensors": b"weights",
    "vocab.txt": b"words",
    "spiece.model": b"pieces",
    "1_Pooling/config.json": b'{"mean": true}',
    "2_Dense/model.safetensors": b"layer",
}
RECORD = {"id": "own", "backbone": "bert", "identity": "0" * 64, "seed": 3}


@pytest.fixture
def run(tmp_path: Path) -> Callable[..., Any]:
    """Returns the identity for mteb of a folder with changed files or a changed record."""

    def identity(files: dict[str, bytes] | None = None, pooling: str | None = None, **record: Any) -> Any:
        folder = tmp_path / f"folder{len(list(tmp_path.iterdir()))}" / "run"
        for name, content in {**FILES, **(files or {})}.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(content)
        write_record(folder / "run.json", RECORD | record)
        assert json.loads((folder / "run.json").read_text())
        return mteb_identity(folder, pooling=pooling)

    return identity


@pytest.mark.parametrize("file", [*FILES, "3_Dense/config.json"])
def test_every_file_of_an_encoder_changes_its_revision_for_mteb(run: Callable[..., Any], file: str) -> None:
    assert run({file: b"changed"}).revision != run().revision


def test_a_file_with_another_name_changes_the_revision_for_mteb(run: Callable[..., Any]) -> None:
    assert run({"a.json": b"x"}).revision != run({"b.json": b"x"}).revision


@pytest.mark.parametrize(
    "change", [{"id": "other"}, {"backbone": "other"}, {"identity": "1" * 64}, {"seed": 4}]
)
def test_every_field_of_a_run_changes_its_identity_for_mteb(
    run: Callable[..., Any], change: dict[str, Any]
) -> None:
    assert run(**change) != run()
    assert (run(**change).revision != run().revision) == ("identity" in change)


def test_pooling_belongs_to_the_experiment_and_copies_are_equal(run: Callable[..., Any]) -> None:
    assert run(pooling="mean") != run(pooling="cls") != run()
    assert run() == run({"README.md": b"card", "last/config.json": b"{}", "train.jsonl": b"1"})


@pytest.mark.parametrize("same", [True, False])
def test_scores_of_another_identity_are_not_those_of_a_tried_run(
    same: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After an edit of the tried file its old scores do not count."""
    from types import SimpleNamespace

    from harness.commands import try_runs

    monkeypatch.chdir(tmp_path)
    path = try_runs.SCORES / "own__bert__s0.json"
    path.parent.mkdir(parents=True)
    path.write_text("{}")
    evaluated: list[str] = []
    result = SimpleNamespace(run=SimpleNamespace(identity="now" if same else "before"))
    monkeypatch.setattr(try_runs, "read_result", lambda path: result)
    monkeypatch.setattr(try_runs, "evaluate", lambda params, key, *given, **more: evaluated.append(key))
    owner: Any = SimpleNamespace(params=None, _identity=lambda run: "now")
    kind = next(c for c in vars(try_runs).values() if isinstance(c, type) and hasattr(c, "_evaluate"))
    kind._evaluate(owner, "own__bert__s0", None)
    assert evaluated == ([] if same else ["own__bert__s0"])
