"""Commands of `sentbench`, one file per command; `harness.command_line.COMMANDS` lists them.

ARGUMENTS has the argparse settings of each argument by its name; it is optional. `execute(arguments)` runs
the command and returns an exit code, or None for 0. The optional CONTINUES states where an interrupted
command resumes. Only the module of the called command is imported.
"""

import argparse
from pathlib import Path

from harness.errors import InputError, near_matches
from harness.paths import ARTEFACTS, BACKBONES, DATA, is_checkout, is_project

POOLINGS = ("cls", "mean", "first-last-avg", "static-last-avg", "last-two-avg", "pooler")
"""The poolings of `harness.models.read`, copied because that module loads torch; a test compares them."""
POOLING = {
    "choices": POOLINGS,
    "help": "pooling of token vectors; required for a plain Hugging Face folder",
}
TEXT = {
    "choices": ["senteval", "raw"],
    "default": "senteval",
    "help": "the papers' text (default), or MTEB's",
}
JSON = {"action": "store_true", "help": "one JSON object on standard output"}
FORMAT = {
    "choices": ["text", "github"],
    "default": "text",
    "help": "github: problems as annotations of a pull request (default: text)",
}
"""Arguments that several commands have: see `format_of` for the last two together."""


def format_of(arguments: argparse.Namespace) -> str:
    """Returns `text`, `github` or `json`; InputError for two of them."""
    if arguments.json and arguments.format != "text":
        raise InputError(f"use either --json or --format {arguments.format}")
    return "json" if arguments.json else str(arguments.format)


MODEL_FILES = ("config.json", "modules.json", "sentbench.json", "adapter_config.json", "vectors.safetensors")
"""Every folder of an encoder has at least one of these files."""


def check_encoder_folder(folder: Path) -> None:
    """Raises InputError for a folder without an encoder, before heavy imports; for a missing folder with the
    command that makes it."""
    if any((folder / name).is_file() for name in MODEL_FILES):
        return
    if folder.is_dir():
        raise InputError(f"{folder}: no encoder, expected one of the files {', '.join(MODEL_FILES)}")
    if folder.exists():
        raise InputError(f"{folder}: is a file, expected an encoder folder")
    raise InputError(f"{folder}: no such folder, expected an encoder folder; {maker_of(folder)}")


def maker_of(folder: Path) -> str:
    """Returns advice for a missing folder: the command that makes it, or similar names."""
    rooms = {DATA: "data", BACKBONES: "backbone", ARTEFACTS: "train"}
    if folder.parent in rooms and is_project():
        from harness.plan.params_file import read_params

        params = read_params()
        names = {DATA: [*params.sources], BACKBONES: [*params.backbones], ARTEFACTS: [*params.runs]}
        known = names[folder.parent]
        if folder.name in known:
            makes = f"`dvc repro {rooms[folder.parent]}@{folder.name}` makes it"
            return f"{makes}, and `make reproduce` the whole plan"
        return f"the plan has no {folder.name!r}{near_matches(folder.name, known)}; correct the name"
    if folder.parent in rooms and not is_checkout():
        return "the plan of a checkout makes such folders; change to a checkout, or name a folder of yours"
    siblings = [path.name for path in folder.parent.glob("*") if path.is_dir()]
    return f"check the path{near_matches(folder.name, siblings)}"


def name_list(text: str) -> list[str]:
    """Returns the names of a comma-separated list, each once, in order; spaces around them do not count."""
    return [*dict.fromkeys(name.strip() for name in text.split(",") if name.strip())]
