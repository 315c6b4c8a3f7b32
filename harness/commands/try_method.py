"""`sentbench try`: train a method of one file in minutes, and compare it.

Encoder, corpus, text, steps, batch and seeds are the same as in `simcse-small`, unless `--set` changes them.
Results of the other systems come with the package, and are used if this machine would compute the same bits;
otherwise the systems are trained here.
"""

import argparse
import json
import re
import shutil
import sys
from collections.abc import Mapping, Sequence
from contextlib import chdir, suppress
from pathlib import Path
from typing import Any

import yaml

from harness.commands import name_list
from harness.commands.plan import describe_plan
from harness.commands.try_reuse import committed, differs_here
from harness.commands.waiting import waiting
from harness.errors import InputError, near_matches
from harness.include import include_method
from harness.io.files import write_text
from harness.io.locks import alone
from harness.paths import RECIPES
from harness.plan.checks import check_runs
from harness.plan.recipes import Recipe, System, declared_systems, load_recipes
from harness.plan.resolve import MOST_SEEDS, in_setting_of, planned
from harness.process import compute_with
from harness.report.formats.trial import trial_text
from harness.report.pages.render import render_trial
from methods.registry import load_method

TEMPLATE, RECIPE = "simcse-small", "small"
"""The system whose setting a trial has, and its recipe."""
SMALL_SUFFIX = "-small"
"""Suffix of the systems of the small plan, optional in names."""
FULL = "simcse"
"""With `--scale full`: the system whose setting it has, the script's for BERT-base."""
SEEDS = 10
"""Seeds of a trial by default."""
TABLE, PAGE = "table.txt", "index.html"
CONTINUES = "the same command continues: runs that are done are not trained again"
OPTIONS = {"parent": "--teacher", "teacher": "--teacher", "backbone": "--backbone", "seeds": "--seeds"}
"""Keys of a recipe that are no settings -> the option that chooses them."""
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
"""A number as Python and YAML write it, of which JSON takes a part."""
ARGUMENTS = {
    "file": {"type": Path, "metavar": "FILE.py", "help": "defines one Method with its Config and loss"},
    "--against": {"default": TEMPLATE, "help": f"systems, comma-separated (default: {TEMPLATE})"},
    "--seeds": {"type": int, "default": SEEDS, "help": f"seeds 0 to N-1 (default: {SEEDS})", "metavar": "N"},
    "--backbone": {"help": "another encoder of the small plan (default: words-50d)"},
    "--teacher": {"metavar": "NAME", "help": "the encoder that a distillation method learns from"},
    "--set": {
        "action": "append",
        "default": [],
        "metavar": "KEY=VALUE",
        "help": "a setting of the method or the training",
    },
    "--fresh": {
        "action": "store_true",
        "help": "train the other systems here too instead of reusing results",
    },
    "--scale": {
        "choices": ["small", "full"],
        "default": "small",
        "help": "full: write a recipe for BERT-base",
    },
    "--out": {"type": Path, "metavar": "DIR", "help": "default: try/NAME"},
}


def execute(arguments: argparse.Namespace) -> int:
    """Prints the laws and the comparison; returns 1 if a law does not hold."""
    compute_with("portable")
    if not 1 <= arguments.seeds <= MOST_SEEDS:
        raise InputError(f"--seeds {arguments.seeds}: expected a number from 1 to {MOST_SEEDS}")
    check_scale(arguments)
    settings = dict(pair_of(text, "--set") for text in arguments.set)
    recipes = load_recipes()
    small = recipes[RECIPE]
    backbone = arguments.backbone or small.systems[TEMPLATE].backbones[0]
    known = {} if arguments.fresh else committed(backbone)
    if arguments.scale == "small" and (reason := differs_here(known)):
        note = f"sentbench: {reason}: the systems to compare with are trained here too"
        print(note, file=sys.stderr, flush=True)
    with waiting("loading libraries"):
        name = include_method(arguments.file)
    if name in declared_systems(recipes):
        raise InputError(f"{arguments.file}: {name!r} is a declared system; rename the file")
    check_settings(settings, name)
    out = arguments.out or Path("try") / name
    check_out(out, arguments.file.name)
    if arguments.scale == "full":
        print(
            write_full(
                arguments.file,
                name,
                recipes,
                settings,
                seeds=range(arguments.seeds),
                out=out,
                teacher=arguments.teacher,
            )
        )
        return 0
    template = small.systems[TEMPLATE]
    others = opponents(name_list(arguments.against), small, backbone, arguments.seeds)
    own = in_setting_of(
        template, name, method=name, settings=settings, seeds=range(arguments.seeds), backbone=backbone
    )
    from harness.commands.try_teacher import corpus_of_teachers, with_teacher

    own = with_teacher(own, arguments.teacher, small, corpus=corpus_of_teachers(small))
    with waiting("loading libraries"):
        from harness.commands.try_runs import Session

    session = Session(arguments.file, own, others, recipes, small.providers, known, out)
    out.mkdir(parents=True, exist_ok=True)
    with alone(f"trying {out.resolve()}"), chdir(out):
        session.open()
        from harness.commands.try_jobs import perform

        done = perform(session)
        if unknown := [law.name for law in done.laws if not law.ran]:
            print(f"not checked, for they meet the same error: {', '.join(unknown)}")
        if failed := sum(bool(law.fault) for law in done.laws):
            outcome = "nothing was compared" if done.started else "nothing was trained"
            print(f"{outcome}: {failed} of {len(done.laws)} laws do not hold")
            return 1
        trial = session.compared(done.failed)
        write_text(Path(TABLE), trial_text(trial))
        print("\n" + trial_text(trial), end="", flush=True)
        write_text(Path(PAGE), render_trial(trial, setting=TEMPLATE, laws=[law.name for law in done.laws]))
    print(f"\npage: {out / PAGE}")
    return 0


