"""PCL in training: export, schedule, clipping, what falls; and which settings are refused."""

from __future__ import annotations

import pytest

from methods.core.errors import InputError
from tests.methods.pcl.building import Make
from tests.methods.pcl.sample import PLAIN_PEER


def test_a_pooler_that_the_checkpoint_lacks_is_refused(make: Make) -> None:
    with pytest.raises(InputError, match=r"missing.*pooler"):
        make(coupling="fixed", parent="parent", peer_head="pooler-shared-mlp")


@pytest.mark.parametrize(
    ("parent", "line"), [("wide", "width 32, expected.*16"), ("foreign", "word pieces differ")]
)
def test_a_fixed_peer_that_does_not_fit_is_refused(make: Make, parent: str, line: str) -> None:
    with pytest.raises(InputError, match=line):
        make(coupling="fixed", parent=parent, **PLAIN_PEER)
