"""The page of many verdicts: what changed first, then what is not as expected, then the rest."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import groupby
from math import prod
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import quote

from pydantic import TypeAdapter, ValidationError

from repro import kept
from repro.expectations.verdict_words import Agreement, Conclusion, Validity
from repro.files import read_bytes
from repro.judging import reason
from repro.judging.document import Document, Result, SourcePart
from repro.report import badges, lookups
from repro.report.blocks import Badge, Tone
from repro.report.flips import last_flip
from repro.schema import numbers as fmt
from repro.specs.claim import SCALES, UNSCALED

NIGHT = timedelta(hours=18)
"""A change that is not older than the newest verdict by more than this is of the last night."""

DAYS = 14
"""The strip of a claim has so many days, the last one that of the newest verdict."""


AGREES: dict[str, str] = {
    Agreement.COMPATIBLE: "compatible with the paper",
    Agreement.LARGER: "larger than in the paper",
    Agreement.SMALLER: "smaller than in the paper",
    Agreement.OPPOSITE: "opposite to the paper",
    Agreement.NOT_CHECKABLE: "not checkable against the paper",
}


@dataclass(frozen=True, slots=True)
class Line:
    """The verdict of one claim at one scale: all that a list of verdicts takes of its document.

    ``number`` is the effect that decided, ``interval`` its ends, and ``of`` what it is of. ``past``
    has the moment and the word of each change of the verdict, oldest first; ``flip`` is the
    sentence for the last change of its word, and ``flipped`` when that was. ``checked`` is when it
    was judged or found unchanged. ``chance`` is that of a false CONFIRMED, were nothing true: 0
    where a family allows for it. ``link`` leads to its page.
    """

    id: str
    title: str
    scale: str
    paper: str
    cited: str
    folder: str
    verdict: Badge
    expected: str
    as_expected: bool
    number: str
    interval: str
    of: str
    agreement: str
    fragile: tuple[str, ...]
    cautions: tuple[str, ...]
    postponed: tuple[str, ...]
    sentence: str
    checked: str
    since: str
    past: tuple[tuple[str, str], ...]
    flip: str
    flipped: str
    link: str
    chance: float


def line(document: Document, link: str = "") -> Line:
    """A document as a line; ``link`` is the address of its page as seen from the list."""
    claim, verdict, source = document.claim, document.verdict, document.claim.source
    history, created = document.provenance.history, document.provenance.created
    printed = source if isinstance(source, SourcePart) else None
    number, interval, of = _number(document)
    flipped, flip = last_flip(history)
    cautions = [fmt.clean(chip.badge.word) for chip in badges.cautions(document)]
    flags = [badges.flag(flag.kind, claim.unit) for flag in verdict.flags]
    return Line(
        id=fmt.clean(claim.id),
        title=fmt.clean(claim.title),
        scale=document.scale.name,
        paper=fmt.clean(printed.paper) if printed else "",
        cited=fmt.clean(printed.citation) if printed else "",
        folder=fmt.clean(PurePosixPath(claim.file).parent.as_posix()),
        verdict=badges.short_word(document),
        expected=fmt.clean(verdict.expected) or Conclusion.CONFIRMED,
        as_expected=verdict.as_expected,
        number=number,
        interval=interval,
        of=of,
        agreement=verdict.agreement,
        fragile=tuple(flag for flag in dict.fromkeys(flags) if flag not in cautions),
        cautions=tuple(dict.fromkeys(cautions)),
        postponed=tuple(map(fmt.clean, document.provenance.postponed)),
        sentence=fmt.clean(reason.sentence(document)),
        checked=document.provenance.checked or created,
        since=history.since if history else created,
        past=tuple((each.created, each.word) for each in history.verdicts) if history else (),
        flip=flip,
        flipped=flipped,
        link=quote(link),
        chance=_chance_of(document),
    )


def _number(document: Document) -> tuple[str, str, str]:
    """The effect of the part that decides: its ends, and what it is of; none where it has none.

    It is the first that came out as the claim did; of a claim that stays open although a part is
    contradicted alone, that part; of one without a conclusion the first.
    """
    decisive, word = lookups.decisive(document), document.verdict.conclusion
    alike = [each for each in decisive if each.conclusion == word]
    against = [each for each in decisive if each.conclusion == Conclusion.CONTRADICTED]
    result = next(iter(alike or against or decisive), None)
    if result is None or result.effect is None:
        return "", "", ""
    scale, digits, ends = lookups.scale_of(result), lookups.digits_of(document, result), ""
    number = lookups.effect(document, result, result.effect, scale)
    if result.interval is not None:
        ends = fmt.ends(result.interval.low, result.interval.high, scale, digits)
    measured = lookups.measurement_of(document, result.measurement)
    label = result.effect_label.partition(":")[0]
    if result.scale != "none" and measured is not None:
        label = measured.label
    return number, ends, fmt.clean(label)


def _chance_of(document: Document) -> float:
    """Of a false CONFIRMED: all decisive tests have to confirm."""
    verdict = document.verdict
    concluded = verdict.conclusion is not None and verdict.validity == Validity.VALID
    if not concluded or document.family is not None:
        return 0.0
    return max(map(_level, lookups.decisive(document)), default=0.0)


def _level(result: Result) -> float:
    """A two-sided level errs on the claimed side half as often; nothing without p errs."""
    if result.scale == "none" and result.p is None:
        return 0.0
    two_sided = result.test.endswith("two-sided") and result.claimed != "none"
    return result.alpha / 2 if two_sided else result.alpha


def ordered(lines: Iterable[Line]) -> list[Line]:
    """By claim, from the smallest scale to the paper's; scales whose names say nothing last."""
    place = {scale: number for number, scale in enumerate(SCALES)}
    return sorted(
        lines, key=lambda row: (row.id, place.get(row.scale, len(place)), row.scale, row.link)
    )


