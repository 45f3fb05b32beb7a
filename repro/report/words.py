"""What all formats share: words, tones, icons, colours, fonts, and finding things in a document.

matplotlib brings DejaVu Sans along, which covers Greek, Cyrillic, Arabic and signs. A PDF has no
other face to fall back on, so what it lacks is spelled there as a code point, and figures leave
room for that.

A figure is drawn in the colours of paper; the style sheet of a page finds these and puts its
variables in their place, so that one drawing serves light, dark and paper. Every text colour has
a contrast of at least 4.5 on every ground that it is used on (a test computes it).
"""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path

from repro.expectations.base import IntervalPart
from repro.judging import reason
from repro.judging.document import (
    ArmPart,
    Canary,
    Document,
    MeasurementPart,
    Result,
    SummaryPart,
)
from repro.judging.document_parts import Strength
from repro.report.blocks import Badge, Chip, Tone
from repro.schema import numbers as fmt
from repro.specs.claim import UNSCALED
from repro.trainers.measurement import MeasurementSpec
from repro.trainers.table import MEASUREMENTS

FACE = "DejaVu Sans"
INVISIBLE = "\N{ZERO WIDTH SPACE}"


def fonts() -> Path:
    import matplotlib as mpl  # noqa: PLC0415 - a document is read without it

    return Path(mpl.get_data_path()) / "fonts" / "ttf"


@lru_cache(maxsize=1)
def _covered() -> frozenset[str]:
    from matplotlib.ft2font import FT2Font  # noqa: PLC0415 - as above

    face = FT2Font(str(fonts() / "DejaVuSans.ttf"))
    return frozenset(chr(code) for code in face.get_charmap())


def spelled(text: str) -> str:
    """The text with every character that the face lacks as its code point."""
    if text.isascii():
        return text
    covered = _covered()
    return "".join(
        c if c.isascii() or c in covered or c == INVISIBLE else f"[U+{ord(c):04X}]" for c in text
    )


LIGHT = {
    "page": "#fcfcfa", "ink": "#1a1c20", "muted": "#565c66", "rule": "#dcdfe3", "card": "#f2f3f1",
    "accent": "#0b5a9c", "good": "#0f6244", "good-bg": "#e3f2ea", "warn": "#8a4300",
    "warn-bg": "#fcefdd", "bad": "#a11d2b", "bad-bg": "#fbe9e8", "plain": "#3f4a5a",
    "plain-bg": "#e9edf2", "arm-1": "#0b5a9c", "arm-2": "#9a4b00", "arm-3": "#0f6b4b",
    "arm-4": "#77359c", "region": "#d9ecdf",
}  # fmt: skip

DARK = {
    "page": "#14161a", "ink": "#e9e9e5", "muted": "#a9afb9", "rule": "#363a41", "card": "#1e2126",
    "accent": "#84bdf0", "good": "#82d6b1", "good-bg": "#14302a", "warn": "#f2b873",
    "warn-bg": "#362711", "bad": "#ff9f9a", "bad-bg": "#3c1a1d", "plain": "#b9c6d8",
    "plain-bg": "#232a34", "arm-1": "#84bdf0", "arm-2": "#f2b06a", "arm-3": "#82d6b1",
    "arm-4": "#d3aef3", "region": "#1d3a31",
}  # fmt: skip

PRINT = LIGHT | {"page": "#ffffff", "ink": "#000000", "muted": "#444444", "card": "#ffffff"}
TONES = ("good", "warn", "bad", "plain")
ARMS = ("arm-1", "arm-2", "arm-3", "arm-4")

DRAWN = ("page", "ink", "muted", "rule", "region", *TONES, *ARMS)
"""The colours of figures; no two of them are the same on paper."""


BADGES: dict[str, tuple[Tone, str]] = {
    "CONFIRMED": ("good", "check"),
    "CONTRADICTED": ("bad", "cross"),
    "INCONCLUSIVE": ("plain", "question"),
    "TRIVIAL": ("warn", "almost"),
    "NOT-TESTED": ("warn", "barred"),
    "VALID": ("good", "check"),
    "INVALID": ("bad", "alarm"),
    "INCOMPLETE": ("plain", "part"),
    "STALE": ("plain", "clock"),
    "NOT-COMPARABLE": ("plain", "unequal"),
    "COMPATIBLE": ("good", "check"),
    "LARGER": ("warn", "unequal"),
    "SMALLER": ("warn", "unequal"),
    "OPPOSITE": ("bad", "cross"),
    "NOT-CHECKABLE": ("plain", "none"),
    "passed": ("good", "check"),
    "flagged": ("warn", "alarm"),
    "failed": ("bad", "cross"),
    "missing": ("plain", "part"),
}
"""Tone and icon of conclusions, of validity, of agreement with a paper, and of controls."""

