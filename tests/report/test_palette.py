from __future__ import annotations

import pytest

from repro.report.palette import ARMS, DARK, DRAWN, LIGHT, PRINT, TONES

THEMES = {"light": LIGHT, "dark": DARK, "print": PRINT}


def contrast(first: str, second: str) -> float:
    """The contrast ratio of two colours by WCAG 2."""

    def luminance(colour: str) -> float:
        channels = (int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5))
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    bright, dark = sorted((luminance(first), luminance(second)), reverse=True)
    return (bright + 0.05) / (dark + 0.05)


def test_contrast_of_black_on_white() -> None:
    """The contrast of black on white is 21, as WCAG defines it."""
    assert contrast("#000000", "#ffffff") == pytest.approx(21)


@pytest.mark.parametrize("theme", THEMES)
def test_text_can_be_read(theme: str) -> None:
    """Every text colour has a contrast of at least 4.5 on every ground that it stands on."""
    colours = THEMES[theme]
    pairs = [(text, ground) for text in ("ink", "muted") for ground in ("page", "card")]
    pairs += [("accent", "page"), ("warn", "page"), ("page", "plain")]
    for tone in TONES:
        pairs += [(tone, "page"), (tone, "card"), (tone, f"{tone}-bg"), ("ink", f"{tone}-bg")]
    low = {pair: contrast(colours[pair[0]], colours[pair[1]]) for pair in pairs}
    assert {pair: ratio for pair, ratio in low.items() if ratio < 4.5} == {}


@pytest.mark.parametrize("theme", THEMES)
def test_marks_can_be_seen(theme: str) -> None:
    """Every mark of a figure has a contrast of at least 4.5 with the page, 3 with a region."""
    colours = THEMES[theme]
    assert all(contrast(colours[arm], colours["page"]) >= 4.5 for arm in ARMS)
    assert all(contrast(colours[mark], colours["region"]) >= 3 for mark in ("ink", "warn"))


def test_themes_name_the_same_colours() -> None:
    """Light, dark and print define the same names; a colour of figures on paper has one name."""
    assert set(LIGHT) == set(DARK) == set(PRINT)
    assert len({PRINT[name] for name in DRAWN}) == len(DRAWN)
