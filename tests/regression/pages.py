"""What users read, made from models in memory: the report's pages, cards, tables, verdicts and comparisons.

A changed line fails tests/regression/test_pages.py. `python -m tests.regression.pages` prints
which lines changed, so that somebody reads them, and writes the texts again. Styles and scripts have digests:
the tests of what they do need a browser (`make test-browser`).
"""

import difflib
import hashlib
import json
import re
from importlib.metadata import version
from pathlib import Path

from harness.report.formats.templates import TEMPLATES
from harness.report.sentences import ASSUMED, ASSUMED_ONE, ASSUMED_OTHERS
from tests.regression.page_models import MODELS as PAGES
from tests.regression.picture_models import pictures
from tests.regression.text_models import TEXTS

KNOWN = Path(__file__).with_name("pages")
MODELS = {**PAGES, **TEXTS, "pictures": pictures}
DIGESTS = "styles-and-scripts.json"
LONG = re.compile(r"\d+\.\d{7,}(e-?\d+)?")
"""Numbers whose last digits depend on the processor."""
TAGS = r"t[rdh]|li|p|div|dt|h\d|option|section|a|details|summary|path"
"""Elements that begin a line."""


def text_of(name: str) -> str:
    """Returns a text without styles, scripts and version, a line for each element of a page.

    One page has the legend.
    """
    text = MODELS[name]()
    if name.endswith(".html"):
        text = re.sub(r"(?s)(<style>).*?(</style>)|(<script>).*?(</script>)", r"\1\2\3\4", text)
        text = re.sub(rf"(?<=[^\s])(?=<(?:{TAGS})\b)", "\n", text)
    if name != "runs.html":
        text = re.sub(r'(?s)(<details class="legend">).*?(</details>)', r"\1\2", text)
    for who, words in (("ours", ASSUMED), ("others", ASSUMED_OTHERS), ("one lab", ASSUMED_ONE)):
        text = text.replace(words, f"(assumed of {who})")
    text = LONG.sub(lambda number: f"{float(number[0]):.6g}", text)
    lines = (line.rstrip() for line in text.replace(version("sentbench"), "VERSION").splitlines())
    return "\n".join(filter(None, lines)) + "\n"


def digests() -> dict[str, str]:
    """Returns the digest of each style sheet and script."""
    paths = sorted([*TEMPLATES.glob("*.css"), *TEMPLATES.glob("*.js")])
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest()[:16] for path in paths}


def present() -> dict[str, str]:
    """Returns every text by the name of its file."""
    return {name: text_of(name) for name in MODELS} | {DIGESTS: json.dumps(digests(), indent=0) + "\n"}


def known(name: str) -> str:
    """Returns a written text, empty if there is none."""
    path = KNOWN / f"{name}.txt"
    return path.read_text(encoding="utf-8") if path.is_file() else ""


def main() -> None:
    """Prints the changed lines and writes the texts."""
    KNOWN.mkdir(exist_ok=True)
    after = present()
    for name, text in after.items():
        diff = difflib.unified_diff(known(name).splitlines(), text.splitlines(), name, name, "", "", 1, "")
        print("\n".join(diff)[:20_000], end="\n" if known(name) != text else "")
        (KNOWN / f"{name}.txt").write_text(text, encoding="utf-8")
    for path in KNOWN.glob("*.txt"):
        if path.name.removesuffix(".txt") not in after:
            path.unlink()


if __name__ == "__main__":
    main()
