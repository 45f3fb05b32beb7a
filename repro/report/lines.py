"""A document as one row of a table of many verdicts."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import quote

from repro.report import format as fmt
from repro.report import words
from repro.report.blocks import Badge
from repro.report.document import Document, Result
from repro.report.lookup import decisive
from repro.report.view import seeds, tidy

SCALES = ("quick", "bench", "paper")


@dataclass(frozen=True, slots=True)
class Line:
    """The verdict of one claim at one scale; ``link`` leads to its page.

    ``chance`` is that of a false CONFIRMED, were nothing true: 0 where a family allows for it.
    """

    id: str
    title: str
    scale: str
    seeds: str
    validity: Badge
    conclusion: Badge
    strength: str
    agreement: Badge
    flags: tuple[str, ...]
    sentence: str
    as_expected: bool
    created: str
    link: str
    chance: float


def line(document: Document, link: str = "") -> Line:
    """A document as a row; ``link`` is the address of its page as seen from the table."""
    d = tidy(document)
    verdict = d.verdict
    concluded = verdict.conclusion is not None and verdict.validity == "VALID"
    return Line(
        id=d.claim.id,
        title=d.claim.title,
        scale=d.scale.name,
        seeds=seeds(d),
        validity=words.badge(verdict.validity, words.VALIDITIES),
        conclusion=words.short_word(verdict) if concluded else words.NO_CONCLUSION,
        strength=words.strength(verdict.strength),
        agreement=words.badge(verdict.agreement, words.AGREEMENTS),
        flags=(
            *(fmt.plain_name(flag.kind) for flag in verdict.flags),
            *(chip.badge.word for chip in words.cautions(d)),
        ),
        sentence=verdict.sentence,
        as_expected=verdict.as_expected or not concluded,
        created=fmt.date(d.provenance.created),
        link=quote(link),
        chance=0.0 if d.family is not None or not concluded else _chance(d),
    )


def ordered(lines: Iterable[Line]) -> list[Line]:
    """What is not as expected first; then by claim, from the smallest scale to the paper's."""
    return sorted(
        lines, key=lambda row: (row.as_expected, row.id, SCALES.index(row.scale), row.link)
    )


def _chance(document: Document) -> float:
    """The largest one-sided level of its decisive tests: all of them must confirm."""
    return max((_level(one) for one in decisive(document)), default=0.0)


def _level(result: Result) -> float:
    """A two-sided level errs on the claimed side half as often; nothing exact errs."""
    if result.kind == "bound" and result.scale == "none":
        return 0.0
    two_sided = result.test.endswith("two-sided") and result.claimed != "none"
    return result.alpha / 2 if two_sided else result.alpha
