"""Colours, icons and fonts of reports.

matplotlib brings DejaVu Sans along, which covers Greek, Cyrillic, Arabic and signs. A PDF has no
other face to fall back on, so what is missing there is spelled as a code point, and figures leave
room for that.

A figure is drawn in the colours of paper; the style sheet of a page finds these and puts its
variables in their place, so that one drawing serves light, dark and paper. Every text colour has
a contrast of at least 4.5 on every ground that it is used on (a test computes it).
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

FACE = "DejaVu Sans"


INVISIBLE = "\N{ZERO WIDTH SPACE}"


def fonts() -> Path:
    import matplotlib as mpl  # noqa: PLC0415 - a document is read without it

    return Path(mpl.get_data_path()) / "fonts" / "ttf"


@lru_cache(maxsize=1)
def _covered() -> frozenset[str]:
    from matplotlib.ft2font import FT2Font  # noqa: PLC0415 - as above

    face = FT2Font(str(fonts() / "DejaVuSans.ttf"))
    return frozenset(chr(code) for code in face.get_charmap())


def spelled(text: str) -> str:
    """The text with every character that the face lacks as its code point."""
    if text.isascii():
        return text
    covered = _covered()
    return "".join(
        c if c.isascii() or c in covered or c == INVISIBLE else f"[U+{ord(c):04X}]" for c in text
    )


LIGHT = {
    "page": "#fcfcfa", "ink": "#1a1c20", "muted": "#565c66", "rule": "#dcdfe3", "card": "#f2f3f1",
    "accent": "#0b5a9c", "good": "#0f6244", "good-bg": "#e3f2ea", "warn": "#8a4300",
    "warn-bg": "#fcefdd", "bad": "#a11d2b", "bad-bg": "#fbe9e8", "plain": "#3f4a5a",
    "plain-bg": "#e9edf2", "arm-1": "#0b5a9c", "arm-2": "#9a4b00", "arm-3": "#0f6b4b",
    "arm-4": "#77359c", "region": "#d9ecdf",
}  # fmt: skip


DARK = {
    "page": "#14161a", "ink": "#e9e9e5", "muted": "#a9afb9", "rule": "#363a41", "card": "#1e2126",
    "accent": "#84bdf0", "good": "#82d6b1", "good-bg": "#14302a", "warn": "#f2b873",
    "warn-bg": "#362711", "bad": "#ff9f9a", "bad-bg": "#3c1a1d", "plain": "#b9c6d8",
    "plain-bg": "#232a34", "arm-1": "#84bdf0", "arm-2": "#f2b06a", "arm-3": "#82d6b1",
    "arm-4": "#d3aef3", "region": "#1d3a31",
}  # fmt: skip


PRINT = LIGHT | {"page": "#ffffff", "ink": "#000000", "muted": "#444444", "card": "#ffffff"}


TONES = ("good", "warn", "bad", "plain")


ARMS = ("arm-1", "arm-2", "arm-3", "arm-4")


DRAWN = ("page", "ink", "muted", "rule", "region", *TONES, *ARMS)


"""The colours of figures; no two of them are the same on paper."""


ICONS = {
    "check": "M20 3a17 17 0 1 0 .01 0ZM12 20.5l5.5 5.5L28 14.5",
    "cross": "M20 3a17 17 0 1 0 .01 0ZM14 14l12 12M26 14L14 26",
    "question": "M20 3a17 17 0 1 0 .01 0Z"
    "M14.5 16a5.5 5.5 0 1 1 8 5c-1.8.9-2.5 2-2.5 3.5M20 28.5v.6",
    "almost": "M20 3a17 17 0 1 0 .01 0ZM11.5 17.5c4-4.5 8 2.5 17-1.5M11.5 24.5c4-4.5 8 2.5 17-1.5",
    "barred": "M20 3a17 17 0 1 0 .01 0ZM8.5 8L31.5 32",
    "alarm": "M20 4L37 34H3ZM20 15v9M20 28.5v.6",
    "part": "M20 3a17 17 0 1 0 .01 0ZM11 20h2.4M18.8 20h2.4M26.6 20h2.4",
    "clock": "M20 3a17 17 0 1 0 .01 0ZM20 11v9.5l6 4",
    "unequal": "M20 3a17 17 0 1 0 .01 0ZM12 16.5h16M12 23.5h16M24 11l-8 18",
    "none": "M20 3a17 17 0 1 0 .01 0ZM13 20h14",
}


"""Outlines in a square of 40, drawn with a round pen of 3."""
