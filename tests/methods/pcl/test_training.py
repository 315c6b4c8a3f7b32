"""PCL in training: export, schedule, clipping, what falls; and which settings are refused."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from pydantic import ValidationError

from methods.core.errors import InputError
from methods.core.schedule import plan_steps, rate_factor
from methods.pcl.config import PCLConfig
from tests.methods.pcl.building import DIVERGENCES, Make
from tests.methods.pcl.sample import PLAIN_PEER, RELEASED
from tests.support import tiny


def test_only_the_main_network_is_exported(make: Make) -> None:
    method = make()
    texts = [row.text for row in tiny.rows(8)]
    before = method.exported().encode(texts)
    passes: list[str] = []
    for name, module in (("main", method.encoder), ("peer", method.peer), ("head", method.head)):
        module.register_forward_hook(lambda *_, name=name: passes.append(name))  # type: ignore[misc]
    with torch.no_grad():
        for p in (*method.peer.parameters(), *method.head.parameters()):
            p.add_(torch.randn_like(p))
    assert np.array_equal(method.exported().encode(texts), before)
    assert set(passes) == {"main"}


def test_an_epoch_of_a_million_lines_and_its_rates() -> None:
    plan = plan_steps(rows=1_000_000, batch_size=64, drop_last=False, steps=None, epochs=1)
    assert plan.total == 15_625
    assert plan.total // 125 == 125
    for t in (0, 1, 7_000, 15_624):
        assert rate_factor("linear", step=t, warmup=0, total=15_625) == pytest.approx(1 - t / 15_625)


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


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        ({"positives": 0}, "positives.*greater than or equal to 1"),
        ({"edits": ["shuffel"] * 8}, "edits.*'shuffle', 'invert', 'delete' or 'repeat'"),
        ({"edit_share": 1.5}, "edit_share.*less than or equal to 1"),
        ({"temperature": 0.0}, "temperature.*greater than 0"),
        ({"positives": 10}, "positives 10 needs 9 edits and `edits` has 8"),
        ({"coupling": "tied"}, "tied networks share head and mask"),
        ({"coupling": "fixed", "peer_head": "cls-own-mlp"}, "fixed peer cannot train"),
        ({"peers": 3}, "peers.*Extra inputs"),
    ],
)
def test_a_bad_setting_is_refused_with_its_reason(changes: dict[str, Any], line: str) -> None:
    with pytest.raises(ValidationError) as caught:
        PCLConfig.model_validate({**RELEASED, **changes})
    assert re.search(line, str(caught.value), re.DOTALL)


def test_every_setting_must_be_given() -> None:
    assert len(PCLConfig.model_fields) == len(RELEASED) == 17
    for name in RELEASED:
        with pytest.raises(ValidationError, match=name):
            PCLConfig.model_validate({key: value for key, value in RELEASED.items() if key != name})


def test_a_fixed_peer_without_a_parent_is_refused(make: Make) -> None:
    with pytest.raises(InputError, match="pcl with a fixed peer needs a parent"):
        make(coupling="fixed", **PLAIN_PEER)


def test_a_pooler_that_the_checkpoint_lacks_is_refused(make: Make) -> None:
    with pytest.raises(InputError, match=r"missing.*pooler"):
        make(coupling="fixed", parent="parent", peer_head="pooler-shared-mlp")


@pytest.mark.parametrize(
    ("parent", "line"), [("wide", "width 32, expected.*16"), ("foreign", "word pieces differ")]
)
def test_a_fixed_peer_that_does_not_fit_is_refused(make: Make, parent: str, line: str) -> None:
    with pytest.raises(InputError, match=line):
        make(coupling="fixed", parent=parent, **PLAIN_PEER)
