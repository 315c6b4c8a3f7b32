"""Lines of a trial's result."""

import json
from pathlib import Path

import pytest

from harness.commands.try_rows import lowered
from harness.paths import ARTEFACTS, RUN_LOG

UNTRAINED = 0.4911


def write_logs(**curves: list[float | None]) -> list[str]:
    """Logs of runs with these dev scores after a step of training each; None: the encoder collapsed."""
    for key, scores in curves.items():
        lines: list[dict[str, object]] = [{"step": 0, "evaluation": True, "score": UNTRAINED}]
        for step, score in enumerate(scores, 1):
            lines.append({"step": step, "loss": -3.0, "grad_norm": 0.1})
            dev = (
                {"no_score": "all cosines are equal"}
                if score is None
                else {"evaluation": True, "score": score}
            )
            lines.append({"step": step, **dev})
        (ARTEFACTS / key).mkdir(parents=True)
        text = "".join(json.dumps(line) + "\n" for line in lines)
        (ARTEFACTS / key / RUN_LOG).write_text(text, encoding="utf-8")
    return list(curves)


@pytest.mark.parametrize(
    ("first", "second", "asked"),
    [
        ([0.3, 0.1512], [0.2], "from 49.11 to 17.56: "),  # (15.12 + 20) / 2
        ([0.3, 0.4911], [0.2], ""),
        ([0.6, 0.4910], [0.4910], "from 49.11 to 49.10: "),  # the last score counts, not the best
        ([0.3, 0.1], [0.4912], ""),
        ([None], [0.2], ""),  # the note on its early end says more
    ],
)
def test_a_training_that_lowers_the_dev_score_of_every_run_is_asked_about_its_sign(
    first: list[float | None],
    second: list[float | None],
    asked: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    line = lowered(write_logs(a=first, b=second))
    assert asked in line
    assert ("is the sign of the loss right" in line) == bool(line) == bool(asked)
