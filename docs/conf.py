"""How the pages are built: `./dev docs` writes them to `build/docs`."""

import shutil
from pathlib import Path

from sphinx.application import Sphinx

project = "repro"
author = "the developers of repro"
extensions = ["myst_parser"]
html_theme = "furo"
html_title = "repro"
myst_heading_anchors = 3
suppress_warnings = ["misc.highlighting_failure"]  # Pygments knows no CSV


def setup(app: Sphinx) -> None:
    """What Sphinx calls first."""
    app.connect("build-finished", beside)


def beside(app: Sphinx, exception: Exception | None) -> None:
    """Put the files that a report leads to beside the copy that the gallery links to."""
    if exception is not None or app.builder.name != "html":
        return
    for name, (_, copy) in app.env.dlfiles.items():
        if Path(name).name == "report.html":
            place = Path(app.outdir, "_downloads", copy).parent
            for file in Path(app.srcdir, name).parent.iterdir():
                shutil.copy(file, place)
