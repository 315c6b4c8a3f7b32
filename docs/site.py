"""The hosted report: `python -m docs.site OUT --url URL` puts report and documentation into one folder.

The folder has the present report in `reports`, that of each tag in `TAG/reports`, the pages that `make docs`
built in `docs`, a list of versions and a sitemap. Reports are those that were committed; nothing is computed.
"""

import argparse
import io
import re
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Iterable
from html import escape
from pathlib import Path

from harness.errors import InputError

ROOT = Path(__file__).parents[1]
PREVIEW = "docs/pictures/answers.png"
"""The picture that other sites show with a link."""
DOCUMENT = re.compile(r'href="((?:\.\./)+)(README|docs/(?P<name>[\w-]+))\.md')
TITLE = re.compile(r"(?P<title><title>(?P<text>.*?)</title>)")
PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>{title}</title>{head}</head><body><h1>{title}</h1>
<ul>
{items}
</ul></body></html>
"""


def build(out: Path, *, url: str, repository: str, root: Path = ROOT) -> None:
    """Writes the site into a new or empty folder.

    url: its address, without a slash at the end. repository: the address that "repository" leads to.
    Errors: InputError if the folder holds something, or report or documentation are missing.
    """
    for name, made_by in (("reports/index.html", "make reproduce"), ("docs/_build/index.html", "make docs")):
        if not (root / name).is_file():
            raise InputError(f"{root / name}: no such file; make it by `{made_by}`")
    if out.is_dir() and any(out.iterdir()):
        raise InputError(f"{out}: holds something already, expected a new or empty folder")
    shutil.copytree(root / "docs/_build", out / "docs", ignore=shutil.ignore_patterns(".doctrees"))
    shutil.copytree(root / "reports", out / "reports")
    git, versions = ["git", "-C", str(root)], []
    listed = subprocess.run([*git, "tag", "--sort=-creatordate"], capture_output=True, text=True, check=True)
    for tag in listed.stdout.split():
        found = subprocess.run([*git, "cat-file", "-e", f"{tag}:reports/index.html"], capture_output=True)
        if found.returncode:
            continue  # its commit has no report
        versions.append(tag)
        packed = subprocess.run([*git, "archive", tag, "reports"], capture_output=True, check=True).stdout
        with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
            archive.extractall(out / tag, filter="data")
    for top in (out, *(out / tag for tag in versions)):
        if (root / PREVIEW).is_file():
            shutil.copyfile(root / PREVIEW, top / "preview.png")
        address = f"{url}/{top.relative_to(out).as_posix()}".removesuffix("/.")
        for path in sorted((top / "reports").rglob("*.html")):
            text = path.read_text(encoding="utf-8")
            path.write_text(hosted(text, path.relative_to(top), address, url, repository), encoding="utf-8")
    write_lists(out, url, versions)


def hosted(text: str, path: Path, address: str, url: str, repository: str) -> str:
    """Returns a page of the report with links to pages instead of files, its address and its preview."""

    def followed(found: re.Match[str]) -> str:
        return f'href="{url}/docs/{found["name"]}.html' if found["name"] else f'href="{repository}'

    here = f"{address}/{path.as_posix()}"
    versions = f'<a href="{url}/versions.html">versions</a>'
    text = DOCUMENT.sub(followed, text).replace("repository</a>", f"repository</a> · {versions}", 1)
    return TITLE.sub(
        lambda found: (
            f'{found["title"]}\n<link rel="canonical" href="{here}">\n'
            f'<meta property="og:title" content="{found["text"]}">\n'
            f'<meta property="og:url" content="{here}">\n'
            f'<meta property="og:image" content="{address}/preview.png">'
        ),
        text,
        count=1,
    )


def write_lists(out: Path, url: str, versions: Iterable[str]) -> None:
    """Writes the first page, which leads to the report, the list of versions and the sitemap."""
    present = [("reports/index.html", "the present report"), ("docs/index.html", "documentation")]
    links = [*present, *((f"{tag}/reports/index.html", f"report of {tag}") for tag in versions)]
    items = "\n".join(f'<li><a href="{escape(link)}">{escape(name)}</a></li>' for link, name in links)
    forward = '<meta http-equiv="refresh" content="0; url=reports/index.html">'
    for name, head in (("index.html", forward), ("versions.html", "")):
        (out / name).write_text(PAGE.format(title="sentbench", head=head, items=items), encoding="utf-8")
    paths = [*out.glob("reports/**/*.html"), *out.glob("docs/**/*.html")]
    pages = sorted(path.relative_to(out).as_posix() for path in paths)
    places = "\n".join(f"<url><loc>{escape(f'{url}/{page}')}</loc></url>" for page in pages)
    start = (
        '<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">'
    )
    (out / "sitemap.xml").write_text(f"{start}\n{places}\n</urlset>\n", encoding="utf-8")


def main() -> int:
    """Writes the site; returns 2 and prints one line if it cannot."""
    parser = argparse.ArgumentParser(prog="python -m docs.site")
    parser.add_argument("out", type=Path)
    parser.add_argument("--url", required=True, help="address of the site")
    parser.add_argument("--repository", required=True, help="address of the repository")
    given = parser.parse_args()
    try:
        build(given.out, url=given.url.rstrip("/"), repository=given.repository)
    except InputError as error:
        print(f"docs.site: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
