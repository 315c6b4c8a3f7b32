"""Pictures of the report for the README and the gallery: `make pictures` writes docs/pictures/NAME.png.

Each is a light page in a window of one size, cut below the part that it shows and reduced to few colours. The
pages are those of `reports`. It needs Playwright and Pillow (extra `browser`) and a Chromium.
"""

from __future__ import annotations

import io
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from tests.support.chromium import installed_chromium

if TYPE_CHECKING:
    from playwright.sync_api import Page

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "docs" / "pictures"
WIDTH, HEIGHT = 1280, 800
"""The window in CSS pixels; a picture is as wide, and at most as high."""
MARGIN = 12
"""CSS pixels above and below what is shown."""
COLOURS = 256
"""Colours of a picture: few enough for a small file, enough for the signs of the verdicts."""
TOP = "part => Math.floor(part.getBoundingClientRect().top + scrollY)"
BOTTOM = "part => Math.ceil(part.getBoundingClientRect().bottom + scrollY)"
FLAGS = ["--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--font-render-hinting=none"]


class Picture(NamedTuple):
    """What a picture shows: a page, from the top of one part to the end of another.

    Without `until` it fills the window. click: what is clicked, which opens the dialog that is shown instead.
    """

    page: str
    start: str = "body"
    until: str = ""
    click: str = ""


PICTURES = {
    "answers": Picture("index.html", start=".answers", until=".answers"),
    "leaderboard": Picture("index.html", start="#table-small"),
    "paper": Picture("papers/pcl.html", start="#table-pcl-table2"),
    "cell": Picture("papers/pcl.html", start="#table-pcl-table3", click="#pcl-table3--simcse--avg .cell"),
    "claims": Picture("pages/claims.html", start=".claims"),
    "compare": Picture("pages/compare.html", start="#pick"),
    "audit": Picture("pages/audit.html", start="#audit-simcse"),
    "protocols": Picture("pages/protocols.html", start="main section"),
}
"""The pictures by the names of their files."""


def main() -> int:
    """Writes every picture; returns 2 if a page of `reports` or a Chromium is missing."""
    pages = sorted({picture.page for picture in PICTURES.values()})
    missing = [page for page in pages if not (ROOT / "reports" / page).is_file()]
    chromium = installed_chromium()
    if missing:
        print(f"pictures: reports/{missing[0]} is missing; make it by `make reproduce`", file=sys.stderr)
        return 2
    if chromium is None:
        print("pictures: no Chromium; install it, for example by `apt-get install chromium`", file=sys.stderr)
        return 2
    from playwright.sync_api import sync_playwright

    FOLDER.mkdir(exist_ok=True)
    with sync_playwright() as engine:
        browser = engine.chromium.launch(executable_path=chromium, args=FLAGS)
        for name, picture in PICTURES.items():
            page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT}, color_scheme="light")
            page.goto((ROOT / "reports" / picture.page).as_uri())
            path = FOLDER / f"{name}.png"
            path.write_bytes(reduced(taken(page, picture)))
            print(f"{path.relative_to(ROOT)}: {path.stat().st_size / 1000:.0f} kB")
            page.close()
        browser.close()
    return 0


def taken(page: Page, picture: Picture) -> bytes:
    """Returns what a picture shows of its open page as PNG."""
    for part in page.locator("thead").all():  # a head that sticks would stand over the rows below a cut
        part.evaluate("head => { head.style.position = 'static'; }")
    if picture.click:
        page.locator(picture.click).click()
        return page.locator("dialog[open]").screenshot()
    top = page.locator(picture.start).first.evaluate(TOP)
    bottom = page.locator(picture.until).first.evaluate(BOTTOM) if picture.until else top + HEIGHT
    height = min(HEIGHT, bottom - top + 2 * MARGIN)
    clip = {"x": 0, "y": max(0, top - MARGIN), "width": WIDTH, "height": height}
    return page.screenshot(clip=clip, full_page=True)  # type: ignore[arg-type]


def reduced(png: bytes) -> bytes:
    """Returns the picture in few colours, which keeps letters sharp and the file small."""
    from PIL import Image

    picture, buffer = Image.open(io.BytesIO(png)).convert("RGB"), io.BytesIO()
    few = picture.quantize(COLOURS, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
    few.save(buffer, "PNG", optimize=True)
    return buffer.getvalue()


if __name__ == "__main__":
    sys.exit(main())
