"""The queue of vectors against a deque, also across a reload."""

from collections import deque

import numpy as np
import pytest
import torch

from methods.core.queues import BatchQueue, VectorQueue


@pytest.mark.parametrize("size", [1, 4, 7, 16])
def test_the_queue_equals_a_deque_for_pushes_of_any_length(size: int) -> None:
    """200 pushes of 0 to 2 size + 1 rows; contents and order are compared after each."""
    rng = np.random.default_rng(size)
    queue, naive = VectorQueue(size, 2), deque[list[float]](maxlen=size)
    pushed = 0
    for _ in range(200):
        rows = torch.from_numpy(rng.normal(size=(rng.integers(0, 2 * size + 2), 2)).astype(np.float32))
        queue.push(rows)
        naive.extend(rows.tolist())
        pushed += len(rows)
        assert queue.newest(queue.size).tolist() == list(naive)
        assert sorted(queue.stored().tolist()) == sorted(naive)
        for count in (0, 1, size - 1, size, size + 1):
            blocks = queue.newest_blocks(count)
            assert torch.cat([rows[:0], *blocks]).tolist() == list(naive)[max(0, len(naive) - count) :]
            assert all(block.untyped_storage().data_ptr() == queue.ring.data_ptr() for block in blocks)
        assert len(queue) == min(size, pushed)
    assert pushed > 50 * size


def test_the_stored_rows_of_a_queue_of_batches_are_those_of_its_batches() -> None:
    """Room for 5 rows: of pushes of three rows each only the newest is kept."""
    queue = BatchQueue(5, 1)
    for values in ([1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0]):
        queue.push(torch.tensor(values)[:, None])
        assert queue.stored().tolist() == queue.newest(len(queue)).tolist()
    assert queue.stored().flatten().tolist() == [4.0, 5.0, 6.0, 7.0, 8.0]


def test_whole_batches_are_dropped_worked_by_hand() -> None:
    """Room for 8 rows; batches of 4, 4, 2 with values 1, 2, 3: ten rows, so the four 1s go, not two of them.

    A fourth batch of 4 makes ten again and the 2s go; a fifth makes ten and the two 3s go.
    """
    queue = BatchQueue(8, 1)
    actual = []
    for value, rows in enumerate([4, 4, 2, 4, 4], 1):
        queue.push(torch.full((rows, 1), float(value)))
        actual.append(queue.newest(queue.size).flatten().tolist())
    assert actual[1:] == [[1] * 4 + [2] * 4, [2] * 4 + [3] * 2, [3] * 2 + [4] * 4, [4] * 4 + [5] * 4]
    assert queue.newest(7).flatten().tolist() == [5, 5, 5, 5]
    assert queue.newest(3).shape == (0, 1)


@pytest.mark.parametrize("kept", [1, 2, 4])
def test_the_batch_queue_equals_a_list_of_batches_across_epochs(kept: int) -> None:
    """Epochs of seven batches of 3 and one of 1 or 2; the list keeps the last `kept` batches of any size."""
    queue, naive = BatchQueue(3 * kept, 2), deque[torch.Tensor](maxlen=kept)
    rng = np.random.default_rng(kept)
    for epoch in range(6):
        for rows in [3] * 7 + [1 + epoch % 2]:
            batch = torch.from_numpy(rng.normal(size=(rows, 2)).astype(np.float32))
            queue.push(batch)
            naive.append(batch)
            assert torch.equal(queue.newest(queue.size), torch.cat(list(naive)))
            resumed = BatchQueue(3 * kept, 2)
            resumed.load_state_dict(queue.state_dict())
            queue = resumed
