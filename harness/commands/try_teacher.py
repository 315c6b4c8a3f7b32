"""The teacher of a trial: the parent of its system."""

from pydantic import ValidationError

from harness.errors import InputError, near_matches
from harness.plan.checks import PARENTS
from harness.plan.recipes import Parent, Recipe, System, load_backbones
from methods.registry import load_method

EXAMPLES = {"teacher": "minilm-l6", "encoder": "simcse-small"}
"""Kind of a parent -> a name that `--teacher` takes."""


def with_teacher(own: System, name: str | None, small: Recipe, *, corpus: str | None = None) -> System:
    """Returns the system of a method with the parent that its settings ask for; unchanged without one.

    name: the encoder whose vectors the method learns, or for a method that reads an encoder, a backbone or a
    system of the small plan. corpus: of teachers, default: the system's own.
    Errors: InputError for a missing name, and for one that the method cannot use.
    """
    try:
        kind = load_method(own.method).Config.model_validate(own.config).parent_kind
    except ValidationError:
        return own  # the check of the plan names the setting
    if kind is None:
        if name is not None:
            raise InputError(f"--teacher {name}: {own.method} reads none: parent_kind of its Config is None")
        return own
    if name is None:
        what = PARENTS[kind].partition(",")[0]
        raise InputError(f"{own.method} needs {what}: name it, for example --teacher {EXAMPLES[kind]}")
    backbones = load_backbones()
    known = [*backbones, *(small.systems if kind == "encoder" else ())]
    if name not in known:
        raise InputError(
            f"--teacher {name}: expected a backbone, or for a method that reads an encoder a "
            f"system of the small plan{near_matches(name, known)}"
        )
    if kind == "encoder":
        parent = Parent(backbone=name) if name in backbones else Parent(run=name)
        return own.model_copy(update={"parent": parent})
    return own.model_copy(update={"parent": Parent(teacher=name), "corpus": corpus or own.corpus})


def corpus_of_teachers(small: Recipe) -> str | None:
    """Returns the corpus of the small plan's systems with a teacher, so own methods compare with these."""
    taught = (system.corpus for system in small.systems.values() if system.parent and system.parent.teacher)
    return next(taught, None)
