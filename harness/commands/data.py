"""`sentbench data`: fetch, check or lock data.

Example: `sentbench data fetch stsb minilm-l6`
"""

import argparse

from harness.commands import name_list
from harness.errors import InputError
from harness.paths import DATA, PARAMS, data_roots, is_project

ACTIONS = (
    "fetch: into the folder SENTBENCH_DATA, by default data, outside a project the user's cache; in a "
    "project data/NAME, which the pipeline reads, is then a copy; check: verify fetched data; lock: pin "
    "the fetched commit of hub sources"
)
CONTINUES = "the same command downloads what is missing"
ARGUMENTS = {
    "action": {"choices": ["fetch", "check", "lock"], "help": ACTIONS},
    "names": {"nargs": "*", "metavar": "NAME", "help": "sources; default: all of params.yaml"},
    "--providers": {"help": "order of providers, for example embedded,mirror,hub"},
    "--revision": {"help": "another revision of the hub than the table names"},
}


def execute(arguments: argparse.Namespace) -> None:
    """Runs one action on the named sources, or on the plan's sources, and prints a line for each. See
    ACTIONS. In the pipeline `fetch` runs after data/NAME was deleted: it copies from the folder of
    SENTBENCH_DATA instead of downloading again.
    """
    from harness.plan.params_file import read_params

    if arguments.providers is not None and not name_list(arguments.providers):
        raise InputError("--providers is empty; give for example embedded,hub")
    for name in ("providers", "revision"):
        if getattr(arguments, name) is not None and arguments.action in ("check", "lock"):
            raise InputError(f"data {arguments.action} does not take --{name}")
    if arguments.revision is not None and "hub" not in name_list(arguments.providers or "hub"):
        raise InputError(f"--revision {arguments.revision}: needs the provider hub")
    planned = read_params() if PARAMS.is_file() or not arguments.names else None
    folder = data_roots()[-1]
    names = arguments.names or list(planned.sources if planned else ())
    if arguments.action == "check":
        from harness.stages.data import check_sources

        check_sources(names, directory=folder)
    elif arguments.action == "lock":
        from harness.data.download import read_record
        from harness.data.sources import LOCK, lock_sources

        lock_sources({name: read_record(folder / name) for name in names})
        print(f"{LOCK.name}: {', '.join(names)}")
    else:
        from harness.stages.data import fetch_sources

        providers = name_list(arguments.providers or "") or (planned.providers if planned else None)
        copies = DATA if is_project() and folder != DATA else None
        fetch_sources(
            names, directory=folder, providers=providers, revision=arguments.revision, copies=copies
        )
