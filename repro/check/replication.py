"""Our effect beside the paper's, by the measures of replication research."""

from __future__ import annotations

from repro.errors import ClaimError
from repro.report.judgement import ReplicationPart
from repro.specs.expectation import Difference, Expectation, Ratio
from repro.stats.replication import OriginalTest, Replication, replicate, replicate_ratio
from repro.stats.sample import Arm, Summary
from repro.stats.study import ratio_of

Pair = tuple[Arm, Arm]


def replication_part(
    one: Expectation,
    original: tuple[Summary, Summary],
    ours: Pair,
    *,
    alpha: float,
    shared_baseline: bool,
    paired: bool = False,
) -> ReplicationPart | None:
    """The comparison of both studies; None where the numbers allow none.

    ``shared_baseline``: b is the paper's own printed arm on both sides. ``paired``: our
    replicates with the same number are pairs.
    """
    compare = replicate_ratio if isinstance(one, Ratio) else replicate
    named: OriginalTest = (
        "student" if isinstance(one, Difference) and one.test == "student" else "welch"
    )
    try:
        found = compare(
            original,
            ours,
            alpha=alpha,
            shared_baseline=shared_baseline,
            paired=paired,
            original_test=named,
        )
        return _part(found)
    except ClaimError:
        return None


def _part(found: Replication) -> ReplicationPart:
    """As the report holds it: a ratio is shown as a ratio, not as a difference of logarithms.

    ``ClaimError`` where one is too large for a number.
    """
    logs = found.scale == "log ratio"
    shown = ratio_of if logs else float
    ratio, pooled, doubt = found.effect_ratio, found.fixed_effect, found.sceptical
    notes = found.notes if ratio.low is not None else (*found.notes, f"effect ratio: {ratio.said}")
    return ReplicationPart(
        scale="ratio" if logs else "difference",
        original=shown(found.original.effect),
        ours=shown(found.ours.effect),
        prediction=(found.prediction.interval.low, found.prediction.interval.high),
        inside=found.compatible,
        effect_ratio=ratio.ratio,
        effect_ratio_low=ratio.low,
        effect_ratio_high=ratio.high,
        same_sign=found.same_sign,
        significant=found.significant,
        original_in_interval=found.covered,
        detectable=shown(found.small_telescopes.d33),
        telescope_p=found.small_telescopes.p,
        sceptical_nominal=None if doubt is None else doubt.nominal,
        sceptical_golden=None if doubt is None else doubt.golden,
        sceptical_controlled=None if doubt is None else doubt.controlled,
        pooled=shown(pooled.effect),
        pooled_low=shown(pooled.interval.low),
        pooled_high=shown(pooled.interval.high),
        q=pooled.q,
        q_p=pooled.q_p,
        notes=notes,
    )
