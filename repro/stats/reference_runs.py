"""A new run, or the mean of several, against the runs of a reference: the prediction interval.

The scatter is that of the reference alone, and new runs are taken to scatter as its runs do. With
``n`` runs of the reference, mean m and standard deviation s, the mean of ``k`` new ones lies in
``m ± t s sqrt(1/k + 1/n)``, t Student's with ``n - 1`` degrees of freedom. It errs in alpha on
average over references: one that is held against new runs night after night may err more often
every night. Then alpha is shared over the nights, or the limit is one of tolerance (noncentral
t). Hahn and Meeker 1991, chapters 4 and 7; statistics.md 1.10.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar, Literal, Self, TypeAlias

import numpy as np
from scipy.special import chdtri, fdtrc, nctdtrinc, nctdtrit, ndtr, ndtri, stdtr, stdtrit

from repro.errors import ClaimError, TooFewError
from repro.stats.contrast import Contrast
from repro.stats.data_signs import ScaleOfArm, factor_between
from repro.stats.planning import PlannedTest
from repro.stats.power import (
    Array,
    PairedDesign,
    detectable,
    power_above,
    power_equivalence,
    smallest_size,
)
from repro.stats.records import (
    Alternative,
    Arm,
    Interval,
    Summary,
    TestResult,
    check_alpha,
    summarise,
)

BadSide: TypeAlias = Literal["both", "higher", "lower"]
"""On which side of the reference a run is bad."""

LEAST_OF_REFERENCE = 3
"""Fewest runs of a reference: with two, t has one degree of freedom, and nothing is outside."""

MONTH = 30
"""Nights of a month, over which false alarms are counted."""

SCATTER = 0.001
"""The p of an F-test below which new runs scatter more than a reference, and confirm nothing."""

ONE_IN_TEN = 0.9
"""The share of references of which a rate of false alarms is not exceeded."""

_PARTS = 300
"""So many equally likely means, and as many standard deviations, stand for all references."""

HALF = 0.5


@dataclass(frozen=True, slots=True)
class ReferenceUse:
    """How new runs are held against a reference of ``n``: ``k`` of them at a time.

    ``side`` is where a run is bad. ``alpha`` is that of all ``nights`` together; with
    ``confidence`` (above 0.5, below 1) it is that of any night, for this share of all references:
    a limit of tolerance, on one side. ``ClaimError`` for other numbers, ``TooFewError`` for a
    reference of fewer than ``LEAST_OF_REFERENCE``.
    """

    n: int
    k: int = 1
    side: BadSide = "both"
    alpha: float = 0.05
    nights: int = 1
    confidence: float | None = None

    def __post_init__(self) -> None:
        check_alpha(self.alpha)
        if self.n < LEAST_OF_REFERENCE:
            raise TooFewError(
                f"{self.n} runs of a reference do not say what a new one should be",
                advice=f"give it {LEAST_OF_REFERENCE} or more",
            )
        if min(self.k, self.nights) < 1:
            raise ClaimError(
                "a reference is held against one new run or more, in one night or more"
            )
        if self.confidence is None:
            return
        if not HALF < self.confidence < 1:
            raise ClaimError(f"a confidence lies between 0.5 and 1, not at {self.confidence}")
        if self.side == "both" or self.nights > 1:
            raise ClaimError("a limit of tolerance is on one side, and for any number of nights")

    @property
    def unit(self) -> float:
        """The true standard error of new mean minus reference, where values have the sd 1."""
        return math.sqrt(1 / self.k + 1 / self.n)

    @property
    def sides(self) -> int:
        """On how many sides a run may be bad."""
        return 2 if self.side == "both" else 1

    @property
    def tail(self) -> float:
        """How often a new run is outside on one side, on average over references."""
        if self.confidence is None:
            return self.alpha / self.sides / self.nights
        aim = -float(ndtri(self.alpha)) * math.sqrt(self.n / self.k)
        limit = float(nctdtrit(self.n - 1, aim, self.confidence)) / math.sqrt(self.n)
        return float(stdtr(self.n - 1, -limit / self.unit))

    @property
    def reach(self) -> float:
        """How far from the reference's mean the limit lies, in its standard deviations s."""
        return -float(stdtrit(self.n - 1, self.tail)) * self.unit

    def p(self, distance: float) -> float:
        """How small alpha could be for a new mean at this distance, in s, to be outside still.

        It is comparable with ``alpha``: of all nights, of both sides.
        """
        if self.confidence is not None:
            at = distance * math.sqrt(self.n)
            aim = float(nctdtrinc(self.n - 1, self.confidence, at))
            return float(ndtr(-aim * math.sqrt(self.k / self.n)))
        one = float(stdtr(self.n - 1, -distance / self.unit))
        return min(1.0, one * self.sides * self.nights)

    def nightly(self) -> Array:
        """The rate of false alarms of each of many equally likely references; 90,000 of them."""
        shares = (np.arange(_PARTS) + 0.5) / _PARTS
        sd = np.sqrt(chdtri(self.n - 1, 1 - shares) / (self.n - 1))[:, None] * self.reach
        mean = ndtri(shares) / math.sqrt(self.n)
        rates = ndtr(-(sd + mean) * math.sqrt(self.k))
        if self.side == "both":
            rates += ndtr((mean - sd) * math.sqrt(self.k))
        return np.sort(rates, axis=None)

    def missed_half(self) -> float:
        """The shift, in true standard deviations, that is inside half of the time."""
        design = NewRunsDesign(1.0, self.n, self.tail, new=self.k)
        found = detectable(lambda size: power_above(design, size, 0.0), design.se, HALF)
        return math.inf if found is None else found


