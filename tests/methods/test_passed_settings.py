"""Each setting arrives, with an unusual value, where a method's function is asked for it, on every way."""

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from methods.consert import method as consert
from methods.ct import objective as ct
from methods.dclr import objective as dclr
from methods.diffcse import method as diffcse
from methods.diffcse import objective as diffcse_objective
from methods.mirror_bert import method as mirror_bert
from methods.moco import method as moco
from methods.pcl import objective as pcl
from methods.sct import method as sct
from methods.sg_opt import objective as sg_opt
from methods.una import corruption as una
from methods.una import method as una_method
from tests.support import tiny
from tests.support.samples import SampleFolders, make, samples_of


class Asked(Exception):
    """Ends a step with what was asked."""


Step = Callable[..., dict[str, Any]]


@pytest.fixture
def asked(folders: SampleFolders, monkeypatch: pytest.MonkeyPatch) -> Step:
    """Returns the named arguments with which a step of a sample asks a function."""

    def ask(place: Any, name: str, method: str, label: str, **changes: Any) -> dict[str, Any]:
        def recording(*given: Any, **named: Any) -> Any:
            raise Asked(named)

        sample = next(sample for sample in samples_of(method) if sample.label == label)
        sample = sample._replace(config={**sample.config, **changes})
        base = folders.of(sample)
        made: Any = make(sample, base).train()
        rows = made.prepare(base.rows)
        with monkeypatch.context() as patched:
            patched.setattr(place, name, recording)
            with pytest.raises(Asked) as caught:
                made.loss(tiny.collate(made, rows[:8]))
        named: dict[str, Any] = caught.value.args[0]
        return named

    return ask


@pytest.mark.parametrize("temperature", [0.03, 0.7])
@pytest.mark.parametrize(
    ("label", "function", "settings"),
    [
        ("released", "layer_contrast", {}),
        ("opt2", "drawn_layer_contrast", {"negatives": "all"}),
        ("opt2", "drawn_layer_contrast", {"negatives": "skip-first"}),
        ("opt1", "anchored_contrast", {}),
        ("sg", "symmetric_contrast", {"normaliser": "mean"}),
        ("sg", "symmetric_contrast", {"normaliser": "sum-over-batch"}),
        ("back-translation", "symmetric_contrast", {"normaliser": "mean"}),
        ("back-translation", "symmetric_contrast", {"normaliser": "sum-over-batch"}),
    ],
)
def test_each_objective_of_sg_opt_is_asked_with_its_settings(
    asked: Step, label: str, function: str, settings: Mapping[str, str], temperature: float
) -> None:
    changes = {"opt2_negatives" if name == "negatives" else name: value for name, value in settings.items()}
    named = asked(sg_opt, function, "sg-opt", label, temperature=temperature, **changes)
    assert named == {"temperature": temperature, **settings}


@pytest.mark.parametrize(
    ("label", "changes", "named"),
    [
        ("released", {}, {"reduction": "mean"}),
        ("released", {"reduction": "sum"}, {"reduction": "sum"}),
        ("paper", {"reduction": "sum"}, {"reduction": "sum"}),
        ("sbert", {"reduction": "mean"}, {"reduction": "mean"}),
    ],
)
def test_the_losses_of_contrastive_tension_are_reduced_as_stated(
    asked: Step, label: str, changes: dict[str, Any], named: dict[str, Any]
) -> None:
    assert asked(ct, "tension", "ct", label, **changes) == named


@pytest.mark.parametrize("similarity", ["cosine", "dot"])
def test_contrastive_tension_in_the_batch_has_its_scale_and_similarity(asked: Step, similarity: str) -> None:
    named = asked(ct, "in_batch_tension", "ct", "sbert-inbatch", similarity=similarity, scale=7.5)
    assert named["similarity"] == similarity
    assert named["scale"].item() == pytest.approx(7.5)
    assert named["scale"].requires_grad


