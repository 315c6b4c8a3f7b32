"""Random vectors for losses, and the comparison of a loss with its slow form."""

from collections.abc import Sequence

import torch
from torch import Tensor


def drawn(*shape: int, seed: int = 0) -> Tensor:
    """Returns normal numbers in float64 that take a gradient."""
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(*shape, generator=generator, dtype=torch.float64).requires_grad_()


def cosine(first: Tensor, second: Tensor) -> Tensor:
    """Returns the cosine of two vectors by its formula."""
    return (first @ second) / (first.norm() * second.norm())


def assert_equal_with_gradients(
    fast: Tensor, slow: Tensor, inputs: Sequence[Tensor], *, atol: float = 1e-8
) -> None:
    """Fails unless two losses have equal values and equal gradients of all inputs."""
    torch.testing.assert_close(fast, slow, rtol=0, atol=atol)
    actual, expected = (torch.autograd.grad(loss, inputs, retain_graph=True) for loss in (fast, slow))
    torch.testing.assert_close(actual, expected, rtol=0, atol=atol)
