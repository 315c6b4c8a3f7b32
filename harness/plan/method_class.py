"""The class of a planned method, which may come from an included folder or a package."""

from typing import Any

from harness.errors import InputError, place_in
from harness.paths import MODULES
from methods.registry import METHODS, load_method


def method_class(name: str) -> type[Any]:
    """Returns the class of a method, a subclass of `methods.core.method.Method`.

    Errors: InputError for an unknown name, and for an included file that cannot be imported, with its line,
    or that does not define one method; as of `load_method` for a method of this repository.
    """
    try:
        return load_method(name)
    except InputError:
        raise
    except (Exception, SystemExit) as error:
        module = METHODS[name]
        place = MODULES.get(module.removesuffix(".method"))
        if place is None:
            raise
        file = place / "method.py" if module.endswith(".method") else place.with_suffix(".py")
        if isinstance(error, TypeError) and str(error).startswith(f"{module} defines "):
            raise InputError(f"{file}: must define exactly one subclass of Method") from None
        raise InputError(place_in(file, error)) from error
