"""Settings of Sphinx for these documents, which `make docs` builds."""

from sentbench import __version__

project = "sentbench"
author = "the sentbench contributors"
version = release = __version__
extensions = ["myst_parser"]
myst_heading_anchors = 3
exclude_patterns = ["_build"]
html_theme = "furo"
html_title = f"sentbench {__version__}"
