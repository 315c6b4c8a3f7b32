"""Every number of a method's settings decides something: a loss, a gradient or an exported vector.

A number that the code ignores or replaces by a constant would change nothing.
"""

from collections.abc import Callable, Iterator, Mapping
from itertools import zip_longest
from typing import Any

import pytest
import torch
from pydantic import ValidationError

from methods.core.errors import InputError
from methods.registry import METHODS, load_method
from tests.support import tiny
from tests.support.samples import SampleInputs, make, samples_of
from tests.support.tiny import Sample

pytestmark = pytest.mark.usefixtures("each_backbone_is_read_once")
BATCH, RATE = 8, 0.05
SHORTER, SMALLER = (6, 4, 2, 1, 0), (0.3, 0.05, 0.0)
"""Values that are tried after near ones: texts have up to twelve pieces, the corpus few words."""


def numbers_of(config: Mapping[str, Any], above: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Yields the path of every number among settings and groups of settings."""
    for name, value in config.items():
        if isinstance(value, Mapping):
            yield from numbers_of(value, (*above, name))
        elif isinstance(value, int | float) and not isinstance(value, bool):
            yield (*above, name)


def with_number(config: Mapping[str, Any], path: tuple[str, ...], value: float) -> dict[str, Any]:
    name, *rest = path
    return {**config, name: with_number(config[name], tuple(rest), value) if rest else value}


def others(value: float) -> list[float]:
    """Returns other numbers of the same kind, near ones first."""
    if isinstance(value, int):
        return [other for other in (value + 1, value - 1, value // 2, *SHORTER) if other != value]
    return [other for other in (0.8 * value, *SMALLER) if other != value]


FIELDS = sorted(
    {
        (name, path)
        for name in METHODS
        for sample in samples_of(name)
        for path in numbers_of(sample.config)
        if sample.trained or path != ("max_length",)  # only trainings truncate texts to it
    }
)


class Outcome:
    """The numbers of a sample, which are computed when they are asked for, and once; so is their error."""

    def __init__(self, numbers: Iterator[float]) -> None:
        self.numbers, self.known = numbers, list[float]()
        self.error: InputError | None = None

    def __iter__(self) -> Iterator[float]:
        yield from self.known
        if self.error:
            raise self.error
        try:
            for number in self.numbers:
                self.known.append(number)
                yield number
        except InputError as error:
            self.error = error
            raise


@pytest.fixture(scope="module")
def outcome(inputs_of: Callable[[Sample], SampleInputs]) -> Callable[[Sample], Outcome]:
    """Returns the losses of two steps of a sample, and a vector before and after them."""
    done: dict[str, Outcome] = {}

    def of(sample: Sample) -> Outcome:
        name = f"{sample.method} {sample.backbone} {sorted(sample.config.items(), key=str)}"
        if name not in done:
            done[name] = Outcome(two_steps(sample, inputs_of(sample)))
        return done[name]

    return of


def differ(first: Outcome, second: Outcome) -> bool:
    """Returns whether two samples have other numbers; computes them up to the first that differs."""
    return any(one != other for one, other in zip_longest(first, second))


def two_steps(sample: Sample, base: SampleInputs) -> Iterator[float]:
    method = make(sample, base).train()
    rows = method.prepare(base.rows)
    yield from vector_of(method)
    moving = [value for value in method.parameters() if value.requires_grad]
    for step in range(2 if sample.trained else 0):
        batch = tiny.collate(method, rows[BATCH * step : BATCH * (step + 1)], step=step)
        torch.manual_seed(step)
        loss = method.loss(batch).total
        yield float(loss.detach())
        torch.manual_seed(step)  # between two numbers another sample may draw
        method.zero_grad()
        loss.backward()
        with torch.no_grad():
            for value in moving:
                if value.grad is not None:
                    value.sub_(RATE * value.grad)
        method.after_step(step)
    yield from vector_of(method)


def vector_of(method: Any) -> list[float]:
    """Returns the exported vector of a text of twelve pieces."""
    text = "the man runs under the tree and a cat sleeps"
    return [float(number) for number in method.exported().encode([text])[0]]


@pytest.mark.parametrize(
    ("method", "path"), FIELDS, ids=lambda given: given if isinstance(given, str) else "/".join(given)
)
def test_a_number_of_the_settings_decides_something(
    method: str, path: tuple[str, ...], outcome: Callable[[Sample], Outcome]
) -> None:
    kind = load_method(method).Config
    for sample in samples_of(method):
        if path not in set(numbers_of(sample.config)):
            continue
        value: Any = sample.config
        for name in path:
            value = value[name]
        for other in others(value):
            config = with_number(sample.config, path, other)
            try:
                kind.model_validate(config)
                if differ(outcome(sample._replace(config=config)), outcome(sample)):
                    return
            except (ValidationError, InputError):
                continue
    pytest.fail(f"{'/'.join(path)} of {method} has no effect on any loss or vector: is it read?")
