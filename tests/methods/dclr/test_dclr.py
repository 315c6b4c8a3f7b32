"""DCLR as a whole: both presets against the slow form, what learns and what does not, bad settings."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from pydantic import ValidationError
from torch import Tensor

from methods.core import streams
from methods.core.errors import InputError
from methods.core.folders import load_backbone
from methods.core.interface import Method
from methods.dclr.method import DCLR
from tests.methods.dclr.sample import PAPER, RELEASED, UNWEIGHTED
from tests.methods.dclr.test_noise import slow_ascent
from tests.methods.dclr.test_objective import slow_binary, slow_cross_entropy
from tests.support import tiny
from tests.support.tiny import Sample

Build = Callable[..., DCLR]


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    top = tmp_path_factory.mktemp("dclr")
    parent = tiny.write_parent(top, "encoder", tiny.rows())
    assert parent is not None
    return {
        "student": tiny.write_backbone(top / "student"),
        "calm": tiny.write_backbone(top / "calm", dropout=0.0),
        "wide": tiny.write_backbone(top / "wide", width=24, seed=8),
        "complement": parent,
    }


@pytest.fixture
def build(folders: dict[str, Path]) -> Build:
    def made(
        config: dict[str, Any],
        *,
        parent: str | None = "complement",
        backbone: str = "student",
        name: str = "dclr",
    ) -> Any:
        place = None if parent is None else folders[parent]
        method = tiny.build(Sample(name, "test", config), folders[backbone], parent=place, pooling="cls")
        method.train().prepare(tiny.rows())
        return method

    return made


def batch_of(method: Method, count: int = 8, step: int = 0) -> Any:
    rows = tiny.rows()[:count]
    return method.collate(rows, step=step, rng=streams.generator(3, streams.COLLATE, step))


def loss_of(method: Method, batch: Any = None) -> Any:
    torch.manual_seed(7)
    return method.loss(batch_of(method) if batch is None else batch)


def slow_loss(vectors: dict[str, Tensor], config: dict[str, Any]) -> Tensor:
    """The loss pair by pair from the two views, the complement's two views and the drawn noise."""

    def cosine(x: Tensor, y: Tensor) -> Tensor:
        return (x @ y) / (x.norm() * y.norm())

    one, other = vectors["first"], vectors["second"]
    noise = slow_ascent(
        vectors["noise"],
        one.detach(),
        other.detach(),
        temperature=config["noise_temperature"],
        steps=config["noise_steps"],
        step_size=config["noise_step_size"],
        denominator=config["noise_denominator"],
    )
    released = config["masked_pair"] == "zero-logit"
    rows = []
    for i in range(len(one)):
        row = []
        for j in range(len(other)):
            score = cosine(vectors["scored"][i], vectors["scored_again"][j])
            tau, phi = config["temperature"], config["threshold"]
            false = score / tau > 20 * phi if released else score >= phi
            logit = cosine(one[i], other[j]) / tau
            masked = 0 * logit if released else logit - 1e4
            row.append(masked if i != j and false else logit)
        row += [cosine(one[i], vector) / config["temperature"] for vector in noise]
        rows.append(torch.stack(row))
    return (slow_binary if released else slow_cross_entropy)(torch.stack(rows))


