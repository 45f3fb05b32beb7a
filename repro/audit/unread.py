"""Printed p-values whose statistic cannot be read: each is named, with what would decide it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from repro.audit.findings import NAMED
from repro.audit.notations import ENDS, NUMBER, STATISTIC, P, is_statement, kind_of, plain
from repro.errors import Place
from repro.files import fatal

EXAMPLES = {
    "F": "F(2, 57) = 4.10, p = .022",
    "r": "r(48) = .31, p = .028, with n - 2 in parentheses",
    "ρ": "rs(48) = .31, p = .028, with n - 2 in parentheses",
    "χ²": "χ²(2, N = 90) = 7.20, p = .027",
    "H": "H(2) = 7.10, p = .029",
    "Q": "Q(3) = 8.10, p = .044",
}
EXAMPLE = "t(28) = 2.20, p = .036"
_NAMED_VALUE = re.compile(
    r"(?P<name>(?<![^\s=<>≈≤≥,;|&()\[\]])[^\s\d=<>≈≤≥,;|&()\[\]:][^\s=<>≈≤≥,;&()\[\]:]{0,20}"
    r"(?: (?:change|value|stat(?:istic)?|score|ratio))?)"
    rf"(?P<df> ?\([^()]*\))? ?[=<>≈] ?(?:{NUMBER}|[0-9]+(?:,[0-9]{{3}})+"
    r"|(?P<comma>-?[0-9]*,[0-9]+))"
)
_NO_STATISTIC = re.compile(r"(?i)p(?:[- ]?value)?|α|alpha|level")
_NEXT_TO_ONE = re.compile(
    r"[nNkMmd]|[Dd][Ff]|SDs?|SEM?|[Ss]td|MSE|CI|Mdn|[Mm]eans?|[Mm]edian|η.*|R²?"
)
"""Numbers that stand between a statistic and its p."""
_OF_VALUES = re.compile(r"[UWVDTS]|τ\w?|tau(?:-?[abc])?|Mann-Whitney|[Ww]ilcoxon")
_SENTENCE = re.compile(r"[.;] (?=[A-Z†‡(])|\. (?=p\b)")
_MOST_BETWEEN, _LONGEST = 60, 400


def refuse_without_df(text: str, file: str) -> None:
    """SpecError for lines of text, no table, that print a statistic without degrees of freedom."""
    lines = [line for line in text.split("\n") if line.strip()]
    read = list(_unread(text))
    if not read or len({at for at, _ in read}) * 2 < len(lines) or "±" in text:
        return
    at, found = read[0]
    name = _short(found["name"])
    mistake = f"{name} has no degrees of freedom"
    expected, advice = EXAMPLES.get(name, EXAMPLE), "write them in parentheses, as shown"
    if found["comma"]:
        mistake = f"{found['comma']} is not a plain number"
        advice = "write decimal points, and degrees of freedom in parentheses"
    elif _OF_VALUES.fullmatch(name):
        mistake = f"the p of {name} takes the values of every run"
        expected = f"t, F, r, χ², H or Q as in {EXAMPLE}, or z"
        advice = "write the z of the test, if it is printed, as in z = 2.10, p = .036"
    elif _why(found) == _UNKNOWN:
        mistake = f"{name} is not a known statistic"
        expected, advice = f"t, F, r, χ², H or Q as in {EXAMPLE}, or z", "write that of its test"
    raise fatal(Place(file, at, found.start() + 1), mistake, expected, advice)


def not_read(text: str) -> Iterator[str]:
    """A sentence on the statistics of a text whose p cannot be computed, each with its line."""
    found = list(_unread(text))
    if found:
        named = "; ".join(
            f"line {at}, {each[0].strip()} ({_why(each)})" for at, each in found[:NAMED]
        )
        more = f"; and {len(found) - NAMED} more" if len(found) > NAMED else ""
        yield f"Not read: {named}{more}."


_UNKNOWN = "not a known statistic: print its t, F, χ² or z"


def _why(found: re.Match[str]) -> str:
    name = _short(found["name"])
    if _OF_VALUES.fullmatch(name):
        return "its p takes every value: print its z"
    if name in ("t", *EXAMPLES) and not found["df"]:
        return f"no degrees of freedom: write {EXAMPLES.get(name, EXAMPLE)}"
    return _UNKNOWN


def _short(name: str) -> str:
    """The symbol of a statistic that is called `F change` or `t-value`."""
    return kind_of(re.split(r"[ -](?=change|value|stat|score|ratio)", name)[0])


def _unread(text: str) -> Iterator[tuple[int, re.Match[str]]]:
    """What stands before each p that belongs to no statistic read, with its line."""
    above = ""
    for at, below in enumerate(plain(text).split("\n"), 1):
        since = max((p.end() for p in P.finditer(above)), default=0)
        line = f"{above} {below}" if above else below
        for p in P.finditer(line, len(above)):
            begin, since = since, p.end()
            if (found := _before(line, begin, p.start())) is not None:
                yield at, found
        above = below if re.search(r"[,;(=<>]\s*$", below) else ""


def _before(line: str, begin: int, end: int) -> re.Match[str] | None:
    """The last named number of the words before a p, if no statistic that is read has this p."""
    begin = max(begin, end - _LONGEST)
    begin = max([begin, *(each.end() for each in _SENTENCE.finditer(line, begin, end + 2))])
    found = STATISTIC.finditer(line, begin, end + _MOST_BETWEEN)
    read = [each for each in found if each.start() < end and is_statement(each)]
    if read:
        after = ENDS.search(line, read[-1].end(), end)
        if after is None:
            return None
        begin = after.start()
    named = [
        each
        for each in _NAMED_VALUE.finditer(line, begin, end)
        if end - each.end() <= _MOST_BETWEEN and not _NO_STATISTIC.fullmatch(each["name"])
    ]
    sure = [each for each in named if not _NEXT_TO_ONE.fullmatch(each["name"])]
    return next(reversed(sure or named), None)
