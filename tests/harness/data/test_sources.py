"""The sources table itself: what later parts rely on without looking."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from pydantic import ValidationError

from harness.data.conversions import CONVERSIONS
from harness.data.sources import SOURCES, Source, source_named
from harness.errors import InputError


def test_weights_are_safetensors_only() -> None:
    sources = SOURCES.values()
    paths = [file for source in sources for file in source.rows]
    paths += [
        path for source in sources for provider in source.providers.values() for path in provider.inputs
    ]
    assert len(paths) > 100
    assert not {Path(path).suffix for path in paths} & {".bin", ".pt", ".pkl", ".pickle", ".h5", ".msgpack"}


def test_hashes_are_sha256_and_everything_embedded_is_pinned() -> None:
    embedded = 0
    for source in SOURCES.values():
        for name, provider in source.providers.items():
            hashes = [*provider.sha256.values(), *(value for value in provider.inputs.values() if value)]
            assert all(re.fullmatch(r"[0-9a-f]{64}", value) for value in hashes)
            if name == "embedded":
                embedded += 1
                assert re.fullmatch(r"[a-z0-9-]+==[0-9.]+", str(provider.wheel))
                pinned = (
                    provider.inputs.values()
                    if provider.make
                    else [provider.sha256.get(f) for f in source.files]
                )
                assert None not in list(pinned)
    assert embedded == 6


def test_every_conversion_of_the_table_exists_and_is_used() -> None:
    used = {
        provider.make
        for source in SOURCES.values()
        for provider in source.providers.values()
        if provider.make
    }
    assert used == set(CONVERSIONS)


def test_unknown_source_names_the_near_ones() -> None:
    with pytest.raises(InputError, match=r"'stsc'.*did you mean stsb"):
        source_named("stsc")


@pytest.mark.parametrize(
    "change",
    [
        {"providers": {"mirror": {"folder": "x", "sha256": {"other.txt": "0" * 64}}}},
        {"providers": {"mirror": {"folder": "x", "wheel": "a==1"}}},
        {"providers": {"embedded": {"folder": "x"}}},
        {"providers": {"system": {"folder": "/x"}}},
        {"providers": {"mirror": {"folder": "x", "package": "a"}}},
        {"providers": {"hub": {"repo": "a/b", "revision": "../main"}}},
        {"providers": {"hub": {"repo": "a/b", "make": "gunzip"}}},
        {"providers": {"hub": {"repo": "a/b", "unknown": 1}}},
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
