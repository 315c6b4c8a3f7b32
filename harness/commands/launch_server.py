"""Shared imports of a launch, loaded once in the server that forks its stages (`harness.commands.preloaded`).

A forked stage needs no imports, and has the parsed code of all modules and the plan. Caches are keyed by the
content of files, which every stage reads itself, so edits count; a stage whose code was edited starts as a
new process (`harness.launch.worker`). This module must not start threads or a GPU.
"""

import gc
import warnings
from contextlib import suppress
from importlib import import_module

from harness.include import include_all

STAGES = ("backbone", "corpus", "evaluate", "teacher", "train")
IMPORTED = (
    *(f"harness.stages.{name}" for name in STAGES),
    *("harness.cli", "harness.commands.stage", "harness.tasks.registry", "numpy", "scipy.stats"),
    *("transformers.models.auto.modeling_auto", "transformers.models.bert.modeling_bert"),
)
"""Modules that stages import when they need them; a BERT brings four hundred."""


def load() -> None:
    """Imports the modules of the plan's stages, and reads and parses their common files.

    Errors, such as a module that does not compile, are left to the stages, which report them.
    """
    # under `python -m harness.cli` each stage imports that module again, as its main module
    warnings.filterwarnings("ignore", "'harness.cli' found in sys.modules", RuntimeWarning)
    with suppress(Exception):
        include_all([])
        for name in IMPORTED:
            import_module(name)
        prepare_models()
        parse_plan()
    # a stage's collector would write to the pages of these objects, and each stage would copy them
    gc.collect()
    gc.freeze()


def prepare_models() -> None:
    """Compiles transformers' thousand patterns for renaming weights, which the first model would compile."""
    from transformers.conversion_mapping import get_checkpoint_conversion_mapping

    get_checkpoint_conversion_mapping("bert")


def parse_plan() -> None:
    """Reads the plan, hashes the code of its stages and imports its methods and tasks."""
    from harness.plan.fingerprints import code_fingerprints
    from harness.plan.params_file import read_params
    from harness.tasks.registry import build_tasks
    from methods.registry import load_method

    params = read_params()
    code_fingerprints(params)
    for method in {run.method for run in params.runs.values()}:
        load_method(method)
    for tasks, text in {(tuple(run.tasks), run.text) for run in params.runs.values()}:
        build_tasks(tasks, text=text)
