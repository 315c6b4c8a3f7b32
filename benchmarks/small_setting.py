"""Results of the small setting, for docs/small-setting.md: rates, facts of the literature, attention weights.

`python -m benchmarks.small_setting` needs a reproduced checkout. It trains the runs that the committed
results lack, caches each training in `.cache/small-setting`, and writes three sections of the page and a
figure. Rates are compared on STS-B dev only; no choice uses a test set.
"""

import argparse
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

from harness.errors import InputError
from harness.io.files import write_text
from harness.plan.entries import Params, Run
from harness.plan.params_file import read_plan
from harness.process import compute_with, prepare, quiet

PAGE, FIGURE = Path("docs/small-setting.md"), Path("docs/pictures/attention.svg")
COMMAND = "python -m benchmarks.small_setting"
RATES = (2.5e-4, 1e-3, 2.5e-3, 5e-3)
SEEDS = 20
tell = partial(print, file=sys.stderr, flush=True)


def main() -> int:
    """Writes the sections and the figure; returns 2 for a missing input."""
    parser = argparse.ArgumentParser(prog=COMMAND, description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--seeds", type=int, default=SEEDS, help=f"of each side of a fact (default {SEEDS})")
    parser.add_argument("--only", choices=list(SECTIONS), action="append", help="part (default: all)")
    arguments = parser.parse_args()
    prepare()
    compute_with("portable")
    quiet()
    from harness.report.formats.readmes import with_section

    try:
        params = read_plan()
        for name in arguments.only or SECTIONS:
            section = SECTIONS[name](params, arguments.seeds)
            write_text(
                PAGE,
                with_section(PAGE.read_text(encoding="utf-8"), section, where=str(PAGE)),
            )
    except InputError as error:
        tell(f"{COMMAND}: {error}")
        return 2
    return 0


def facts_section(params: Params, seeds: int) -> str:
    """Returns the table of facts, after their trainings."""
    from benchmarks.small_facts import FACTS, measure
    from benchmarks.small_text import to_facts
    from benchmarks.small_trainings import Trainings

    shown = measure(Trainings(params), FACTS, seeds, tell)
    return to_facts(shown, seeds, _simcse(params).train["steps"], COMMAND)


def rates_section(params: Params, _: int) -> str:
    """Returns the table of dev scores by learning rate of every trained system, seed 0."""
    from benchmarks.small_controls import ENCODER
    from benchmarks.small_text import to_rates
    from benchmarks.small_trainings import Trainings, of_system

    trainings, rows = Trainings(params), []
    for run in params.runs.values():
        if run.seed or run.backbone_name != ENCODER or not run.train["steps"]:
            continue
        scores = {}
        for rate in sorted({*RATES, run.train["learning_rate"]}):
            changed = of_system(params, run.id, 0, train={"learning_rate": rate})
            scores[rate] = trainings.dev(changed)
            tell(f"rate {rate:g}: {run.id} {scores[rate]:.1f}")
        rows.append((run.id, run.train["learning_rate"], scores))
    train = _simcse(params).train
    return to_rates(rows, RATES, train["steps"] // train["eval_every"], COMMAND)


def attention_section(params: Params, _: int) -> str:
    """Writes the figure and returns its section."""
    from benchmarks.small_attention import attention_picture, weights_of_words
    from benchmarks.small_text import to_attention
    from benchmarks.small_trainings import Trainings

    run = _simcse(params)
    words = weights_of_words(Trainings(params), run)
    write_text(FIGURE, attention_picture(words))
    return to_attention(words, run.train["steps"], FIGURE.relative_to(PAGE.parent), COMMAND)


def _simcse(params: Params) -> Run:
    from benchmarks.small_trainings import of_system

    return of_system(params, "simcse-small", 0)


Part = Callable[[Params, int], str]
SECTIONS: dict[str, Part] = {"attention": attention_section, "facts": facts_section, "rates": rates_section}
"""Outputs of the command, by name, in the order of computation."""


if __name__ == "__main__":
    sys.exit(main())
