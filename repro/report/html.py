"""Report -> one HTML file that needs nothing else: no script, no network, no second file."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape
from typing import Any

from jinja2 import DictLoader, Environment, StrictUndefined
from markupsafe import Markup

from repro.files import template
from repro.judging.document import Document
from repro.report import palette
from repro.report.blocks import Figure, PartGroup
from repro.report.formats import PAGE, ReportFormat, builtin
from repro.report.view import view
from repro.schema import numbers as fmt


def html(document: Document) -> bytes:
    """The page of a report with all its formats."""
    return html_with_links(document, builtin())


def html_with_links(document: Document, written: Sequence[ReportFormat]) -> bytes:
    """The page, each figure drawn for wide and for narrow screens; it leads to what is written."""
    page = render(
        "report.html.j2", view=view(document), links=links(written), figure=_figure, bars=_bars
    )
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
        finalize=_shown, trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True,
    )  # fmt: skip
    # ours: MathML from our own table, in which nothing of a document is
    environment.filters |= {"plain": _plain, "verbatim": _verbatim, "ours": Markup}
    return environment.get_template(name).render(
        icon=icon,
        light=_variables(palette.LIGHT),
        dark=_variables(palette.DARK),
        print=_variables(palette.PRINT),
        drawn={name: palette.PRINT[name] for name in palette.DRAWN},
        **context,
    )


_CODE = re.compile(r"`([^`]+)`")


def _shown(value: Any) -> Any:
    """Text for a reader: numbers keep their units and signs, and code is set as code."""
    if isinstance(value, Markup) or not isinstance(value, str):
        return value
    parts = _CODE.split(value)
    shown = [
        f"<code>{escape(part)}</code>" if i % 2 else escape(fmt.unbroken(part))
        for i, part in enumerate(parts)
    ]
    return Markup("".join(shown))  # noqa: S704 - every part is escaped


def _plain(text: str) -> Markup:
    """Text where no element can be: a title, an attribute."""
    return Markup(escape(fmt.unbroken(text.replace("`", ""))))  # noqa: S704 - escaped


def _verbatim(text: str) -> Markup:
    """A command, a name or a key, to be copied as it is."""
    return Markup(escape(text))  # noqa: S704 - escaped


def icon(name: str) -> Markup:
    """The outline of an icon; the words next to it say the same."""
    path = f'<path d="{palette.ICONS[name]}"/>'
    return Markup(f'<svg class="icon" viewBox="0 0 40 40" aria-hidden="true">{path}</svg>')  # noqa: S704 - our own constant


def _figure(shown: Figure) -> Markup:
    from repro.report.figures import draw  # noqa: PLC0415 - an index has none, nor matplotlib

    said = f'role="img" aria-label="{escape(shown.alt)}"'
    parts = [
        f'<div class="{width}" {said}>{"".join(draw(shown, phone=width == "phone"))}</div>'
        for width in ("page", "phone")
    ]
    return Markup("".join(parts))  # noqa: S704 - drawn by us; matplotlib escapes its texts


def _bars(group: PartGroup) -> tuple[list[Markup], Markup]:
    from repro.report.figures.bars import bars  # noqa: PLC0415 - as above

    drawn, axis = bars(group)
    return [Markup(each) for each in drawn], Markup(axis)  # noqa: S704 - numbers alone


def _variables(theme: dict[str, str]) -> str:
    return ";".join(f"--{name}:{colour}" for name, colour in theme.items())
