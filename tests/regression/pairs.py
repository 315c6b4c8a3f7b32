"""A pairwise design over the settings of every method: each two values of two settings meet in some run.

The values are from the recipes and samples. Combinations of the reference runs are left out; the rest
are rows of pairs.json, each a change of a method's first sample with the numbers of two steps.
`python -m tests.regression.pairs` writes the file again after a wanted change; with `--missing` it adds the
rows of new values and methods alone.
"""

import copy
import json
import os
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import Any

import torch
from pydantic import ValidationError

from harness.data.corpora import read_corpus
from harness.io.files import write_text
from methods.core.errors import InputError
from methods.registry import METHODS, load_method
from tests.regression.reference import (
    PARENTS,
    ROOT,
    configurations,
    covering,
    kind_of,
    presets,
    settings_of,
    settings_of_method,
    write_project,
)
from tests.support import tiny
from tests.support.networks import each_network_is_built_once
from tests.support.samples import samples_of

KNOWN = Path(__file__).with_name("pairs.json")
BATCH, RATE = 4, 0.05
LEFT_OUT = ("control", "recompute", "edits")
"""Settings with tests of their own against the same run without them, and PCL's lists of edits."""

Value = tuple[str, str]
Pair = frozenset[Value]
Row = tuple[dict[str, Any], dict[str, float]]
"""Changes of a configuration from the method's first sample, and its numbers."""


def trained() -> list[str]:
    """Returns the methods with a loss and at least two settings."""
    return [name for name in METHODS if load_method(name).is_trained() and len(domains(name)) > 1]


@cache
def configs_of(method: str) -> list[dict[str, Any]]:
    """Returns the configurations of a method in recipes and samples, at the sizes of reference runs."""
    return [dict(run.config) for run in configurations().values() if run.method == method]


@cache
def domains(method: str) -> dict[str, dict[str, Any]]:
    """Returns setting -> key of a value -> its first such value, of settings with several."""
    known: dict[str, dict[str, Any]] = {}
    for config in configs_of(method):
        for name, value in flat(config).items():
            if name not in LEFT_OUT:
                known.setdefault(name, {}).setdefault(_key(value), value)
    return {name: values for name, values in known.items() if len(values) > 1}


def _key(value: Any) -> str:
    return "some" if isinstance(value, Mapping) else str(kind_of(value))


def flat(config: Mapping[str, Any], above: str = "") -> dict[str, Any]:
    """Returns all settings by name; settings of a group as `group/name`, next to the group itself."""
    result: dict[str, Any] = {}
    for name, value in config.items():
        result[above + name] = value
        if isinstance(value, Mapping):
            result |= flat(value, f"{above}{name}/")
    return result


def with_values(config: Mapping[str, Any], values: Mapping[str, Any]) -> dict[str, Any]:
    """Returns a configuration with other values of some settings, named as `flat` does."""
    made = copy.deepcopy(dict(config))
    for name, value in values.items():
        *groups, last = name.split("/")
        settings: Any = made
        for group in groups:
            settings = settings.get(group) or {}
        settings[last] = value if not isinstance(value, Mapping) else settings.get(last) or value
    return made


def pairs_of(method: str, config: Mapping[str, Any]) -> set[Pair]:
    """Returns every two values of a configuration that stand in the method's domains."""
    settings = flat(config)
    values = [(name, _key(settings[name])) for name in domains(method) if name in settings]
    return {frozenset(two) for two in combinations(values, 2)}


def wanted(method: str, rows: Sequence[Row] = ()) -> list[Pair]:
    """Returns the pairs of values that no reference run of the method has and no row, in a fixed order."""
    every = [
        frozenset({(first_name, first), (second_name, second)})
        for (first_name, firsts), (second_name, seconds) in combinations(domains(method).items(), 2)
        for first in firsts
        for second in seconds
    ]
    configs = [run.config for run in covering().values() if run.method == method]
    configs += [configured(method, changed) for changed, _ in rows]
    have = {pair for config in configs for pair in pairs_of(method, config)}
    return [pair for pair in every if pair not in have]


def design(method: str, rows: Sequence[Row] = ()) -> Iterator[Row]:
    """Yields rows of changes of a configuration with its numbers, until every possible pair has a row."""
    left = wanted(method, rows)
    while left:
        config = _row(method, left)
        numbers = None if config is None else measure(method, config)
        if config is not None and numbers is not None:
            yield changes(method, config), numbers
            covered = pairs_of(method, config)
            left = [pair for pair in left if pair not in covered]
        else:
            left = left[1:]


