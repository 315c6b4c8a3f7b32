"""Model folders with one fault each, made from five tiny valid ones."""

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import torch
from safetensors.torch import load_file, save_file

from methods.core.coupling_flow import CouplingFlow, FlowSettings
from methods.core.encoder import SentenceEncoder
from methods.core.teachers import add_mapping
from methods.core.words import WordAverageEncoder
from tests.faults.corruptions import SHAPES
from tests.faults.yaml_damage import VALUES, replaced
from tests.support import tiny

DEEP = "[" * 200_000
COUNTS_OF_LAYERS = ("num_hidden_layers", "depth")
CONTENTS = {"deep": DEEP, "a list": "[]", "nan": "NaN"}


class Fault(NamedTuple):
    """A bad folder: its valid origin, a name, the change to a copy, and whether it may pass.

    A folder may pass if the fault is in an unread part, or is a valid setting of another model.
    """

    base: str
    name: str
    spoil: Callable[[Path], object]
    may_pass: bool = False

    @property
    def id(self) -> str:
        return f"{self.base}: {self.name}"


def sound_folders(top: Path) -> dict[str, Path]:
    """Writes the valid folders and returns them by name."""
    plain = tiny.write_backbone(top / "plain")
    mapped = _encoder(plain, "mean")
    add_mapping(mapped, "tanh", teacher_dim=4)
    mapped.save(top / "mapped")
    _encoder(plain, "static-last-avg").save(top / "layers")
    flow = _encoder(plain, "cls")
    flow.output = CouplingFlow(FlowSettings(width=16, levels=2, depth=1, hidden=8, permutation="random"))
    flow.save(top / "flow")
    shutil.copytree(top / "mapped", top / "foreign")
    (top / "foreign/sentbench.json").unlink()
    WordAverageEncoder(torch.randn(len(tiny.WORDS), 6), tiny.WORDS).save(top / "words")
    words = json.loads((plain / "tokenizer.json").read_text())["model"]["vocab"]
    shutil.copytree(plain, top / "vocabulary")
    (top / "vocabulary/tokenizer.json").unlink()
    (top / "vocabulary/tokenizer_config.json").write_text('{"tokenizer_class": "BertTokenizer"}')
    (top / "vocabulary/vocab.txt").write_text("".join(f"{word}\n" for word in words))
    return {path.name: path for path in sorted(top.iterdir())}


def _encoder(plain: Path, pooling: str) -> SentenceEncoder:
    return tiny.sentence_encoder(plain, pooling).eval()


