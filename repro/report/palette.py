"""The colours of a report, once for all formats: the light theme is also that of the PDF.

A figure is drawn in the colours of paper; the style sheet of a page finds these and puts its
variables in their place, so that one drawing serves light, dark and paper. Every text colour has
a contrast of at least 4.5 on every ground that it is used on (a test computes it).
"""

from __future__ import annotations

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


def variables(theme: dict[str, str]) -> str:
    """CSS custom properties of a theme."""
    return ";".join(f"--{name}:{colour}" for name, colour in theme.items())


def contrast(first: str, second: str) -> float:
    """The contrast ratio of two colours by WCAG 2."""

    def luminance(colour: str) -> float:
        channels = (int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5))
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    bright, dark = sorted((luminance(first), luminance(second)), reverse=True)
    return (bright + 0.05) / (dark + 0.05)
