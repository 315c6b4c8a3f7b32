"""The report's pages of documents have the present text of the documents."""

from pathlib import Path

import pytest

from harness.report.pages.content import Report
from harness.report.pages.documents import documents_of, pages

ROOT = Path(__file__).parents[2]


def test_the_pages_of_documents_have_their_present_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    report = Report("T", "abc", documents=Path("docs"))
    actual = pages(report)
    assert len(actual) == len(documents_of(report.documents)) > 15
    stale = []
    for page in actual:
        written, values = ROOT / "reports" / page.file, page.build(report)
        assert values is not None
        if not written.is_file() or str(values["document"]) not in written.read_text(encoding="utf-8"):
            stale.append(page.file)
    assert stale == [], "run `make generated`"
