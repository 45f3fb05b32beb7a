"""Sources of variation of a table: what each makes of the scatter, and which runs share a level.

Runs that share a level of a source, a split of the data say, are not independent of each other.
Judged as if they were, they make any verdict look surer than it is.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

from repro.errors import ClaimError
from repro.evidence.evidence import Evidence, Sourced
from repro.expectations.base import pair
from repro.expectations.verdict_words import Flag, FlagKind
from repro.judging.document_parts import ComponentPart, VariationPart, finite
from repro.schema import numbers as fmt
from repro.specs.claim import Claim
from repro.stats.components import Decomposition, decompose
from repro.trainers.derived import with_derived


def variation_parts(claim: Claim, evidence: Evidence) -> tuple[VariationPart, ...]:
    """Each arm and measurement whose rows say what was drawn for them."""
    rows = {arm: _rows(claim, sourced) for arm, sourced in evidence.sourced.items()}
    return tuple(
        _part(arm, name, rows[arm], claim)
        for name in claim.measurements
        for arm in rows
        if any(name in values for _, values in rows[arm])
    )


Rows = tuple[tuple[tuple[str, ...], Mapping[str, float]], ...]
"""The level of each source, and the values, of each row."""


def _rows(claim: Claim, sourced: Sourced) -> Rows:
    """The rows of an arm, with what follows from their values."""
    return tuple(
        (levels, with_derived(values, claim.measurements)[0]) for levels, _, values in sourced
    )


def _part(arm: str, name: str, rows: Rows, claim: Claim) -> VariationPart:
    having = [(levels, values[name]) for levels, values in rows if name in values]
    values, drawn = [value for _, value in having], [levels for levels, _ in having]
    if claim.measurements[name].censored_at is not None:
        refused = "its values are censored, so their variance is not known"
        return VariationPart(arm=arm, measurement=name, refused=refused)
    if len(having) < len(rows):
        refused = f"it has no value in {fmt.count(len(rows) - len(having))} of {len(rows)} rows"
        return VariationPart(arm=arm, measurement=name, refused=refused)
    try:
        found = decompose(values, drawn, claim.seeds.drawn)
    except ClaimError as error:
        return VariationPart(arm=arm, measurement=name, refused=str(error))
    total = found.total
    return VariationPart(
        arm=arm,
        measurement=name,
        sources=tuple(_sources(found)),
        rest_sd=math.sqrt(found.rest),
        rest_share=found.rest / total if total else 0.0,
        nested=found.nested,
    )


def _sources(found: Decomposition) -> Iterator[ComponentPart]:
    for each in found.components:
        yield ComponentPart(
            source=each.source,
            levels=each.levels,
            sd=math.sqrt(each.variance),
            share=each.variance / found.total if found.total else 0.0,
            truncated=each.truncated,
            low=None if each.times is None else each.times[0],
            high=None if each.times is None else finite(each.times[1]),
        )


def shared_levels(claim: Claim, evidence: Evidence) -> list[Flag]:
    """Sources of which runs share a level, unless all that share it are one unit."""
    unit, found = claim.seeds.unit, []
    for place, source in enumerate(claim.seeds.drawn):
        shared = {
            arm: levels
            for arm, rows in evidence.sourced.items()
            if (levels := _shared(rows, place))
        }
        if not shared:
            continue
        labels = pair([claim.arms[arm].label for arm in shared])
        many = fmt.span(fmt.count(min(shared.values())), fmt.count(max(shared.values())))
        said = f"{labels}: runs share {many} levels of {source}, and are counted as independent: "
        said += "the verdict is about these levels, and surer than it would be about others."
        said += f" `unit: {source}` averages over them." if unit is None else ""
        found.append(Flag(FlagKind.SHARED_SOURCE, said))
    return found


def _shared(rows: Sourced, place: int) -> int:
    """How many levels a source has, where two runs, or two units, share one; else 0."""
    whose: dict[str, set[object]] = {}
    for levels, unit, _ in rows:
        whose.setdefault(levels[place], set()).add(unit)
    return len(whose) if any(len(each) > 1 for each in whose.values()) else 0
