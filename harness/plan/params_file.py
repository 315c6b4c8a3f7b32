"""The file params.yaml, its only reader and writer: values that runs share are written once.

A run is `defaults`, then the `settings` of its id, then its own entry, merged deeply; a later value replaces
an earlier one.
"""

import json
import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import yaml

from harness.errors import InputError, near_matches
from harness.io.declarations import read_mapping, validated
from harness.io.files import write_text
from harness.paths import PARAMS, need_checkout
from harness.plan.entries import Params

DIGEST_LINE = "# digest of the values as written: "
"""Line of params.yaml with a digest, which detects later edits."""
LAYERS_LINE = (
    "# A run is `defaults`, then the `settings` of its id, then its entry in `runs`: a later value wins."
)
DEFAULTS, SETTINGS, RUNS = "defaults", "settings", "runs"
STATED_BY_ENTRY = ("id", "seed", "method", "backbone", "corpus", "parent", "text", "outputs")
"""Values that every run's entry states: its id and seed, and those that dvc.yaml inserts into a stage."""


class InlineMapping(dict[str, Any]):
    """A mapping that is written on one line, if it is short."""


class Dumper(yaml.CSafeDumper):
    """Writes YAML in blocks, but for rows; by libyaml, in a third of the time of PyYAML's own code."""


Dumper.add_representer(
    InlineMapping,
    lambda dumper, row: dumper.represent_mapping("tag:yaml.org,2002:map", row.items(), flow_style=True),
)

Leaves = dict[tuple[str, ...], Any]
"""The values of nested mappings by their path; lists and empty mappings are values."""


def read_params(path: Path = PARAMS) -> Params:
    """Returns the resolved plan. Errors: InputError in one line if the file is missing or invalid."""
    if not path.is_file():
        need_checkout("reading the plan")
        raise InputError(f"{path}: no such file; write the plan with `sentbench plan small`")
    return _params(path, path.read_bytes())


@lru_cache(maxsize=1)
def _params(path: Path, content: bytes) -> Params:
    """Returns the plan of a file with this content, which a process parses once."""
    file = read_mapping(path)
    try:
        complete = resolved(file)
    except ValueError as error:
        raise InputError(f"{path}: {error}; correct it") from None
    return validated(Params, complete, where=str(path))


def read_plan() -> Params:
    """Returns the plan and restricts data to the plan's providers."""
    params = read_params()
    os.environ["SENTBENCH_PROVIDERS"] = ",".join(params.providers)
    return params


def written_digest(path: Path = PARAMS) -> str | None:
    """Returns the digest stated in the file, None if it states none."""
    lines = path.read_text(encoding="utf-8").splitlines()
    digests = (line.removeprefix(DIGEST_LINE) for line in lines[:5] if line.startswith(DIGEST_LINE))
    return next(digests, None)


def write_params(params: Params, path: Path = PARAMS) -> bool:
    """Writes the plan; returns whether the file changed."""
    head = f"# The resolved plan, written by `sentbench plan {' '.join(params.plan)}`; recipes/ declare it.\n"
    head += f"{LAYERS_LINE}\n{DIGEST_LINE}{params.digest()}\n"
    values = layered(params.model_dump())
    text = head + yaml.dump(values, Dumper=Dumper, sort_keys=False, width=110, allow_unicode=True)
    if path.is_file() and path.read_text(encoding="utf-8") == text:
        return False
    write_text(path, text)
    return True


def file_schema() -> dict[str, Any]:
    """Returns the JSON schema of params.yaml as it is written; an entry states at least STATED_BY_ENTRY."""
    schema = Params.model_json_schema()
    kinds, run = schema["$defs"], schema["$defs"]["Run"]
    part = {name: value for name, value in run.items() if name != "required"}
    kinds["RunPart"] = {**part, "title": "RunPart", "description": "Values that runs share."}
    kinds["Run"] = {**run, "required": list(STATED_BY_ENTRY)}
    link = {"$ref": "#/$defs/RunPart"}
    schema["properties"] |= {
        DEFAULTS: link,
        SETTINGS: {"additionalProperties": link, "title": "Settings", "type": "object"},
    }
    return schema


