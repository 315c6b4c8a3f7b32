"""The numbers and words that each setting takes, and the two at the ends of each range."""

import types
import typing
from collections.abc import Iterator
from typing import Any

import pytest
from pydantic import BaseModel, TypeAdapter, ValidationError

from methods.core.coupling_flow import FlowSettings
from methods.core.train_config import LARGEST, TrainConfig
from methods.registry import METHODS, load_method

RANGES = {
    # counts from 1: steps, sizes and widths
    "[1, inf)": "epochs batch_size eval_every evaluations save_every dim directions depth hidden head_width "
    "last_layer levels positives projector_factor projector_width pseudo_heads pseudo_length radius",
    "[1, 60]": "flow/levels",
    # two vectors have a variance
    "[2, inf)": "width start_sentences sentences",
    # a text is a word between two special tokens
    "[3, inf)": "max_length",
    # counts, columns and weights, of which 0 turns a part off
    "[0, inf)": "steps first_layer negatives noise_steps period projector_blocks queue_seed queue_size "
    "span_length span_shortest student_view teacher_view weight_decay pcl/contrast_weight "
    "decorrelation_weight detection_weight distance_weight distillation_weight noise_ratio "
    "off_diagonal_weight self_contrast_weight modals/magnitude",
    # divisors, rates and scales
    "(0, inf)": "epsilon max_grad_norm temperature online_temperature reference_temperature "
    "student_temperature teacher_temperature noise_temperature noise_scale noise_step_size loss_weight scale "
    "self_contrast_scale consert/contrast_weight",
    "(0, 1000]": "learning_rate",
    # shares that may be everything
    "[0, 1]": "control_weight edit_share momentum unedited_share",
    "(0, 1]": "una/magnitude",
    # rates of dropout and cutoffs, which leave something
    "[0, 1)": "warmup_share drophead dropout dropout_high dropout_low element_rate feature_rate "
    "pseudo_dropout token_rate",
    "(0, 1)": "cutoff_rate mask_share",
    # a cosine
    "(-1, 1]": "threshold",
}
"""Range -> settings of any method, or of one as METHOD/SETTING."""

WORDS = {
    "adam": "torch transformers",
    "comparison": "above at-or-above",
    "complement_vector": "own cls pooler",
    "contrast": "dropout-and-group dropout sum",
    "control": "negated permuted",
    "counts": "without-best falls",
    "coupling": "separate tied fixed none",
    "cut_at": "after-layernorm word-embeddings",
    "deletion": "first-occurrence place",
    "detection_mean": "all real",
    "detection_views": "both one",
    "divergence": "cross-entropy kl",
    "drophead_all": "redraw nan",
    "edit_unit": "piece word",
    "element_dropout": "exact-count bernoulli",
    "eval_within": "run epoch",
    "export": "pooled output",
    "exported": "better second",
    "first_view": "none shuffle token-cutoff feature-cutoff dropout",
    "generator_layer": "own word-embeddings",
    "generator_output": "argmax sample",
    "diffcse/head": "batch-norm mlp",
    "dclr/head": "mlp two-mlp pooler pooler-mlp",
    "head": "mlp none",
    "key_second_attention": "online momentum",
    "key_view": "same duplication deletion reorder",
    "kl_direction": "peer-main main-peer",
    "kl_pairs": "consistency-agreement eq5-literal",
    "kl_reduction": "element-mean batch-mean",
    "distillation/loss": "distributions squared-error",
    "self_supervision/loss": "kl cross-entropy info-nce",
    "mapping": "none linear tanh",
    "mask_token": "text tokenizer",
    "masked_pair": "zero-logit excluded",
    "momentum_start": "random backbone",
    "negative_pairs": "two-random anchored in-batch",
    "noise_denominator": "all noise-only",
    "normaliser": "mean sum-over-batch",
    "dclr/objective": "binary-cross-entropy cross-entropy cross-entropy-without-positive",
    "simcse/objective": "info-nce nt-xent uniformity",
    "sg-opt/objective": "sg-opt opt2 opt1 sg back-translation",
    "opt2_negatives": "all skip-first",
    "peer_head": "pooler-shared-mlp new-pooler-shared-mlp cls-shared-mlp cls-own-mlp",
    "peer_views": "shared independent",
    "permutation": "reversal random",
    "positions": "backbone from-zero",
    "dclr/positive": "dropout token-shuffle token-cutoff span-cutoff feature-cutoff",
    "modals/positive": "interpolation extrapolation linear-sampling gaussian-noise pca-jittering",
    "positive": "dropout paraphrase",
    "precision": "fp32 bf16",
    "pseudo_form": "factorised plain collapsed",
    "pseudo_source": "pooled tokens",
    "queue_start": "corpus random empty",
    "queues": "two one",
    "reduction": "mean sum",
    "replace": "window anywhere",
    "rewrite_places": "all masked",
    "role": "pair column",
    "sampling": "with-replacement one-pass",
    "schedule": "linear cosine constant piecewise",
    "second_view": "none shuffle token-cutoff feature-cutoff dropout",
    "select": "tfidf random",
    "self_contrast": "mean sum",
    "sides": "pairs sentences",
    "similarity": "cosine dot",
    "span_place": "first-occurrence drawn",
    "statistics": "corpus corpus-and-paraphrases",
    "student_from": "backbone parent",
    "student_vector": "pooled pooler",
    "style": "lower matched",
    "teacher": "vectors network",
    "teacher_pooling": "cls mean",
    "threshold_scale": "cosine twenty",
    "training_pooling": "mean cls",
    "transform": "whiten centre",
    "unchanged": "repair single-term keep",
    "unit": "position type",
    "vector": "pooled padded-mean",
    "weights_from": "complement student none",
}