@pytest.mark.parametrize("preset", [RELEASED, PAPER], ids=["released", "paper"])
@pytest.mark.parametrize("temperature", [0.05, 0.07])
def test_both_presets_equal_the_slow_form_with_gradients(
    preset: dict[str, Any], temperature: float, build: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = {**preset, "threshold": 0.6, "temperature": temperature, "noise_step_size": 0.1}
    method = build(config)
    generator = torch.Generator().manual_seed(1)
    draw = lambda *shape: torch.randn(*shape, generator=generator, dtype=torch.float64)  # noqa: E731
    vectors = {
        "first": draw(6, 16).requires_grad_(),
        "second": draw(6, 16).requires_grad_(),
        "noise": draw(4, 16),
    }
    scored = draw(6, 2)
    vectors |= {"scored": scored, "scored_again": scored}
    if preset is RELEASED:  # two passes with dropout differ
        vectors["scored_again"] = scored + 0.3 * draw(6, 2)
    both = torch.cat([vectors["scored"], vectors["scored_again"]]) if preset is RELEASED else scored
    monkeypatch.setattr(method, "complement", lambda tokens: both)
    monkeypatch.setattr(method, "views", lambda batch: (vectors["first"], vectors["second"]))
    found = method.loss({**batch_of(method, 6), "noise": vectors["noise"]})
    assert 0.1 < found.parts["masked_share"] < 0.9
    expected = slow_loss(vectors, config)
    assert found.total.item() == pytest.approx(expected.item(), abs=1e-8)
    inputs = [vectors["first"], vectors["second"]]
    for fast, slow in zip(
        torch.autograd.grad(found.total, inputs), torch.autograd.grad(expected, inputs), strict=True
    ):
        torch.testing.assert_close(fast, slow, atol=1e-8, rtol=0)


@pytest.mark.parametrize("off", [{**UNWEIGHTED}, {"threshold": 1.0, "comparison": "above"}])
def test_without_noise_and_weights_the_paper_preset_is_simcse_bit_for_bit(
    off: dict[str, Any], build: Build, tmp_path: Path
) -> None:
    """One whole training step: the complement and the noise must not shift the dropout of the student."""
    simcse = {
        "max_length": 32,
        "temperature": 0.05,
        "objective": "info-nce",
        "positive": "dropout",
        "head": "mlp",
        "dropout": None,
    }
    states = []
    for method in (
        build({**PAPER, **off, "noise_ratio": 0.0}),
        build(simcse, name="simcse", parent=None),
    ):
        tiny.trainer(method, tmp_path / type(method).__name__, steps=2).fit(tiny.rows())
        states.append(method.state_dict())
    assert states[0].keys() == states[1].keys()
    assert all(torch.equal(states[0][name], states[1][name]) for name in states[0])


def test_the_students_dropout_is_the_same_with_and_without_noise_and_complement(build: Build) -> None:
    plain = build({**PAPER, **UNWEIGHTED, "noise_ratio": 0.0}, parent=None)
    full = build({**PAPER, "complement_dropout": True})
    seen = []
    for method in (plain, full):
        kept: list[Tensor] = []
        method.head.register_forward_hook(lambda module, given, made, kept=kept: kept.append(made.detach()))
        loss_of(method)
        seen.append(kept[0])
    assert torch.equal(*seen)


@pytest.mark.parametrize("preset", [RELEASED, PAPER], ids=["released", "paper"])
def test_complement_and_noise_neither_learn_nor_carry_a_graph(
    preset: dict[str, Any], build: Build, tmp_path: Path
) -> None:
    method = build(preset)
    assert method.complement is not None
    before = {name: value.clone() for name, value in method.complement.module.state_dict().items()}
    batch = batch_of(method)
    loss_of(method, batch).total.backward()
    assert batch["noise"].grad is None
    assert all(value.grad is None for value in method.complement.module.parameters())
    tiny.trainer(method, tmp_path).fit(tiny.rows())
    after = method.complement.module.state_dict()
    assert len(before) > 10
    assert all(torch.equal(before[name], after[name]) for name in before)
    assert not any("complement" in name for name in method.state_dict())
    assert method.complement.module.training is preset["complement_dropout"]


def test_the_students_gradient_is_that_of_constant_noise(build: Build) -> None:
    """Handing in the moved noise with no steps left gives the same gradients as moving it inside."""
    gradients = []
    moving, still = build(PAPER), build({**PAPER, "noise_steps": 0})
    batch = batch_of(moving)
    torch.manual_seed(7)
    with torch.no_grad():
        moved = moving.moved_noise(batch, *moving.views(batch))
    assert not torch.equal(moved, batch["noise"])
    for method, given in ((moving, batch), (still, {**batch, "noise": moved})):
        loss_of(method, given).total.backward()
        gradients.append([value.grad for value in method.parameters() if value.grad is not None])
    assert len(gradients[0]) == len(gradients[1]) > 10
    assert all(torch.equal(one, other) for one, other in zip(*gradients, strict=True))


@pytest.mark.parametrize("preset", [RELEASED, PAPER], ids=["released", "paper"])
@pytest.mark.parametrize("count", [1, 2, 3])
def test_small_batches_have_finite_losses_and_gradients(
    preset: dict[str, Any], count: int, build: Build
) -> None:
    for ratio in (0.0, 1.0):
        method = build({**preset, "noise_ratio": ratio, "temperature": 0.01})
        found = loss_of(method, batch_of(method, count))
        found.total.backward()
        assert torch.isfinite(found.total)
        assert all(torch.isfinite(part) for part in found.parts.values())
        assert all(
            torch.isfinite(value.grad).all() for value in method.parameters() if value.grad is not None
        )


def test_masked_share_and_duplicates(build: Build) -> None:
    """Eight sentences of which two are equal, dropout of the complement off: 2 of 56 pairs at phi 0.99999."""
    method = build({**PAPER, "threshold": 0.99999})
    rows = tiny.rows()[:7]
    batch = method.collate([*rows, rows[0]], step=0, rng=np.random.default_rng(0))
    assert loss_of(method, batch).parts["masked_share"].item() == pytest.approx(2 / 56)
    scores = method.complement_scores(batch["anchor"])
    assert torch.equal(scores, scores.T)
    assert scores[0, 7] == pytest.approx(1.0, abs=1e-6)


def test_an_active_complement_dropout_misses_duplicates(build: Build) -> None:
    method = build({**RELEASED, "threshold": 0.99999})
    rows = tiny.rows()[:7]
    batch = method.collate([*rows, rows[0]], step=0, rng=np.random.default_rng(0))
    assert loss_of(method, batch).parts["masked_share"].item() == 0.0
    scores = method.complement_scores(batch["anchor"])
    assert not torch.allclose(scores, scores.T, atol=1e-4)


def test_a_batch_brings_its_own_noise_of_the_stated_spread(build: Build) -> None:
    """int(2.5 * 24) = 60 vectors of width 16 and sigma 3; a step always draws the same."""
    method = build({**PAPER, **UNWEIGHTED, "noise_ratio": 2.5, "noise_scale": 3.0}, parent=None)
    drawn = batch_of(method, 24)["noise"]
    assert drawn.shape == (60, 16)
    assert drawn.dtype == torch.float32
    assert drawn.std().item() == pytest.approx(3.0, rel=0.1)
    assert drawn.mean().item() == pytest.approx(0.0, abs=0.3)
    assert torch.equal(drawn, batch_of(method, 24)["noise"])
    assert not torch.equal(drawn, batch_of(method, 24, step=1)["noise"])


@pytest.mark.parametrize("scale", ["cosine", "twenty"])
def test_temperature_moves_the_weights_only_in_the_released_arithmetic(scale: str, build: Build) -> None:
    """At tau 0.1 the released test cos / tau > 20 phi asks for cos > 2 phi: at phi 0.55 none is masked."""
    shares = []
    for temperature in (0.05, 0.1):
        method = build({**RELEASED, "threshold_scale": scale, "temperature": temperature, "threshold": 0.55})
        shares.append(float(loss_of(method).parts["masked_share"]))
    assert shares[0] > 0
    assert shares[1] == (shares[0] if scale == "cosine" else 0.0)


def test_a_complement_of_another_width_is_accepted(build: Build, folders: dict[str, Path]) -> None:
    method = build({**PAPER, "complement_vector": "cls"}, parent="wide")
    assert method.complement is not None
    assert method.complement(method.encoder.tokenize(["a cat"])).shape == (1, 24)
    assert torch.isfinite(loss_of(method).total)


def test_the_complement_pooler_is_its_dense_layer_with_tanh_on_the_cls(
    build: Build, folders: dict[str, Path]
) -> None:
    method = build({**PAPER, "complement_vector": "pooler"}, parent="wide")
    assert method.complement is not None
    tokens = method.encoder.tokenize(["the man runs", "a cat sleeps under the tree"])
    backbone = load_backbone(folders["wide"], hf_pooler=True)
    with torch.no_grad():
        expected = backbone(**tokens).pooler_output
    torch.testing.assert_close(method.complement(tokens), expected)


@pytest.mark.parametrize("head", ["pooler", "pooler-mlp"])
def test_the_pooler_of_the_backbone_becomes_the_head_and_is_not_exported(
    head: str, build: Build, folders: dict[str, Path], tmp_path: Path
) -> None:
    method = build({**PAPER, **UNWEIGHTED, "head": head}, parent=None)
    method.eval()
    below = method.head if head == "pooler" else method.head[0]  # type: ignore[index]
    tokens = method.encoder.tokenize(["the man runs"])
    with torch.no_grad():
        expected = load_backbone(folders["student"], hf_pooler=True)(**tokens).pooler_output
        torch.testing.assert_close(below(method.encoder(tokens)), expected)  # type: ignore[operator]
    assert not any("pooler" in name for name in method.state_dict())
    cls = method.encoder.hidden(tokens)[:, 0].detach().numpy()
    np.testing.assert_allclose(method.exported().encode(["the man runs"]), cls, atol=1e-6)
    method.exported().save(tmp_path / "out")
    from safetensors import safe_open

    with safe_open(tmp_path / "out/model.safetensors", "pt") as weights:
        assert not any("pooler" in name or "head" in name for name in weights.keys())  # noqa: SIM118


def test_with_padding_attended_a_sentence_depends_on_the_longest_of_its_batch(build: Build) -> None:
    seen = {}
    for attend in (True, False):
        method = build({**PAPER, **UNWEIGHTED, "attend_padding": attend}, parent=None, backbone="calm")
        short, long = (method.encoder.pad([[2, 7, 8, 3], [2] + [9] * n + [3]]) for n in (2, 9))
        with torch.no_grad():
            seen[attend] = [method.views({"anchor": tokens})[0][0] for tokens in (short, long)]
    torch.testing.assert_close(*seen[False], atol=1e-5, rtol=0)
    assert not torch.allclose(*seen[True], atol=1e-3)
    torch.testing.assert_close(seen[True][0], seen[False][0])  # nothing is padded there


@pytest.mark.parametrize("attend", [True, False])
def test_the_complement_attends_to_padding_as_the_student_does(attend: bool, build: Build) -> None:
    method = build({**PAPER, "attend_padding": attend})
    tokens = method.encoder.pad([[2, 7, 8, 3], [2] + [9] * 9 + [3]])
    assert method.complement is not None
    everything = {**tokens, "attention_mask": torch.ones_like(tokens["attention_mask"])}
    seen, other = (everything, tokens) if attend else (tokens, everything)
    vectors, others = (torch.nn.functional.normalize(method.complement(view)) for view in (seen, other))
    torch.testing.assert_close(method.complement_scores(tokens), vectors @ vectors.T)
    assert not torch.allclose(vectors, others, atol=1e-3)


def test_a_student_may_start_from_the_parent_that_is_its_complement(
    build: Build, folders: dict[str, Path]
) -> None:
    """Nothing is trained yet and dropout is off on both sides: student and complement give equal vectors."""
    method = build({**PAPER, "student_from": "parent", "complement_vector": "cls"})
    method.eval()
    assert method.complement is not None
    tokens = method.encoder.tokenize(["the man runs", "a cat sleeps"])
    assert torch.equal(method.encoder(tokens), method.complement(tokens))
    ours = {id(value) for value in method.parameters()}
    assert not any(id(value) in ours for value in method.complement.module.parameters())
    assert all(value.requires_grad for value in method.parameters())
    other = build(PAPER)
    assert not torch.allclose(other.eval().encoder(tokens), method.encoder(tokens), atol=1e-2)


@pytest.mark.parametrize("positive", ["token-cutoff", "span-cutoff", "feature-cutoff"])
def test_cutoffs_erase_word_embeddings_of_the_second_view_only(positive: str, build: Build) -> None:
    config = {**PAPER, **UNWEIGHTED, "positive": positive, "cutoff_rate": 0.3}
    method = build(config, parent=None, backbone="calm")
    batch = batch_of(method)
    plain = {"anchor": batch["anchor"]}
    with torch.no_grad():
        first, second = method.views(batch)
        expected, _ = method.views(plain)
        words = method.encoder.backbone.get_input_embeddings()(batch["anchor"]["input_ids"])  # type: ignore[operator]
        cut = method.head(method.encoder(batch["anchor"], inputs_embeds=words * batch["keep"]))
    torch.testing.assert_close(first, expected)
    torch.testing.assert_close(second, cut)
    assert (second - first).norm(dim=1).gt(1e-3).all()


def test_each_cutoff_erases_what_its_name_says(build: Build) -> None:
    """Half of the words of 24 sentences: always one run for spans, not always for tokens; whole features."""
    runs = {}
    for positive in ("token-cutoff", "span-cutoff", "feature-cutoff"):
        config = {**PAPER, **UNWEIGHTED, "positive": positive, "cutoff_rate": 0.5}
        keep = batch_of(build(config, parent=None), 24)["keep"]
        if positive == "feature-cutoff":
            assert keep.shape == (24, 1, 16)
            assert keep.sum(dim=2).eq(8).all()
            continue
        starts = (keep[:, 1:] < keep[:, :-1]).sum(dim=(1, 2))
        runs[positive] = int(starts.max())
    assert runs["span-cutoff"] == 1
    assert runs["token-cutoff"] > 1


def test_shuffled_views_go_to_the_student_and_not_to_the_complement(build: Build) -> None:
    method = build({**PAPER, "positive": "token-shuffle"}, backbone="calm")
    batch = batch_of(method)
    assert not torch.equal(batch["anchor"]["input_ids"], batch["positive"]["input_ids"])
    seen: list[Tensor] = []
    assert method.complement is not None
    frozen = method.complement
    method.complement = lambda tokens: (seen.append(tokens["input_ids"]), frozen(tokens))[1]  # type: ignore[assignment]
    loss_of(method, batch)
    assert [torch.equal(ids, batch["anchor"]["input_ids"]) for ids in seen] == [True]


def test_self_weighting_masks_by_the_students_own_cosines(build: Build) -> None:
    method = build({**PAPER, "weights_from": "student", "threshold": 0.5}, parent=None)
    torch.manual_seed(7)
    first, second = (torch.nn.functional.normalize(view) for view in method.views(batch_of(method)))
    cosines = first @ second.T
    expected = ((cosines >= 0.5) & ~torch.eye(8, dtype=torch.bool)).sum() / 56
    assert loss_of(method).parts["masked_share"].item() == pytest.approx(expected.item())
    assert 0 < expected < 1


def test_distillation_reads_the_complement_even_where_the_student_weighs_itself(build: Build) -> None:
    settings = {**PAPER, "weights_from": "student", "distillation_weight": 0.5}
    parts = loss_of(build(settings)).parts
    plain = loss_of(build({**settings, "distillation_weight": 0.0}, parent=None))
    assert torch.equal(parts["masked_share"], plain.parts["masked_share"])
    assert parts["distillation"] > 0
    total = loss_of(build(settings)).total
    assert total.item() == pytest.approx(plain.total.item() + 0.5 * parts["distillation"].item(), rel=1e-6)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"threshold": -1.0}, "threshold"),
        ({"threshold": 1.5}, "threshold"),
        ({"threshold": None}, "expected a number where there are weights"),
        ({"weights_from": "none"}, "null where there are none"),
        ({"noise_ratio": -0.5}, "noise_ratio"),
        ({"noise_steps": -1}, "noise_steps"),
        ({"noise_scale": 0.0}, "noise_scale"),
        ({"temperature": 0.0}, "temperature"),
        ({"positive": "token-cutoff"}, "expected a number for a cutoff"),
        ({"cutoff_rate": 0.2}, "null for other positives"),
        ({"head": "linear"}, "head"),
        ({"phi": 0.9}, "phi"),
    ],
)
def test_settings_without_meaning_are_refused(change: dict[str, Any], told: str) -> None:
    with pytest.raises(ValidationError, match=told) as caught:
        DCLR.Config.model_validate({**PAPER, **change})
    assert caught.value.error_count() == 1
    assert "\n" not in caught.value.errors()[0]["msg"]


