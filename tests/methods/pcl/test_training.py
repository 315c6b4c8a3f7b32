"""PCL in training: export, schedule, clipping, what falls; and which settings are refused."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import torch

from methods.core.errors import InputError
from tests.methods.pcl.building import DIVERGENCES, Make
from tests.methods.pcl.sample import PLAIN_PEER
from tests.support import tiny


def test_the_gradient_norm_is_clipped_over_both_networks_and_the_head_together(
    make: Make, tmp_path: Path
) -> None:
    method = make()
    trainer = tiny.trainer(method, tmp_path, steps=1)
    trainer.fit(tiny.rows())
    squares = [p.grad.square().sum() for p in method.parameters() if p.grad is not None]
    assert len(squares) == len(list(method.parameters()))
    assert torch.stack(squares).sum().sqrt() <= 1 + 1e-5


def test_training_lowers_the_dropout_term_and_keeps_the_others_in_their_bounds(
    make: Make, tmp_path: Path
) -> None:
    """B = 8, K = 9, M = 16: the group term lies between mass even on the positives and all on one other."""
    tiny.trainer(make(), tmp_path, steps=60, eval_every=60, learning_rate=2.0e-3).fit(tiny.rows())
    entries = [json.loads(line) for line in (tmp_path / "train.jsonl").read_text().splitlines()]
    steps = [entry for entry in entries if "loss" in entry]
    assert len(steps) == 60
    first, last = (np.mean([entry["nce_main"] for entry in part]) for part in (steps[:10], steps[-10:]))
    assert last < first - 0.3
    least = (9 * np.log1p(np.exp(-1 / 9)) + 7 * np.log(2)) / 16
    largest = (9 * np.log(2) + np.log1p(np.e) + 6 * np.log(2)) / 16
    for entry in steps:
        assert least - 1e-6 <= entry["group_main"] <= largest + 1e-6
        assert all(-1e-7 <= entry[name] < 1 for name in DIVERGENCES)


def test_a_pooler_that_the_checkpoint_lacks_is_refused(make: Make) -> None:
    with pytest.raises(InputError, match=r"missing.*pooler"):
        make(coupling="fixed", parent="parent", peer_head="pooler-shared-mlp")


@pytest.mark.parametrize(
    ("parent", "line"), [("wide", "width 32, expected.*16"), ("foreign", "word pieces differ")]
)
def test_a_fixed_peer_that_does_not_fit_is_refused(make: Make, parent: str, line: str) -> None:
    with pytest.raises(InputError, match=line):
        make(coupling="fixed", parent=parent, **PLAIN_PEER)
