"""`sentbench data`: fetch or check data."""

from __future__ import annotations

import argparse

from harness.paths import DATA, PARAMS


def declare(parser: argparse.ArgumentParser) -> None:
    """Declares the arguments."""
    parser.add_argument("action", choices=["fetch", "check"])
    parser.add_argument("names", nargs="*", metavar="NAME", help="sources; default: those of params.yaml")
    parser.add_argument("--tiers", help="order of tiers, for example embedded,mirror,hub")
    parser.add_argument("--revision", help="pin a hub source that has no pinned revision")


def execute(arguments: argparse.Namespace) -> None:
    """Fetches into data/NAME or checks what lies there, and prints one line a source."""
    from harness.plan.entries import read_params
    from harness.stages.data import check_sources, fetch_sources

    planned = read_params() if PARAMS.is_file() or not arguments.names else None
    names = arguments.names or list(planned.sources if planned else ())
    if arguments.action == "check":
        check_sources(names, directory=DATA)
        return
    tiers = arguments.tiers.split(",") if arguments.tiers else (planned.tiers if planned else None)
    fetch_sources(names, directory=DATA, tiers=tiers, revision=arguments.revision)