def resolved(file: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the content of params.yaml with complete runs and without `defaults` and `settings`.

    Errors: ValueError for a part that is no mapping, and for settings of an id that no run has.
    """
    defaults, settings, runs = (_mapping(file.get(part, {}), part) for part in (DEFAULTS, SETTINGS, RUNS))
    ids = {key: str(_mapping(run, f"{RUNS}.{key}").get("id")) for key, run in runs.items()}
    of_id = dict.fromkeys(ids.values(), defaults)
    for name, added in settings.items():
        if name not in of_id:
            raise ValueError(f"{SETTINGS}.{name}: no run has this id{near_matches(str(name), list(of_id))}")
        of_id[name] = merge(defaults, _mapping(added, f"{SETTINGS}.{name}"))
    rest = {name: part for name, part in file.items() if name not in (DEFAULTS, SETTINGS)}
    if RUNS in file:
        rest[RUNS] = {key: merge(of_id[ids[key]], run) for key, run in runs.items()}
    return rest


def layered(plan: Mapping[str, Any]) -> dict[str, Any]:
    """Returns a plan with complete runs in the form of params.yaml; `resolved` is the inverse.

    `defaults` has the values that all ids share, and outside `config` and `train` the most common ones;
    `settings` has the other values that all runs of an id share. A setting that differs between ids is thus
    stated for each id, where `dvc exp run -S` can change it.
    """
    runs = plan[RUNS]
    leaves = {
        key: dict(_leaves({name: value for name, value in run.items() if name not in STATED_BY_ENTRY}))
        for key, run in runs.items()
    }
    keys_of: dict[str, list[str]] = {}
    for key, run in runs.items():
        keys_of.setdefault(run["id"], []).append(key)
    settings = {name: _shared([leaves[key] for key in keys]) for name, keys in keys_of.items()}
    defaults = _shared(list(settings.values()), by_most=True)
    entries = {
        key: InlineMapping(
            {name: run[name] for name in STATED_BY_ENTRY} | _nested(_beyond(leaves[key], settings[run["id"]]))
        )
        for key, run in runs.items()
    }
    added = {name: _nested(_beyond(shared, defaults)) for name, shared in settings.items()}
    return {
        **{name: part for name, part in plan.items() if name != RUNS},
        DEFAULTS: _nested(defaults),
        SETTINGS: {name: part for name, part in added.items() if part},
        RUNS: entries,
    }


def merge(*settings: Mapping[str, Any]) -> dict[str, Any]:
    """Returns settings merged deeply; a later value replaces an earlier one."""
    merged: dict[str, Any] = {}
    for part in settings:
        for key, value in part.items():
            both = isinstance(value, Mapping) and isinstance(merged.get(key), Mapping)
            merged[key] = merge(merged[key], value) if both else value
    return merged


def _mapping(value: Any, name: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise ValueError(f"{name}: expected keys with values")
    return value


def _leaves(value: Mapping[str, Any], at: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    for name, part in value.items():
        if isinstance(part, Mapping) and part:
            yield from _leaves(part, (*at, name))
        else:
            yield (*at, name), part


def _nested(leaves: Leaves) -> dict[str, Any]:
    nested: dict[str, Any] = {}
    for path, value in leaves.items():
        at = nested
        for name in path[:-1]:
            at = at.setdefault(name, {})
        at[path[-1]] = value
    return nested


def _shared(entries: Sequence[Leaves], *, by_most: bool = False) -> Leaves:
    """Returns the values that all entries share. by_most: for a path outside `config` and `train` that all
    entries have also the most frequent value, of equally frequent ones the first.
    """
    shared: Leaves = {}
    for path in entries[0] if entries else ():
        if all(path in entry for entry in entries):
            texts = [_written(entry[path]) for entry in entries]
            frequent, count = Counter(texts).most_common(1)[0]
            if count == len(entries) or (by_most and len(path) == 1):
                shared[path] = entries[texts.index(frequent)][path]
    return shared


def _beyond(leaves: Leaves, given: Leaves) -> Leaves:
    """Returns the values that differ from `given`, or that it does not have."""
    return {
        path: value
        for path, value in leaves.items()
        if path not in given or _written(given[path]) != _written(value)
    }


def _written(value: Any) -> str:
    """Returns a value as text, in which 1, 1.0 and true differ."""
    return json.dumps(value, sort_keys=True, default=str)
