"""A table as it is printed -> the pairs of values that it compares.

Each method against the baseline where the user, a note or the p-values name one; else the best
against every other, or all pairs where nothing says which way is better.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TypeAlias

from scipy.special import ndtri, stdtrit

from repro.audit.as_printed import AsPrinted
from repro.audit.comparison import Answer, PrintedArm, PrintedComparison
from repro.audit.printed_cells import PrintedValue
from repro.audit.printed_layout import is_ours
from repro.audit.printed_rows import Method
from repro.audit.printed_words import (
    UNNAMED,
    Better,
    Meaning,
    NamedTest,
    Reading,
    Side,
    metrics_in,
    test_told,
    way,
)
from repro.errors import Place
from repro.evidence.published import PrintedNumber, Rounding
from repro.files import fatal

ALPHA = 0.05
MEANT: Mapping[Reading, Callable[[int, float], float]] = {
    "sd": lambda *_: 1.0,
    "se": lambda n, _: math.sqrt(n),
    "ci95-t": lambda n, level: math.sqrt(n) / float(stdtrit(n - 1, (1 + level) / 2)),
    "ci95-z": lambda n, level: math.sqrt(n) / float(ndtri((1 + level) / 2)),
}
"""What ± may be, and the factor to the deviation of n runs, of an interval at its level."""

SIZES = (2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 15, 20, 30, 50, 100, 1000)
"""The numbers of runs that are tried where none is printed."""

VALUES_NEEDED = ("wilcoxon", "mann_whitney", "permutation")
Scenario: TypeAlias = tuple[Meaning, int | None]

NO_SPREADS = Meaning("other"), Meaning("chosen")
MANY = 100
"""With so many runs t and z make intervals of one length, up to 1.3 %."""


@dataclass(frozen=True, slots=True)
class Decided:
    """What the user says of a table that the table itself does not."""

    n: int | None = None
    plus_minus: Reading | None = None
    baseline: str | None = None
    better: Better | None = None
    methods: Side | None = None


NO_STAR = " (no star)"
"""What stands behind the p of a value without a star, where others have one."""

_BEFORE = re.compile(r"\b(?:pre|before|baseline|pre-?test)\b")
_AFTER = re.compile(r"\b(?:post|after|follow-?up|post-?test)\b")


@dataclass(frozen=True, slots=True)
class ComparedPair:
    """Two values to compare; ``shown`` is whether the comparison is one that the table makes.

    ``doubt`` is why the printed p cannot be checked, if it cannot. ``others`` are the values that
    it may be against too, where nothing says that it is against ``b``.
    """

    id: str
    names: tuple[str, str]
    a: PrintedValue
    b: PrintedValue
    p: PrintedNumber | None
    shown: bool = True
    named: NamedTest = UNNAMED
    doubt: str = ""
    others: tuple[PrintedValue, ...] = ()

    def comparison(self, meaning: Meaning, n: int | None, rounding: Rounding) -> PrintedComparison:
        """The comparison with deviations and sizes as one reading has them."""
        a, b = (arm_of(value, n, meaning, rounding) for value in (self.a, self.b))
        p = None if self.doubt else self.p
        test, tails, _ = self.tests if p is not None else UNNAMED
        test = None if test in ("paired", "wilcoxon") and a.n != b.n else test
        return PrintedComparison(self.id, a, b, p, alpha=ALPHA, test=test, tails=tails)

    @property
    def tests(self) -> NamedTest:
        """The test that the rows of both name, else that of the notes."""
        said = " ".join(dict.fromkeys(filter(None, (self.a.test, self.b.test))))
        return test_told(said) if said else self.named

    @property
    def before_and_after(self) -> bool:
        """Whether the names are those of the same subjects before and after something."""
        return any(
            _BEFORE.search(first.lower()) and _AFTER.search(last.lower())
            for first, last in (self.names, self.names[::-1])
        )

    @property
    def senses(self) -> set[Meaning]:
        """What ± of a value that may be one thing or another may be."""
        found = [senses(each) for each in (self.a, self.b) if each.spread is not None]
        return {sense for each in found if len(each) > 1 for sense in each}

    def of_deviations(self, meaning: Meaning) -> bool:
        """Whether both spreads are deviations in a reading of those that may be."""
        both = (self.a, self.b)
        return all(_meant(each, meaning).reading == "sd" for each in both if senses(each))

    @property
    def missing(self) -> list[str]:
        """The names of the values that no spread is printed with."""
        both = zip(self.names, (self.a, self.b), strict=True)
        return [name for name, value in both if value.spread is None]

    @property
    def starless(self) -> bool:
        """Whether a missing star says what the p is."""
        return self.p is not None and self.p.text.endswith(NO_STAR)

    @property
    def complete(self) -> bool:
        """Whether both values have a spread, and neither is that of one run."""
        both = (self.a, self.b)
        return all(each.spread is not None and each.n != 1 and senses(each) for each in both)


def scenarios_of(pairs: Sequence[ComparedPair]) -> list[Scenario]:
    """Each reading of ± that is open, with each number of runs that may be."""
    are_open = {sense for pair in pairs for sense in pair.senses}
    order = [*MEANT]
    readings = sorted(are_open, key=lambda each: (order.index(each.reading), each.level))
    readings = readings or [Meaning("sd")]
    missing = any(None in (pair.a.n, pair.b.n) for pair in pairs if pair.complete)
    return [(reading, n) for reading in readings for n in (SIZES if missing else (None,))]


def cannot(pair: ComparedPair) -> tuple[Answer, str]:
    """Why nothing can be said of a pair without a test."""
    if pair.doubt and pair.p is not None:
        return "cannot say", pair.doubt
    if 1 in (pair.a.n, pair.b.n):
        return "cannot say", "one run in an arm says nothing of its scatter"
    for said in [each for each in NO_SPREADS if each in (pair.a.meaning, pair.b.meaning)][:1]:
        told = f"by its words ± is {said.name}"
        unless = "If it is not, change these words, or those of a caption by --plus-minus"
        return "cannot say", f"{told}, which no t-test takes. {unless}"
    if uneven := [value.mean.text for value in (pair.a, pair.b) if value.uneven]:
        of = f"the interval of {uneven[0]} is asymmetric, as one of a bootstrap or of logits is"
        return "cannot say", f"{of}, so no standard error follows from its width"
    missing = [value.mean.text for value in (pair.a, pair.b) if value.spread is None]
    if missing:
        return "cannot say", f"no spread (±) is printed with {' and '.join(missing)}"
    of_values = "the test that the table names takes the value of every run"
    of_zero = "both spreads are printed as 0, so no test can be made"
    return "cannot say", of_values if pair.tests.test in VALUES_NEEDED else of_zero


def senses(value: PrintedValue) -> Sequence[Meaning]:
    """What ± of a value may be."""
    said = value.meaning
    if said is None:
        return [Meaning(each) for each in MEANT]
    if said in NO_SPREADS:
        return []
    if said.reading != "ci95":
        return [said]
    by_t, by_z = (replace(said, reading=each) for each in ("ci95-t", "ci95-z"))
    return [by_t] if (value.n or 0) >= MANY else [by_t, by_z]


def _meant(value: PrintedValue, meaning: Meaning) -> Meaning:
    """What ± of a value is in a reading of those that may be one thing or another."""
    return meaning if meaning in senses(value) else senses(value)[0]


def arm_of(value: PrintedValue, n: int | None, meaning: Meaning, rounding: Rounding) -> PrintedArm:
    """A value of ``n`` runs, where the table says no other number, in a reading of ±."""
    mean, spread, n = value.mean.under(rounding), value.spread, value.n or n
    if n is None or n < 2 or spread is None or not senses(value):
        return PrintedArm(mean, None, None)
    spread = spread.under(rounding)
    meant = _meant(value, meaning)
    by = MEANT[meant.reading](n, meant.level) / meant.times
    spread = replace(spread, value=spread.value * by, half=spread.half * by)
    return PrintedArm(mean, spread, n)


def pairs_of(printed: AsPrinted, source: str, decided: Decided) -> Iterator[ComparedPair]:
    """The pairs of each column, or row, and whether the table makes their comparison."""
    for group, column, known, ps in groups_of(printed, source, decided):
        _refuse_units(known, group, source)
        baseline = _baseline(known, ps, printed, source, decided)
        way = decided.better or printed.better.get(column)
        if baseline is not None:
            claims = dict(_claims(baseline, known, ps, printed, way))
            sure = decided.baseline or printed.compared_with == baseline
            yield from _against(baseline, known, claims, printed, group, sure=bool(sure))
            continue
        ordered = list(known)
        if way is not None:
            sign = 1 if way == "higher" else -1
            ordered.sort(key=lambda name: _rank(known[name], sign), reverse=True)
        for a, b in combinations(ordered, 2):
            stars = _by_stars(known[a], printed.legend) if len(known) == 2 else None
            best = next((name for name in ordered if known[name].spread), ordered[0])
            shown = way is None or best in (a, b)
            p = (ps.get(a) if b in ps else None) or stars
            yield ComparedPair(
                _named(a, b, group),
                (a, b),
                known[a],
                known[b],
                p,
                shown,
                printed.test,
                printed.of_p.doubt,
            )


def _claims(
    baseline: str,
    arms: Arms,
    ps: Mapping[str, PrintedNumber],
    printed: AsPrinted,
    way: Better | None,
) -> Iterator[tuple[str, PrintedNumber]]:
    """The p of each method against the baseline: printed, of its stars, or of none.

    A value without a star is not significant, or was not tested, where the test is named; one that
    is worse claims nothing where stars mark the better ones.
    """
    stars = {name: p for name, arm in arms.items() if (p := _by_stars(arm, printed.legend))}
    levels = [p.value for p in printed.legend.values() if p.relation == "<"]
    test = printed.test
    named = (test.test is not None or test.unpaired) and test.tails != 1
    told = named and bool(levels) and not ps and printed.compared_with == baseline
    told = told and not all(map(is_ours, stars))  # all others may be untested
    for name, arm in arms.items():
        above = arm.mean.value > arms[baseline].mean.value
        may_be = printed.starred in ("", "all") or (
            printed.starred == "better" and way is not None and above == (way == "higher")
        )
        if p := ps.get(name) or stars.get(name):
            yield name, p
        elif told and may_be and not arm.stars:
            above_all = PrintedNumber.read(f">{max(levels):g}")
            yield name, replace(above_all, text=f"{above_all.text}{NO_STAR}")


def _doubt(baseline: str, arms: Arms, ps: Mapping[str, PrintedNumber], printed: AsPrinted) -> str:
    """Why no p against the baseline can be checked, if none can."""
    said = f" {printed.against.lower()} "
    named = any(word in said for word in re.findall(r"\w{3,}", baseline.lower()))
    several = any(f" {name.lower()} " in said for name in arms if name != baseline)
    if printed.against and len(arms) > 2 and (several or not named):
        return (
            f"the words say that p is against {printed.against!r}, which is not read. To check a "
            "p, paste its two rows alone, and name the one that it is against: --baseline NAME"
        )
    small = [arms[name].mean.value for name, p in ps.items() if name != baseline and p.high < 0.5]
    if printed.test.tails == 1 and len({each > arms[baseline].mean.value for each in small}) > 1:
        return (
            "by the words p is one-sided, and it is below 0.5 for differences of both signs: "
            "whichever side was tested, those of the other sign have a p above 0.5"
        )
    return printed.of_p.doubt


def _against(
    baseline: str,
    arms: Arms,
    ps: Mapping[str, PrintedNumber],
    printed: AsPrinted,
    group: str,
    *,
    sure: bool,
) -> Iterator[ComparedPair]:
    """Each method against the baseline, which is open where only a missing p says it."""
    told = replace(printed, against="") if sure else printed
    doubt = _doubt(baseline, arms, ps, told)
    for name, arm in arms.items():
        if name != baseline:
            others = [each for other, each in arms.items() if other not in (name, baseline)]
            yield ComparedPair(
                _named(name, baseline, group),
                (name, baseline),
                arm,
                arms[baseline],
                ps.get(name),
                named=printed.test,
                doubt=doubt,
                others=() if sure else tuple(others),
            )


def _refuse_units(arms: Arms, group: str, source: str) -> None:
    """SpecError where one value is printed in percent and another as a share."""
    percent = [each.mean for each in arms.values() if each.percent and each.mean.value > 1]
    others = [each.mean for each in arms.values() if not each.percent]
    shares = [each.mean for each in arms.values() if _may_be_share(each)]
    if percent and others and all(mean in shares for mean in others):
        mistake = (
            f"{group}: {percent[0].text} is in percent, and {others[0].text} looks like a share"
        )
        advice = "write all of them in percent, or none"
        raise fatal(Place(source), mistake, "values in one unit", advice)
    likely = [share for share in shares if 0.2 <= share.value < 1]
    wholes = [each.mean for each in arms.values() if 20 <= each.mean.value <= 100]
    if likely and any(all(_is_same(share, mean) for share in likely) for mean in wholes):
        mistake = f"{group}: {wholes[0].text} looks like percent, and {likely[0].text} like a share"
        advice = "write all of them in percent, or leave out those of another metric"
        raise fatal(Place(source), mistake, "values in one unit", advice)


def _is_same(share: PrintedNumber, percent: PrintedNumber) -> bool:
    """Whether a share, printed with more digits, is near to a number in percent."""
    near = 0.8 < 100 * share.value / percent.value < 1.25
    return near and share.half < percent.half


def _may_be_share(value: PrintedValue) -> bool:
    """Whether a value lies between 0 and 1, and its spread does not say that it need not."""
    wide = value.spread is not None and value.spread.value > 1
    return 0 < abs(value.mean.value) <= 1 and not wide


def _settled(
    of_value: Meaning | None, told: Meaning | None, given: Reading | None
) -> Meaning | None:
    """What ± is said to be with a value, else by the user, else in the notes.

    The user says too whether an interval is one of t or of z; its level is the table's.
    """
    if told == Meaning("chosen") and not given:
        return told
    if told is not None and told.reading not in ("sd", "se") and of_value == Meaning("ci95"):
        of_value = told
    said = of_value or told
    if said is not None and said.reading == "ci95" and given and given.startswith("ci95"):
        return replace(said, reading=given)
    return of_value or (Meaning(given) if given else told)


def _rank(value: PrintedValue, sign: int) -> tuple[float, bool]:
    """The better first; of equal means those with a spread, which can be judged."""
    return sign * value.mean.value, value.spread is not None


Arms: TypeAlias = Mapping[str, PrintedValue]


def groups_of(
    printed: AsPrinted, source: str, decided: Decided
) -> Iterator[tuple[str, str, Arms, Mapping[str, PrintedNumber]]]:
    """What is compared, within a column or a row: its name, whose direction, values and p.

    The values have the n and the meaning of ± that the table, or else the user, says.
    """
    for group, column, arms, ps in _printed_groups(printed, source):
        known = {
            name: replace(
                value,
                meaning=_settled(value.meaning, printed.meaning, decided.plus_minus),
                n=value.n or decided.n or printed.n,
            )
            for name, value in arms.items()
        }
        yield group, column, known, ps


def _printed_groups(
    printed: AsPrinted, source: str
) -> Iterator[tuple[str, str, Arms, Mapping[str, PrintedNumber]]]:
    """The same as the cells have it; the p of a row is that of its two values, if it has two."""
    if printed.across:
        _refuse_same_names(printed.methods, source)
        for row in printed.methods:
            for names in of_one_metric(list(row.values)):
                arms = {name: row.values[name] for name in names}
                of = [*arms] if len(arms) == 2 else [printed.tested] * (printed.tested in arms)
                only = next(iter(row.p.values()), None)
                ps = {} if only is None else dict.fromkeys(of, only)
                yield row.name, row.name, arms, ps
        return
    names = [row.name for row in printed.methods]
    parts = dict.fromkeys(row.section for row in printed.methods)
    of_part = printed.better if printed.sectioned else {}
    for part in parts if printed.sectioned or len(set(names)) < len(names) else [None]:
        methods = [row for row in printed.methods if part in (None, row.section)]
        _refuse_same_names(methods, source)
        for name in printed.columns:
            arms = {row.name: row.values[name] for row in methods if name in row.values}
            yield (
                f"{part}, {name}" if part else name,
                part if part and part in of_part and not way(name) else name,
                arms,
                {row.name: row.p[name] for row in methods if name in row.p},
            )


_UNIT = re.compile(r"[(\[](%|[mµμ]?s|sec|min|h|[KMGT]i?B|[MGT]FLOPs|dB|[mck]m|[mk]?g|[mk]?J)[)\]]")
"""A unit in brackets in the name of a column."""

_COSTS = re.compile(r"\b(?:run)?time\b|\bseconds\b|\bmemory\b|\bparam(?:s|eters)\b|\bflops\b")
"""What a method costs, in the name of a column, which is a metric too."""


def of_one_metric(names: Sequence[str]) -> list[list[str]]:
    """The columns that may be compared: of one unit and metric, where each name tells of one.

    A method may be called after a metric, such as ScoreSDE; then the other names tell of none.
    """
    metrics = [metrics_in(name) | {*_COSTS.findall(name.lower())} for name in names]
    units = [found[1] if (found := _UNIT.search(name)) else "" for name in names]
    metrics = metrics if all(metrics) else [frozenset()] * len(names)
    units = units if len({*units} - {""}) > 1 else [""] * len(names)
    groups: dict[tuple[frozenset[str], str], list[str]] = {}
    for name, metric, unit in zip(names, metrics, units, strict=True):
        groups.setdefault((metric, unit), []).append(name)
    return list(groups.values())


def _refuse_same_names(methods: Sequence[Method], source: str) -> None:
    counts = Counter(row.name for row in methods)
    if twice := next((name for name, count in counts.items() if count > 1), None):
        mistake = f"two rows are called {twice[:50]!r}"
        raise fatal(Place(source), mistake, "a name per method", "rename or leave out one of them")


def _named(a: str, b: str, group: str) -> str:
    return f"{a} vs {b}" + (f", {group}" if group != "value" else "")


def _baseline(
    arms: Arms,
    ps: Mapping[str, PrintedNumber],
    printed: AsPrinted,
    source: str,
    decided: Decided,
) -> str | None:
    """The method that all others are compared with, if the user or the p-values name one."""
    if decided.baseline is not None:
        found = [name for name in arms if name.lower() == decided.baseline.lower()]
        if not found:
            expected = ", ".join(list(arms)[:10])
            mistake = f"no method is called {decided.baseline[:50]!r}"
            raise fatal(Place(source), mistake, expected, "give --baseline one of these names")
        return found[0]
    starred = any(_by_stars(value, printed.legend) for value in arms.values())
    if printed.compared_with in arms and (ps or starred):
        return printed.compared_with
    if printed.across or not ps:
        return None
    without = [name for name in arms if name not in ps]
    if len(without) != 1:
        mistake = "a p per method, and nothing says which method it compares with"
        advice = "name that method: --baseline NAME"
        raise fatal(Place(source), mistake, "one method without a p", advice)
    return without[0]


def _by_stars(value: PrintedValue, legend: Mapping[str, PrintedNumber]) -> PrintedNumber | None:
    marks = [value.stars] if value.stars in legend else re.findall(r"\*+|†+|‡+|§+", value.stars)
    known = [mark for mark in marks if mark in legend]  # others are footnotes
    return legend[known[0]] if len(known) == 1 else None
