"""Chains of entries of the plan that are derived from each other."""

from collections.abc import Collection, Mapping
from graphlib import CycleError, TopologicalSorter

LONGEST_CHAIN = 100
"""Longest chain of derived entries: backbones cut from backbones, continued runs."""


def check_chains(made_from: Mapping[str, Collection[str]]) -> None:
    """Raises ValueError if an entry depends on itself, or on more than LONGEST_CHAIN others."""
    try:
        order = list(TopologicalSorter(made_from).static_order())
    except CycleError as error:
        raise ValueError(f"{' <- '.join(error.args[1][:5])}: depends on itself") from None
    lengths: dict[str, int] = {}
    for name in order:
        lengths[name] = 1 + max((lengths[origin] for origin in made_from.get(name, ())), default=0)
        if lengths[name] > LONGEST_CHAIN:
            raise ValueError(f"{name} depends on more than {LONGEST_CHAIN} others")


def check_portable(made_from: Mapping[str, Collection[str]], arithmetic: Mapping[str, str]) -> None:
    """Raises ValueError if a portable entry is made from a native one. arithmetic: of the entries that have
    one."""
    for name, used in arithmetic.items():
        native = sorted(origin for origin in made_from[name] if arithmetic.get(origin) == "native")
        if used == "portable" and native:
            raise ValueError(f"{name} is portable and needs {native[0]}, which is native")
