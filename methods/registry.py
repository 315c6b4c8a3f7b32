"""The methods of this benchmark by name; importing this module loads nothing heavy."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from methods.core.errors import InputError, near_matches

if TYPE_CHECKING:
    from methods.core.method import Method

METHODS: dict[str, str] = {
    "ckd": "methods.ckd.method:CKD",
    "congen": "methods.congen.method:ConGen",
    "dclr": "methods.dclr.method:DCLR",
    "distill": "methods.distill.method:Distill",
    "glove": "methods.glove.method:Glove",
    "moco": "methods.moco.method:MoCo",
    "modals": "methods.modals.method:Modals",
    "pcl": "methods.pcl.method:PCL",
    "pooled": "methods.pooled.method:Pooled",
    "pt-bert": "methods.ptbert.method:PTBert",
    "sct": "methods.sct.method:SCT",
    "simcse": "methods.simcse.method:SimCSE",
    "una": "methods.una.method:UNA",
    "whitening": "methods.whitening.method:Whitening",
}
"""System id -> "module:Class". A new method is one line here, its package, its runs, its test file."""


def load_method(name: str) -> type[Method]:
    """Returns the class of a method.

    Errors: InputError if the name is not in METHODS.
    """
    if name not in METHODS:
        raise InputError(
            f"method {name!r} is not known; known are {', '.join(sorted(METHODS))}"
            f"{near_matches(name, sorted(METHODS))}"
        )
    module, _, attribute = METHODS[name].partition(":")
    return getattr(import_module(module), attribute)
