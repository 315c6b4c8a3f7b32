"""The configurations of pt-bert that the conformance kit runs."""

from tests.support.tiny import Sample

RELEASED = {
    "max_length": 32,
    "temperature": 0.05,
    "momentum": 0.885,
    "momentum_start": "random",
    "queue_size": 20,
    "queue_holds_batch": False,
    "head": "mlp",
    "key_dropout": True,
    "pseudo_length": 5,
    "pseudo_heads": 2,
    "pseudo_dropout": 0.1,
    "pseudo_source": "pooled",
    "pseudo_form": "factorised",
    "key_second_attention": "online",
    "export": "pooled",
}
PAPER = {
    **RELEASED,
    "momentum_start": "backbone",
    "queue_holds_batch": True,
    "head": "none",
    "key_second_attention": "momentum",
}
TOKEN_STATES = {**RELEASED, "pseudo_source": "tokens", "pseudo_form": "plain"}
COLLAPSED = {**RELEASED, "pseudo_form": "collapsed"}

INERT = ("block.tokens", "block.key.bias")
"""Without gradient: see README, findings 1 and 2."""
ASKING = ("block.query.weight", "block.query.bias", "block.key.weight")

SAMPLES = [
    Sample("pt-bert", "released", RELEASED, zero_gradients=INERT),
    Sample("pt-bert", "paper", PAPER, zero_gradients=INERT),
    Sample(
        "pt-bert", "collapsed-output", {**COLLAPSED, "export": "output"}, zero_gradients=(*INERT, *ASKING)
    ),
    Sample("pt-bert", "token-states", TOKEN_STATES),
]

REFUSED = [
    ({"pseudo_source": "tokens"}, "tokens as source need form plain"),
    (
        {"pseudo_source": "tokens", "pseudo_form": "plain", "export": "output"},
        "tokens as source need form plain",
    ),
]
