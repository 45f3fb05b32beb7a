"""Badges and short words of verdicts, flags and cautions: the same in every format."""

from __future__ import annotations

import re

from repro.expectations.verdict_words import Agreement, Conclusion, Validity
from repro.judging import reason
from repro.judging.document import Document, JudgedControl, Result, VerdictPart
from repro.judging.document_parts import Strength
from repro.report.blocks import Badge, Chip, Tone
from repro.report.lookups import decisive, title_of
from repro.schema import numbers as fmt
from repro.specs.claim import UNSCALED

BADGES: dict[str, tuple[Tone, str]] = {
    Conclusion.CONFIRMED: ("good", "check"),
    Conclusion.CONTRADICTED: ("bad", "cross"),
    Conclusion.INCONCLUSIVE: ("plain", "question"),
    Conclusion.TRIVIAL: ("warn", "almost"),
    Conclusion.NOT_TESTED: ("warn", "barred"),
    Validity.VALID: ("good", "check"),
    Validity.INVALID: ("bad", "alarm"),
    Validity.INCOMPLETE: ("plain", "part"),
    Validity.STALE: ("plain", "clock"),
    Validity.NOT_COMPARABLE: ("plain", "unequal"),
    Agreement.COMPATIBLE: ("good", "check"),
    Agreement.LARGER: ("warn", "unequal"),
    Agreement.SMALLER: ("warn", "unequal"),
    Agreement.OPPOSITE: ("bad", "cross"),
    Agreement.NOT_CHECKABLE: ("plain", "none"),
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
    Agreement.COMPATIBLE: "compatible",
    Agreement.LARGER: "larger than printed",
    Agreement.SMALLER: "smaller than printed",
    Agreement.OPPOSITE: "opposite to what is printed",
    Agreement.NOT_CHECKABLE: "not checkable",
}


_RATE = re.compile(r"(if tails are heavy \(t4\),)?[^,]*it errs in ([\d.]+) ?% of cases")


MEASURED_AT = 0.05
"""The level of the measured error rates."""

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
    "runs in doubt": "something speaks against the runs",
}


"""What a flag says on a chip; its full text waits in a fold."""


EXPLORATORY = "exploratory: not declared beforehand"


NO_CONCLUSION = Badge("no conclusion", "plain", "none")


def badge(word: str) -> Badge:
    return Badge(word, *BADGES[word])


def conclusion(word: str | None, said: str = "") -> Badge:
    """A badge with what is said of the word, in brackets."""
    found = NO_CONCLUSION if word is None else badge(word)
    return Badge(with_words(found.word, said), found.tone, found.icon)


def with_words(word: str, said: str) -> str:
    """`CONFIRMED (error rate at most 2.5% if the test's assumptions hold)`."""
    return f"{word} ({said})" if said else word


def flag(kind: str, unit: str) -> str:
    """What a flag says, in words; ``unit`` is what a replicate is called."""
    return fmt.clean(name_of_flag(FLAGS.get(kind, kind), unit))


def name_of_flag(kind: str, unit: str) -> str:
    """`one fold left out`, where a replicate is a fold."""
    article = "an" if unit[0] in "aeiou" else "a"
    return kind.replace("a seed", f"{article} {unit}").replace("seed", unit)


def strength(part: Strength | None, unit: str = "seed") -> str:
    """How strong a conclusion is, to follow its word; empty where nothing is known."""
    if part is None:
        return ""
    if part.one_sided_level is None:
        return f"exact, for these {unit}s"
    family = " in its family" if part.family else ""
    rate = f"error rate at most {fmt.percent(part.one_sided_level)}{LOOKS[part.looks]}{family}"
    return f"{rate} if the test's assumptions hold{FOLDS if unit == 'fold' else ''}"


FOLDS = ": two folds correlate by no more than the share of a test set in the data"
"""What the test of folds supposes (Nadeau & Bengio 2003); where they do, it errs more often."""


def error_rate(document: Document) -> str:
    """How often the tests of a claim err, and that its declared level is a high one."""
    said = rate_of(document, document.verdict)
    return "; ".join(filter(None, (said, high_level(document))))


def rate_of(document: Document, part: VerdictPart | Result) -> str:
    """As measured in designs like this one; where it was not found to be lost, at most.

    Where ``part`` is the verdict, of all that decides.
    """
    tested = [part] if isinstance(part, Result) else decisive(document)
    names = {result.id for result in tested}
    texts = [level.text for level in document.levels if level.expectation in names]
    rates = [(float(found[2]), found[1] or "") for found in map(_RATE.search, texts) if found]
    if not (part.conclusion and rates):
        return strength(part.strength, document.claim.unit)
    declared = max((result.alpha for result in tested), default=MEASURED_AT)
    return _as_measured(part.strength, declared, *max(rates), document.claim.unit)


def _as_measured(part: Strength | None, declared: float, rate: float, tails: str, unit: str) -> str:
    """The rate, which was measured at 5%: next to the nominal one of any other declared level.

    ``tails``: what it supposes of them.
    """
    if declared == MEASURED_AT or part is None or part.one_sided_level is None:
        said = " ".join(filter(None, ("5%", tails, "as measured in designs like this")))
        return f"error rate {rate:g}% instead of {said}"
    said = " ".join(filter(None, ("at a level of 5%,", tails, "designs like this have")))
    return f"{strength(part, unit)}; {said} {rate:g}%"


def high_level(document: Document) -> str:
    """That the level which was declared is above the usual 5%; else empty."""
    level = max((result.alpha for result in decisive(document)), default=0.0)
    high = level > MEASURED_AT
    return f"the declared level is {fmt.percent(level)}, above the usual 5%" if high else ""


def agreement(document: Document) -> Badge:
    """Whether our number agrees with the paper's, or why that cannot be told."""
    word = document.verdict.agreement
    text = AGREEMENTS[word]
    if word == Agreement.NOT_CHECKABLE and document.scale.name not in ("paper", UNSCALED):
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
    if verdict.conclusion is None or verdict.validity != Validity.VALID:
        return badge(verdict.validity)
    found = badge(verdict.conclusion)
    doubtful = verdict.conclusion == Conclusion.CONFIRMED and reason.is_doubtful(document)
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
        what = "run" if items(document) else document.claim.unit
        said.append(f"{fmt.number_of(len(rows), what)} from a table")
    if printed:
        said.append(f"{fmt.number_of(printed, 'arm')} printed")
    return fmt.sentence("; ".join([*said, _controls(document.canaries)]))


def items(document: Document) -> str:
    """`250 items`, where the arms are compared item by item; else empty."""
    found = (result.details.get("items", "") for result in document.results)
    many = next(filter(None, found), "").partition(",")[0]
    return f"{many} items" if many else ""


def _controls(controls: tuple[JudgedControl, ...]) -> str:
    passed, n = sum(control.state == "passed" for control in controls), len(controls)
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
