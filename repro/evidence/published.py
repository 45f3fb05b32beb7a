"""Printed numbers: arms that have no others, and what a printed text such as 3.20 stands for."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any, ClassVar, Literal, TypeAlias

from repro.errors import ClaimError
from repro.evidence.base import EvidenceSource
from repro.evidence.evidence import PublishedArm
from repro.schema.base import Name


class PublishedNumbers(EvidenceSource):
    """Printed numbers, by measurement."""

    elsewhere: ClassVar[str] = "the claim has its printed numbers"
    shown = "published"

    published: dict[Name, PublishedArm] | None = None

    @property
    def printed(self) -> Mapping[str, PublishedArm] | None:
        """The numbers as they are declared."""
        return self.published

    def identity(self, configuration: Any) -> Any:
        """The numbers as they are printed."""
        del configuration
        return self.model_dump(mode="json", exclude_none=True)


Rounding: TypeAlias = Literal["round", "truncate", "ceil"]
"""How digits were dropped: to the nearest, towards 0, or upwards."""

ROUNDINGS: dict[str, str] = {
    "round": "round (to the nearest: half a unit of the last digit either way)",
    "truncate": "truncate (digits cut off: up to a unit more, away from 0)",
    "ceil": "ceil (upwards: up to a unit less)",
}

Relation: TypeAlias = Literal["=", "<", ">"]
MAX_CHARACTERS = 40
MAX_EXPONENT = 300
LARGEST = Decimal("1e100")

_NUMBER = re.compile(
    r"(?P<sign>[-+]?)(?P<digits>[0-9]+\.?[0-9]*|\.[0-9]+)"
    r"(?:(?:e|E| ?[x*] ?10 ?\^ ?)(?P<exponent>[-+]?[0-9]{1,3}))?"
)

_RELATIONS: dict[str, Relation] = {"<=": "<", ">=": ">", "<": "<", ">": ">", "=": "="}

_PLAIN = str.maketrans(
    {
        "\N{MINUS SIGN}": "-",
        "\N{EN DASH}": "-",
        "\N{LESS-THAN OR EQUAL TO}": "<",
        "\N{GREATER-THAN OR EQUAL TO}": ">",
        "\N{MULTIPLICATION SIGN}": "x",
        "\N{MIDDLE DOT}": "x",
        "\N{DOT OPERATOR}": "x",
        "\N{NO-BREAK SPACE}": " ",
    }
)


@dataclass(frozen=True, slots=True)
class PrintedNumber:
    """A printed number: ``text`` as it stands there, ``value``, and half a unit of its last digit.

    ``low`` and ``high`` bound the numbers that are printed like this under ``rounding``; both
    ends count as possible. After ``<`` and ``>`` there is no unit, and the bound is open to
    that side (``-inf`` or ``inf``). Made by ``read``.
    """

    text: str
    value: float
    half: float
    relation: Relation = "="
    rounding: Rounding = "round"

    @classmethod
    def read(cls, text: str) -> PrintedNumber:
        """The number that ``text`` prints, such as `3.20`, `.62`, `2.02e-15` or `<0.001`.

        Raises ClaimError, with the reason, for anything else.
        """
        shown = text.strip()
        if len(shown) > MAX_CHARACTERS:
            raise ClaimError(
                f"a number of {len(shown):,} characters; {MAX_CHARACTERS} is the limit"
            )
        relation, rest = _relation(shown.translate(_PLAIN))
        found = _NUMBER.fullmatch(rest)
        if found is None:
            raise ClaimError(f"{shown!r} is not a number{_reason(shown)}")
        exponent = int(found["exponent"] or 0)
        if abs(exponent) > MAX_EXPONENT:
            raise ClaimError(f"{shown!r} has an exponent beyond {MAX_EXPONENT}")
        number = Decimal(found["sign"] + found["digits"]).scaleb(exponent)
        if abs(number) > LARGEST:
            raise ClaimError(f"{shown!r} is larger than any number that can be checked")
        places = len(found["digits"].partition(".")[2])
        half = 0.0 if relation != "=" else float(Decimal(5).scaleb(exponent - places - 1))
        return cls(shown, float(number), half, relation)

    def under(self, rounding: Rounding) -> PrintedNumber:
        """The same text, had the digits been dropped in this way."""
        return replace(self, rounding=rounding)

    @property
    def low(self) -> float:
        """The least number that is printed like this."""
        if self.relation != "=":
            return self.value if self.relation == ">" else float("-inf")
        below = {"round": 1, "truncate": 0 if self.value > 0 else 2, "ceil": 2}[self.rounding]
        return _moved(self, -below)

    @property
    def high(self) -> float:
        """The greatest number that is printed like this."""
        if self.relation != "=":
            return self.value if self.relation == "<" else float("inf")
        above = {"round": 1, "truncate": 0 if self.value < 0 else 2, "ceil": 0}[self.rounding]
        return _moved(self, above)

    def meets(self, low: float, high: float) -> bool:
        """Whether some number between these is printed like this."""
        return low <= self.high and self.low <= high


def _moved(printed: PrintedNumber, halves: int) -> float:
    """The value moved by so many half units, without the dust of binary addition."""
    return float(Decimal(repr(printed.value)) + halves * Decimal(repr(printed.half)))


def _relation(text: str) -> tuple[Relation, str]:
    """The relation in front of a number, `=` where there is none, and the number."""
    for sign, relation in _RELATIONS.items():
        if text.startswith(sign):
            return relation, text.removeprefix(sign).lstrip()
    return "=", text


def _reason(text: str) -> str:
    if "," in text:
        return ": write a decimal point, and no commas between thousands"
    if "%" in text:
        return ": write the share itself, without a percent sign"
    if text.lower() in ("nan", "inf", "-inf", "+inf", "n/a", "na", "-", "ns", "n.s."):
        return ": leave it empty where no number is printed"
    return ""