STOPS = {
    "confirmed": "More seeds are not needed: it is confirmed.",
    "contradicted": "More seeds are not needed: it is contradicted.",
    "futile": "More seeds are of no use: they would hardly decide it.",
    "go on": "It is not decided yet, and more seeds may decide it.",
}

REGISTRATIONS = {
    "before": "What decides this claim was fixed before its results could be seen in this store: "
    "for every test, at least one arm had no results yet.",
    "after": "What decides this claim was fixed after results were visible, so it may have been "
    "fitted to them.",
    "none": "There is no record of when this claim was declared, so nothing shows that it was "
    "declared before its results were visible.",
    "exploratory": "Exploratory: not declared beforehand. The claim was written from these "
    "results, and they cannot confirm what they suggested: declare it, and judge new ones.",
}

FAMILIES = {
    "holm": (
        "Holm's method",
        "Its purpose: that hardly ever any claim of the family is confirmed by accident.",
    ),
    "bh": (
        "Benjamini and Hochberg's method",
        "Its purpose: that few of the confirmed claims of the family are accidents.",
    ),
    "e_bh": (
        "e-BH",
        "Its purpose: that few of the confirmed claims are accidents, whenever one looks.",
    ),
}
"""What a family is judged by, and what that is good for."""

AGREEMENTS = {
    "COMPATIBLE": "compatible",
    "LARGER": "larger than printed",
    "SMALLER": "smaller than printed",
    "OPPOSITE": "opposite to what is printed",
    "NOT-CHECKABLE": "not checkable",
}

_RATE = re.compile(r"it errs in ([\d.]+) ?% of cases")

LOOKS = {"one": "", "planned": " over all planned looks", "every": " at every look"}

FLAGS = {
    "rounding": "rounding of printed numbers could change it",
    "multiplicity": "a part is contradicted by itself, not among all",
    "one seed left out": "leaving out one seed changes it",
    "one task left out": "leaving out one task changes it",
    "tolerance": "another threshold would change it",
    "choice of test": "another test would change it",
    "canary": "a control is out of the ordinary",
    "diverged": "runs diverged",
    "ceiling": "values reach their ceiling",
    "order of a table": "the order of a table counts",
    "drift": "later seeds differ from earlier ones",
    "units that differ": "arms seem to have different units",
    "one arm copied from another": "arms have the same values",
    "values shared between arms": "arms share values",
    "runs that share a source": "runs share a source",
    "repeated values": "values repeat",
    "chosen by itself": "a value was chosen without being told",
    "gaps in the seeds": "seeds are missing in between",
    "a seed far from its arm": "a seed lies far from its arm",
    "arms correlate by seed": "arms move together by seed",
    "runs of tasks move together": "runs of tasks move together",
    "values follow each other": "values follow each other",
    "unequal numbers of seeds": "arms have unequal numbers of seeds",
    "more seeds than planned": "there are more seeds than planned",
    "forced design": "too few seeds were planned",
    "declared after results were visible": "declared after results were visible",
    "test loses its level here": "the error rate is above the nominal one",
}
"""What a flag says on a chip; its full text waits in a fold."""
EXPLORATORY = "exploratory: not declared beforehand"
NO_CONCLUSION = Badge("no conclusion", "plain", "none")

ICONS = {
    "check": "M20 3a17 17 0 1 0 .01 0ZM12 20.5l5.5 5.5L28 14.5",
    "cross": "M20 3a17 17 0 1 0 .01 0ZM14 14l12 12M26 14L14 26",
    "question": "M20 3a17 17 0 1 0 .01 0Z"
    "M14.5 16a5.5 5.5 0 1 1 8 5c-1.8.9-2.5 2-2.5 3.5M20 28.5v.6",
    "almost": "M20 3a17 17 0 1 0 .01 0ZM11.5 17.5c4-4.5 8 2.5 17-1.5M11.5 24.5c4-4.5 8 2.5 17-1.5",
    "barred": "M20 3a17 17 0 1 0 .01 0ZM8.5 8L31.5 32",
    "alarm": "M20 4L37 34H3ZM20 15v9M20 28.5v.6",
    "part": "M20 3a17 17 0 1 0 .01 0ZM11 20h2.4M18.8 20h2.4M26.6 20h2.4",
    "clock": "M20 3a17 17 0 1 0 .01 0ZM20 11v9.5l6 4",
    "unequal": "M20 3a17 17 0 1 0 .01 0ZM12 16.5h16M12 23.5h16M24 11l-8 18",
    "none": "M20 3a17 17 0 1 0 .01 0ZM13 20h14",
}
"""Outlines in a square of 40, drawn with a round pen of 3."""