def _row(method: str, left: list[Pair]) -> dict[str, Any] | None:
    """Returns a valid configuration with the first pair that is left and many of the others."""
    values = domains(method)
    target = {name: values[name][key] for name, key in left[0]}
    made = [with_values(config, target) for config in configs_of(method)]
    fitting = (config for config in made if left[0] in pairs_of(method, config))
    best = next((config for config in fitting if _is_valid(method, config)), None)
    if best is None:
        return None
    open_pairs = set(left)
    for name in (name for name in values if name not in target):
        others = [with_values(best, {name: value}) for value in values[name].values()]
        best = max(
            [
                best,
                *(
                    candidate
                    for candidate in others
                    if left[0] in pairs_of(method, candidate) and _is_valid(method, candidate)
                ),
            ],
            key=lambda config: len(pairs_of(method, config) & open_pairs),
        )
    return best


def is_possible(method: str, pair: Pair) -> bool:
    """Returns whether a method takes two values together, and has networks for them; in a project."""
    config = _row(method, [pair])
    return config is not None and measure(method, config) is not None


def _is_valid(method: str, config: Mapping[str, Any]) -> bool:
    try:
        load_method(method).Config.model_validate(config)
    except (ValidationError, InputError):
        return False
    return True


def measure(method: str, config: Mapping[str, Any]) -> dict[str, float] | None:
    """Returns numbers of two steps; in the folder of a project. None if the networks do not fit."""
    kind: str | None = load_method(method).Config.model_validate(config).parent_kind
    if config.get("detection_weight"):
        kind = "generator"
    parent = None if kind is None else Path(PARENTS[kind])
    if "pooler" in (config.get("complement_vector"), config.get("peer_head", "")[:6]) and kind:
        parent = Path("backbones/bert")
    pooling = "cls" if config.get("student_vector") == "pooler" else "mean"
    sample = tiny.Sample(method, "pairs", config)
    try:
        made = tiny.build(sample, Path("backbones/bert"), parent=parent, pooling=pooling).train()
        rows = made.prepare(read_corpus(Path("corpora/words")))
        return _two_steps(made, rows)
    except InputError:
        return None


def _two_steps(made: Any, rows: Any) -> dict[str, float]:
    moving = [value for value in made.parameters() if value.requires_grad]
    optimizer, numbers = torch.optim.SGD(moving, lr=RATE), {}
    for step in (0, 1):
        batch = tiny.collate(made, rows[BATCH * step : BATCH * (step + 1)], step=step)
        torch.manual_seed(step)
        loss = made.loss(batch)
        optimizer.zero_grad()
        loss.total.backward()
        squares = [value.grad.double().square().sum() for value in moving if value.grad is not None]
        numbers[f"loss_{step}"] = float(loss.total.detach())
        numbers[f"gradient_{step}"] = float(torch.stack(squares).sum().sqrt())
        optimizer.step()
        made.after_step(step)
    return {name: float(f"{value:.6g}") for name, value in numbers.items()}


@cache
def beyond_pairs() -> set[str]:
    """Returns all presets, a run of each method, and runs with the settings that no preset and no row has."""
    stated = set(presets().values())
    known = {setting for name in stated for setting in settings_of(covering()[name])}
    for method, rows in json.loads(KNOWN.read_text(encoding="utf-8")).items():
        for changed, _ in rows:
            known |= settings_of_method(method, configured(method, changed))
    result, methods = set(stated), {covering()[name].method for name in stated}
    for name, run in covering().items():
        if run.method not in methods or settings_of(run) - known:
            result.add(name)
            methods.add(run.method)
            known |= settings_of(run)
    return result


def changes(method: str, config: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the settings of a configuration that differ from the method's first sample."""
    first = samples_of(method)[0].config
    return {name: value for name, value in config.items() if name not in first or first[name] != value}


def configured(method: str, changed: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the configuration of a row of pairs.json."""
    return {**samples_of(method)[0].config, **changed}


def main() -> None:
    """Writes pairs.json; with `--missing` recorded rows stay."""
    known = json.loads(KNOWN.read_text(encoding="utf-8")) if "--missing" in sys.argv[1:] else {}
    if known and list(known) == trained() and not any(wanted(name, rows) for name, rows in known.items()):
        return
    with tempfile.TemporaryDirectory() as scratch, each_network_is_built_once():
        write_project(Path(scratch) / "project")
        os.chdir(Path(scratch) / "project")
        lines = []
        for method in trained():
            rows = list(known.get(method, ()))
            rows += design(method, rows)
            lines += [f'"{method}": [\n' + ",\n".join(json.dumps(row) for row in rows) + "]"]
        os.chdir(ROOT)
    write_text(KNOWN, "{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main()
