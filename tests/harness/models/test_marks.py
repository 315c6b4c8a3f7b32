"""Files by which a folder is known, weights that may be missing, and what a refused trial leaves behind."""

import os
import pickle
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from safetensors import safe_open
from safetensors.torch import load_file, save_file
from torch import nn

from harness.models import fast, foreign
from harness.models.fast import Unrecognised, computed_here
from harness.models.foreign import checked_transformer, load_model, transformers_of
from harness.models.pickled import write_tensors
from harness.models.read import read_any, reading
from methods.core.encoder import SentenceEncoder
from methods.core.errors import InputError
from tests.harness.models.test_read import TEXTS, edit
from tests.support import tiny
from tests.support.families import write_modules


@pytest.mark.parametrize("mark", ["config.json", "modules.json", "sentbench.json", "vectors.safetensors"])
def test_a_pipe_in_a_folder_with_a_mark_is_refused_and_not_waited_for(tmp_path: Path, mark: str) -> None:
    os.mkfifo(tmp_path / "more.json")
    with reading(tmp_path):
        pass
    (tmp_path / mark).touch()
    refused = pytest.raises(InputError, match=r"more\.json: not a regular file; download the folder again")
    with refused, reading(tmp_path):
        pytest.fail("the folder is read")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_modules(tiny.write_backbone(tmp_path / "model"), 16)


