"""When a launch counts the processors as shared: made counters of the kernel, worked by hand."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from harness.commands import launch
from harness.launch import crowding
from harness.launch.crowding import Crowding
from harness.launch.local import LocalEngine

SECOND = 10**9


@pytest.fixture(autouse=True)
def decides_at_every_look(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(crowding, "WINDOW", 0.0)


def tell(folder: Path, counters: Sequence[tuple[float, float]]) -> range:
    """Writes the seconds each process ran and waited; returns the processes."""
    for pid, (ran, waited) in enumerate(counters):
        (folder / str(pid)).mkdir(exist_ok=True)
        (folder / str(pid) / "schedstat").write_text(f"{ran * SECOND:.0f} {waited * SECOND:.0f} 7\n")
    return range(len(counters))


@pytest.mark.parametrize(
    ("works", "ran", "waited", "found"),
    [
        (2, 10.0, 0.0, False),  # two works, two processors
        (2, 8.6, 1.4, False),
        (2, 8.4, 1.6, True),
        (2, 6.7, 3.3, True),  # a third process has its share
        (3, 6.7, 3.3, False),  # three works share among themselves alone
        (3, 5.0, 5.0, True),  # and with a fourth process
        (1, 9.9, 0.1, False),
    ],
)
def test_works_that_get_less_than_they_would_alone_share_with_others(
    works: int, ran: float, waited: float, found: bool, tmp_path: Path
) -> None:
    seen = Crowding(2, processes=tmp_path)
    seen.look(tell(tmp_path, [(100.0, 50.0)] * works))
    assert not seen.found
    seen.look(tell(tmp_path, [(100.0 + ran, 50.0 + waited)] * works))
    assert seen.found is found


def test_what_was_before_the_first_look_and_a_process_that_has_gone_do_not_count(tmp_path: Path) -> None:
    seen = Crowding(2, processes=tmp_path)
    seen.look(tell(tmp_path, [(0.0, 100.0)]))
    assert not seen.found
    seen.look([*tell(tmp_path, [(5.0, 100.0)]), 99])
    assert not seen.found


def test_a_machine_that_is_free_again_is_seen(tmp_path: Path) -> None:
    seen = Crowding(2, processes=tmp_path)
    for ran, waited, found in ((0.0, 0.0, False), (5.0, 5.0, True), (15.0, 5.0, False)):
        seen.look(tell(tmp_path, [(ran, waited)]))
        assert seen.found is found


def test_where_the_kernel_does_not_count_nothing_is_found(tmp_path: Path) -> None:
    seen = Crowding(2, processes=tmp_path)
    for _ in range(3):
        seen.look([1, 2])
    assert not seen.found


def test_beside_other_processes_one_more_slot_is_given_where_that_is_wanted() -> None:
    fixed, free = LocalEngine(2), LocalEngine(2, one_more=True)
    assert (fixed.slots, free.slots) == (2, 2)
    assert free._crowding is not None
    free._crowding.found = True
    assert (fixed.slots, free.slots) == (2, 3)


@pytest.mark.parametrize(
    ("threads", "options", "cards", "growing"),
    [
        (None, {}, [], True),
        ("1", {}, [], True),
        ("2", {}, [], False),  # threads of a work wait for those of another
        (None, {"jobs": 2}, [], False),
        (None, {"cpus_per_run": 1.0}, [], False),
        (None, {}, ["0"], False),
    ],
)
def test_a_launch_grows_only_where_nobody_said_how_much_runs_at_once(
    threads: str | None,
    options: dict[str, Any],
    cards: list[str],
    growing: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    if threads:
        monkeypatch.setenv("OMP_NUM_THREADS", threads)
    monkeypatch.setattr(launch, "visible_cards", lambda: cards)
    arguments: Any = SimpleNamespace(
        on="local", **{"jobs": None, "cpus_per_run": None, "gpus_per_run": None} | options
    )
    pipeline: Any = SimpleNamespace(commands={})
    engine = launch.engine_of(arguments, pipeline)
    assert isinstance(engine, LocalEngine)
    assert (engine._crowding is not None) is growing
