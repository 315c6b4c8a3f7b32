"""Where tokens of a padded batch go, worked by hand: two rows of three columns, or of fifteen."""

from __future__ import annotations

import pytest
import torch

from methods.core.fast.packing import LANES, MOST_SINGLE, Packing


def test_packing_and_spreading_are_inverse_on_real_tokens() -> None:
    mask = torch.tensor([[1, 1, 0], [1, 0, 1]])
    packing = Packing(torch.zeros(2, 3), mask)
    values = torch.arange(1.0, 7.0).view(2, 3, 1)
    assert packing.pack(values).flatten().tolist() == [1, 2, 4, 6]
    assert packing.unpack(packing.pack(values)).flatten().tolist() == [1, 2, 2, 4, 4, 6]
    assert packing.first_tokens(packing.pack(values)).flatten().tolist() == [1, 4]


def test_tokens_go_to_heads_and_come_back() -> None:
    """Two heads of one number, the second ten times the first; rows of tokens 1, 2 and 4, 6 as above."""
    packing = Packing(torch.zeros(2, 3), torch.tensor([[1, 1, 0], [1, 0, 1]]))
    packed = torch.tensor([[1.0, 10.0], [2.0, 20.0], [4.0, 40.0], [6.0, 60.0]], requires_grad=True)
    heads = packing.to_heads(packed, 2)
    expected = [[1, 2, 2], [10, 20, 20], [4, 4, 6], [40, 40, 60]]
    assert heads.squeeze(2).tolist() == expected
    assert torch.equal(packing.from_heads(heads, 2), packed)
    hidden = packing.hidden(2)
    assert hidden is not None
    assert (hidden.squeeze(1) == -torch.inf).int().tolist() == [[0, 0, 1], [0, 0, 1], [0, 1, 0], [0, 1, 0]]
    (packing.from_heads(heads * torch.arange(12.0).view(4, 3, 1), 2).sum()).backward()
    assert packed.grad is not None
    assert packed.grad.tolist() == [[0, 3], [1, 4], [6, 9], [8, 11]]


def columns_of_keys(columns: int, device: str = "cpu") -> int:
    packing = Packing(torch.zeros(1, columns, device=device), None)
    return columns if packing.key_mask is None else packing.key_mask.shape[3]


def test_keys_get_whole_groups_of_columns_where_many_would_be_left_over() -> None:
    assert (LANES, MOST_SINGLE) == (16, 7)
    found = [columns_of_keys(columns) for columns in (1, 7, 8, 15, 16, 17, 23, 24, 32, 40)]
    assert found == [1, 7, 16, 16, 16, 17, 23, 32, 32, 48]
    assert columns_of_keys(15, device="meta") == 15  # no CPU


def test_added_columns_of_keys_are_copies_that_are_hidden_and_give_no_gradient() -> None:
    packing = Packing(torch.zeros(2, 15), None)
    packed = torch.arange(30.0).view(30, 1).requires_grad_()
    keys = packing.unpack_keys(packed)
    assert keys.squeeze(2).tolist() == [[*range(15), 14], [*range(15, 30), 29]]
    assert packing.key_mask is not None
    assert packing.key_mask.flatten().tolist() == [True] * 15 + [False]
    (keys * torch.arange(1.0, 33.0).view(2, 16, 1)).sum().backward()
    assert packed.grad is not None
    assert packed.grad.flatten().tolist() == [*range(1, 16), *range(17, 32)]


def test_columns_are_added_behind_padding_too() -> None:
    """Rows of 8 and of 2 tokens."""
    mask = (torch.arange(8) < torch.tensor([[8], [2]])).long()
    packing = Packing(torch.zeros(2, 8), mask)
    packed = torch.arange(10.0).view(10, 1).requires_grad_()
    keys = packing.unpack_keys(packed)
    assert keys.squeeze(2).tolist() == [[*range(8), *[7] * 8], [8, *[9] * 15]]
    assert packing.key_mask is not None
    assert packing.key_mask.flatten(1).int().tolist() == [[1] * 8 + [0] * 8, [1, 1] + [0] * 14]
    (keys * torch.arange(1.0, 33.0).view(2, 16, 1)).sum().backward()
    assert packed.grad is not None
    assert packed.grad.flatten().tolist() == [*range(1, 9), 17, 18]


@pytest.mark.parametrize("masked", [False, True])
def test_padding_may_count_as_tokens_that_nothing_attends_to(masked: bool) -> None:
    mask = torch.tensor([[1, 1, 0], [1, 0, 0]]) if masked else torch.ones(2, 3)
    packing = Packing(torch.zeros(2, 3), mask, with_padding=True)
    values = torch.arange(6.0).view(2, 3, 1)
    assert torch.equal(packing.unpack(packing.pack(values)), values)
    assert packing.positions is None
    assert (packing.mask is not None) == masked
