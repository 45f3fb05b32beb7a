"""Hsu's comparison with the best: which methods of a column may be the best, all said together.

And Tukey's comparisons of all pairs, as programs print them.

Equal n and one deviation for all (pooled) are assumed. The constant is Dunnett's one-sided one
(Hsu 1984): each method against the best of the others, with a chance of 5 % of any error.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Literal

import numpy as np
from scipy import optimize
from scipy.special import gammainccinv, gammaincinv, gammaln, ndtr

from repro.audit.comparison import PrintedArm, printed_p
from repro.audit.printed_tests import CELL, DF
from repro.audit.statistics import Statement
from repro.errors import Place
from repro.evidence.published import PrintedNumber
from repro.files import fatal, place_of_offset

ALPHA = 0.05
MOST_APART = 3.0
"""The largest deviation of a column, in smallest ones, at which they are still pooled."""

NAMED = 5
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(120)


@cache
def constant(others: int, df: int, alpha: float = ALPHA) -> float:
    """Dunnett's one-sided constant: of ``others`` methods against one, correlation 1/2.

    The (1 - alpha) quantile of the largest of that many t with one denominator of ``df``.
    """
    z, weight_z = 9 * _NODES, 9 * _WEIGHTS * np.exp(-((9 * _NODES) ** 2) / 2) / np.sqrt(2 * np.pi)
    half = df / 2
    low, high = np.sqrt([gammaincinv(half, 1e-13) / half, gammainccinv(half, 1e-13) / half])
    scale = low + (high - low) * (_NODES + 1) / 2
    squared = half * scale**2  # half a chi-squared variable of df degrees of freedom
    density = np.exp(half * np.log(squared) - squared - gammaln(half)) * 2 / scale
    weight = _WEIGHTS * density * (high - low) / 2

    def beyond(d: float) -> float:
        below = ndtr(z[:, None] + np.sqrt(2) * d * scale[None, :]) ** others
        return float(weight_z @ below @ weight) - (1 - alpha)

    return float(optimize.brentq(beyond, 0.0, 60.0))


def compared_with_the_best(
    arms: Mapping[str, PrintedArm], better: Literal["higher", "lower"], column: str
) -> Iterator[str]:
    """A sentence on three or more methods of equal n; none where a number is missing.

    A method is ruled out, or the best, only if it is so for every rounding of the numbers.
    """
    full = {name: arm for name, arm in arms.items() if None not in (arm.mean, arm.sd, arm.n)}
    sizes = {arm.n for arm in full.values()}
    if len(full) < 3 or len(full) < len(arms) or len(sizes) != 1:
        return
    n = sizes.pop() or 0
    sds = np.array([arm.sd.value for arm in full.values() if arm.sd is not None])
    if not sds.all() or sds.max() > MOST_APART * sds.min():
        return
    widths = [
        constant(len(full) - 1, len(full) * (n - 1)) * pooled * (2 / n) ** 0.5
        for pooled in _pooled(full)
    ]
    sign = 1 if better == "higher" else -1
    ends = {
        name: sorted((sign * arm.mean.low, sign * arm.mean.high))
        for name, arm in full.items()
        if arm.mean is not None
    }
    out, kept, unsure = [], [], []
    for name, (low, high) in ends.items():
        others = [each for other, each in ends.items() if other != name]
        least, most = max(each[0] for each in others), max(each[1] for each in others)
        if high + widths[1] < least:
            out.append(name)
        elif low + widths[0] >= most:
            kept.append(name)
        else:
            unsure.append(name)
    yield _sentence(column, out, kept, unsure)


def _pooled(arms: Mapping[str, PrintedArm]) -> tuple[float, float]:
    """The least and the greatest pooled deviation that the printed ones allow."""
    known = [arm.sd for arm in arms.values() if arm.sd is not None]
    low = np.mean([max(sd.low, 0.0) ** 2 for sd in known]) ** 0.5
    return float(low), float(np.mean([sd.high**2 for sd in known]) ** 0.5)


def _sentence(column: str, out: list[str], kept: list[str], unsure: list[str]) -> str:
    parts = []
    if len(kept) == 1 and not unsure:
        parts.append(f"{kept[0]} is the best")
    elif kept:
        parts.append(f"{_some(kept)} may be the best")
    if out:
        parts.append(f"ruled out: {_some(out)}")
    if unsure:
        parts.append(f"open by rounding: {_some(unsure)}")
    return (
        f"{column}: by Hsu's comparison with the best (context; one deviation for all is "
        f"assumed), {'; '.join(parts)}."
    )


def _some(names: list[str]) -> str:
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return ", ".join(names[:NAMED]) + more


_TUKEY = {
    "diff": "diff",
    "meandiff": "diff",
    "lwr": "low",
    "lower": "low",
    "upr": "high",
    "upper": "high",
}


def in_tukey(text: str, file: str) -> tuple[Statement, ...] | None:
    """The comparisons of all pairs that R's TukeyHSD or statsmodels prints; None for other texts.

    Half of an interval is so many errors as the studentized range has at its level, which gives q.
    """
    if of_pairs := re.search(r"\(I-J\)|conf\.low.*p\.adj", text):
        mistake = "comparisons of all pairs, in a form that is not read"
        expected = "if they are Tukey's: columns comparison,diff,lwr,upr,p adj and a line df = 27"
        place = place_of_offset(text, of_pairs.start(), file)
        raise fatal(place, mistake, expected, "write b-a for each pair of groups, and each once")
    found: list[Statement] = []
    rows: list[tuple[str, dict[str, PrintedNumber], int]] = []
    columns: list[str] = []
    of_tukey = "tukey" in text.lower()
    for number, line in enumerate([*text.split("\n"), ""], 1):
        words = re.findall(r"p[ ._-]?adj|[a-z]\w*", line.lower())
        roles = [
            _TUKEY.get(word) or ("p" if re.match("p[ ._-]?adj", word) else "") for word in words
        ]
        named = (
            "lwr" in words and "p" not in words
        ) or of_tukey  # other tests have such columns too
        if named and {"diff", "low", "high", "p"} <= {*roles}:
            columns = [role for role in roles if role]
        elif columns and (row := _tukey_row(line)):
            values = map(PrintedNumber.read, row[1])
            rows.append((row[0], dict(zip(columns, values, strict=True)), number))
        elif rows and not line.strip(" -="):
            found += _of_tukey(rows, text, file, len(found))
            rows, columns = [], []
    return tuple(found) or None


def _tukey_row(line: str) -> tuple[str, list[str]] | None:
    line = re.sub(r"[|,;\t]", " ", line)
    numbers = rf"({CELL}(?:\s+{CELL}){{3}})(?:\s+(?:True|False))?"
    row = re.fullmatch(rf"\s*(\S.*?)\s+{numbers}\s*", line)
    return None if row is None else (row[1], re.findall(CELL, row[2]))


def _of_tukey(
    rows: Sequence[tuple[str, Mapping[str, PrintedNumber], int]], text: str, file: str, before: int
) -> Iterator[Statement]:
    """Each pair of a factor; SpecError where its groups, or df of the residuals, are not known."""
    from scipy.stats import studentized_range  # noqa: PLC0415 - slow to import

    place = Place(file, rows[0][2], 1)
    groups = {name for pair, *_ in rows for name in re.split(r"-|\s+", pair)}
    if len(groups) * (len(groups) - 1) != 2 * len(rows):
        mistake, advice = "the number of groups is open", "paste all pairs, b-a for b and a"
        raise fatal(place, mistake, "a row for each pair of groups", advice)
    said = re.search(r"(?im)^\s*residuals?\s+([0-9]+)\b", text) or DF.search(text)
    if said is None:
        mistake = "nothing says the degrees of freedom of the residuals"
        advice = "add that line, with the df that summary(aov) prints for Residuals"
        raise fatal(place, mistake, "a line df = 27 below the table", advice)
    df = next(filter(None, said.groups()))
    level = re.search(r"([0-9.]+)% (?:family|conf)|FWER=([0-9.]+)", text)
    alpha = 0.05 if level is None else float(level[2] or 1 - float(level[1]) / 100)
    critical = float(studentized_range.ppf(1 - alpha, len(groups), int(df)))
    for at, (pair, of, line) in enumerate(rows, before + 1):
        half = (of["high"].value - of["low"].value) / 2
        slack = (of["high"].half + of["low"].half) / 2
        if half <= slack:
            raise fatal(
                Place(file, line, 1), "an interval without length", "0.17 to 1.56", "correct it"
            )
        ends = [
            critical * max(abs(of["diff"].value) - of["diff"].half, 0) / (half + slack),
            critical * (abs(of["diff"].value) + of["diff"].half) / (half - slack),
        ]
        middle = sum(ends) / 2
        q = PrintedNumber(f"{middle:.4g}", middle, (ends[1] - ends[0]) / 2)
        degrees = (PrintedNumber.read(str(len(groups))), PrintedNumber.read(df))
        yield Statement(f"{at}: {pair[:60]}", "q", degrees, q, printed_p(of["p"].text))