@pytest.mark.parametrize("both", [True, False])
@pytest.mark.parametrize("loss", ["kl", "cross-entropy", "info-nce"])
def test_sct_is_asked_with_the_settings_of_its_own_loss(asked: Step, loss: str, both: bool) -> None:
    supervision = next(sample for sample in samples_of("sct") if sample.label == "released").config[
        "self_supervision"
    ]
    for crossing in (True, False):
        changed = {**supervision, "loss": loss, "crossing": crossing, "both_directions": both}
        temperatures = {"online_temperature": 0.3, "reference_temperature": 0.2}
        named = asked(sct, "cross_view_loss", "sct", "released", self_supervision=changed, **temperatures)
        assert named == {**temperatures, "loss": loss, "crossing": crossing, "both_directions": both}


def test_sct_with_a_teacher_has_two_temperatures_and_the_usual_loss(asked: Step) -> None:
    temperatures = {"online_temperature": 0.3, "reference_temperature": 0.2}
    assert asked(sct, "cross_view_loss", "sct", "second-stage", **temperatures) == temperatures


@pytest.mark.parametrize("label", ["released", "paper"])
def test_dclr_ascends_with_the_settings_of_its_noise(asked: Step, label: str) -> None:
    named = asked(dclr, "ascend", "dclr", label, noise_temperature=0.7, noise_steps=3, noise_step_size=0.25)
    denominator = {"released": "all", "paper": "noise-only"}[label]
    assert named == {"temperature": 0.7, "steps": 3, "step_size": 0.25, "denominator": denominator}


@pytest.mark.parametrize("comparison", ["above", "at-or-above"])
@pytest.mark.parametrize(
    ("scale", "threshold"), [("cosine", 0.6), ("twenty", 20 * 0.1 * 0.6)], ids=["cosine", "twenty"]
)
@pytest.mark.parametrize("label", ["released", "self-weighting"])
def test_dclr_compares_with_its_threshold(
    asked: Step, label: str, scale: str, threshold: float, comparison: str
) -> None:
    settings = {"comparison": comparison, "threshold_scale": scale, "threshold": 0.6, "temperature": 0.1}
    named = asked(dclr, "false_negatives", "dclr", label, **settings)
    assert named == {"threshold": pytest.approx(threshold), "comparison": comparison}


@pytest.mark.parametrize("pair", ["zero-logit", "excluded"])
@pytest.mark.parametrize("label", ["paper", "simcse"])
def test_dclr_weights_its_logits_as_stated(asked: Step, label: str, pair: str) -> None:
    named = asked(dclr, "weighted_logits", "dclr", label, masked_pair=pair, temperature=0.3)
    assert named == {"temperature": 0.3, "masked_pair": pair}
    assert asked(dclr, "distillation", "dclr", "distill-random-noise", temperature=0.3) == {
        "temperature": 0.3
    }


@pytest.mark.parametrize("positions", ["all", "real"])
@pytest.mark.parametrize("label", ["released", "paper"])
def test_diffcse_weighs_its_detection_as_stated(asked: Step, label: str, positions: str) -> None:
    settings = {"detection_weight": 0.4, "detection_mean": positions, "temperature": 0.3}
    named = asked(diffcse_objective, "diffcse_loss", "diffcse", label, **settings)
    assert named == {"temperature": 0.3, "weight": 0.4, "positions": positions}


@pytest.mark.parametrize(("output", "sample"), [("argmax", False), ("sample", True)])
def test_diffcse_corrupts_and_rewrites_as_stated(asked: Step, output: str, sample: bool) -> None:
    for label in ("released", "paper"):
        assert asked(diffcse, "pieces", "diffcse", label, generator_output=output) == {"sample": sample}
    named = asked(diffcse, "corrupt", "diffcse", "released", mask_share=0.45)
    special = named.pop("special")
    assert named["share"] == 0.45
    assert named["mask_id"] in special
    assert named["vocabulary"] > max(special)
    assert len(named) == 3


@pytest.mark.parametrize("contrast", ["dropout-and-group", "dropout", "sum"])
@pytest.mark.parametrize("label", ["released", "no-peer", "fixed-peer"])
def test_pcl_contrasts_as_stated(asked: Step, label: str, contrast: str) -> None:
    named = asked(pcl, "contrast", "pcl", label, contrast=contrast, temperature=0.3)
    assert named == {"kind": contrast, "temperature": 0.3}


