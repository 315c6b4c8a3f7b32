"""The guide "Add a data source" followed: an entry of the table makes a source that is listed and fetched."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from tests.guides.conftest import Checkout

POSITIVE, NEGATIVE = "a fine film\nwell made\n", "too long\n"
ENTRY = """
toy-reviews:
  kind: classification
  text: senteval
  encoding: latin-1
  licence: none
  confirmed: made up
  note: three reviews
  rows:
    rt-polarity.pos: 2
    rt-polarity.neg: {rows}
  providers:
    mirror:
      folder: toy
      sha256:
        rt-polarity.pos: {positive}
        rt-polarity.neg: {negative}
"""
FETCH = ("data", "fetch", "toy-reviews", "--providers", "mirror")
READ = """
from pathlib import Path
from harness.data.classification import READERS
print(READERS["MR"](Path("data/toy-reviews"))["train"].labels)
"""


def sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


@pytest.fixture
def mirror_of_toys(tmp_path: Path) -> Path:
    folder = tmp_path / "mirror/toy"
    folder.mkdir(parents=True)
    (folder / "rt-polarity.pos").write_text(POSITIVE)
    (folder / "rt-polarity.neg").write_text(NEGATIVE)
    return folder.parent


def test_a_source_of_a_known_format_is_one_entry(checkout: Checkout, mirror_of_toys: Path) -> None:
    entry = ENTRY.format(rows=1, positive=sha256(POSITIVE), negative=sha256(NEGATIVE))
    checkout.append("harness/data/sources.yaml", entry)
    assert checkout.touched() == {"harness/data/sources.yaml"}
    assert "toy-reviews" in checkout.sentbench("list", "sources")
    checkout.sentbench(*FETCH, SENTBENCH_MIRROR=str(mirror_of_toys))
    assert (checkout.folder / "data/toy-reviews/rt-polarity.pos").read_text() == POSITIVE
    assert checkout.run("-c", READ).strip() == "[1, 1, 0]"
    checkout.pytest("tests/harness/data/test_sources.py")


def test_a_source_with_other_rows_than_it_declares_is_refused(
    checkout: Checkout, mirror_of_toys: Path
) -> None:
    entry = ENTRY.format(rows=7, positive=sha256(POSITIVE), negative=sha256(NEGATIVE))
    checkout.append("harness/data/sources.yaml", entry)
    with pytest.raises(AssertionError, match=r"rt-polarity\.neg"):
        checkout.sentbench(*FETCH, SENTBENCH_MIRROR=str(mirror_of_toys))
    assert not (checkout.folder / "data/toy-reviews").exists()
