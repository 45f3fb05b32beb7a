"""The figure of `repro rank --figure`: rank(tolerance), the spectrum, and its sum so far."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePath
from typing import Any, Final

import numpy as np

from repro.errors import printable
from repro.rank.spectrum import Spectrum
from repro.report.blocks import LinePlot, Lines, Mark, lettered
from repro.report.figures import draw_on_one_sheet
from repro.schema import numbers as fmt

PLACES: Final = 400
"""Singular values that are drawn of a longer spectrum, evenly on a logarithmic axis."""


def rank_svg(name: str, found: Mapping[str, Any], spectrum: Spectrum, least: float) -> str:
    """One SVG element with the three plots, the same bytes every time.

    ``found`` is what `repro rank --json` prints; of what ``name`` names the last part is shown.
    ``spectrum`` has the singular values, falling; those up to ``least`` times the largest are due
    to rounding, and are not drawn.
    """
    label = printable(PurePath(name).name)
    marks = _marks(found)
    relative = spectrum[spectrum > least * spectrum[0]] / (spectrum[0] or 1.0)
    places = np.unique(np.geomspace(1, len(relative) or 1, PLACES).astype(int))
    places = places[: len(relative)]
    values = tuple((float(k), float(relative[k - 1])) for k in places)
    counted = zip(found["curve"]["tolerances"], found["curve"]["ranks"], strict=True)
    shares = tuple(zip(found["cumulative"]["first"], found["cumulative"]["share"], strict=True))
    curve = tuple(sorted([*counted, *((size, place) for place, size in values)]))
    plots = (
        LinePlot(
            "Rank against the tolerance",
            "tolerance, relative to the largest singular value",
            "rank",
            (Lines(label, "arm-1", (curve,)),),
            upright=marks,
        ),
        LinePlot(
            "Singular values",
            "place of the singular value",
            "size, relative to the largest",
            (Lines(label, "arm-1", (values,)),),
            level=marks,
        ),
        LinePlot(
            "Share of the first singular values",
            "how many of the largest singular values",
            "share of the sum of all",
            (Lines(label, "arm-1", (shares,)),),
        ),
    )
    return draw_on_one_sheet(plots, "rank")


def _marks(found: Mapping[str, Any]) -> tuple[Mark, ...]:
    """Every threshold at which the rank is told, with the rank."""
    press = found["threshold"]
    named = [("Press's threshold", press, found["press"])]
    if found.get("tenth") is not None:
        named.append(("tenth of Press's threshold", press / 10, found["tenth"]))
    named.append(("ten times Press's threshold", 10 * press, found["tenfold"]))
    named.append(("numpy's threshold", found["numpy_threshold"], found["numpy"]))
    if (bound := found.get("empirical")) and (largest := found["largest_singular_value"]):
        at = bound["bound"] / largest
        named.append(("empirical bound", at, bound["rank"]))
    named += [(f"at {text}", float(text), rank) for text, rank in found["at"].items()]
    colours = ["ink", *["muted"] * len(named)]
    return lettered(
        [
            Mark(at, f"{fmt.upper_first(label)}: {fmt.count(rank)}", colour)
            for (label, at, rank), colour in zip(named, colours, strict=False)
        ]
    )