@pytest.mark.parametrize("reduction", ["element-mean", "batch-mean"])
@pytest.mark.parametrize("direction", ["peer-main", "main-peer"])
@pytest.mark.parametrize("pairs", ["consistency-agreement", "eq5-literal"])
def test_pcl_aligns_as_stated(asked: Step, pairs: str, direction: str, reduction: str) -> None:
    settings = {"kl_pairs": pairs, "kl_direction": direction, "kl_reduction": reduction}
    named = asked(pcl, "cooperation", "pcl", "released", **settings)
    assert named == {"pairs": pairs, "direction": direction, "reduction": reduction}


@pytest.mark.parametrize("place", ["first-occurrence", "drawn"])
@pytest.mark.parametrize("token", ["text", "tokenizer"])
def test_mirror_bert_masks_as_stated(asked: Step, place: str, token: str) -> None:
    settings = {"span_length": 3, "span_shortest": 9, "span_place": place, "mask_token": token}
    named = asked(mirror_bert, "mask_span", "mirror-bert", "released", **settings)
    assert named == {"length": 3, "shortest": 9, "place": place, "mask": "[MASK]"}
    assert asked(mirror_bert, "mirror_bert_loss", "mirror-bert", "portable", temperature=0.3) == {
        "temperature": 0.3
    }


@pytest.mark.parametrize("view", ["first_view", "second_view"])
def test_each_view_of_consert_has_its_own_rate(asked: Step, view: str) -> None:
    rates = {"token_rate": 0.11, "feature_rate": 0.22, "element_rate": 0.33}
    plain = {"first_view": "none", "second_view": "none", **rates}
    for name, function, share in (
        ("token-cutoff", "token_cutoff", 0.11),
        ("feature-cutoff", "feature_cutoff", 0.22),
        ("dropout", "element_cutoff", 0.33),
    ):
        for form in ("exact-count", "bernoulli"):
            settings = {**plain, view: name, "element_dropout": form}
            named = asked(consert, function, "consert", "released", **settings)
            named.pop("rng")
            assert named == {"rate": share, **({"form": form} if name == "dropout" else {})}
    for positions, first in (("backbone", 0), ("from-zero", 0)):
        settings = {**plain, view: "shuffle", "positions": positions}
        named = asked(consert, "shuffled_positions", "consert", "released", **settings)
        assert named["first"] == first
    assert asked(consert, "two_sides", "consert", "none-none", temperature=0.3) == {"temperature": 0.3}


def test_moco_hides_its_share_of_the_tokens(asked: Step) -> None:
    settings = {"key_view": "deletion", "edit_share": 0.4, "unedited_share": 0.0}
    assert asked(moco, "hidden_positions", "moco", "released", **settings) == {"share": 0.4}


@pytest.mark.parametrize("unit", ["position", "type"])
@pytest.mark.parametrize("statistics", ["corpus", "corpus-and-paraphrases"])
def test_una_counts_the_terms_of_the_stated_texts(
    folders: SampleFolders, unit: str, statistics: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """24 rows of two augmentations each; only the sentences get scores."""
    seen: list[Any] = []

    def counted(texts: list[str], **named: Any) -> Any:
        seen.append((texts, named))
        return None, None

    monkeypatch.setattr(una, "count_terms", counted)
    sample = samples_of("una")[0]
    config = {**sample.config, "unit": unit, "statistics": statistics}
    sample = sample._replace(config=config)
    base = folders.of(sample)
    made: Any = make(sample, base)
    made.encoder.piece_folder = base.backbone / "pieces"
    made.prepare(base.rows)
    ((texts, named),) = seen
    sentences = [row.text for row in base.rows]
    further = [text for row in base.rows for text in row.augmentations]
    assert texts == sentences + (further if statistics == "corpus-and-paraphrases" else [])
    assert named == {"sentences": len(sentences), "unit": unit, "folder": base.backbone / "pieces"}


@pytest.mark.parametrize(("role", "function"), [("pair", "pair_loss"), ("column", "column_loss")])
def test_una_compares_as_stated(asked: Step, role: str, function: str) -> None:
    assert asked(una_method, function, "una", "released", role=role, temperature=0.3) == {"temperature": 0.3}
    assert asked(una_method, "nt_xent", "una", "never", role=role, temperature=0.3) == {"temperature": 0.3}
