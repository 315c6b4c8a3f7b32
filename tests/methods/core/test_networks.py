"""Copies of a backbone and the parent of a run: what is passed on, and one line for a parent that is none."""

from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from methods.core import networks as module
from methods.core.errors import InputError
from methods.core.method import Method
from methods.core.networks import Frozen, Networks
from methods.registry import METHODS, load_method
from tests.methods.simcse.sample import SAMPLES
from tests.support import tiny
from tests.support.samples import write_words


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny.write_backbone(tmp_path_factory.mktemp("networks") / "bert")


class Recording(Networks):
    """Keeps what is read."""

    seen: list[Any]

    def read(self, folder: Path, *, pooling: str | None, hf_pooler: bool) -> Any:
        self.seen.append((folder.name, pooling, hf_pooler))
        return super().read(folder, pooling=pooling, hf_pooler=hf_pooler)


def recording(folder: Path, **given: Any) -> Recording:
    made = Recording(folder, pooling="cls", **given)
    made.seen = []
    return made


def test_a_backbone_has_the_runs_pooling_and_a_parent_the_one_that_is_asked_for(folder: Path) -> None:
    made = recording(folder, parent=folder, pieces=Path("pieces"))
    plain, pooled = made.new_encoder(), made.new_encoder(hf_pooler=True)
    parent = made.parent_encoder("a test", pooling="mean", like=plain)
    made.parent_encoder("a test", pooling="mean", hf_pooler=True)
    assert made.seen == [
        ("bert", "cls", False),
        ("bert", "cls", True),
        ("bert", "mean", False),
        ("bert", "mean", True),
    ]
    assert [encoder.piece_folder for encoder in (plain, pooled, parent)] == [Path("pieces")] * 3
    backbones: list[Any] = [plain.backbone, pooled.backbone]
    assert [getattr(backbone, "pooler", None) is None for backbone in backbones] == [True, False]
    assert plain.training
    assert (plain.pooling, parent.pooling) == ("cls", "mean")


def test_a_run_names_what_is_wrong_with_its_parent(folder: Path, tmp_path: Path) -> None:
    def parent(path: Path | None, **options: Any) -> Any:
        return Networks(folder, pooling="mean", parent=path).parent_encoder("the test", **options)

    with pytest.raises(InputError, match=r"^the test needs a parent and the run has none; set `parent`"):
        parent(None)
    with pytest.raises(InputError, match="none: no such folder, the test expects its parent there; run the"):
        parent(tmp_path / "none")
    words = write_words(tmp_path / "words")
    with pytest.raises(InputError, match=f"^{words}: the parent is not a transformer, the test expects one"):
        parent(words)
    other = tiny.sentence_encoder(folder)
    other.tokenizer.add_tokens(["another"])
    with pytest.raises(InputError, match=r"the parent's tokenizer differs from .*; the test expects the"):
        parent(folder, pooling="mean", like=other)
    assert parent(folder, pooling="mean").width == 16
    with pytest.raises(InputError, match=r"no teacher\.json; the test expects a `teachers/` entry"):
        Networks(folder, pooling="mean", parent=folder).teacher_vectors("the test")


def test_a_masked_model_is_the_parent_with_its_stated_output(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[Any] = []
    like = tiny.sentence_encoder(folder)

    class Model:
        def __init__(self, path: Path, *, output: str) -> None:
            made.append((path, output))
            self.tokenizer = like.tokenizer

    monkeypatch.setattr(module, "MaskedModel", Model)
    networks = Networks(folder, pooling="mean", parent=tmp_path)
    for output in ("own", "word-embeddings"):
        networks.parent_masked_model("the test", output=output, like=like)  # type: ignore[arg-type]
    assert made == [(tmp_path, "own"), (tmp_path, "word-embeddings")]
    other = tiny.sentence_encoder(folder)
    other.tokenizer.add_tokens(["another"])
    with pytest.raises(InputError, match="the parent's tokenizer differs"):
        networks.parent_masked_model("the test", output="own", like=other)


@pytest.mark.parametrize("dropout", [False, True])
def test_a_frozen_network_has_no_gradient_and_its_own_dropout(dropout: bool) -> None:
    frozen = Frozen(nn.Linear(2, 2), dropout=dropout)
    assert frozen.module.training is dropout
    assert not any(weight.requires_grad for weight in frozen.module.parameters())
    seen: list[Any] = []
    frozen.module.forward = lambda tokens: seen.append(torch.is_grad_enabled())  # type: ignore[method-assign]
    frozen({"input_ids": torch.zeros(1)})
    assert seen == [False]


@pytest.mark.parametrize("mode", [False, True])
def test_a_method_has_one_mode_except_for_the_parts_that_state_theirs(folder: Path, mode: bool) -> None:
    method = tiny.build(SAMPLES[0], folder, parent=None)
    method.fixed_modes = {"head": not mode}
    assert method.train(mode) is method
    modes = {name: part.training for name, part in method.named_modules() if "head" not in name.split(".")}
    assert set(modes.values()) == {mode}
    assert {part.training for part in method.get_submodule("head").modules()} == {not mode}


def test_a_method_without_a_loss_is_not_trained(folder: Path) -> None:
    pooled = load_method("pooled")
    assert not pooled.is_trained()
    untrained = pooled(
        pooled.Config(max_length=32, control=None),
        Networks(folder, pooling="mean"),  # type: ignore[call-arg]
    )
    with pytest.raises(InputError, match=r"^Pooled is not trained; set `steps: 0`$"):
        untrained.loss({})
    rows = tiny.rows()
    assert untrained.prepare(rows) is rows
    assert untrained.corpus is None
    assert [*untrained.watched()] == [*untrained.candidates()] == [untrained.encoder]
    trained = {name for name in METHODS if load_method(name).is_trained()}
    assert METHODS.keys() - trained == {"pooled", "whitening", "glove"}


def test_a_method_is_the_one_class_of_its_module(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(
        InputError, match=r"method 'simcs' is not known, expected one of .*did you mean simcse"
    ):
        load_method("simcs")
    from methods.simcse import method as simcse

    class Second(Method):
        pass

    Second.__module__ = simcse.__name__
    monkeypatch.setattr(simcse, "Second", Second, raising=False)
    with pytest.raises(TypeError, match="defines 2 methods, expected one"):
        load_method("simcse")


def test_word_vectors_take_the_place_of_a_transformer_where_a_method_says_so() -> None:
    accepts = {name: load_method(name).word_vectors for name in METHODS}
    assert {name: kind for name, kind in accepts.items() if kind != "refused"} == {
        "pooled": "accepted",
        "whitening": "accepted",
        "glove": "needed",
    }


def test_a_method_has_the_name_of_its_package_with_hyphens() -> None:
    names = (
        "bert-flow ckd congen consert ct dclr diffcse distill glove mirror-bert moco modals pcl pooled "
        "pt-bert scd sct sg-opt simcse una whitening"
    )
    assert " ".join(METHODS) == names
    assert METHODS["mirror-bert"] == "methods.mirror_bert.method"
