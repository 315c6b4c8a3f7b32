"""The files of the committed report: the size of each page, and what its search leads to."""

import json
from pathlib import Path

import pytest

REPORTS = Path(__file__).parents[3] / "reports"
LIMIT = 650_000
"""Bytes of the longest page."""


@pytest.fixture(scope="module", autouse=True)
def of_this_code() -> None:
    """The pages of the committed report are read: they must have been written by a code with the search."""
    if not (REPORTS / "pages/search.js").is_file():
        pytest.skip("the committed report is of an earlier code: run `sentbench report`")


def test_every_hit_leads_to_a_place_that_is_there_and_every_reported_number_is_among_them() -> None:
    listed = (REPORTS / "pages/search.js").read_text(encoding="utf-8")
    actual = json.loads(listed.removeprefix("searchFound(").removesuffix(");\n"))
    texts = {path: path.read_text(encoding="utf-8") for path in REPORTS.rglob("*.html")}
    addresses = [address for _, _, address in actual["places"]]
    numbers = 0
    for table in actual["tables"]:
        addresses.append(f"{table['page']}#{table['id']}")
        for _, row, *values in table["rows"]:
            pairs = zip(table["columns"], values, strict=True)
            cells = [f"{row}--{column}" for (column, *_), value in pairs if value]
            addresses += [f"{table['page']}#{anchor}" for anchor in (row, *cells)]
            numbers += len(cells)
    for address in addresses:
        file, _, anchor = address.partition("#")
        assert not anchor or f'id="{anchor}"' in texts[REPORTS / file], address
    shown = sum(text.count('class="published') for text in texts.values())
    assert numbers >= shown >= 1500


def test_no_page_is_longer_than_the_limit() -> None:
    sizes = {path.name: path.stat().st_size for path in REPORTS.rglob("*.html")}
    assert {name: size for name, size in sizes.items() if size > LIMIT} == {}
