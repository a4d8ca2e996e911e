"""Sphinx's settings for the documentation site; `tools/docs` builds the site with them."""

from __future__ import annotations

from docs_site import docstrings

import coopmat

project = "coopmat"
author = "The coopmat authors"
copyright = "The coopmat authors"
release = version = coopmat.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc"]
exclude_patterns = ["examples"]
default_role = "code"
keep_warnings = False
smartquotes = False  # `--` begins an option
suppress_warnings = ["misc.highlighting_failure"]  # examples of errors are not valid C
highlight_language = "text"

# The anchors of headings, as on GitHub.
myst_heading_anchors = 4
myst_enable_extensions = ["attrs_block"]

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
python_maximum_signature_line_length = 100

html_theme = "furo"
html_title = f"coopmat {release}"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sourcelink = False
html_show_sphinx = False
html_show_search_summary = False  # a browser does not fetch pages from file://
html_theme_options = {"navigation_with_keys": True}
pygments_style = "friendly"
pygments_dark_style = "monokai"


def setup(app: object) -> None:
    app.connect("autodoc-process-docstring", docstrings.process)  # type: ignore[attr-defined]