def measurement_of(document: Document, key: str) -> MeasurementPart | None:
    return next((m for m in document.measurements if m.key == key), None)


def spec_of(measurement: MeasurementPart | None) -> type[MeasurementSpec]:
    """The class of a built-in measurement, which says how it is drawn; else what all have."""
    if measurement is None or measurement.kind not in MEASUREMENTS.names():
        return MeasurementSpec
    return MEASUREMENTS.get(measurement.kind)


def summary_of(arm: ArmPart, key: str) -> SummaryPart | None:
    """What an arm measured under that key; None before its first run."""
    return next((s for s in arm.summaries if s.measurement == key), None)


def arm_label(document: Document, arm_id: str) -> str:
    return next((arm.label for arm in document.arms if arm.id == arm_id), arm_id)


def decisive(document: Document) -> tuple[Result, ...]:
    return tuple(r for r in document.results if r.role == "decisive")


def digits_of(document: Document, result: Result | None) -> int:
    """Digits after the point of a difference on the axis of an expectation."""
    if result is not None and result.digits is not None:
        return result.digits
    if result is not None and result.scale == "relative":
        return 1
    return measured_digits(document, result)


def measured_digits(document: Document, result: Result | None) -> int:
    """Digits after the point of what an expectation measures, in its units."""
    measurement = None if result is None else measurement_of(document, result.measurement)
    return 2 if measurement is None else max(measurement.digits, 0)


def colour_of(document: Document, arm_id: str) -> str:
    """Each arm keeps its colour through all figures."""
    ids = [arm.id for arm in document.arms]
    return ARMS[ids.index(arm_id) % len(ARMS)] if arm_id in ids else ARMS[0]


def result_of(document: Document, expectation: str) -> Result | None:
    return next((result for result in document.results if result.id == expectation), None)


def title_of(document: Document, expectation: str) -> str:
    """What a reader calls an expectation: measurement and arms, kind and id where needed."""
    result = result_of(document, expectation)
    if result is None or not result.effect_label:
        return fmt.upper_first(fmt.plain_name(expectation))
    label = result.effect_label
    kinds = [other.kind for other in document.results if other.effect_label == label]
    return f"{fmt.upper_first(label)}{fmt.told_apart(result.id, result.kind, kinds)}"


def scale_of(result: Result | None) -> str:
    """The scale of an effect; what exact statements count is a share."""
    if result is None:
        return "number"
    return "share" if result.scale == "none" else result.scale


def badge(word: str) -> Badge:
    return Badge(word, *BADGES[word])


def conclusion(word: str | None, strength: Strength | None = None) -> Badge:
    found = NO_CONCLUSION if word is None else badge(word)
    return Badge(with_strength(found.word, strength), found.tone, found.icon)


def strength(part: Strength | None) -> str:
    """How strong a conclusion is, to follow its word; empty where nothing is known."""
    if part is None:
        return ""
    if part.one_sided_level is None:
        return "exact, for these seeds"
    family = " in its family" if part.family else ""
    rate = f"error rate at most {fmt.percent(part.one_sided_level)}{LOOKS[part.looks]}{family}"
    return f"{rate} if the test's assumptions hold"


def error_rate(document: Document) -> str:
    """How often the tests of a claim err: as measured in designs like this one, or at most."""
    names = {result.id for result in decisive(document)}
    texts = [level.text for level in document.levels if level.expectation in names]
    rates = [float(found[1]) for found in map(_RATE.search, texts) if found]
    if document.verdict.conclusion and rates:
        return f"error rate {max(rates):g}% as measured in designs like this"
    return strength(document.verdict.strength)


def with_strength(word: str, part: Strength | None) -> str:
    """`CONFIRMED (error rate at most 2.5% if the test's assumptions hold)`."""
    said = strength(part)
    return f"{word} ({said})" if said else word


def agreement(document: Document) -> Badge:
    """Whether our number agrees with the paper's, or why that cannot be told."""
    word = document.verdict.agreement
    text = AGREEMENTS[word]
    if word == "NOT-CHECKABLE" and document.scale.name not in ("paper", UNSCALED):
        text += ": this is not the paper's scale"
    return Badge(text, *BADGES[word])


def headline(document: Document) -> Badge:
    """The verdict in large letters; a confirmed one that rests on little is amber and says so."""
    found = short_word(document)
    return Badge(reason.headline(document), found.tone, found.icon)


def at_scale(scale: str) -> str:
    """` at quick scale`; nothing for a claim that names no scales."""
    return "" if scale == UNSCALED else f" at {scale} scale"


def short_word(document: Document) -> Badge:
    """One word for a table of many verdicts: the conclusion, or why there is none."""
    verdict = document.verdict
    if verdict.conclusion is None or verdict.validity != "VALID":
        return badge(verdict.validity)
    found = badge(verdict.conclusion)
    doubtful = verdict.conclusion == "CONFIRMED" and reason.is_doubtful(document)
    return Badge(found.word, "warn", found.icon) if doubtful else found