def fields_of(model: type[BaseModel], owner: str) -> Iterator[tuple[str, str, Any]]:
    """Yields owner, name and field of every setting, those of groups too."""
    for name, field in model.model_fields.items():
        groups = [part for part in typing.get_args(field.annotation) if isinstance(part, type)]
        groups = [part for part in groups if issubclass(part, BaseModel)]
        for group in groups:
            yield from fields_of(group, name)
        if not groups:
            yield owner, name, field


SETTINGS = [
    *(found for method in METHODS for found in fields_of(load_method(method).Config, method)),
    *fields_of(TrainConfig, "train"),
    *fields_of(FlowSettings, "flow"),
]
RANGE_OF = {name: limits for limits, names in RANGES.items() for name in names.split()}


def kinds_of(field: Any) -> set[Any]:
    """Returns the types that a field takes besides null."""
    union = typing.get_origin(field.annotation) in (typing.Union, types.UnionType)
    return set(typing.get_args(field.annotation) if union else [field.annotation]) - {type(None)}


NUMBERS = [(*found, RANGE_OF.get(f"{found[0]}/{found[1]}") or RANGE_OF.get(found[1])) for found in SETTINGS]
NUMBERS = [found for found in NUMBERS if kinds_of(found[2]) & {int, float}]
CHOICES = [found for found in SETTINGS if any(typing.get_args(kind) for kind in kinds_of(found[2]))]
CHOICES = [found for found in CHOICES if typing.Literal in map(typing.get_origin, kinds_of(found[2]))]


def takes(field: Any, value: Any) -> bool:
    try:
        TypeAdapter(typing.Annotated[field.annotation, field]).validate_python(value, strict=True)
    except ValidationError:
        return False
    return True


def test_every_number_and_every_word_has_its_range_and_no_other() -> None:
    assert not [f"{owner}/{name}" for owner, name, _, limits in NUMBERS if limits is None]
    numbers = {known for owner, name, *_ in NUMBERS for known in (name, f"{owner}/{name}")}
    assert not RANGE_OF.keys() - numbers
    words = {known for owner, name, _ in CHOICES for known in (name, f"{owner}/{name}")}
    assert not WORDS.keys() - words


@pytest.mark.parametrize(("owner", "name", "field", "limits"), NUMBERS, ids=lambda given: str(given)[:30])
def test_a_number_is_taken_up_to_the_ends_of_its_range(
    owner: str, name: str, field: Any, limits: str
) -> None:
    """A round bracket leaves its end out; the next number beyond an end is refused."""
    (whole,) = kinds_of(field)
    low, high = limits[1:-1].split(", ")
    near = 1 if whole is int else 1e-9
    first = whole(low)
    assert takes(field, first) is (limits[0] == "[")
    assert takes(field, first + near)
    assert not takes(field, first - near)
    if high == "inf":
        assert takes(field, whole(LARGEST))
    else:
        assert takes(field, whole(high)) is (limits[-1] == "]")
        assert takes(field, whole(high) - near)
        assert not takes(field, whole(high) + near)
    assert takes(field, None) is (type(None) in typing.get_args(field.annotation))
    assert not takes(field, str(first)), "a number in quotes is a word"
    assert not takes(field, True)


@pytest.mark.parametrize(("owner", "name", "field"), CHOICES, ids=lambda given: str(given)[:30])
def test_a_setting_takes_its_words_and_no_other(owner: str, name: str, field: Any) -> None:
    words = WORDS.get(f"{owner}/{name}") or WORDS[name]
    (choice,) = kinds_of(field)
    assert sorted(typing.get_args(choice)) == sorted(words.split())
    assert not takes(field, "no such word")
    assert takes(field, None) is (type(None) in typing.get_args(field.annotation))


def test_a_training_takes_decays_below_one_and_drops_after_step_zero() -> None:
    fields: dict[str, Any] = TrainConfig.model_fields
    for betas, taken in (
        ((0.0, 0.0), True), ((0.9, 0.999), True), ((0.9, 1.0), False), ((1.0, 0.9), False),
        ((-0.1, 0.9), False), ((0.9,), False), ((0.9, 0.9, 0.9), False),
    ):  # fmt: skip
        assert takes(fields["betas"], betas) is taken, betas
    for drop, taken in (
        ((0, 1000.0), True), ((3, 0.5), True), ((-1, 0.5), False), ((3, 0.0), False), ((3, 1000.1), False),
    ):  # fmt: skip
        assert takes(fields["rate_drops"], (drop,)) is taken, drop
    for patience, taken in (
        (1, True),
        (0, False),
        (None, True),
        ({"evaluations": 1, "counts": "falls"}, True),
    ):
        assert takes(fields["patience"], patience) is taken, patience


def test_the_views_of_sct_are_two() -> None:
    views: Any = load_method("sct").Config.model_fields["views"]
    for given, taken in (([0, 1], True), ([0], False), ([0, 1, 2], False), (["0", "1"], False)):
        assert takes(views, given) is taken, given


def test_the_edits_of_pcl_are_five() -> None:
    edits: Any = load_method("pcl").Config.model_fields["edits"]
    for edit in ("dropout", "shuffle", "invert", "delete", "repeat"):
        assert takes(edits, [edit])
    assert not takes(edits, ["reverse"])


def test_three_settings_may_be_left_out() -> None:
    """No control, no drops of the rate, and the cosine, which is the only similarity of most losses."""
    left_out = {name: field.default for _, name, field in SETTINGS if not field.is_required()}
    assert left_out == {"control": None, "similarity": "cosine", "rate_drops": ()}
