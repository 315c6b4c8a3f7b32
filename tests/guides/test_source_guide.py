"""The guide "Add a data source" followed: an entry of the table makes a source that is listed and fetched."""

from __future__ import annotations

import hashlib
from pathlib import Path

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
    rt-polarity.neg: 1
  providers:
    mirror:
      folder: toy
      sha256:
        rt-polarity.pos: {positive}
        rt-polarity.neg: {negative}
"""
READ = """
from pathlib import Path
from harness.data.classification import READERS
print(READERS["MR"](Path("data/toy-reviews"))["train"].labels)
"""


def sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def test_a_source_of_a_known_format_is_one_entry(checkout: Checkout, tmp_path: Path) -> None:
    folder = tmp_path / "mirror/toy"
    folder.mkdir(parents=True)
    (folder / "rt-polarity.pos").write_text(POSITIVE)
    (folder / "rt-polarity.neg").write_text(NEGATIVE)
    entry = ENTRY.format(positive=sha256(POSITIVE), negative=sha256(NEGATIVE))
    checkout.append("harness/data/sources.yaml", entry)
    assert checkout.touched() == {"harness/data/sources.yaml"}
    assert "toy-reviews" in checkout.sentbench("list", "sources")
    fetch = ("data", "fetch", "toy-reviews", "--providers", "mirror")
    checkout.sentbench(*fetch, SENTBENCH_MIRROR=str(folder.parent))
    assert (checkout.folder / "data/toy-reviews/rt-polarity.pos").read_text() == POSITIVE
    assert checkout.run("-c", READ).strip() == "[1, 1, 0]"
    checkout.pytest("tests/harness/data/test_sources.py")
