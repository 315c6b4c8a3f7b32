"""Code in model folders never runs: all loading calls forbid it, and such folders are refused."""

import ast
import builtins
import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from methods.core import checkpoints
from methods.core.errors import InputError
from methods.core.folders import load_encoder
from methods.core.networks import MaskedModel
from tests.faults.small_project import write_stsb
from tests.support import tiny

ROOT = Path(__file__).parents[1]
LOADERS = ("from_pretrained", "from_config", "SentenceTransformer", "CrossEncoder")
CODE = """
import pathlib
pathlib.Path({mark!r}).write_text("ran")
from transformers import BertConfig as Config, BertModel as Model, BertTokenizer as Tokenizer
"""
MAP = {
    "AutoConfig": "evil.Config",
    "AutoModel": "evil.Model",
    "AutoModelForMaskedLM": "evil.Model",
    "AutoTokenizer": ["evil.Tokenizer", None],
}


def loading_calls(path: Path) -> list[ast.Call]:
    """Returns the calls in a file that load a model, a configuration or a tokenizer."""
    calls = [node for node in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(node, ast.Call)]
    return [call for call in calls if getattr(call.func, "attr", getattr(call.func, "id", "")) in LOADERS]


def refuses_code(call: ast.Call) -> bool:
    stated = [key.value for key in call.keywords if key.arg == "trust_remote_code"]
    return len(stated) == 1 and isinstance(stated[0], ast.Constant) and stated[0].value is False


def test_every_call_that_loads_a_model_refuses_its_code() -> None:
    rooms = ("benchmarks", "harness", "methods", "sentbench", "tests")
    actual = [
        (path, call)
        for room in rooms
        for path in sorted((ROOT / room).rglob("*.py"))
        for call in loading_calls(path)
    ]
    assert len(actual) > 15
    lax = [f"{path.relative_to(ROOT)}:{call.lineno}" for path, call in actual if not refuses_code(call)]
    assert not lax


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A masked language model that brings code, which leaves a mark when it runs; a terminal says yes."""
    folder = tiny.write_backbone(tmp_path / "model", masked_model=True)
    (folder / "evil.py").write_text(CODE.format(mark=str(tmp_path / "mark")))
    monkeypatch.setattr(builtins, "input", lambda *_: "y")
    monkeypatch.setenv("SENTBENCH_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("SENTBENCH_PROVIDERS", "embedded")
    write_stsb(tmp_path / "data/stsb")
    return folder


def add_code(path: Path, model_type: str | None = None) -> None:
    config = {**json.loads(path.read_text()), "auto_map": MAP}
    path.write_text(json.dumps(config if model_type is None else {**config, "model_type": model_type}))


@pytest.mark.parametrize("file", ["config.json", "tokenizer_config.json"])
@pytest.mark.parametrize("model_type", [None, "evil"], ids=["known", "unknown"])
def test_code_does_not_run_where_the_check_is_left_out(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, file: str, model_type: str | None
) -> None:
    """The calls of transformers refuse it by themselves."""
    monkeypatch.setattr(checkpoints, "check_kernels", lambda folder: None)
    add_code(folder / "config.json", model_type)
    add_code(folder / file, model_type)
    from harness.data.augmentation.models import load_tokenizer

    calls: list[Any] = [
        lambda: load_encoder(folder, pooling="mean"),
        lambda: MaskedModel(folder, output="own"),
        lambda: load_tokenizer(folder),
    ]
    for call in calls:
        with suppress(InputError):
            call()
    assert not (tmp_path / "mark").exists()


def test_pickles_are_read_weights_only(folder: Path, tmp_path: Path) -> None:
    from tests.harness.data.test_hub_sources import pickled

    for name in ("pytorch_model.bin", "training_args.bin", "optimizer.pt"):
        (folder / name).write_bytes(pickled(print))
    load_encoder(folder, pooling="mean")
    (folder / "model.safetensors").unlink()
    with pytest.raises(InputError, match="contains objects other than tensors"):
        load_encoder(folder, pooling="mean")
