"""The configurations of BERT-flow that the conformance kit runs."""

from tests.support.tiny import Sample

RELEASED = {
    "max_length": 32,
    "levels": 3,
    "depth": 3,
    "hidden": 8,
    "permutation": "reversal",
    "sides": "pairs",
    "encoder_dropout": True,
    "start_sentences": 16,
}
PAPER = {**RELEASED, "levels": 2, "permutation": "random", "encoder_dropout": False}


def silent(levels: int, depth: int) -> tuple[str, ...]:
    """Names of weights without gradient at the start: all below a last layer that is zero, and its scale."""
    scalings = [
        f"{position}_scaling.{kind}" for position in ("first", "second") for kind in ("bias", "scale")
    ]
    inner = ("first.weight", "second.weight", "last_scale", *scalings)
    return tuple(
        f"encoder.output.levels.{level}.{step}.coupling.{name}"
        for level in range(levels)
        for step in range(depth)
        for name in inner
    )


SAMPLES = [
    Sample(
        "bert-flow", "released", RELEASED, portable=False, zero_gradients=silent(3, 3), export_tolerance=1e-4
    ),
    Sample("bert-flow", "paper", PAPER, portable=False, zero_gradients=silent(2, 3), export_tolerance=1e-4),
    Sample(
        "bert-flow",
        "sentences",
        {**RELEASED, "sides": "sentences", "levels": 1, "depth": 1},
        portable=False,
        zero_gradients=silent(1, 1),
        export_tolerance=1e-4,
    ),
]
