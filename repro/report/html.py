"""Report -> one HTML file that needs nothing else: no script, no network, no second file."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

from jinja2 import DictLoader, Environment, StrictUndefined
from markupsafe import Markup

from repro.files import template
from repro.judging.document import Document
from repro.report import words
from repro.report.blocks import Figure
from repro.report.formats import PAGE, ReportFormat, builtin
from repro.report.view import view

NO_BREAK = "\N{NO-BREAK SPACE}"


def html(document: Document) -> bytes:
    """The page of a report with all its formats."""
    return html_with_links(document, builtin())


def html_with_links(document: Document, written: Sequence[ReportFormat]) -> bytes:
    """The page, each figure drawn for wide and for narrow screens; it leads to what is written."""
    page = render("report.html.j2", view=view(document), links=links(written), figure=_figure)
    return page.encode()


def links(written: Sequence[ReportFormat]) -> list[tuple[str, str]]:
    """The files that go with a page: navigation, which a PDF and paper do without."""
    others = [(each.label, each.file) for each in written if each is not HTML]
    return [*others, ("All verdicts", "../../index.html")]


HTML = ReportFormat(PAGE, html, label="HTML", with_links=html_with_links)


def render(name: str, **context: Any) -> str:
    """A template with everything escaped, in the style that all pages share."""
    sources = {name: template(name), "style.css": template("style.css")}
    environment = Environment(
        loader=DictLoader(sources), autoescape=True, undefined=StrictUndefined,
        finalize=_kept_together, trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True,
    )  # fmt: skip
    return environment.get_template(name).render(
        icon=icon,
        light=_variables(words.LIGHT),
        dark=_variables(words.DARK),
        print=_variables(words.PRINT),
        drawn={name: words.PRINT[name] for name in words.DRAWN},
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


def _figure(shown: Figure) -> Markup:
    from repro.report.figures import draw  # noqa: PLC0415 - an index has none, nor matplotlib

    said = f'role="img" aria-label="{escape(shown.alt)}"'
    parts = [
        f'<div class="{width}" {said}>{"".join(draw(shown, phone=width == "phone"))}</div>'
        for width in ("page", "phone")
    ]
    return Markup("".join(parts))  # noqa: S704 - drawn by us; matplotlib escapes its texts


def _variables(theme: dict[str, str]) -> str:
    return ";".join(f"--{name}:{colour}" for name, colour in theme.items())
