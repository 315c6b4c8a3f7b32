"""The configurations of modals that the conformance kit runs."""

from tests.support.tiny import Sample

_PLAIN = {"max_length": 32, "temperature": 0.05, "head": "mlp", "magnitude": 0.1, "directions": None}

SAMPLES = [
    Sample("modals", "interpolation", {**_PLAIN, "positive": "interpolation"}),
    Sample("modals", "extrapolation", {**_PLAIN, "positive": "extrapolation"}),
    Sample("modals", "linear-sampling", {**_PLAIN, "positive": "linear-sampling", "head": "none"}),
    Sample("modals", "gaussian-noise", {**_PLAIN, "positive": "gaussian-noise"}),
    Sample("modals", "pca-jittering", {**_PLAIN, "positive": "pca-jittering", "directions": 4}),
]

REFUSED = [
    ({"directions": 4}, "`directions` must be set exactly with `positive: pca-jittering`"),
    ({"positive": "pca-jittering"}, "`directions` must be set exactly with `positive: pca-jittering`"),
]
