"""A Chromium that is already on the machine: for the tests in a browser, benchmarks and pictures of pages."""

import shutil

NAMES = ("chromium", "chromium-browser", "google-chrome")


def installed_chromium() -> str | None:
    """Returns the path of its program, None if it is not installed."""
    return next(filter(None, map(shutil.which, NAMES)), None)
