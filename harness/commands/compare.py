"""`sentbench compare`: compare two systems, two models, or two states of scores.

Systems and result files are compared over their seeds, models over the pairs of test sets, with intervals.
Two states are git revisions or folders of scores; harness/evidence/moved.py classifies changed scores.
"""

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

from harness.commands import FORMAT, JSON, POOLING, format_of, name_list
from harness.errors import InputError
from harness.evidence.history import is_revision, results_of
from harness.evidence.moves import Move, machine_changes, moves_between
from harness.process import compute_with
from harness.report.formats.markdown import Level, annotation
from harness.report.formats.moves import moves_json, summary, to_pull_request

Kind = Literal["system", "model", "results", "state"]
FAILS = ("nothing", "down", "moved", "gone")
KIND_WORDS = {
    "system": "a system",
    "model": "a model",
    "results": "result files or files of `evaluate --out`",
    "state": "a state of scores",
}
ARGUMENTS = {
    "before": {
        "metavar": "A",
        "help": "a system, SYSTEM@BACKBONE or run; a model's folder or its name on the hub; result files of "
        "one system; a file of `evaluate --out`; a git revision, or a folder of scores",
    },
    "after": {"metavar": "B", "help": "what it is compared with, of the same kind"},
    "--tasks": {"help": "of systems and models: only these tasks and suites, comma-separated"},
    "--pooling": {
        **POOLING,
        "help": "of models: how token vectors become one, for plain Hugging Face folders",
    },
    "--no-pairs": {
        "action": "store_true",
        "help": "of systems: no intervals over pairs, so stored vectors and data are not read",
    },
    "--fail-on": {
        "choices": FAILS,
        "default": "nothing",
        "help": "of states: exit code 1 if a score moved down, moved either way, or moved or is gone",
    },
    "--device": {"choices": ("cpu", "cuda"), "help": "of states: only runs that were trained on this device"},
    "--json": JSON,
    "--format": FORMAT,
}
ONLY: dict[Kind, dict[str, Any]] = {
    "state": {"fail_on": "nothing", "device": None},
    "system": {"no_pairs": False},
    "model": {"pooling": None},
}
"""Options of only one kind of comparison, with their defaults."""


def execute(arguments: argparse.Namespace) -> int:
    """Prints the comparison; returns 1 if a move matches `--fail-on`."""
    form = format_of(arguments)
    names = arguments.before, arguments.after
    kind = kind_of_both(*names)
    check_options(arguments, kind, form)
    if kind == "state":
        from harness.plan.stale import warn_if_stale

        code = compare_states(names, arguments, form)
        warn_if_stale()
        return code
    from harness.evidence.system_pairs import differences_json
    from harness.report.formats.scores import differences_to_text

    if kind == "system":
        from harness.plan.stale import warn_if_stale
        from harness.report.assembly.systems import compare_named

        tasks = None if arguments.tasks is None else name_list(arguments.tasks)
        comparison = compare_named(names, tasks=tasks, pairs=not arguments.no_pairs)
        text = differences_to_text(comparison)
        warn_if_stale()
    else:
        compute_with("native")
        from sentbench import compare as compare_folders
        from sentbench.comparison import is_evaluation

        both = compare_folders(*names, arguments.tasks or "sts", pooling=arguments.pooling)
        comparison, text = both.differences, str(both)
        if all(is_evaluation(Path(name)) for name in names):
            models = f"{comparison.first} {comparison.second}"
            text += f"intervals over pairs need the models: `sentbench compare {models}`\n"
    print(json.dumps(differences_json(comparison)) + "\n" if form == "json" else text, end="")
    return 0


def kind_of_both(first: str, second: str) -> Kind:
    """Returns the kind of both names. Errors: InputError if the kinds differ.

    A folder of result files is a state of all scores, unless both are folders of one system, each of another.
    """
    kinds = kind_of(first), kind_of(second)
    folders = [name for name in (first, second) if holds_results(Path(name))]
    if len(folders) == 2:
        systems = [{(result.run.id, result.run.backbone) for result in results_of(name)} for name in folders]
        return "results" if max(map(len, systems)) == 1 and systems[0] != systems[1] else "state"
    if "state" in kinds and kinds.count("state") + len(folders) == 2:
        return "state"
    if kinds[0] != kinds[1]:
        words = [
            f"{name} is {words_for(name, kind)}" for name, kind in zip((first, second), kinds, strict=True)
        ]
        raise InputError(f"{', '.join(words)}: expected two of the same kind")
    return kinds[0]


