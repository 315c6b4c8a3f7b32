"""Errors for bad input, as opposed to bugs."""


class InputError(ValueError):
    """Raised for bad input with one line, which the command line prints without a traceback; exit code 2."""

    def __str__(self) -> str:
        return " ".join(super().__str__().splitlines())


class NotFiniteError(InputError):
    """Raised if the loss or all dev scores of a training are not finite: resuming would fail again."""


class NoScoreError(InputError):
    """Raised if vectors have no score because they are not finite or all cosines are equal."""


def near_matches(wrong: str, known: list[str]) -> str:
    """Returns " (did you mean a, b?)" with the closest known names, or an empty string."""
    import difflib

    close = difflib.get_close_matches(wrong, known, n=3, cutoff=0.5)
    return f" (did you mean {', '.join(close)}?)" if close else ""