def test_bad_parents_are_told_in_one_line(build: Build, folders: dict[str, Path], tmp_path: Path) -> None:
    folders = {**folders, "absent": tmp_path / "absent", "words": tmp_path / "words"}
    other = tiny.write_backbone(tmp_path / "other")
    tokenizer = (other / "tokenizer.json").read_text(encoding="utf-8")
    (other / "tokenizer.json").write_text(tokenizer.replace('"river"', '"riverbed"'), encoding="utf-8")
    write_words(folders["words"])
    told = {
        None: "dclr needs a parent and the run has none",
        folders["absent"]: "no such folder",
        folders["student"]: "does not say how it pools",
        folders["words"]: "not a transformer",
        other: "tokenizer differs",
    }
    for parent, message in told.items():
        vector = "cls" if parent == other else "own"
        sample = Sample("dclr", "bad", {**PAPER, "complement_vector": vector})
        with pytest.raises(InputError, match=message) as caught:
            tiny.build(sample, folders["student"], parent=parent)
        assert "\n" not in str(caught.value)


def test_a_parent_without_a_pooler_cannot_score_with_one(folders: dict[str, Path]) -> None:
    sample = Sample("dclr", "bad", {**PAPER, "complement_vector": "pooler"})
    with pytest.raises(InputError, match="pooler") as caught:
        tiny.build(sample, folders["student"], parent=folders["complement"])
    assert "\n" not in str(caught.value)


def write_words(folder: Path) -> None:
    from safetensors.torch import save_file

    folder.mkdir()
    save_file({"vectors": torch.ones(2, 4)}, folder / "vectors.safetensors")
    (folder / "vocab.txt").write_text("a\nthe\n", encoding="utf-8")
    (folder / "sentbench.json").write_text('{"format": 1, "kind": "word-average"}', encoding="utf-8")