def checked(document: Document) -> str:
    """What valid evidence passed: `15 of 15 runs finished; both controls passed`."""
    runs = [run for arm in document.arms if arm.trained for run in arm.replicates]
    rows = [run for arm in document.arms if arm.tabled for run in arm.replicates]
    printed = sum(arm.printed for arm in document.arms)
    said = []
    if runs:
        done = fmt.count(sum(run.state == "finished" for run in runs))
        said.append(f"{done} of {fmt.number_of(len(runs), 'run')} finished")
    if rows:
        said.append(f"{fmt.number_of(len(rows), 'seed')} from a table")
    if printed:
        said.append(f"{fmt.number_of(printed, 'arm')} printed")
    return fmt.sentence("; ".join([*said, _controls(document.canaries)]))


def _controls(canaries: tuple[Canary, ...]) -> str:
    passed, n = sum(control.state == "passed" for control in canaries), len(canaries)
    if not n:
        return "no control declared"
    if passed < n:
        return f"{fmt.count(passed)} of {fmt.number_of(n, 'control')} passed"
    every = {1: "the control", 2: "both controls"}.get(n, f"all {fmt.count(n)} controls")
    return f"{every} passed"


def cautions(document: Document) -> tuple[Chip, ...]:
    """What a reader should know of how the judgement was reached, besides the verdict's flags."""
    chips = []
    declared, control = document.registration, document.control
    if declared is not None and any(edit.after_results for edit in declared.edits):
        chips.append(Chip("Claim", Badge("edited after results were visible", "bad", "alarm")))
    elif declared is not None and declared.state == "after":
        chips.append(Chip("Claim", Badge("declared after results were visible", "warn", "alarm")))
    elif declared is not None and declared.state == "none":
        chips.append(Chip("Claim", Badge("no record of when it was declared", "plain", "question")))
    elif reason.is_exploratory(document):
        chips.append(Chip("Claim", Badge(EXPLORATORY, "warn", "alarm")))
    for part in document.design:
        if part.refused:
            name = title_of(document, part.expectation)
            chips.append(Chip(f"Design: {name}", Badge("too few seeds", "warn", "alarm")))
    if control is not None and control.low > control.alpha:
        word = "differences where there are none, too often"
        chips.append(Chip("Control", Badge(word, "bad", "alarm")))
    return tuple(chips)


def value(number: float, measurement: MeasurementPart) -> str:
    """A measured value as its measurement is printed; `> 4,000` where that is all that is known."""
    shown = fmt.fixed(number, measurement.digits)
    return f"> {shown}" if is_censored(number, measurement) else shown


def is_censored(number: float, measurement: MeasurementPart) -> bool:
    """Whether a value says only that it is as large, or larger."""
    return measurement.censored_at is not None and number >= measurement.censored_at


def effect(document: Document, result: Result | None, number: float, scale: str) -> str:
    """An effect on its scale; a level as a value of its measurement."""
    if result is not None and scale == "level":
        measurement = measurement_of(document, result.measurement)
        if measurement is not None:
            return value(number, measurement)
    return fmt.effect(number, scale, digits_of(document, result))


def without_mean(summary: SummaryPart, measurement: MeasurementPart) -> bool:
    """Whether some run did not get there in its budget, so that no mean is known."""
    return summary.high is not None and is_censored(summary.high, measurement)


def mean_and_sd(summary: SummaryPart, measurement: MeasurementPart) -> str:
    """`57.31 ± 0.13`; the mean alone when there is no deviation; a printed one as it is printed.

    The deviation has one digit more where whole numbers would hide it.
    """
    if summary.as_printed is not None:
        return fmt.signed(summary.as_printed)
    if without_mean(summary, measurement):
        return "none: not all got there"
    mean = value(summary.mean, measurement)
    if summary.sd is None:
        return mean
    digits = 1 if measurement.digits == 0 and 0 < summary.sd < 10 else measurement.digits
    return f"{mean} ± {fmt.fixed(summary.sd, digits)}"


def value_range(summary: SummaryPart, measurement: MeasurementPart) -> str:
    """`56.10 to 56.61`: from the least to the largest value, of an arm whose values are known."""
    if summary.low is None or summary.high is None:
        return fmt.DASH
    return fmt.span(value(summary.low, measurement), value(summary.high, measurement))


def interval(given: IntervalPart, scale: str, digits: int) -> str:
    """`90% interval +0.11 to +0.42`."""
    return f"{fmt.percent(given.level)} interval {fmt.ends(given.low, given.high, scale, digits)}"
