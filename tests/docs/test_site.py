"""The hosted report: links, addresses, versions and the sitemap of a small checkout with one tag."""

import re
from pathlib import Path

import pytest

from docs.site import build
from harness.errors import InputError
from tests.support.git import commit, git

URL, REPOSITORY = "https://example.org/bench", "https://example.org/code"
FOOT = (
    '<a href="{up}../README.md">repository</a> <a href="{up}../docs/index.md">docs</a> '
    '<a href="{up}../docs/glossary.md#seed">glossary</a>'
)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A checkout: a report of two pages, committed as tag v1 and changed since, and built documents."""
    folder = tmp_path / "checkout"
    for name, up, other in (("index.html", "", "papers/p.html"), ("papers/p.html", "../", "../index.html")):
        path = folder / "reports" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        foot = FOOT.format(up=up)
        path.write_text(f'<head>\n<title>old</title>\n</head>\n<a href="{other}">x</a>{foot}\n')
    (folder / "docs/pictures").mkdir(parents=True)
    (folder / "docs/pictures/answers.png").write_bytes(b"png")
    commit(folder, "one")
    git(folder, "tag", "v1")
    git(folder, "rm", "-rq", "--cached", "reports")
    git(folder, "commit", "-qm", "no report")
    git(folder, "tag", "v2-without-a-report")
    (folder / "docs/_build").mkdir()
    for name in ("index", "glossary"):
        (folder / f"docs/_build/{name}.html").write_text("<p>")
    for path in folder.glob("reports/**/*.html"):
        path.write_text(path.read_text().replace("old", "new"))
    return folder


@pytest.fixture
def site(root: Path, tmp_path: Path) -> Path:
    build(tmp_path / "site", url=URL, repository=REPOSITORY, root=root)
    return tmp_path / "site"


def test_the_present_report_and_that_of_each_tag_are_there(site: Path) -> None:
    assert "<title>new</title>" in (site / "reports/index.html").read_text()
    assert "<title>old</title>" in (site / "v1/reports/papers/p.html").read_text()
    assert not (site / "v2-without-a-report").exists()
    listed = re.findall(r'href="([^"]+)">', (site / "versions.html").read_text())
    assert len(listed) == 3
    assert all((site / link).is_file() for link in listed)


def test_every_link_leads_to_a_page_of_the_site_or_to_the_repository(site: Path) -> None:
    followed = 0
    for path in site.glob("**/reports/**/*.html"):
        for link in re.findall(r'<a href="([^"#]+)', path.read_text()):
            if link == REPOSITORY:
                continue
            target = site / link.removeprefix(f"{URL}/") if link.startswith(URL) else path.parent / link
            assert target.is_file(), (path, link)
            followed += 1
    assert followed == 4 * 4


def test_a_page_states_its_address_and_its_preview_and_the_sitemap_has_those_of_the_present(
    site: Path,
) -> None:
    for name, top in (("reports/papers/p.html", ""), ("v1/reports/index.html", "/v1")):
        text = (site / name).read_text()
        assert f'<link rel="canonical" href="{URL}/{name}">' in text
        assert f'<meta property="og:image" content="{URL}{top}/preview.png">' in text
        assert (site / top.strip("/") / "preview.png").is_file()
    names = ("docs/glossary", "docs/index", "reports/index", "reports/papers/p")
    listed = re.findall("<loc>(.*?)</loc>", (site / "sitemap.xml").read_text())
    assert listed == [f"{URL}/{name}.html" for name in names]


def test_a_folder_that_holds_something_is_refused(root: Path, tmp_path: Path) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full/mine").touch()
    with pytest.raises(InputError, match="holds something already"):
        build(tmp_path / "full", url=URL, repository=REPOSITORY, root=root)
