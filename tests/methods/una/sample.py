"""The configurations of una that the conformance kit runs."""

from typing import Any

from tests.support.tiny import Sample

RELEASED: dict[str, Any] = {
    "max_length": 32,
    "temperature": 0.05,
    "head": "mlp",
    "positive": "dropout",
    "period": 5,
    "magnitude": 0.5,
    "radius": 4000,
    "role": "pair",
    "unit": "position",
    "select": "tfidf",
    "replace": "window",
    "unchanged": "repair",
    "statistics": "corpus",
    "style": "lower",
}
PAPER: dict[str, Any] = {**RELEASED, "role": "column", "unit": "type"}
PARAPHRASE = {"positive": "paraphrase", "statistics": "corpus-and-paraphrases"}
RANDOM = {"select": "random", "replace": "anywhere", "unchanged": "keep"}

SAMPLES = [
    Sample("una", "released", RELEASED),
    Sample("una", "paper", PAPER),
    Sample("una", "paraphrase", {**RELEASED, **PARAPHRASE, "period": 2, "radius": 4}),
    Sample("una", "random", {**RELEASED, **RANDOM, "period": 1}),
    Sample("una", "matched", {**RELEASED, "style": "matched", "unchanged": "single-term", "head": "none"}),
    Sample("una", "never", {**RELEASED, "period": 0}),
]