@dataclass(frozen=True, slots=True)
class Day:
    """What a claim came to on a day; no word where it was not judged yet, or not any more."""

    tone: Tone | None
    word: str


def strip(row: Line, newest: datetime) -> tuple[Day, ...]:
    """The last days of a claim, the day of ``newest`` at the end."""
    past = [(at, word) for created, word in row.past if (at := fmt.moment(created))]
    seen = fmt.moment(row.checked)
    days = []
    for back in reversed(range(DAYS)):
        day = newest.date() - timedelta(days=back)
        so_far = [word for at, word in past if at.date() <= day]
        if not so_far or seen is None or seen.date() < day:
            days.append(Day(None, ""))
        else:
            days.append(Day(badges.BADGES[so_far[-1]][0], so_far[-1]))
    return tuple(days)


def said(days: Sequence[Day]) -> str:
    """A strip in words: `Last 14 days: not judged on 4, CONFIRMED on 9, INCONCLUSIVE on 1`."""
    runs = [(word or "not judged", len([*some])) for word, some in groupby(d.word for d in days)]
    return f"Last {len(days)} days: {', '.join(f'{word} on {n}' for word, n in runs)}"


@dataclass(frozen=True, slots=True)
class ListPart:
    """Some lines under a heading; the ``urgent`` parts come first."""

    heading: str
    lines: tuple[Line, ...]
    urgent: bool = False


class VerdictList:
    """Verdicts in one list, and what most of them have in common, which no line says."""

    def __init__(self, lines: Iterable[Line]) -> None:
        self.lines = ordered(lines)
        moments = [fmt.moment(row.checked) for row in self.lines]
        self.newest = max(filter(None, moments), default=None)
        scales = Counter(row.scale for row in self.lines)
        self.scale = max(scales, key=lambda scale: (scales[scale], scale), default=UNSCALED)
        self.same_scale = len(scales) < 2
        self.same_agreement = len(self.lines) > 1 and len({x.agreement for x in self.lines}) == 1
        self.changed = [row for row in self.lines if self._is_new(row)]

    def _is_new(self, row: Line) -> bool:
        """Whether the word of a verdict changed in the last night that is there."""
        at = fmt.moment(row.flipped)
        return self.newest is not None and at is not None and self.newest - at <= NIGHT

    def parts(self) -> list[ListPart]:
        """What changed, what is not as expected, then by paper, and own claims by folder.

        Papers with one claim each stand together. Each line is there once.
        """
        others = [row for row in self.lines if not self._is_new(row)]
        unexpected = [row for row in others if not row.as_expected]
        found = [
            ListPart("Changed", tuple(self.changed), urgent=True),
            ListPart("Not as expected", tuple(unexpected), urgent=True),
        ]
        claims = Counter(paper for paper, _ in {(row.paper, row.id) for row in self.lines})
        places = [(_place(row, claims), row) for row in others if row.as_expected]
        places.sort(key=lambda each: each[0])
        for _, group in groupby(places, key=lambda each: each[0]):
            rows = tuple(row for _, row in group)
            found.append(ListPart(_heading(rows, claims), rows))
        return [part for part in found if part.lines]

    def total(self, broken: int = 0) -> str:
        """`1 changed, 2 not as expected, of 3 verdicts: 2 CONFIRMED, 1 STALE`, and a full stop."""
        found = Counter(row.verdict.word for row in self.lines)
        each = ", ".join(f"{fmt.count(n)} {word}" for word, n in sorted(found.items()))
        verdicts = f"{fmt.number_of(len(self.lines), 'verdict')}{': ' + each if each else ''}."
        changed = fmt.count(len(self.changed)) if self.changed else "none"
        surprising = fmt.count(sum(not row.as_expected for row in self.lines))
        counts = (
            *([f"{changed} changed"] if any(row.past for row in self.lines) else ()),
            *([f"{surprising} not as expected"] if self.lines else ()),
            *([f"{fmt.count(broken)} not judged"] if broken else ()),
        )
        return fmt.upper_first(f"{', '.join(counts)}, of {verdicts}" if counts else verdicts)

    def everywhere(self) -> str:
        """What no line says because it is the same for all, or for most."""
        said = []
        if self.lines and not self.since_differs:
            said.append(f"since {self.since(self.lines[0])}")
        if self.scale != UNSCALED:
            others = "" if self.same_scale else " unless a line says otherwise"
            said.append(f"at {self.scale} scale{others}")
        return f"{fmt.upper_first(', '.join(said))}." if said else ""

    def remarks(self, row: Line) -> tuple[str, ...]:
        """What is to be said of a line beside its verdict, each once, and nothing that all have."""
        agreement = row.agreement != Agreement.NOT_CHECKABLE and not self.same_agreement
        return (
            *([] if row.scale == self.scale else [f"{row.scale} scale"]),
            *([] if row.as_expected else [f"{row.expected} was expected"]),
            *([AGREES[row.agreement]] if agreement else []),
            *row.fragile,
            *row.cautions,
            *row.postponed,
        )

    def since(self, row: Line) -> str:
        """A date; without its year where that is the year of the newest verdict."""
        day = fmt.date(row.since)
        return day.removesuffix(f" {self.newest.year}") if self.newest else fmt.clean(day)

    @property
    def since_differs(self) -> bool:
        return len({self.since(row) for row in self.lines}) > 1

    def days(self, row: Line) -> tuple[Day, ...]:
        """The last days of a claim, the one of the newest verdict at the end."""
        return () if self.newest is None else strip(row, self.newest)

    @property
    def days_differ(self) -> bool:
        return len({self.days(row) for row in self.lines}) > 1


