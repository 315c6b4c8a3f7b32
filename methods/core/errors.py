"""The one error that stands for bad input, as opposed to a bug."""


class InputError(ValueError):
    """Raised for bad input with one line, which the command line prints without a traceback; exit code 2."""

    def __str__(self) -> str:
        return " ".join(super().__str__().splitlines())


class NotFiniteError(InputError):
    """Raised where a training's loss or all of its dev scores are no numbers: it goes the same way again."""


class NoScoreError(InputError):
    """Raised where vectors have no score: they are not finite, or all cosines are equal."""


def near_matches(wrong: str, known: list[str]) -> str:
    """Returns " (did you mean a, b?)" with the closest known names, or an empty string."""
    import difflib

    close = difflib.get_close_matches(wrong, known, n=3, cutoff=0.5)
    return f" (did you mean {', '.join(close)}?)" if close else ""


class OtherWay(InputError):
    """A folder that is not known to give the same vectors here; sentence-transformers may compute it.

    The message says which setting, as a line about the folder.
    """
