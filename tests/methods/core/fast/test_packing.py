"""Where tokens of a padded batch go, worked by hand for two rows of three columns."""

from __future__ import annotations

import pytest
import torch

from methods.core.fast.attention import Packing


def test_packing_and_spreading_are_inverse_on_real_tokens() -> None:
    mask = torch.tensor([[1, 1, 0], [1, 0, 1]])
    packing = Packing(torch.zeros(2, 3), {"attention_mask": mask})
    values = torch.arange(1.0, 7.0).view(2, 3, 1)
    assert packing.pack(values).flatten().tolist() == [1, 2, 4, 6]
    assert packing.unpack(packing.pack(values)).flatten().tolist() == [1, 2, 2, 4, 4, 6]
    assert packing.first_tokens(packing.pack(values)).flatten().tolist() == [1, 4]


def test_tokens_go_to_heads_and_come_back() -> None:
    """Two heads of one number, the second ten times the first; rows of tokens 1, 2 and 4, 6 as above."""
    packing = Packing(torch.zeros(2, 3), {"attention_mask": torch.tensor([[1, 1, 0], [1, 0, 1]])})
    packed = torch.tensor([[1.0, 10.0], [2.0, 20.0], [4.0, 40.0], [6.0, 60.0]], requires_grad=True)
    heads = packing.to_heads(packed, 2)
    expected = [[1, 2, 2], [10, 20, 20], [4, 4, 6], [40, 40, 60]]
    assert heads.squeeze(2).tolist() == expected
    assert torch.equal(packing.from_heads(heads, 2), packed)
    (packing.from_heads(heads * torch.arange(12.0).view(4, 3, 1), 2).sum()).backward()
    assert packed.grad is not None
    assert packed.grad.tolist() == [[0, 3], [1, 4], [6, 9], [8, 11]]


@pytest.mark.parametrize("masked", [False, True])
def test_padding_may_count_as_tokens_that_nothing_attends_to(masked: bool) -> None:
    mask = torch.tensor([[1, 1, 0], [1, 0, 0]]) if masked else torch.ones(2, 3)
    packing = Packing(torch.zeros(2, 3), {"attention_mask": mask}, with_padding=True)
    values = torch.arange(6.0).view(2, 3, 1)
    assert torch.equal(packing.unpack(packing.pack(values)), values)
    assert packing.positions is None
    assert (packing.mask is not None) == masked
    pairs = torch.arange(12.0).view(6, 2)
    heads = packing.to_heads(pairs, 2)
    assert heads.squeeze(2).tolist() == [[0, 2, 4], [1, 3, 5], [6, 8, 10], [7, 9, 11]]
    assert torch.equal(packing.from_heads(heads, 2), pairs)
