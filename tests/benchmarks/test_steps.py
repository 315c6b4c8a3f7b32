"""Step times, and the note on a system that does not fit a backbone."""

from functools import partial

import pytest

from benchmarks import steps
from benchmarks.runner import TimedResult
from benchmarks.steps import seconds_of_a_step, with_batch
from harness.plan.hours import BackboneShape
from harness.plan.recipes import load_recipes
from harness.plan.resolve import resolve

TINY = BackboneShape(layers=2, width=64, inner=128, vocabulary=400, positions=64)


def test_the_first_step_does_not_count_and_each_trains_a_batch_of_the_run(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seconds, batches = iter([9.0, 1.0, 3.0]), list[tuple[int, int]]()

    def timed(step: partial[None], *_: object) -> TimedResult:
        rows, number = step.args
        batches.append((len(rows), number))
        return TimedResult(next(seconds))

    monkeypatch.setattr(steps, "timed", timed)
    (run,) = resolve(load_recipes(), ["baselines/simcse"], seeds=1).runs.values()
    assert seconds_of_a_step(with_batch(run, 4), TINY, device="cpu", precision="fp32", steps=2) == 2.0
    assert batches == [(4, 0), (4, 1), (4, 2)]


def test_a_system_that_does_not_fit_a_backbone_has_a_line_and_the_others_are_measured(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(steps, "timed", lambda *_: TimedResult(0.5))
    command = "steps --backbone bert-tiny --system pt-bert moco"
    monkeypatch.setattr("sys.argv", command.split())
    steps.main()
    first, without, last = capsys.readouterr().out.splitlines()
    assert first.split() == ["bert-tiny", "simcse", "0.5", "s", "a", "step,", "1.00", "of", "SimCSE"]
    assert "pt-bert                  not measured: 12 heads for width 128" in without
    assert last.split()[:3] == ["bert-tiny", "moco", "0.5"]