def file_faults(base: str, folder: Path) -> Iterator[Fault]:
    """Yields every file missing, truncated, with other bytes, or replaced by something that is not a file."""
    for file in sorted(path for path in folder.rglob("*") if path.is_file()):
        name, size = file.relative_to(folder).as_posix(), file.stat().st_size
        unread = base in ("flow", "layers") and name == "1_Pooling/config.json"
        optional = unread or name.endswith(("tokenizer_config.json", "special_tokens_map.json", "README.md"))
        optional |= base in ("mapped", "words") and name == "sentbench.json"
        yield Fault(base, f"{name} missing", lambda at, name=name: (at / name).unlink(), optional)
        for kind, spoil in SHAPES.items():
            yield Fault(base, f"{name} {kind}", lambda at, name=name, spoil=spoil: spoil(at / name), unread)
        for cut in sorted({1, size // 3, size - 3}):
            word_cut = name == "vocab.txt" and (base == "vocabulary" or cut == size - 3)
            yield Fault(
                base, f"{name} cut after {cut}", _bytes(name, file.read_bytes()[:cut]), unread or word_cut
            )
        for kind, text in CONTENTS.items():
            if file.suffix == ".json":
                yield Fault(base, f"{name} is {kind}", _bytes(name, text.encode()), unread)


def _bytes(name: str, content: bytes) -> Callable[[Path], object]:
    return lambda folder: (folder / name).write_bytes(content)


def value_faults(base: str, folder: Path) -> Iterator[Fault]:
    """Yields every entry of every JSON file with each of VALUES in its place.

    Not with very many layers, which the libraries begin to build.
    """
    for file in sorted(folder.rglob("*.json")):
        name = file.relative_to(folder).as_posix()
        for keys in _keys(json.loads(file.read_text()), depth=2):
            for kind, value in VALUES.items():
                if keys[-1] in COUNTS_OF_LAYERS and kind in ("a million", "a huge number"):
                    continue
                yield Fault(base, f"{name} {keys} is {kind}", _entry(name, keys, value), may_pass=True)


def _keys(value: Any, depth: int) -> Iterator[tuple[Any, ...]]:
    entries = enumerate(value) if isinstance(value, list) else getattr(value, "items", tuple)()
    for key, inner in list(entries)[:40]:
        yield (key,)
        if depth > 1:
            yield from ((key, *rest) for rest in list(_keys(inner, depth - 1))[:8])


def _entry(name: str, keys: tuple[Any, ...], value: Any) -> Callable[[Path], object]:
    def spoil(folder: Path) -> None:
        whole = json.loads((folder / name).read_text())
        (folder / name).write_text(json.dumps(replaced(whole, keys, value)))

    return spoil


def size_faults() -> Iterator[Fault]:
    """Yields config.json with sizes that its weights do not have: two layers, for example."""
    sizes = ("hidden_size", "num_attention_heads", "intermediate_size", "vocab_size")
    larger = dict.fromkeys((*sizes, "max_position_embeddings", "type_vocab_size"), 1000)
    for key, more in {**larger, "num_hidden_layers": 3}.items():
        for value in (-1, 0, 1, more, float("nan"), 1.5, "16", None, [16]):
            spoil = _entry("config.json", (key,), value)
            one_head = (key, value) == ("num_attention_heads", 1)
            yield Fault("plain", f"{key} is {str(value)[:32]}", spoil, may_pass=one_head)
    for value in ("nan", 10**5, -5, "x", None, [1]):
        yield Fault("plain", f"num_labels is {value}", _entry("config.json", ("num_labels",), value), True)


def weight_faults() -> Iterator[Fault]:
    """Yields weights with a wrong header, a missing tensor, or tensors of another type."""
    whole = "model.safetensors"
    for size in (0, 2, 10**6, 2**63):
        content = size.to_bytes(8, "little") + b"{}"
        yield Fault("plain", f"a header of {size} bytes", _bytes(whole, content))
    for text in (DEEP, "[]", '{"a": 1}', '{"a": {"dtype": "F32", "shape": [9], "data_offsets": [0, 36]}}'):
        content = len(text).to_bytes(8, "little") + text.encode()
        yield Fault("plain", f"a header {text[:24]}", _bytes(whole, content))
    name = "encoder.layer.1.output.dense.weight"
    changes: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
        "transposed": lambda tensor: tensor.T.contiguous(),
        "of no numbers": lambda tensor: tensor[:0].clone(),
        "nan": lambda tensor: tensor * float("nan"),
    }
    for kind, change in changes.items():
        yield Fault("plain", f"a weight {kind}", _weight(name, change))
    yield Fault("plain", "a weight less", _weight(name, lambda tensor: None))
    for kind in (torch.int64, torch.bool):
        spoil = _weight(name, lambda tensor, kind=kind: tensor.to(kind))
        yield Fault("plain", f"a weight of {kind}", spoil, may_pass=True)


def _weight(name: str, change: Callable[[torch.Tensor], torch.Tensor | None]) -> Callable[[Path], object]:
    def spoil(folder: Path) -> None:
        tensors = load_file(folder / "model.safetensors")
        changed = change(tensors.pop(name))
        save_file(tensors if changed is None else {**tensors, name: changed}, folder / "model.safetensors")

    return spoil


def foreign_faults() -> Iterator[Fault]:
    """Yields folders that contain code or make a library read files outside of them.

    Settings known to a library are the library's responsibility, so such a folder may pass.
    """
    outside = Path(__file__).parent
    code = {"AutoConfig": "evil.Config", "AutoModel": "evil.Model", "AutoTokenizer": ["evil.T", None]}
    for base, name in (
        ("plain", "config.json"),
        ("plain", "tokenizer_config.json"),
        ("layers", "transformer/config.json"),
        ("mapped", "2_Dense/config.json"),
    ):
        yield Fault(base, f"{name} with code", _entry(name, ("auto_map",), code), may_pass=True)
    for key, value in {
        "text_config": {"auto_map": code},
        "quantization_config": {"quant_method": "gptq", "bits": 4},
        "transformers_weights": "../other.safetensors",
        "fusion_config": {"a": True},
        "_attn_implementation": "someone/kernel",
        "model_type": "none-of-these",
    }.items():
        judged = key not in ("_attn_implementation", "model_type", "transformers_weights")
        yield Fault("plain", f"config.json with {key}", _entry("config.json", (key,), value), judged)
    named = _entry("tokenizer_config.json", ("gguf_file",), str(outside))
    yield Fault("plain", "a GGUF tokenizer", named, may_pass=True)
    yield Fault("plain", "an adapter", _bytes("adapter_config.json", b'{"base_model_name_or_path": "x"}'))
    for kind in ("evil.Module", "os.system", "sentence_transformersX.models.Pooling", "Transformer", "", 3):
        for base, name in (("foreign", "modules.json"), ("mapped", "modules.json")):
            yield Fault(base, f"a module of type {kind!r}", _entry(name, (1, "type"), kind))
    for path in ("../plain", str(outside), "a/../../b", "\0", "nowhere", 3, None):
        yield Fault("foreign", f"the pooling in {path!r}", _entry("modules.json", (1, "path"), path))
    for shard in ("../plain/model.safetensors", str(outside), "pytorch_model.bin", "nowhere.safetensors"):
        yield Fault("plain", f"a shard {shard}", lambda at, shard=shard: _sharded(at, shard))


def _sharded(folder: Path, shard: str) -> None:
    names = list(load_file(folder / "model.safetensors"))
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")
    index = {"metadata": {}, "weight_map": dict.fromkeys(names, shard)}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))


def tokenizer_faults() -> Iterator[Fault]:
    """Yields tokenizers and vocabularies that do not fit."""
    words = [*tiny.SPECIAL, *tiny.WORDS]
    many = [f"w{number}" for number in range(500)]
    for kind, lines in {"a word twice": [*words, "man"], "many words": [*words, *many]}.items():
        unused = kind == "many words"
        yield Fault("vocabulary", kind, _bytes("vocab.txt", "\n".join(lines).encode()), unused)
    yield Fault("words", "a word twice", _bytes("vocab.txt", "\n".join([*tiny.WORDS[1:], "two"]).encode()))
    for key in ("model", "added_tokens", "normalizer", "pre_tokenizer", "post_processor", "decoder"):
        for value in (3, {"type": "x"}, {"type": "Replace", "pattern": {"Regex": "(((("}, "content": ""}):
            spoil = _entry("tokenizer.json", (key,), value)
            yield Fault("plain", f"tokenizer.json {key} is {value}", spoil, may_pass=key == "decoder")
    yield Fault("plain", "ids beyond the model", _entry("tokenizer.json", ("model", "vocab", "man"), 10**6))
    yield Fault("plain", "an id twice", _entry("tokenizer.json", ("model", "vocab", "man"), 5), may_pass=True)
