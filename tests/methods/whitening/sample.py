"""The configurations of whitening that the conformance kit runs."""

from tests.support.tiny import Sample

_WHITEN = {"max_length": 32, "transform": "whiten", "dim": None, "sentences": None}

SAMPLES = [
    Sample("whitening", "whiten", _WHITEN, trained=False, export_tolerance=2e-2),
    Sample("whitening", "whiten-8", {**_WHITEN, "dim": 8}, trained=False, export_tolerance=2e-2),
    Sample("whitening", "centre", {**_WHITEN, "transform": "centre"}, trained=False),
    Sample(
        "whitening",
        "centre-words",
        {**_WHITEN, "transform": "centre"},
        backbone="words",
        trained=False,
        portable=False,
    ),
]
