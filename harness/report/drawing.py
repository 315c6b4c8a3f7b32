"""Drawing of pictures, cached in `.cache/pictures` by declaration."""

import hashlib
import json
from collections.abc import Mapping
from importlib.metadata import version
from typing import Any

from harness.errors import InputError
from harness.io.files import write_text
from harness.paths import cache

KEPT_PICTURES = "pictures"
PACKAGE = "vl-convert-python"


def svg_of(spec: Mapping[str, Any], key: str) -> str:
    """Returns the drawing of a Vega-Lite declaration as SVG.

    Errors: InputError for a declaration without a drawing.
    """
    import vl_convert

    line = json.dumps(spec)
    digest = hashlib.sha256(f"{version(PACKAGE)}\n{line}".encode()).hexdigest()
    kept = cache() / KEPT_PICTURES / f"{digest}.svg"
    if kept.is_file():
        return kept.read_text(encoding="utf-8")
    try:
        svg = vl_convert.vegalite_to_svg(json.loads(line), vl_version="6.4", allowed_base_urls=[])
    except ValueError as error:
        raise InputError(f"picture {key}: {' '.join(str(error).split())}") from None
    write_text(kept, svg)
    return str(svg)
