"""The sources table: properties that other code assumes."""

import re
from pathlib import Path

import pytest
from pydantic import ValidationError

from harness.data.conversions import CONVERSIONS
from harness.data.sources import SOURCES, Source

PROVIDED = [(source, provider) for source in SOURCES.values() for provider in source.providers.values()]


def test_weights_are_safetensors_only() -> None:
    paths = [file for source in SOURCES.values() for file in source.rows]
    paths += [path for _, provider in PROVIDED for path in provider.inputs]
    assert len(paths) > 100
    assert not {Path(path).suffix for path in paths} & {".bin", ".pt", ".pkl", ".pickle", ".h5", ".msgpack"}


def test_hashes_are_sha256_and_everything_embedded_is_pinned() -> None:
    for _, provider in PROVIDED:
        hashes = [*provider.sha256.values(), *provider.inputs.values()]
        assert all(re.fullmatch(r"[0-9a-f]{64}", value) for value in hashes if value)
    embedded = [(source, provider) for source, provider in PROVIDED if provider.wheel]
    assert len(embedded) == 6
    for source, provider in embedded:
        assert re.fullmatch(r"[a-z0-9-]+==[0-9.]+", str(provider.wheel))
        files = provider.inputs if provider.make else provider.sha256
        assert all(files.get(file) for file in (provider.inputs if provider.make else source.files))


def test_every_conversion_of_the_table_exists_and_is_used() -> None:
    assert {provider.make for _, provider in PROVIDED if provider.make} == set(CONVERSIONS)


@pytest.mark.parametrize(
    "change",
    [
        {"providers": {"mirror": {"folder": "x", "sha256": {"other.txt": "0" * 64}}}},
        {"providers": {"mirror": {"folder": "x", "wheel": "a==1"}}},
        {"providers": {"embedded": {"folder": "x"}}},
        {"providers": {"hub": {"repo": "a/b", "revision": "../main"}}},
        {"providers": {"hub": {"repo": "a/b", "make": "gunzip"}}},
        {"name": "With.Dot"},
    ],
)
def test_a_contradictory_entry_is_refused(change: dict[str, object]) -> None:
    entry = {
        "name": "x", "kind": "sts", "licence": "none", "confirmed": "so", "note": "n", "rows": {"a.txt": 1},
        "providers": {"mirror": {"folder": "x"}},
    }  # fmt: skip
    Source.model_validate(entry)
    with pytest.raises(ValidationError):
        Source.model_validate({**entry, **change})
