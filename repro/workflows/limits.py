"""The limit that options declare, and limits and units that nobody can have meant."""

from __future__ import annotations

import math
import re
import shlex
from itertools import combinations
from statistics import fmean, pstdev

from repro.audit.printed_words import way
from repro.drafting.claim_text import MeanLimit
from repro.errors import ClaimError
from repro.results.found_results import FoundResults
from repro.stats.data_signs import ScaleOfArm, factor_between
from repro.stats.reference_runs import PERCENT

WHY_LIMIT = "the limit that was given when the results were there"
_SHARE = re.compile(
    r"(?i)(?!.*(?<![a-z])(?:abs(olute)?|sq(uared?)?|rms|mean[_ ]err(or)?|loss|r?m[as]e)(?![a-z]))"
    r".*(?<![a-z])(?:acc(uracy)?|err(or)?|f1|precision|recall|auc|auroc|em)(?![a-z])"
)
"""The name of a share, which is a fraction or in percent; absolute errors and losses are not."""


def level_of(
    at_most: float | None, at_least: float | None, sd: float | None, why: str
) -> MeanLimit | None:
    """The limit that options declare; None without one. ClaimError where they do not fit."""
    if at_most is not None and at_least is not None:
        raise ClaimError("--at-most and --at-least: a limit is one of the two\n  to do: give one")
    if any(each is not None and not math.isfinite(each) for each in (at_most, at_least)):
        raise ClaimError("a limit is a finite number\n  to do: correct --at-most or --at-least")
    if sd is not None and not why:
        reason = 'to do: say why it is known, as in --why "the rule assumes it"'
        raise ClaimError(f"--sd needs its reason\n  {reason}")
    known = None if sd is None else (sd, why)
    if at_most is not None:
        return MeanLimit("at_most", at_most, why or WHY_LIMIT, known)
    if at_least is not None:
        return MeanLimit("at_least", at_least, why or WHY_LIMIT, known)
    if sd is not None:
        advice = "to do: give a limit too, --at-most or --at-least, or leave it out"
        raise ClaimError(f"--sd belongs to a limit\n  {advice}")
    return None


def refuse_wrong_side(level: MeanLimit | None, results: FoundResults) -> None:
    """ClaimError for a limit on the side that every value passes: a loss of at least 0.3."""
    measure = results.measure
    usual = way(measure.replace("_", " "))
    if level is None or usual is None:
        return
    if usual == ("lower" if level.side == "at_most" else "higher"):
        return
    limit = f"--{level.side.replace('_', '-')}"
    raise ClaimError(
        f"{results.path}: '{measure}' was found, which is better when {usual}: bad runs would pass "
        f"{limit}\n  expected: the number that the limit is for\n"
        f"  to do: name it: --measure NAME, or --measure {shlex.quote(measure)} if that is meant"
    )


def refuse_units(asked: MeanLimit | None, results: FoundResults) -> None:
    """ClaimError where percent seem to be mixed with fractions: of two arms, or of the limit."""
    levels = _levels(results)
    if asked is not None:
        limit = f"--{asked.side.replace('_', '-')}", ScaleOfArm(asked.limit, None, 0.0)
        pairs = [(level, limit) for level in levels]
    else:
        pairs = [*combinations(levels, 2)]
    share = asked is not None and _SHARE.match(results.measure)
    for pair in pairs:
        (small, low), (large, high) = sorted(pair, key=lambda each: abs(each[1].mean))
        apart = share and 0 < low.mean <= 1 < high.mean <= PERCENT
        if apart or factor_between(low, high) == PERCENT:
            raise ClaimError(
                f"{results.path}: one may be in percent and the other a fraction: {small} is "
                f"{low.mean:.6g}, and {large} {high.mean:.6g}\n  expected: one unit\n  to do: "
                'write both in one; if they are, say so: --why "both are in percent"'
            )


def _levels(results: FoundResults) -> list[tuple[str, ScaleOfArm]]:
    """The mean of each arm with runs, and the scatter of these."""
    known = {
        arm: [r.value for r in runs if r.value is not None] for arm, runs in results.runs.items()
    }
    return [
        (f"the mean of '{arm}'", ScaleOfArm(fmean(values), pstdev(values) or None, 0.0))
        for arm, values in known.items()
        if values and not results.tasks
    ]