def words_for(name: str, kind: Kind) -> str:
    """Describes the kind of a name."""
    if kind == "system" and not is_recorded(name):
        return "no system with results, file, folder or git revision here"
    if kind == "model" and not Path(name).exists():
        return "a model of the hub, as no path here has this name"
    return KIND_WORDS[kind]


def kind_of(name: str) -> Kind:
    """Returns the kind of a name; the default is a system, whose name is checked later."""
    path = Path(name)
    if path.is_file() or holds_results(path):
        return "results"
    if path.exists():
        return "model"
    if is_recorded(name):
        return "system"
    if is_revision(name):
        return "state"
    return "model" if "/" in name else "system"


def holds_results(folder: Path) -> bool:
    """Returns whether a folder has result files and is not a model folder."""
    return not (folder / "config.json").exists() and any(folder.glob("*__*__s*.json"))


def is_recorded(name: str) -> bool:
    """Returns whether the project has a result of a run or system of this name."""
    from harness.paths import FURTHER, SCORES

    system, _, backbone = name.partition("@")
    names = [path.stem for folder in (SCORES, FURTHER) for path in folder.glob("*.json")]
    return name in names or any(stem.startswith(f"{system}__{backbone}") for stem in names)


def check_options(arguments: argparse.Namespace, kind: Kind, form: str) -> None:
    """Raises InputError for an option of another kind of comparison."""
    for owner, options in ONLY.items():
        for option, usual in options.items():
            if owner != kind and getattr(arguments, option) != usual:
                flag = f"--{option.replace('_', '-')}"
                raise InputError(f"{flag} is for {KIND_WORDS[owner]}, both sides are {KIND_WORDS[kind]}")
    if kind in ("state", "results") and arguments.tasks is not None:
        sides = "two states" if kind == "state" else "results"
        raise InputError(f"--tasks: {sides} are compared on all common tasks; drop it")
    if kind != "state" and form == "github":
        raise InputError(
            f"--format github is for {KIND_WORDS['state']}, both sides are {KIND_WORDS[kind]}; drop it"
        )


def compare_states(names: tuple[str, str], arguments: argparse.Namespace, form: str) -> int:
    """Prints moved scores as Markdown, JSON or annotations; returns 1 if `--fail-on` finds a move."""
    before, after = (
        [result for result in results_of(name) if arguments.device in (None, result.provenance.device)]
        for name in names
    )
    moves, changed = moves_between(before, after), machine_changes(before, after)
    if form == "json":
        print(json.dumps({**moves_json(moves, names), "arithmetic": changed}))
    elif form == "github":
        print("\n".join(annotated(moves, arguments.fail_on)))
    else:
        print(to_pull_request(moves, names), end="")
        if changed:
            print(f"\nThe {changed}.")
    return int(any(fails(move, arguments.fail_on) for move in moves))


def fails(move: Move, fail_on: str) -> bool:
    """Returns whether a move matches `--fail-on`."""
    if fail_on == "nothing":
        return False
    if fail_on == "down":
        return move.went_down
    return move.outcome == "moved" or (fail_on == "gone" and move.outcome == "removed")


def annotated(moves: Sequence[Move], fail_on: str) -> list[str]:
    """Returns an annotation for each moved or missing score, and the summary."""
    annotations = []
    for move in moves:
        if move.outcome not in ("moved", "removed"):
            continue
        key = move.key
        change = "is gone" if move.change is None else f"{100 * move.change:+.2f} points"
        band = "" if move.band is None else f", seeds before {move.band.low:.2f} to {move.band.high:.2f}"
        level: Level = "error" if fails(move, fail_on) else "warning"
        title = f"{key.system}@{key.backbone} {key.title}: {move.outcome}"
        annotations.append(annotation(level, title, f"{key.metric} {change}{band}"))
    return [*annotations, annotation("notice", "scores compared", summary(moves))]
