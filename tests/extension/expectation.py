"""An expectation kind in one file: the median of one arm is at most a declared limit."""

from __future__ import annotations

from math import comb
from statistics import median
from typing import Annotated, Literal

from pydantic import Field

from repro.extend import ExpectationKind, OwnExpectation, TestResult, by_p, samples_of


class MedianAtMost(OwnExpectation):
    """The keys of a claim file, beyond `id`, `measurement`, `role` and `use`."""

    kind: Literal["median_at_most"] = "median_at_most"
    of: tuple[str]
    at_most: Annotated[float, Field(gt=0)]


class MedianAtMostKind(ExpectationKind):
    """Exact sign test of the seeds below the limit; seeds that lie on it are left out."""

    Declared = MedianAtMost
    paired = False

    def test(self, declared, context, read):
        """How many seeds lie below, and how likely that is by chance."""
        (sample,) = samples_of(declared, read)
        away = [value for value in sample.values if value != declared.at_most]
        below = sum(value < declared.at_most for value in away)
        return TestResult(
            "sign of the median",
            effect=median(sample.values) - declared.at_most,
            alpha=context.alpha,
            n=(sample.n,),
            p=_at_least(below, len(away)),
            p_opposite=_at_least(len(away) - below, len(away)),
            exact=True,
        )

    def conclude(self, declared, result):
        """By the p of what is claimed, and by that of its contrary."""
        return by_p(result)

    def least_seeds(self, declared, alpha, *, paired):
        """Fewest seeds that can confirm it: all of them lie below."""
        return next(n for n in range(1, 100) if _at_least(n, n) <= alpha)

    def statement(self, declared, context):
        """What the claim says, without a full stop."""
        return f"{_median(declared, context)} is at most {declared.at_most:g}"

    def name_of_test(self, declared, context):
        """What a statistician calls it."""
        return "exact sign test of the median, one-sided"

    def effect_label(self, declared, context):
        """The name of the effect's axis."""
        return f"{_median(declared, context)}, minus {declared.at_most:g}"

    def sentence(self, declared, context, found):
        """What was found."""
        size = f"{abs(found.result.effect):.3g}"
        above = found.result.effect > 0
        side, p = ("above", found.result.p_opposite) if above else ("below", found.result.p)
        said = f"{_median(declared, context)} lies {size} {side} the limit of {declared.at_most:g}"
        return f"{said} (p = {p:.2g})."


def _median(declared, context):
    measured = context.measurements[declared.measurement].label
    return f"The median {measured} of {context.arms[declared.of[0]].label}"


def _at_least(k, n):
    """The chance of k heads or more in n tosses of a fair coin."""
    return sum(comb(n, heads) for heads in range(k, n + 1)) / 2**n
