"""The configurations of SG-OPT that the conformance kit runs."""

from tests.support.tiny import Sample

RELEASED = {
    "max_length": 32,
    "temperature": 0.01,
    "objective": "sg-opt",
    "distance_weight": 0.1,
    "first_layer": 0,
    "last_layer": None,
    "frozen_dropout": True,
    "freeze_embeddings": True,
    "head_width": 24,
    "opt2_negatives": "skip-first",
    "normaliser": "mean",
}
PAPER = {**RELEASED, "frozen_dropout": False, "opt2_negatives": "all"}
BACK_TRANSLATION = {**RELEASED, "objective": "back-translation"}

SAMPLES = [
    Sample("sg-opt", "released", RELEASED),
    Sample("sg-opt", "paper", PAPER),
    Sample("sg-opt", "upper-layers", {**PAPER, "first_layer": 1, "last_layer": 2}),
    Sample("sg-opt", "opt2", {**RELEASED, "objective": "opt2"}),
    Sample("sg-opt", "opt1", {**PAPER, "objective": "opt1", "freeze_embeddings": False}),
    Sample("sg-opt", "sg", {**PAPER, "objective": "sg"}),
    Sample("sg-opt", "back-translation", BACK_TRANSLATION),
]

REFUSED = [
    ({"first_layer": 1, "objective": "opt1"}, "first_layer"),
    ({"first_layer": 2, "last_layer": 2}, "first_layer"),
]