def _place(row: Line, claims: Counter[str]) -> tuple[int, str]:
    if row.paper:
        return (0, row.paper) if claims[row.paper] > 1 else (1, "")
    return 2, row.folder


def _heading(rows: Sequence[Line], claims: Counter[str]) -> str:
    first = rows[0]
    if not first.paper:
        return "Custom claims" + ("" if first.folder == "." else f" in {first.folder}")
    if claims[first.paper] == 1:
        return "Papers with one claim each" if len(rows) > 1 else first.cited
    return min((row.cited for row in rows), key=len)


def index(lines: Iterable[Line], broken: Sequence[tuple[str, str]] = ()) -> str:
    """The page; ``broken`` are claims that were not judged and unreadable reports, and why."""
    from repro.report.html import render  # noqa: PLC0415 - loads Jinja

    verdicts = VerdictList(lines)
    return render(
        "index.html.j2",
        verdicts=verdicts,
        chance=chance(verdicts.lines),
        since=verdicts.since_differs,
        strips=verdicts.days_differ,
        said=said,
        broken=[(fmt.clean(path), fmt.clean(why)) for path, why in broken],
    )


def chance(lines: Sequence[Line]) -> str:
    """How many false CONFIRMED to expect among claims that no family joins, were none true."""
    chances = [row.chance for row in lines if row.chance > 0]
    if len(chances) < 2:
        return ""
    expected, some = sum(chances), 1 - prod(1 - chance for chance in chances)
    alone, false = fmt.count(len(chances)), fmt.significant(expected, 2)
    return (
        f"{alone} of these verdicts are judged each by itself, without a family. If all these "
        f"claims were false, up to {false} would be expected to come out as CONFIRMED all the "
        f"same, and at least one with a chance of up to {fmt.share(some, 2)}."
    )


KIND = "lines"


class KeptLines:
    """The lines of the reports below a folder; ``limit`` is in bytes of what ``read`` reads."""

    def __init__(self, folder: Path, limit: int, read: Callable[[Path], Document]) -> None:
        self._folder, self._limit, self._read = folder, limit, read
        self._before = kept.read(KIND, folder)
        self._now: dict[str, Any] = {}
        self._form = TypeAdapter(Line)

    def line(self, path: Path, link: str) -> Line:
        """The line of the report ``path``, which leads to ``link``; raises what ``read`` raises."""
        key = self._key(path, link)
        with suppress(KeyError, ValidationError):
            found = self._form.validate_python(self._before[key])
            self._now[key] = self._before[key]
            return found
        row = line(self._read(path), link)
        if key and self._key(path, link) == key:  # it is what was read
            self._now[key] = self._form.dump_python(row, mode="json")
        return row

    def write(self) -> None:
        """Keep those that were asked for."""
        if self._now != self._before:
            kept.write(KIND, self._folder, self._now)

    def _key(self, path: Path, link: str) -> str:
        """The link, the place and the digest of its content; empty where it cannot be read."""
        with suppress(OSError):
            content = hashlib.sha256(read_bytes(path, self._limit)).hexdigest()
            return f"{link} {path.relative_to(self._folder)} {content}"
        return ""
