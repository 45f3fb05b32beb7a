"""Report -> one HTML file that needs nothing else: no script, no network, no second file."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from html import escape
from typing import Any

from jinja2 import DictLoader, Environment, StrictUndefined
from markupsafe import Markup

from repro.files import template
from repro.judging.document import Document
from repro.report import lookup as palette
from repro.report import words
from repro.report.blocks import Figure
from repro.report.figures import draw
from repro.report.formats import ReportFormat
from repro.report.view import view

NO_BREAK = "\N{NO-BREAK SPACE}"

LINKS = (
    ("PDF", "report.pdf"),
    ("JSON", "report.json"),
    ("JUnit", "junit.xml"),
    ("All verdicts", "../../index.html"),
)
"""The files that go with a page: navigation, which a PDF and paper do without."""


def html(document: Document) -> bytes:
    """The page of a report, each figure drawn for wide and for narrow screens."""
    shown = view(document)
    drawings = {
        f"{figure.name}-{width}": draw(figure, phone=width == "phone")
        for figure in shown.figures()
        for width in ("page", "phone")
    }
    page = render("report.html.j2", view=shown, links=LINKS, figure=_figures(drawings))
    return page.encode()


HTML = ReportFormat("report.html", html)


def render(name: str, **context: Any) -> str:
    """A template with everything escaped, in the style that all pages share."""
    sources = {name: template(name), "style.css": template("style.css")}
    environment = Environment(
        loader=DictLoader(sources), autoescape=True, undefined=StrictUndefined,
        finalize=_kept_together, trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True,
    )  # fmt: skip
    return environment.get_template(name).render(
        icon=icon,
        light=palette.variables(palette.LIGHT),
        dark=palette.variables(palette.DARK),
        print=palette.variables(palette.PRINT),
        drawn={name: palette.PRINT[name] for name in palette.DRAWN},
        **context,
    )


def _kept_together(value: Any) -> Any:
    """Text whose `742 ± 24` and `p = 0.09` are not broken at the end of a line."""
    if type(value) is not str:
        return value
    return value.replace(" ± ", f"{NO_BREAK}±{NO_BREAK}").replace("p = ", f"p{NO_BREAK}={NO_BREAK}")


def icon(name: str) -> Markup:
    """The outline of an icon; the words next to it say the same."""
    path = f'<path d="{words.ICONS[name]}"/>'
    return Markup(f'<svg class="icon" viewBox="0 0 40 40" aria-hidden="true">{path}</svg>')  # noqa: S704 - our own constant


def _figures(drawings: Mapping[str, Sequence[str]]) -> Callable[[Figure], Markup]:
    def figure(shown: Figure) -> Markup:
        said = f'role="img" aria-label="{escape(shown.alt)}"'
        parts = [
            f'<div class="{width}" {said}>{"".join(drawings[f"{shown.name}-{width}"])}</div>'
            for width in ("page", "phone")
        ]
        return Markup("".join(parts))  # noqa: S704 - drawn by us; matplotlib escapes its texts

    return figure
