"""Which characters the fonts at hand can draw: matplotlib brings DejaVu Sans along.

It covers Greek, Cyrillic, Arabic and signs. A PDF has no other face to fall back on, so what it
lacks is spelled there as a code point, and figures leave room for that.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

import matplotlib as mpl
from matplotlib.ft2font import FT2Font

FACE = "DejaVu Sans"
INVISIBLE = "\N{ZERO WIDTH SPACE}"


def fonts() -> Path:
    """The folder of the fonts that come with matplotlib."""
    return Path(mpl.get_data_path()) / "fonts" / "ttf"


@lru_cache(maxsize=1)
def _covered() -> frozenset[str]:
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
