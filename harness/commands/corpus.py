"""`sentbench corpus`: pipeline stage that makes a derived corpus."""

from __future__ import annotations

import argparse
from typing import Any

from harness.commands import add_command


def add_to(commands: Any) -> None:
    """Declares the command."""
    corpus = add_command(commands, "corpus", corpus_command, "pipeline stage: make a derived corpus")
    corpus.add_argument("name", help="an entry of `corpora` in params.yaml")
    corpus.add_argument("--device", choices=["auto", "cpu", "cuda"], default="auto")


def corpus_command(arguments: argparse.Namespace) -> None:
    """Makes corpora/NAME; a killed run continues where it stopped."""
    from harness.plan.entries import read_params
    from harness.stages.corpus import derive

    params = read_params()
    print(derive(params, arguments.name, device=arguments.device))
