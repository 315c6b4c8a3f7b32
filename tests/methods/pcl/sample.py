"""The configurations of PCL that the conformance kit runs."""

from typing import Any

from tests.support.tiny import Sample

RELEASED: dict[str, Any] = {
    "max_length": 32,
    "positives": 9,
    "edits": ["shuffle", "invert", "delete", "repeat"] * 2,
    "edit_share": 0.2,
    "edit_unit": "piece",
    "deletion": "first-occurrence",
    "temperature": 0.05,
    "coupling": "separate",
    "peer_head": "pooler-shared-mlp",
    "peer_attention_mask": False,
    "peer_views": "shared",
    "contrast": "dropout-and-group",
    "contrast_weight": 1.0,
    "kl_pairs": "consistency-agreement",
    "kl_direction": "peer-main",
    "kl_reduction": "element-mean",
    "recompute": False,
}
PAPER: dict[str, Any] = {
    **RELEASED,
    "edit_unit": "word",
    "deletion": "place",
    "peer_head": "cls-own-mlp",
    "peer_attention_mask": True,
    "contrast": "sum",
    "kl_direction": "main-peer",
    "kl_reduction": "batch-mean",
}
PLAIN_PEER = {"peer_head": "cls-shared-mlp", "peer_attention_mask": True}

SAMPLES = [
    Sample("pcl", "released", RELEASED),
    Sample("pcl", "paper", PAPER),
    Sample("pcl", "eq5-independent", {**PAPER, "kl_pairs": "eq5-literal", "peer_views": "independent"}),
    Sample("pcl", "new-pooler", {**RELEASED, "positives": 3, "peer_head": "new-pooler-shared-mlp"}),
    Sample("pcl", "no-peer", {**RELEASED, "coupling": "none"}),
    Sample("pcl", "no-contrast", {**RELEASED, "positives": 1, "edits": [], "contrast": "dropout"}),
    Sample("pcl", "fixed-peer", {**RELEASED, **PLAIN_PEER, "coupling": "fixed"}, parent="encoder"),
    Sample("pcl", "tied", {**RELEASED, **PLAIN_PEER, "coupling": "tied", "positives": 4, "recompute": True}),
]

REFUSED = [
    ({"edits": ["shuffel", *["invert"] * 7]}, "'shuffle', 'invert', 'delete' or 'repeat'"),
    ({"positives": 10}, "positives 10 needs 9 edits, but `edits` has 8"),
    ({"coupling": "tied"}, "tied networks share head and mask"),
    ({"coupling": "fixed", "peer_head": "cls-own-mlp"}, "fixed peer cannot train"),
]