def check_scale(arguments: argparse.Namespace) -> None:
    """Raises InputError for an option of the small scale with `--scale full`, which trains nothing."""
    given = {
        "--against": arguments.against != TEMPLATE,
        "--backbone": arguments.backbone is not None,
        "--fresh": arguments.fresh,
    }
    for option, is_given in given.items():
        if is_given and arguments.scale == "full":
            raise InputError(f"--scale full writes a recipe for BERT-base and takes no {option}")


def check_settings(settings: Mapping[str, Any], method: str) -> None:
    """Raises InputError for a key of a recipe that an option chooses, unless the method has this setting."""
    for key, value in settings.items():
        if key in OPTIONS and key not in load_method(method).Config.model_fields:
            raise InputError(f"--set {key}={value}: is no setting; write {OPTIONS[key]} {value}")


def pair_of(text: str, option: str) -> tuple[str, Any]:
    """Returns key and value of `KEY=VALUE`: a number (`.1` as well), other JSON, or else text. Errors:
    InputError for other texts.
    """
    key, _, value = text.partition("=")
    if not (key and value):
        raise InputError(f"{option} {text}: expected KEY=VALUE")
    with suppress(ValueError):
        return key, json.loads(value)
    return key, float(value) if NUMBER.fullmatch(value) else value


def opponents(names: Sequence[str], small: Recipe, backbone: str, seeds: int) -> list[System]:
    """Returns the systems to compare with on the backbone, with their seeds; `pcl` means `pcl-small`.

    Errors: InputError without a name, or for a name that is not in the small recipe.
    """
    if not names:
        raise InputError("--against: expected a system")
    opponents_by_name = []
    for name in names:
        key = name if name in small.systems else f"{name}{SMALL_SUFFIX}"
        if key not in small.systems:
            known = [system for system, entry in small.systems.items() if backbone in entry.backbones]
            near = near_matches(name, [*known, *(system.removesuffix(SMALL_SUFFIX) for system in known)])
            raise InputError(f"--against {name}: expected one of {', '.join(known)}{near}")
        system = small.systems[key]
        opponents_by_name.append(
            system.model_copy(update={"backbones": [backbone], "seeds": system.seeds_wanted(seeds)})
        )
    return opponents_by_name


def check_out(out: Path, file: str) -> None:
    """Raises InputError unless a folder is new, empty, or of an earlier trial of this file."""
    if out.exists() and not out.is_dir():
        raise InputError(f"{out}: is a file; name a folder with --out")
    if out.is_dir() and any(out.iterdir()) and not (out / "methods" / file).is_file():
        raise InputError(f"{out}: contains other files; name another folder with --out")


def write_full(
    file: Path,
    name: str,
    recipes: Mapping[str, Recipe],
    settings: Mapping[str, Any],
    *,
    seeds: Sequence[int],
    out: Path,
    teacher: str | None = None,
) -> str:
    """Writes OUT/recipes/NAME.yaml and OUT/methods/FILE; returns cost and the next commands.

    A step counts like a step of SimCSE, because the method has not been measured.
    Errors: as of a plan.
    """
    template = declared_systems(recipes)[FULL]
    (backbone,) = template.backbones
    system = in_setting_of(
        template, f"{name}-full", method=name, settings=settings, seeds=seeds, backbone=backbone
    )
    from harness.commands.try_teacher import with_teacher

    system = with_teacher(system, teacher, recipes[RECIPE])
    params = planned(recipes, [system, template.model_copy(update={"seeds": list(seeds)})], ["mirror", "hub"])
    check_runs(params)
    text = describe_plan(params)
    recipe = out / RECIPES / f"{file.stem}.yaml"
    entry = system.model_dump(exclude_defaults=True, exclude={"preset"})
    (out / "methods").mkdir(parents=True, exist_ok=True)
    shutil.copyfile(file, out / "methods" / file.name)
    write_text(recipe, yaml.safe_dump({"name": system.id, "runs": [entry]}, sort_keys=False, width=110))
    run = f"in a checkout: sentbench --include {out} plan {system.id} && sentbench --include {out} launch"
    return "\n".join([text, "", f"recipe: {recipe}", run])
