"""Batches computed several at once: order, modes and threads are the caller's, values as with one thread."""

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
import torch

from methods.core.encoder import SentenceEncoder, side_by_side
from methods.core.folders import load_encoder
from tests.support import tiny


@pytest.fixture
def four_threads() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(4)
    yield
    torch.set_num_threads(before)


@pytest.mark.usefixtures("four_threads")
@pytest.mark.parametrize(("items", "share"), [(9, 1), (2, 2), (1, 4)])
def test_threads_are_shared_out_and_the_callers_stay(items: int, share: int) -> None:
    assert list(side_by_side(lambda _: torch.get_num_threads(), range(items))) == [share] * items
    assert torch.get_num_threads() == 4
    with ThreadPoolExecutor(1) as later:
        assert later.submit(torch.get_num_threads).result() == 4


@pytest.mark.usefixtures("four_threads")
@pytest.mark.parametrize("grad", [False, True])
@pytest.mark.parametrize("half", [False, True])
def test_the_callers_modes_hold_in_every_thread(grad: bool, half: bool) -> None:
    weight = torch.ones(2, 2, requires_grad=True)

    def work(_: int) -> tuple[bool, torch.dtype]:
        made = torch.ones(2, 2) @ weight
        return made.requires_grad, made.dtype

    with torch.set_grad_enabled(grad), torch.autocast("cpu", torch.bfloat16, enabled=half):
        actual = set(side_by_side(work, range(8)))
    assert actual == {(grad, torch.bfloat16 if half else torch.float32)}


@pytest.mark.usefixtures("four_threads")
def test_an_error_ends_the_work_and_gives_the_threads_back() -> None:
    begun: list[int] = []

    def work(item: int) -> int:
        begun.append(item)
        if item == 0:
            raise ValueError("of the first item")
        time.sleep(0.01)
        return item

    with pytest.raises(ValueError, match="of the first item"):
        list(side_by_side(work, range(100)))
    assert len(begun) < 50
    assert torch.get_num_threads() == 4


@pytest.mark.usefixtures("four_threads")
@pytest.mark.parametrize("half", [False, True])
def test_the_number_of_threads_changes_no_byte_of_a_vector(half: bool, tmp_path: Path) -> None:
    folder = tiny.write_backbone(tmp_path / "bert", layers=2)
    encoder: SentenceEncoder = load_encoder(folder, pooling="mean")  # type: ignore[assignment]
    texts = [f"{row.text} {number}" for number, row in enumerate(tiny.rows(60))]
    actual = []
    for threads in (1, 2, 3):
        torch.set_num_threads(threads)
        with torch.autocast("cpu", torch.bfloat16, enabled=half):
            actual.append(encoder.encode(texts, batch_size=2))
    np.testing.assert_array_equal(actual[1], actual[0])
    np.testing.assert_array_equal(actual[2], actual[0])