@pytest.mark.parametrize(
    ("missing", "named"),
    [
        (["embeddings.position_ids", "embed_positions.weight", "pooler.dense.weight"], None),
        (["pooler.dense.weight", "b.weight", "a.weight"], "2 weights are missing, the first is a.weight"),
    ],
)
def test_weights_that_change_no_vector_of_a_token_may_be_missing(
    folder: Path, missing: list[str], named: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    kind = checked_transformer()
    library = kind.__mro__[1]
    seen: dict[str, Any] = {}
    network = SimpleNamespace(base_model_prefix="", state_dict=dict, named_modules=list)

    def load(self: Any, name: str, *options: Any, **given: Any) -> Any:
        seen.update(name=name, options=options, **given)
        return network, {"missing_keys": missing, "unexpected_keys": []}

    monkeypatch.setattr(library, "_load_model", load)
    made = object.__new__(kind)
    nn.Module.__init__(made)
    if named is None:
        assert made._load_model(str(folder), 1, subfolder="0_Transformer") is network
        assert made.folder == folder / "0_Transformer"
        assert made.missing == sorted(missing)
        assert seen == {
            "name": str(folder), "options": (1,), "subfolder": "0_Transformer", "output_loading_info": True,
        }  # fmt: skip
    else:
        with pytest.raises(InputError, match=f"^{folder}: {named}; expected every weight"):
            made._load_model(str(folder))


@pytest.mark.parametrize("place", ["_compare_vectors", "_compare_tokens"])
def test_a_model_that_is_not_taken_over_keeps_its_length_and_its_pooler(
    folder: Path, place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its own limit is 9 tokens; the trial cuts at the folder's."""
    edit(folder / "sentence_bert_config.json", max_seq_length=7)
    model = load_model(folder)
    (transformer,) = transformers_of(model)
    transformer.tokenizer.model_max_length = 9

    def refuse(*given: Any) -> None:
        raise Unrecognised("it is refused")

    with monkeypatch.context() as patched:
        patched.setattr(fast, place, refuse)
        with pytest.raises(Unrecognised, match="it is refused"):
            computed_here(model, folder)
    assert transformer.tokenizer.model_max_length == 9
    assert hasattr(transformer.model, "pooler")


def test_tokens_are_compared_on_texts_of_all_kinds_and_on_one_that_is_cut(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[list[str]] = []
    monkeypatch.setattr(fast, "_compare_vectors", lambda model, encoder, texts: asked.append([*texts]))
    tokens: list[Any] = []
    monkeypatch.setattr(fast, "_compare_tokens", lambda theirs, ours: tokens.append(ours["input_ids"].shape))
    model = load_model(folder)
    encoder = computed_here(model, folder)
    assert asked == [fast.PROBES]
    assert fast.PROBES[:2] == fast.TRIAL
    assert len({len(encoder.token_ids([text])[0]) for text in fast.TRIAL}) == 2, "two lengths are padded"
    assert any(text != text.lower() for text in fast.PROBES)
    assert tokens == [torch.Size([len(fast.PROBES) + 1, encoder.input_limit])]
    assert model[0].model.pooler is None, "it is no part of these vectors"


def test_a_model_without_tokens_of_the_probes_is_tried_on_two_texts(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[list[str]] = []
    monkeypatch.setattr(fast, "_compare_vectors", lambda model, encoder, texts: asked.append([*texts]))
    monkeypatch.setattr(fast, "_has_vectors", lambda encoder, text: False)
    computed_here(load_model(folder), folder)
    assert asked == [fast.TRIAL]


@pytest.mark.parametrize("activation", [nn.Identity(), nn.Tanh()])
@pytest.mark.parametrize("normalize", [False, True])
def test_layers_are_taken_over_in_their_order(folder: Path, activation: nn.Module, normalize: bool) -> None:
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Dense, Normalize

    dense = Dense(16, 5, activation_function=activation)
    parts = [*load_model(folder), dense, *([Normalize()] if normalize else [])]
    model = SentenceTransformer(modules=parts, device="cpu", trust_remote_code=False).eval()
    encoder = computed_here(model, folder)
    assert isinstance(encoder, SentenceEncoder)
    assert encoder.output is dense.linear
    assert encoder.activation == ("tanh" if isinstance(activation, nn.Tanh) else "identity")
    assert (encoder.normalize, encoder.pooling) == (normalize, "mean")


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (
            lambda parts, dense: [*parts, dense(nn.ReLU()), dense(nn.Tanh(), 5)],
            "its modules are Tr",
        ),
        (lambda parts, dense: [*parts, dense(nn.ReLU())], "its Dense has ReLU"),
        (lambda parts, dense: parts[:1], "its modules are Transformer$"),
    ],
)
def test_other_modules_are_named(folder: Path, change: Any, reason: str) -> None:
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Dense

    def dense(activation: nn.Module, width: int = 16) -> Any:
        return Dense(width, 5, activation_function=activation)

    parts = change([*load_model(folder)], dense)
    model = SentenceTransformer(modules=parts, device="cpu", trust_remote_code=False)
    with pytest.raises(Unrecognised, match=f"^{reason}"):
        fast._recognised(model)


@pytest.mark.parametrize("index", [0, 1])
def test_a_hook_on_any_module_leaves_the_model_to_the_library(folder: Path, index: int) -> None:
    model = load_model(folder)
    model[index].register_forward_hook(lambda module, given, made: made)
    with pytest.raises(Unrecognised, match="a hook is attached to its modules"):
        computed_here(model, folder)


def test_another_precision_and_a_slow_tokenizer_are_named(folder: Path) -> None:
    model = load_model(folder)
    model[0].model.half()
    with pytest.raises(Unrecognised, match="its network is a BertModel in float16"):
        computed_here(model, folder)
    network = SimpleNamespace(tokenizer=SimpleNamespace(), model=load_model(folder)[0].model)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(fast, "_recognised", lambda model: [network, None])
        with pytest.raises(Unrecognised, match="its tokenizer is a SimpleNamespace"):
            computed_here(None, folder)


def test_a_processor_of_another_kind_keeps_its_tokenizer() -> None:
    """A model of pictures has a processor, whose tokenizer is a part of it."""
    for tokenizer, processor in ((None, None), (SimpleNamespace(), SimpleNamespace())):
        transformer = SimpleNamespace(tokenizer=tokenizer, processor=processor)
        foreign._set_tokenizer(transformer)
        assert transformer.processor is processor


def test_a_note_names_the_tokenizer_that_is_used(folder: Path) -> None:
    model = load_model(folder)
    (transformer,) = transformers_of(model)
    assert foreign.notes_of(model, folder) == []
    transformer.tokenizer.instead = "a note"
    transformer.model.config.auto_map = {"AutoModel": "own.Model"}
    code = f"{folder}: auto_map names Python code, which is not run; BertModel reads the folder"
    assert foreign.notes_of(model, folder) == ["a note", code]
    assert read_any(folder).encoder.encode(TEXTS).shape == (len(TEXTS), 16)


@pytest.mark.parametrize("pooling", ["last-two-avg", "pooler", "mean"])
def test_weights_in_half_precision_are_computed_in_single(tmp_path: Path, pooling: str) -> None:
    plain = tiny.write_backbone(tmp_path / "plain")
    tensors = load_file(plain / "model.safetensors")
    save_file({name: tensor.half() for name, tensor in tensors.items()}, plain / "model.safetensors")
    edit(plain / "config.json", dtype="float16")
    encoder: Any = read_any(plain, pooling=pooling).encoder
    kinds = {str(weight.dtype) for weight in encoder.parameters()}
    if pooling == "mean":
        assert kinds <= {"torch.float16", "torch.float32"}, "as the library computes it"
    else:
        assert kinds == {"torch.float32"}


def test_a_model_without_a_padding_token_gets_another(folder: Path) -> None:
    edit(folder / "tokenizer_config.json", pad_token=None)
    (folder / "special_tokens_map.json").unlink(missing_ok=True)
    (transformer,) = transformers_of(load_model(folder))
    assert transformer.tokenizer.pad_token == "[SEP]"
    assert transformer.tokenizer.model_max_length == transformer.max_seq_length


def test_a_tokenizer_that_is_used_instead_keeps_the_length(monkeypatch: pytest.MonkeyPatch) -> None:
    given, instead = (SimpleNamespace(model_max_length=limit, pad_token_id=0) for limit in (7, 512))
    monkeypatch.setattr(foreign, "as_stored", lambda tokenizer, folder: instead)
    transformer = SimpleNamespace(tokenizer=given, processor=given, folder=Path("folder"))
    foreign._set_tokenizer(transformer)
    assert transformer.processor is instead
    assert instead.model_max_length == 7


def test_the_tensors_of_a_pickle_are_written_by_name_without_shared_memory(tmp_path: Path) -> None:
    base = torch.arange(6.0).view(2, 3).requires_grad_()
    state = {"b": base, "a": base, "turned": base.T, "part": base[0]}
    torch.save(state, tmp_path / "state")
    write_tensors(tmp_path / "state", tmp_path / "target")
    with safe_open(tmp_path / "target", "pt") as file:
        assert file.metadata() == {"format": "pt"}
    written = load_file(tmp_path / "target")
    assert written.keys() == state.keys()
    for name, tensor in state.items():
        assert torch.equal(written[name], tensor)
    for other in ([base], {"a": 1}, {"a": [base]}):
        torch.save(other, tmp_path / "state")
        with pytest.raises(InputError, match="contains objects other than named tensors"):
            write_tensors(tmp_path / "state", tmp_path / "other")
    assert not (tmp_path / "other").exists()


def test_a_pickle_of_other_objects_is_not_opened(tmp_path: Path) -> None:
    torch.save({"a": Path("x")}, tmp_path / "state")
    with pytest.raises(pickle.UnpicklingError, match="Weights only load failed"):
        write_tensors(tmp_path / "state", tmp_path / "target")
