"""Where a command computes, and how quietly the libraries do it."""

from __future__ import annotations

import argparse

from harness.errors import InputError

DEVICES = ("auto", "cpu", "cuda")


def add_device_option(parser: argparse.ArgumentParser) -> None:
    """Declares `--device`."""
    parser.add_argument("--device", choices=DEVICES, default="auto")


def resolve_device(wanted: str) -> str:
    """Returns `cpu` or `cuda`; InputError for another device, or if CUDA is asked for and absent."""
    import torch

    if wanted not in DEVICES:
        raise InputError(f"device {wanted!r} is not known, expected {', '.join(DEVICES)}")
    if wanted == "auto":
        return "cuda" if torch.cuda.is_available() else "cpu"
    if wanted == "cuda" and not torch.cuda.is_available():
        raise InputError("--device cuda: no CUDA device here; use --device cpu or auto")
    return wanted


def quiet() -> None:
    """Turns off transformers' own progress bars and notes: a command says what a reader needs."""
    from transformers.utils import logging

    logging.set_verbosity_error()
    logging.disable_progress_bar()
