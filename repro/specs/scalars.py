"""Plain scalars by the core schema of YAML 1.2, less what can be read in two ways."""

from __future__ import annotations

import math
import re

MAX_DIGITS = 40

Scalar = str | int | float | bool | None

_NULL = {"", "~", "null", "Null", "NULL"}
_TRUE = {"true", "True", "TRUE"}
_FALSE = {"false", "False", "FALSE"}
_INTEGER = re.compile(r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_NOT_FINITE = re.compile(r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")


def plain_scalar(text: str) -> Scalar:
    """The value of a scalar without quotes; raises ValueError(what, expected, advice)."""
    if text in _NULL:
        return None
    if text in _TRUE or text in _FALSE:
        return text in _TRUE
    if _NOT_FINITE.fullmatch(text):
        raise ValueError(f"{text} is not a finite number", "a finite number", "write a number")
    if _INTEGER.fullmatch(text):
        return _integer(text)
    if _FLOAT.fullmatch(text):
        return _float(text)
    return text


def _integer(text: str) -> int:
    _refuse_long(text)
    digits = text.lstrip("+-")
    if digits[0] == "0" and digits.isdecimal() and len(digits) > 1:
        raise ValueError(
            f"the number {text} starts with a zero, which some readers take for octal",
            "a number without leading zeros",
            f'write {int(text)}, or "{text}" in quotes if it is a text',
        )
    return int(text, 0)


def _float(text: str) -> float:
    _refuse_long(text)
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"{text} is too large", "a number below 1.8e308", "write a smaller one")
    return value


def _refuse_long(text: str) -> None:
    if len(text) > MAX_DIGITS:
        raise ValueError(
            f"a number of {len(text):,} characters",
            f"at most {MAX_DIGITS} characters",
            "write fewer digits, or put it in quotes if it is a text",
        )