@dataclass(frozen=True, slots=True)
class FalseAlarms:
    """What a reference does night after night where nothing has changed, normal values.

    ``a_month`` are those expected in 30 nights, ``any_in_a_month`` is the chance of one or more,
    and one reference in ten has a rate above ``one_in_ten`` a night.
    """

    a_month: float
    any_in_a_month: float
    one_in_ten: float


def false_alarms(watch: ReferenceUse) -> FalseAlarms:
    """The false alarms of all references, from ``ReferenceUse.nightly``."""
    rates = watch.nightly()
    return FalseAlarms(
        a_month=MONTH * watch.tail * watch.sides,
        any_in_a_month=float(np.mean(1 - (1 - rates) ** MONTH)),
        one_in_ten=float(rates[int(ONE_IN_TEN * len(rates))]),
    )


NIGHTS = (7, 30, 90, 365)
"""Numbers of nights that share alpha whose error rates were measured."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WithinResult(TestResult):
    """``reference`` is its mean and ``sd`` its standard deviation; ``watch`` how it was used.

    ``wider`` is how many times as much new runs scatter, where it is refuted that they scatter as
    the reference does.
    """

    reference: float
    sd: float
    watch: ReferenceUse
    wider: float | None = None

    @property
    def missed(self) -> float:
        """The shift, in units, that is inside half of the time if the true sd is this one."""
        return self.watch.missed_half() * self.sd

    @property
    def measured_as(self) -> str:
        """The name by which its error rates were measured, or would have to be.

        One run, a mean, so many nights that share alpha (or more, the next of ``NIGHTS``), and a
        limit of tolerance are apart.
        """
        use, mean = self.watch, " mean" if self.watch.k > 1 else ""
        side = "" if use.side == "both" else " one-sided"
        if use.confidence is not None:
            return f"within{mean} tolerance"
        if use.nights > 1:
            nights = next((each for each in NIGHTS if each >= use.nights), use.nights)
            return f"within{mean} {nights} nights{side}"
        return f"within{mean}{side}"

    @property
    def limits(self) -> tuple[float, float]:
        """Between which values the new mean is inside."""
        reach = self.watch.reach * self.sd
        return self.reference - reach, self.reference + reach


def within(
    new: Arm,
    reference: Arm,
    *,
    side: BadSide = "both",
    margin: float | None = None,
    nights: int = 1,
    confidence: float | None = None,
    alpha: float = 0.05,
) -> WithinResult:
    """Is the mean of ``new`` what the runs of ``reference`` lead to expect?

    ``effect`` is new minus reference, in the units of the arms; the interval holds the shift of
    new runs, and leaves 0 out exactly where the new mean is outside. ``p_opposite`` is that of no
    shift, small outside; ``p`` that of a shift of ``margin`` or more on the bad side, small where
    the whole interval lies within it. It is 1 outside, without a margin, as being inside confirms
    nothing, and for new runs that scatter more than the reference (F-test at ``SCATTER``). Both
    are comparable with ``alpha``, that of all ``nights``.

    ``ClaimError`` as of ``ReferenceUse``, for a reference without standard deviation or with
    equal runs, a margin not above 0, and where one mean is in percent and the other a fraction.
    """
    first, second = summarise(new), summarise(reference)
    watch = ReferenceUse(second.n, first.n, side, alpha, nights, confidence)
    if second.spread == 0:
        raise ClaimError(EQUAL.format(second.n, second.mean))
    levels = (
        ScaleOfArm(each.mean, each.sd if each.n > 1 else None, 0.0) for each in (first, second)
    )
    if factor_between(*levels) == PERCENT:
        raise ClaimError(UNITS.format(first.mean, second.mean), advice="write both in one unit")
    if margin is not None and not margin > 0:
        raise ClaimError(f"a margin lies above 0, not at {margin}")
    contrast = Contrast(first.mean - second.mean, second.spread * watch.unit, second.n - 1)
    low = None if margin is None or side == "higher" else -margin
    high = None if margin is None or side == "lower" else margin
    distance, reach = contrast.effect / second.spread, watch.reach * second.spread
    p_outside, wider = _p_outside(watch, distance), _wider(first, second)
    p_within = _p_within(watch, distance, low, high, second.spread)
    return WithinResult(
        test="within",
        effect=contrast.effect,
        alpha=alpha,
        n=(first.n, second.n),
        interval=Interval(contrast.effect - reach, contrast.effect + reach, 1 - 2 * watch.tail),
        p=1.0 if p_outside <= alpha or wider else p_within,
        p_opposite=p_outside,
        statistic=contrast.statistic(),
        df=contrast.df,
        se=contrast.se,
        low=low,
        high=high,
        alternative=ALTERNATIVES[side],
        reference=second.mean,
        sd=second.spread,
        watch=watch,
        wider=wider,
    )


ALTERNATIVES: dict[BadSide, Alternative] = {
    "both": "two-sided",
    "higher": "greater",
    "lower": "less",
}

EQUAL = (
    "all {} runs of the reference are {:.9g}, which says nothing of how far from them another may "
    "lie; write more digits, or claim a bound"
)
"""Why runs that agree give no interval."""


PERCENT = 100

UNITS = (
    "one may be in percent and the other a fraction: the new mean is {:.9g}, and that of the "
    "reference {:.9g}"
)
"""Why values that are a hundredfold apart are not compared."""


def _wider(new: Summary, reference: Summary) -> float | None:
    """How many times as much new runs scatter, where an F-test says that it is more."""
    if new.sd is None or new.n == 1:
        return None
    ratio = new.sd / reference.spread
    return ratio if fdtrc(new.n - 1, reference.n - 1, ratio**2) <= SCATTER else None


def _p_outside(watch: ReferenceUse, distance: float) -> float:
    """That of no shift, on the bad side; ``distance`` in s."""
    if watch.side == "both":
        return watch.p(abs(distance))
    return watch.p(distance if watch.side == "higher" else -distance)


def _p_within(
    watch: ReferenceUse, distance: float, low: float | None, high: float | None, sd: float
) -> float:
    """That of a shift at the nearer margin; 1 without one."""
    gaps = [high / sd - distance] if high is not None else []
    gaps += [distance - low / sd] if low is not None else []
    return watch.p(min(gaps)) if gaps else 1.0


@dataclass(frozen=True, slots=True)
class NewRunsDesign(PairedDesign):
    """``new`` runs against ``n`` of a reference, normal values of one standard deviation.

    ``alpha`` is that of one side.
    """

    new: int = 1

    @property
    def se(self) -> float:
        """The true standard error of new mean minus reference mean."""
        return self.sd * math.sqrt(1 / self.new + 1 / self.n)


@dataclass(frozen=True, slots=True)
class PlannedWithin(PlannedTest):
    """New runs against a reference; ``n`` has the new ones first, and those of the reference.

    With ``low`` or ``high``, the margins (as far from 0 as each other), the power is that of an
    interval within them, and no shift found. Without, it is that of a shift of ``effect`` found.
    ``alpha`` is that of one side, see ``ReferenceUse.tail``; ``sd`` is that of a run.
    """

    name: ClassVar[str] = "a new run within a reference"
    units: ClassVar[str] = "runs"

    @property
    def within_margin(self) -> bool:
        """Whether a margin is planned for."""
        return self.low is not None or self.high is not None

    @property
    def claims_smallness(self) -> bool:
        return self.within_margin

    @property
    def design(self) -> NewRunsDesign:
        if not self.sd:
            raise ClaimError(f"planning for {self.name} needs a standard deviation")
        return NewRunsDesign(self.sd[0], self.n[-1], self.alpha, new=self.n[0])

    def refused(self) -> str:
        few = self.n[-1] < LEAST_OF_REFERENCE
        said = f"{self.n[-1]} runs of a reference say nothing of a new one; plan at least"
        return f"{said} {LEAST_OF_REFERENCE}" if few else ""

    def sized(self, size: float) -> Self:
        if not self.within_margin:
            return replace(self, effect=size)
        low, high = (None if self.low is None else -size), (None if self.high is None else size)
        return replace(self, low=low, high=high)

    def detected(self, size: float) -> float | None:
        return size

    def computed(self) -> float:
        if not self.within_margin:
            return power_above(self.design, self.truth, 0.0)
        margin = self.high if self.high is not None else -(self.low or 0.0)
        truth = self.truth if self.high is not None else -self.truth
        if self.low is not None and self.high is not None:
            within_it = power_equivalence(self.design, truth, low=-margin, high=margin)
        else:
            within_it = power_above(self.design, margin, truth)
        return max(0.0, within_it - self._outside(margin, truth))

    def _outside(self, margin: float, truth: float) -> float:
        """The chance that the interval lies within the margin, and 0 beyond its bad end."""
        design = self.design
        reach, weights = design.half_widths(design.alpha, margin / 2)
        more = ndtr((margin - reach - truth) / design.se) - ndtr((reach - truth) / design.se)
        if self.low is not None and self.high is not None:
            more += ndtr((margin - reach + truth) / design.se) - ndtr((reach + truth) / design.se)
        return float(np.sum(weights * more))

    def chance(self, n: int) -> float:
        """The power with ``n`` new runs, against the same reference."""
        return replace(self, n=(n, self.n[-1])).computed()

    def seeds(self, power: float) -> int | None:
        """The fewest new runs with the power, against the same reference; None if too many."""
        return 1 if self.chance(1) >= power else smallest_size(self.chance, target=power)
