"""Every method states its settings without defaults and refuses numbers that mean nothing."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any

import pytest
from pydantic import BaseModel, ValidationError

from methods.core import streams
from methods.registry import METHODS, load_method
from tests.support import tiny
from tests.support.samples import Ground, make, samples_of
from tests.support.tiny import Sample

MEANINGLESS = {
    "": (-1, math.inf, math.nan),
    "temperature|scale$": (0,),
    "dropout|drophead|share$|rate$|momentum$": (1.5,),
    "dropout|drophead|rate$|mask_share": (1,),
    "max_length|width|heads|levels|depth|hidden|radius|directions|dim$|start_sentences": (0,),
}
"""Pattern of a setting's name -> numbers that it cannot take."""

every_method = pytest.mark.parametrize("method", METHODS)


def settings_of(method: str) -> tuple[type[BaseModel], list[dict[str, Any]]]:
    """Returns the class of a method's settings and those of its samples."""
    return load_method(method).Config, [dict(sample.config) for sample in samples_of(method)]


def refused(model: type[BaseModel], settings: dict[str, Any]) -> set[Any]:
    """Returns which settings are refused, each for itself."""
    try:
        model.model_validate(settings)
    except ValidationError as error:
        return {part["loc"][0] for part in error.errors() if part["loc"]}
    return set()


@every_method
def test_every_setting_of_a_sample_has_to_be_given(method: str) -> None:
    model, samples = settings_of(method)
    for name in samples[0]:
        given = {key: value for key, value in samples[0].items() if key != name}
        assert name in refused(model, given), name


@every_method
def test_every_setting_is_described(method: str) -> None:
    model, _ = settings_of(method)
    assert not [name for name, field in model.model_fields.items() if not field.description]


@every_method
def test_a_number_that_means_nothing_is_refused(method: str) -> None:
    model, samples = settings_of(method)
    for name in model.model_fields:
        for settings in samples:
            if isinstance(settings.get(name), bool) or not isinstance(settings.get(name), int | float):
                continue
            assert not refused(model, settings)
            for pattern, numbers in MEANINGLESS.items():
                for number in numbers if re.search(pattern, name) else ():
                    assert name in refused(model, {**settings, name: number}), (name, number)


@every_method
def test_only_a_teachers_vectors_are_asked_for_as_such(method: str) -> None:
    model, _ = settings_of(method)
    for sample in samples_of(method):
        asked = model.model_validate(sample.config).parent_kind  # type: ignore[attr-defined]
        assert (asked == "teacher") == (sample.parent == "teacher")


@every_method
def test_a_corpus_of_the_augmentations_that_are_stated_is_enough(
    method: str, ground: Callable[[Sample], Ground]
) -> None:
    for sample in samples_of(method):
        if sample.trained and sample.parent != "teacher":
            made = make(sample, ground(sample))
            rows = made.prepare(tiny.rows(augmentations=made.config.augmentations))
            assert made.collate(rows[:7], step=0, rng=streams.generator(3, streams.COLLATE, 0))
