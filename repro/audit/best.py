"""Hsu's comparison with the best: which methods of a column may be the best, all said together.

Each method is held against each other by Welch's test on one side, at 5 % over the number of rivals
(Bonferroni), so the best is ruled out in about 5 % of columns at most. That of Hsu (1984) pools the
deviations: where the best has three times that of the others, it is ruled out in 11 % of columns
with three methods of ten runs, and in 20 % with ten methods (those that differ up to threefold).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Literal

from scipy.special import stdtrit

from repro.audit.as_printed import AsPrinted
from repro.audit.comparison import PrintedArm
from repro.audit.findings import NAMED
from repro.audit.printed_pairs import ComparedPair, Decided, Scenario, arm_of, groups_of
from repro.evidence.published import PrintedNumber, Rounding

ALPHA = 0.05
LEAST_RUNS = 3
MOST_PER_RUN = 2
"""Up to so many methods for each run of one it errs in at most 6.6 %, whatever the deviations."""

SHOWN = 5
FEW = 3


def compared_with_the_best(
    arms: Mapping[str, PrintedArm], better: Literal["higher", "lower"], column: str
) -> Iterator[str]:
    """A sentence on three or more methods of equal n; none where a number is missing.

    A method is ruled out, or the best, only if it is so for every rounding of the numbers.
    """
    sign = 1 if better == "higher" else -1
    known = {name: (arm.mean, arm.sd) for name, arm in arms.items() if arm.mean and arm.sd}
    sizes = {arm.n for arm in arms.values()}
    if len(known) < 3 or len(known) < len(arms) or len(sizes) > 1:
        return
    n = sizes.pop() or 0
    constant = any(sd.low <= 0 for _, sd in known.values())
    if constant or n < LEAST_RUNS or len(known) > MOST_PER_RUN * n:
        return
    ends = {name: sorted((sign * mean.low, sign * mean.high)) for name, (mean, _) in known.items()}
    out, kept, unsure = [], [], []
    for name, (low, high) in ends.items():
        others = [
            (each, _widths((known[name][1], known[other][1]), n, ALPHA / (len(known) - 1)))
            for other, each in ends.items()
            if other != name
        ]
        if any(high + most < lowest for (lowest, _), (_, most) in others):
            out.append(name)
        elif all(low + least >= highest for (_, highest), (least, _) in others):
            kept.append(name)
        else:
            unsure.append(name)
    yield _sentence(column, out, kept, unsure)


def _widths(sds: tuple[PrintedNumber, PrintedNumber], n: int, tail: float) -> tuple[float, float]:
    """The least and the greatest difference of two means that Welch's test takes for none."""
    found = []
    for a, b in product(*((sd.low**2, sd.high**2) for sd in sds)):
        df = (n - 1) * (a + b) ** 2 / (a**2 + b**2)
        found.append(-float(stdtrit(df, tail)) * ((a + b) / n) ** 0.5)
    return min(found), max(found)


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
        f"{column}: by Hsu's comparison with the best (context; each pair by Welch's test), "
        f"{'; '.join(parts)}."
    )


def _some(names: list[str]) -> str:
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return ", ".join(names[:SHOWN]) + more


def best_of(
    printed: AsPrinted, source: str, decided: Decided, scenario: Scenario, rounding: Rounding
) -> Iterator[str]:
    """Hsu's comparison of each column whose best is chosen by the data."""
    meaning, n = scenario
    for group, column, arms, ps in groups_of(printed, source, decided):
        way = decided.better or printed.better.get(column)
        if way is not None and not ps:
            read = {name: arm_of(value, n, meaning, rounding) for name, value in arms.items()}
            yield from compared_with_the_best(read, way, group)


def on_the_way(
    printed: AsPrinted, decided: Decided, pairs: Sequence[ComparedPair]
) -> Iterator[str]:
    """Which way was taken for better though the table does not say it, or that it is open."""
    if decided.better is not None or decided.baseline is not None or any(p.p for p in pairs):
        return
    if names := printed.way_guessed:
        more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
        yield (
            f"Higher is taken to be better in {', '.join(names[:NAMED])}{more}, for such numbers "
            "are mostly accuracies: --better lower turns it."
        )
    if printed.of_bold and len(printed.columns if printed.across else printed.methods) > 2:
        yield printed.of_bold
    with_spread = {key for row in printed.methods for key, v in row.values.items() if v.spread}
    names_of = [each for each in printed.columns if each in with_spread]
    names_of = [row.name for row in printed.methods] if printed.across else names_of
    complete = sum(pair.complete for pair in pairs)
    parts = {row.section for row in printed.methods if printed.sectioned}
    told = any(names and {*names} <= printed.better.keys() for names in (names_of, parts))
    if complete > FEW and not told:
        yield (
            "Nothing says which way is better, so all pairs are compared: --better higher or "
            "--better lower compares the best with the others."
        )
