"""Numbers to text: the only place that decides how many digits a reader sees.

Signs are real minus signs, thousands have commas, and nothing here depends on a locale.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

MINUS = "\N{MINUS SIGN}"
DASH = "\N{EN DASH}"
NO_BREAK = "\N{NO-BREAK SPACE}"
UNSEEN = "\N{REPLACEMENT CHARACTER}"
_BIDI_CONTROLS = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def clean(text: str) -> str:
    """Text that any format can hold: one line, without control, bidi-control or private codes."""
    shown = " ".join(text.split())
    if shown.isprintable():  # nearly all are, and it is a hundred times as fast
        return text if shown == text else shown
    shown = _BIDI_CONTROLS.sub(UNSEEN, shown)
    return "".join(
        UNSEEN if unicodedata.category(c) in ("Cc", "Cs", "Cn", "Co") else c for c in shown
    )


_PERCENT = re.compile(r"(?<=[0-9]) ?%")
_SIGN = re.compile(rf"[ {NO_BREAK}]?([±])[ {NO_BREAK}]?| ([=<>≤]) (?=[0-9−])")


def unbroken(text: str) -> str:
    """Text whose `80 %`, `742 ± 24` and `p = 0.09` no end of a line breaks."""
    shown = _PERCENT.sub(f"{NO_BREAK}%", text)
    return _SIGN.sub(lambda found: f"{NO_BREAK}{found[1] or found[2]}{NO_BREAK}", shown)


def signed(text: str) -> str:
    """The same number with a real minus sign."""
    return text.replace("-", MINUS)


def fixed(number: float, digits: int) -> str:
    """``number`` with ``digits`` after the point and commas; never a negative zero."""
    text = f"{number:,.{max(digits, 0)}f}"
    return signed(text[1:] if text.startswith("-") and not text.strip("-0.,") else text)


def plus(number: float, digits: int) -> str:
    """A difference: its sign is always written, unless it prints as zero."""
    text = fixed(number, digits)
    return text if text.startswith(MINUS) or not text.strip("0.,") else f"+{text}"


def count(number: int) -> str:
    """A count with commas between thousands."""
    return fixed(number, 0)


def significant(number: float, digits: int = 3) -> str:
    """``number`` to so many significant digits; an exponent only where zeros would be counted."""
    if number == 0:
        return "0"
    if not 1e-4 <= abs(number) < 1e15:
        return signed(f"{number:.{digits - 1}e}")
    places = digits - 1 - math.floor(math.log10(abs(float(f"{number:.{digits - 1}e}"))))
    return fixed(number, max(places, 0))


def times(ratio: float) -> str:
    """A ratio as a multiple: `23.4 times`."""
    return f"{significant(ratio)} times"


FLOOR = 1e-10
"""The smallest p that a test of planned looks gives, which means at most this."""


def p_value(p: float) -> str:
    """`p = 0.0027`, `p = 2.0e-11`; never `p = 0`, and `p ≤ 1e-10` of a test that ends there."""
    if p == FLOOR:
        return f"p ≤ 1e{MINUS}10"
    if p > 0.9999:
        return "p > 0.9999"
    if p < 1e-300:
        return "p < 1e-300"
    if p < 1e-4:
        mantissa, exponent = f"{p:.1e}".split("e")
        return f"p = {mantissa}e{MINUS}{abs(int(exponent))}"
    return f"p = {significant(p, 2) if p < 0.995 else fixed(p, 4)}"


def bare_p(p: float) -> str:
    """A p-value in a column of them: `0.0027`, `< 1e-300`."""
    return p_value(p).removeprefix("p").removeprefix(" = ").strip()


def e_value(e: float) -> str:
    """An e-value to three digits, with an exponent from a million on."""
    if e < 1e6:
        return significant(e)
    mantissa, exponent = f"{e:.1e}".split("e")
    return f"{mantissa}e{int(exponent)}"


def bound(level: float) -> str:
    """A declared level as it was declared: `20`, `0.0451`."""
    return signed(f"{level:.3g}")


def chance(power: float) -> str:
    """A probability as a percentage of two digits, never printed as certain: `80%`, `> 99%`."""
    if power > 0.99:
        return "> 99%"
    return "< 0.1%" if power < 0.001 else f"{significant(100 * power, 2)}%"


def percent(share: float) -> str:
    """A share in percent with the digits that it has, as in `90%` or `99.5%`."""
    return f"{float(f'{100 * share:.10g}'):g}%"


def share(number: float, digits: int = 3) -> str:
    """A share as a percentage of so many digits: `93.3%`."""
    return f"{significant(100 * number, digits)}%"


def relative(number: float, places: int = 1) -> str:
    """A share as a signed percentage with so many digits after the point: `+1.2%`."""
    return f"{plus(100 * number, places)}%"


def span(low: str, high: str) -> str:
    """`791 to 830`, or the value alone when both ends print alike."""
    return low if low == high else f"{low} to {high}"


def effect(number: float, scale: str, digits: int) -> str:
    """A point on the axis of an expectation: a multiple, a signed difference, a percentage."""
    if scale in ("difference", "correlation"):
        return plus(number, digits if scale == "difference" else 2)
    if scale in ("ratio", "spread"):
        return times(number)
    if scale == "relative":
        return relative(number, digits)
    if scale == "level":
        return fixed(number, digits)
    return share(number) if scale == "share" else significant(number)


def size(number: float, scale: str, digits: int) -> str:
    """How large a margin or an effect is, without a sign."""
    if scale == "difference":
        return fixed(number, digits)
    return effect(number, scale, digits).removeprefix("+")


def ends(low: float | None, high: float | None, scale: str, digits: int) -> str:
    """`+0.11 to +0.42`, `from 20.1 times up`; an absent end is said in words."""
    first, last = (None if end is None else effect(end, scale, digits) for end in (low, high))
    if first is None or last is None:
        if first == last:
            return "without ends"
        return f"up to {last}" if first is None else f"from {first} up"
    return f"{first.removesuffix(' times')} to {last}"


def moment(created: str) -> datetime | None:
    """The time that ``created`` writes in ISO 8601, in UTC; None when it does not."""
    try:
        at = datetime.fromisoformat(created)
        return (at if at.tzinfo else at.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def date(created: str) -> str:
    """`21 November 2026`; the text itself when it is no ISO 8601 time."""
    at = moment(created)
    if at is None:
        return created
    months = "January February March April May June July August September October November December"
    return f"{at.day} {months.split()[at.month - 1]} {at.year}"


def duration(seconds: float) -> str:
    """`8.4 s`, `12 min`, `3.2 h`."""
    if seconds < 100:
        return f"{fixed(seconds, 1)} s"
    if seconds < 100 * 60:
        return f"{fixed(seconds / 60, 0)} min"
    return f"{fixed(seconds / 3600, 1)} h"


def rough_duration(seconds: float) -> str:
    """A time that is known very roughly, to two digits: `45 s`, `150 days`, `3.2 years`."""
    day, year = 86_400.0, 365.25 * 86_400
    for least, size, unit in (
        (2 * year, year, "years"),
        (2 * day, day, "days"),
        (6000.0, 3600.0, "h"),
        (100.0, 60.0, "min"),
    ):
        if seconds >= least:
            return f"{_two_digits(seconds / size)} {unit}"
    return f"{_two_digits(max(1.0, seconds))} s"


def _two_digits(number: float) -> str:
    rounded = float(f"{number:.2g}")
    return count(int(rounded)) if rounded >= 10 else f"{rounded:g}"


def setting(given: Any) -> str:
    """A value of a configuration in words: yes and no, numbers as written, lists with commas."""
    if given is None:
        return "none"
    if isinstance(given, bool):
        return "yes" if given else "no"
    if isinstance(given, int):
        return count(given)
    if isinstance(given, float):
        return _float_setting(given)
    if isinstance(given, list | tuple):
        return ", ".join(setting(item) for item in given) or "none"
    return str(given)


def _float_setting(given: float) -> str:
    """A number with all its digits: 0.25, 1e−06, 1,235,711."""
    if float(f"{given:g}") == given:
        return signed(f"{given:g}")
    return count(int(given)) if given.is_integer() else signed(repr(given))


_IDENTIFIER = re.compile(r"\w+[_./]\w")


def upper_first(text: str) -> str:
    """The text with a capital at its start; a name such as `val_loss` or `eval.error` as it is."""
    return text if _IDENTIFIER.match(text) else f"{text[:1].upper()}{text[1:]}"


def sentence(text: str) -> str:
    """The text with a capital at its start and a full stop at its end."""
    shown = upper_first(text)
    return shown if not shown or shown.endswith((".", "!", "?")) else f"{shown}."


def plain_name(identifier: str) -> str:
    """An identifier as words: `learning rate` of `learning_rate`."""
    return identifier.replace("_", " ")


def number_of(n: int, singular: str, many: str | None = None) -> str:
    """A number with its noun, in the plural where it needs that: `1 seed`, `5 seeds`."""
    return f"{count(n)} {singular if n == 1 else many or singular + 's'}"


NAMED = 5
"""More seeds than this are counted and not named."""


def seeds(numbers: Sequence[int], unit: str = "seed") -> str:
    """`seed 3`, `seeds 1, 2 and 4`, `seeds 1, 2, 3, 4, 5 and 7 more`; or of another unit."""
    shown = [str(number) for number in numbers[:NAMED]]
    if len(numbers) > NAMED:
        return f"{unit}s {', '.join(shown)} and {len(numbers) - NAMED} more"
    if len(shown) == 1:
        return f"{unit} {shown[0]}"
    return f"{unit}s {', '.join(shown[:-1])} and {shown[-1]}"


def told_apart(name: str, kind: str, kinds: Sequence[str]) -> str:
    """What tells an expectation from those of one heading, whose ``kinds`` are these, its own too.

    Nothing where it is alone, its kind where no other has that, else its kind and its id.
    """
    if len(kinds) < 2:
        return ""
    words = plain_name(kind)
    return f" ({words})" if kinds.count(kind) < 2 else f" ({words}, {name})"
