"""The evaluation tasks by name, declared in the files of harness/tasks/declared.

Importing it loads only declarations.
"""

from collections.abc import Sequence
from importlib import import_module, reload
from pathlib import Path
from pkgutil import iter_modules

from harness.errors import InputError, near_matches, place_in
from harness.paths import MODULES as FILES
from harness.paths import TASK_MODULES
from harness.tasks import declared
from harness.tasks.interface import Declaration, Task
from harness.tasks.text_forms import FORMS

SELECTION = ("STSB-dev",)
"""The task that `harness.tasks.selection` reads its sentences from."""


def read_tasks() -> tuple[dict[str, Declaration], dict[str, str]]:
    """Returns every declared task with its module by name, in the order of the files' names.

    Errors: InputError if two declarations have the same name, or a module has none.
    """
    tasks: dict[str, Declaration] = {}
    modules: dict[str, str] = {}
    files = sorted(module.name for module in iter_modules(declared.__path__))
    for module in [*(f"{declared.__name__}.{file}" for file in files), *TASK_MODULES]:
        for task in _tasks_of(module):
            if task.name in tasks:
                raise InputError(f"{module}: task {task.name!r} exists; rename it")
            tasks[task.name], modules[task.name] = task, module
    return tasks, modules


def _tasks_of(module: str) -> Sequence[Declaration]:
    """Returns the declarations of a module. Errors: InputError for an included one that fails or has none."""
    own = module not in FILES and module not in TASK_MODULES
    file = FILES[module].with_suffix(".py") if module in FILES else Path(module)
    try:
        tasks = import_module(module).TASKS
    except InputError:
        raise
    except (Exception, SystemExit) as error:
        if own:
            raise
        if isinstance(error, AttributeError) and error.name == "TASKS":
            raise InputError(f"{file}: missing TASKS, the list of its declarations") from None
        raise InputError(place_in(file, error)) from error
    if not isinstance(tasks, list | tuple) or not all(isinstance(task, Declaration) for task in tasks):
        raise InputError(f"{file}: TASKS is {str(tasks)[:40]}, expected a list of Declaration")
    return tasks


TASKS: dict[str, Declaration] = {}
MODULES: dict[str, str] = {}
SUITES: dict[str, tuple[str, ...]] = {}
"""Suite -> its tasks; `sts` is the seven columns that every paper averages."""


def reread() -> None:
    """Reads all declarations again, for folders that were included later."""
    reload(import_module(f"{declared.__name__}.own"))
    tasks, modules = read_tasks()
    for known, current in ((TASKS, tasks), (MODULES, modules)):
        known.clear()
        known.update(current)  # type: ignore[arg-type]
    SUITES.clear()
    for task in TASKS.values():
        if task.suite is not None:
            SUITES[task.suite] = (*SUITES.get(task.suite, ()), task.name)


reread()


def build_tasks(names: Sequence[str], *, text: str, providers: Sequence[str] | None = None) -> list[Task]:
    """Returns the tasks of names and suites in the given order, each once, without reading data.

    A name may carry arguments after colons: `STS12-hard-length:positive=4:negative=3:longer=5:closer=2`.
    `providers` is the order of data providers (default: as `harness.data.download.provider_order` has it),
    which selects among sources with the same pairs.
    Errors: InputError for an unknown name or text form, or arguments that the task does not take.
    """
    tasks = []
    for name in _expanded(names, text):
        task = _declared(name)
        arguments = name.split(":")[1:]
        options = {"arguments": arguments} if task.arguments else {}
        tasks.append(task.factory(text, task.source_for(text, providers), **options))
    return tasks


def tasks_named(names: Sequence[str], *, text: str) -> list[Task]:
    """Returns the tasks of names and suites. Errors: as of `build_tasks`; InputError for an empty list."""
    if not names:
        raise InputError("no tasks; see `sentbench list tasks`")
    return build_tasks(names, text=text)


def sources_of(names: Sequence[str], *, text: str, providers: Sequence[str] | None = None) -> list[str]:
    """Returns the sorted names of the sources that these tasks read, without building or fetching them.

    Errors: as of `build_tasks`, except for arguments of a name.
    """
    return sorted({_declared(name).source_for(text, providers) for name in _expanded(names, text)})


def declaring_modules(names: Sequence[str]) -> list[str]:
    """Returns the modules that declare these tasks and suites, sorted. Errors: as of `sources_of`."""
    tasks = [task for name in names for task in members(name)]
    return sorted({MODULES[_declared(task).name] for task in tasks})


def members(name: str) -> tuple[str, ...]:
    """Returns the tasks of a suite; for the name of a task, that task."""
    return SUITES.get(name, (name,))


def _expanded(names: Sequence[str], text: str) -> list[str]:
    if text not in FORMS:
        raise InputError(
            f"text form {text!r} is not known, expected {' or '.join(FORMS)}{near_matches(text, list(FORMS))}"
        )
    return list(dict.fromkeys(task for name in names for task in members(name)))


def _declared(name: str) -> Declaration:
    base, _, arguments = name.partition(":")
    if base not in TASKS:
        raise InputError(
            f"task {name!r} is not known, expected a name of `sentbench list tasks` or a suite: "
            f"{', '.join(SUITES)}{near_matches(name, [*TASKS, *SUITES])}"
        )
    if arguments and not TASKS[base].arguments:
        raise InputError(f"task {name!r}: {base} takes no arguments")
    return TASKS[base]
