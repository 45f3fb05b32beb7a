"""How the pages are built: `./dev docs` writes them to `build/docs`."""

project = "repro"
author = "the developers of repro"
extensions = ["myst_parser"]
html_theme = "furo"
html_title = "repro"
myst_heading_anchors = 3
suppress_warnings = ["misc.highlighting_failure"]  # Pygments knows no CSV
