"""The sources table itself: what later parts rely on without looking."""

from __future__ import annotations

import re
from pathlib import Path, PurePosixPath

import pytest
import yaml
from pydantic import ValidationError

from harness.data.conversions import CONVERSIONS
from harness.data.sources import DECLARATION, SOURCES, Source, read_sources, source_named
from harness.errors import InputError

NEEDED = {
    "backbone": "minilm-l6 bert-base-uncased bert-large-uncased roberta-base roberta-large bert-tiny "
    "bert-mini bert-small bert-medium",
    "vectors": "glove-6b-50d glove-6b-300d",
    "corpus": "wiki-small wiki-mirror wikisplit wiki1m nli",
    "augmenter": "opus-mt-en-de opus-mt-de-en opus-mt-en-fr opus-mt-fr-en pegasus-paraphrase",
    "lexicon": "wordnet",
    "sts": "sts12 sts13 sts14 sts15 sts16 stsb-senteval sickr stsb "
    "sts12-raw sts13-raw sts14-raw sts15-raw sts16-raw stsb-raw sickr-raw",
    "classification": "mr cr mpqa subj sst trec mrpc",
    "nli": "snli",
    "reranking": "trecqa askubuntu scidocs",
}


def test_every_name_the_rest_relies_on_is_in_the_table() -> None:
    needed = {(kind, name) for kind, names in NEEDED.items() for name in names.split()}
    assert len(needed) == 48
    assert needed <= {(source.kind, name) for name, source in SOURCES.items()}


def test_declaration_repeats_no_name() -> None:
    """YAML would silently keep the last of two equal keys, so the top-level keys are counted as text."""
    names = re.findall(r"^([a-z0-9_-]+):", DECLARATION.read_text("utf-8"), re.MULTILINE)
    assert sorted(names) == sorted(SOURCES)
    assert len(names) >= 53


def test_paths_are_relative_and_weights_are_safetensors_only() -> None:
    paths = [
        *(file for source in SOURCES.values() for file in source.rows),
        *(
            path
            for source in SOURCES.values()
            for provider in source.providers.values()
            for path in provider.inputs
        ),
    ]
    assert len(paths) > 100
    for path in paths:
        assert not PurePosixPath(path).is_absolute()
        assert ".." not in PurePosixPath(path).parts
        assert PurePosixPath(path).suffix not in {".bin", ".pt", ".pkl", ".pickle", ".h5", ".msgpack"}


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


def test_minilm_weights_are_the_bytes_of_the_public_file_in_both_providers() -> None:
    public = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
    providers = SOURCES["minilm-l6"].providers
    assert providers["embedded"].sha256["model.safetensors"] == public
    assert providers["hub"].sha256["model.safetensors"] == public


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


def test_table_is_read_in_its_order(tmp_path: Path) -> None:
    declared = {
        name: {
            "kind": "sts",
            "licence": "l",
            "confirmed": "made up",
            "note": "n",
            "rows": {"a": None},
            "providers": {"mirror": {}},
        }
        for name in ("b", "a")
    }
    (tmp_path / "sources.yaml").write_text(yaml.safe_dump(declared, sort_keys=False), encoding="utf-8")
    assert list(read_sources(tmp_path / "sources.yaml")) == ["b", "a"]
