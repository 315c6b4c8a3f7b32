"""One-line refusals of every method: invalid settings, and a corpus or run without a required input."""

import math
import re
from collections.abc import Callable
from typing import Any

import pytest
from pydantic import BaseModel, ValidationError

from methods.core.errors import InputError
from methods.registry import METHODS, load_method
from tests.support.samples import SampleInputs, make, refused_by, samples_of
from tests.support.tiny import Sample

MEANINGLESS = {
    "": (-1, math.inf, math.nan),
    "temperature|scale$": (0,),
    "dropout|drophead|share$|rate$|momentum$|control_weight": (1.5,),
    "dropout|drophead|rate$|mask_share": (1,),
    "max_length|pseudo_length|width|heads|levels|depth|hidden|radius|directions|dim$|start_sentences": (0,),
}
"""Pattern of a setting's name -> numbers that it cannot take."""

SAMPLES = [sample for name in METHODS for sample in samples_of(name)]
REFUSED = [(name, *refused) for name in METHODS for refused in refused_by(name)]
every_method = pytest.mark.parametrize("method", METHODS)


def named(samples: list[Sample]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("sample", samples, ids=lambda sample: f"{sample.method}-{sample.label}")


def config_of(sample: Sample) -> Any:
    return load_method(sample.method).Config.model_validate(sample.config)


def refused(model: type[BaseModel], settings: dict[str, Any]) -> set[Any]:
    """Returns the settings that are refused, each tried alone."""
    try:
        model.model_validate(settings)
    except ValidationError as error:
        return {part["loc"][0] for part in error.errors() if part["loc"]}
    return set()


@every_method
def test_every_setting_is_described_and_must_be_given_and_no_other(method: str) -> None:
    kind, config = load_method(method).Config, samples_of(method)[0].config
    assert not [name for name, field in kind.model_fields.items() if not field.description]
    required = {name for name, field in kind.model_fields.items() if field.is_required()}
    assert required == set(config)
    for name in required:
        with pytest.raises(ValidationError, match=name):
            kind.model_validate({key: value for key, value in config.items() if key != name})
    with pytest.raises(ValidationError, match=r"tau.*\n.*Extra inputs are not permitted"):
        kind.model_validate({**config, "tau": 0.05})


@every_method
def test_a_meaningless_number_or_word_is_refused(method: str) -> None:
    model = load_method(method).Config
    for sample in samples_of(method):
        settings = dict(sample.config)
        assert not refused(model, settings)
        for name, given in settings.items():
            numeric = isinstance(given, int | float) and not isinstance(given, bool)
            wrong: list[Any] = ["no such word"] if isinstance(given, str) or numeric else []
            for pattern, numbers in MEANINGLESS.items() if numeric else ():
                wrong += numbers if re.search(pattern, name) else ()
            for value in wrong:
                assert name in refused(model, {**settings, name: value}), (name, value)


@pytest.mark.parametrize(("method", "changes", "message"), REFUSED)
def test_settings_without_meaning_are_refused(method: str, changes: dict[str, Any], message: str) -> None:
    """Changes of the method's first sample that are invalid together."""
    with pytest.raises(ValidationError, match=message) as caught:
        load_method(method).Config.model_validate({**samples_of(method)[0].config, **changes})
    assert caught.value.error_count() == 1
    assert "\n" not in caught.value.errors()[0]["msg"]


@named([sample for sample in SAMPLES if max(config_of(sample).columns)])
def test_a_corpus_without_augmentations_is_refused(
    sample: Sample, inputs_of: Callable[[Sample], SampleInputs]
) -> None:
    base = inputs_of(sample)
    with pytest.raises(InputError, match=r"row 0 of the corpus has no augmentations, [^\n]+$"):
        make(sample, base).prepare([row._replace(augmentations=()) for row in base.rows])


@named([sample for sample in SAMPLES if sample.parent])
def test_a_run_without_its_parent_is_refused(
    sample: Sample, inputs_of: Callable[[Sample], SampleInputs]
) -> None:
    with pytest.raises(InputError, match=r"needs a parent and the run has none; set `parent`[^\n]*$"):
        make(sample, inputs_of(sample)._replace(parent=None))
