"""A template, a style or a script changes only together with the text that somebody read."""

import json

import pytest

from tests.regression.pages import DIGESTS, KNOWN, MODELS, digests, known, text_of

READ = "read the difference, then run `python -m tests.regression.pages`"


@pytest.mark.parametrize("name", MODELS)
def test_a_page_has_the_text_that_was_read(name: str) -> None:
    assert text_of(name).splitlines() == known(name).splitlines(), READ


def test_styles_and_scripts_are_those_that_were_tried_in_a_browser() -> None:
    written = json.loads(known(DIGESTS))
    changed = sorted({*digests().items()} ^ {*written.items()})
    assert not changed, f"`make test-browser`, then `python -m tests.regression.pages`: {changed}"


def test_every_written_text_is_of_a_model() -> None:
    assert {path.name.removesuffix(".txt") for path in KNOWN.iterdir()} == {*MODELS, DIGESTS}
