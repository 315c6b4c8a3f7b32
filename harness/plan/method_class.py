"""The class of a planned method, which may come from an included folder or a package."""

from pathlib import Path
from typing import Any

from harness.errors import InputError, place_in
from harness.paths import MODULES
from methods.registry import METHODS, load_method


def method_class(name: str) -> type[Any]:
    """Returns the class of a method, a subclass of `methods.core.method.Method`.

    Errors: InputError for an unknown name, and for a file of an included folder or an installed package that
    cannot be imported, with its line, or that does not define one method; as of `load_method` for a method of
    this repository.
    """
    try:
        return load_method(name)
    except InputError:
        raise
    except (Exception, SystemExit) as error:
        module = METHODS[name]
        file = included_file(module)
        if file is None:
            raise
        if isinstance(error, TypeError) and str(error).startswith(f"{module} defines "):
            raise InputError(f"{file}: must define exactly one subclass of Method") from None
        raise InputError(place_in(file, error)) from error


def included_file(module: str) -> Path | None:
    """Returns the file of a module of an included folder or an installed package, None for another one."""
    parts = module.split(".")
    for number in range(len(parts), 0, -1):
        place = MODULES.get(".".join(parts[:number]))
        if place is not None:
            path = place.joinpath(*parts[number:])
            file = path.with_suffix(".py")
            return file if file.is_file() else path / "__init__.py"
    return None
