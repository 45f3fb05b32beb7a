"""A verdict on results that are there: their form guessed, the claim written, and judged.

The expectation is written when the results are there, so that its verdict is exploratory.
"""

from __future__ import annotations

import hashlib
import math
import os
import re
import shlex
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from glob import has_magic
from pathlib import Path
from typing import Literal

from repro.audit.printed_words import way
from repro.consent import Consent, Module, require_code
from repro.drafting.claim_text import Better, MeanLimit
from repro.drafting.drafts import DraftOptions, Drafts, drafts_of, of_others, write
from repro.errors import ClaimError, DataError, ReproError
from repro.files import resolved
from repro.judging.document import Document
from repro.report.write import JSON, read_document
from repro.results.forms import named, refused
from repro.results.found_results import FoundResults, read_results
from repro.results.item_rows import read_items
from repro.results.path_names import label_named
from repro.results.readings import number_in
from repro.results.record_logs import read_alone
from repro.results.run_fields import Hints
from repro.results.run_values import FoundValue
from repro.results.two_results import joined, refuse_arms, refuse_early
from repro.schema.base import name_of
from repro.schema.numbers import number_of
from repro.specs.claim import WRITTEN_FROM_RESULTS
from repro.specs.load import load_claims
from repro.store.run_store import RunStore
from repro.workflows.limits import refuse_units, refuse_wrong_side
from repro.workflows.luck import stopping
from repro.workflows.verify import Options, Verified, verify_claims

WHY = "the margin that was given when the results were there"


@dataclass(frozen=True, slots=True)
class PrintedReference:
    """A mean, standard deviation and number of runs, as a paper prints them."""

    mean: str
    sd: str
    n: int


_DECIMAL = r"(?:\d+(?:\.\d*|,(?!\d{3}(?!\d))\d+)?|\.\d+)"
_PRINTED = re.compile(
    rf"(?i)([-+]?{_DECIMAL})(?: ?(?:±|\+/-|\+-|\() ?({_DECIMAL})\)?)?"
    r"(?:[ ,;]*(?:over )?\(?(?:n ?=? ?(\d{1,6})|(\d{1,6}) (?:runs|seeds))\)?)?"
)
_MEAN_OR_PERCENT = re.compile(r"(?i)^\s*(?:m|mean)\s*=\s*|(?<=\d)\s*%")
_SD_NAMED = re.compile(r"(?i)\s*[,(]?\s*\bsd\s*=\s*")
PRINTED_FORM = "what is printed of them: '5.02 ± 0.11, n=5'"


def reference_of(text: str) -> Path | PrintedReference:
    """What ``--within`` names: runs, or `5.02 ± 0.11, n=5`. ClaimError for a number alone."""
    plain = _SD_NAMED.sub(" ± ", _MEAN_OR_PERCENT.sub("", text)).strip()
    found = _PRINTED.fullmatch(plain)
    if Path(text).exists():
        return Path(text)
    if found is None and "±" in plain and re.search(r"(?i)\b(?:se|sem|standard error)\b", plain):
        advice = f"  expected: {PRINTED_FORM}\n  to do: write the deviation, the error times √n"
        raise ClaimError(f"--within {text}: a standard error is not the deviation\n{advice}")
    if found is None:
        return Path(text)
    mean, sd, *sizes = found.groups()
    n = next(filter(None, sizes), None)
    if sd and "(" in plain[: found.end(2)] and sd.isdecimal() and not mean.isdecimal():
        mistake = f"--within {text}: ({sd}) may mean ±{sd}, or {sd} units of the last digit"
        form = "  expected: the deviation with its digits\n  to do: write it as '5.02 ± 0.11, n=5'"
        raise ClaimError(f"{mistake}\n{form}")
    if not (sd and n):
        raise ClaimError(
            f"--within {text}: without sd and number of runs no scatter is known\n"
            f"  expected: runs of a reference, or {PRINTED_FORM}\n"
            "  to do: add sd and n, or hold the mean of your runs against it: --at-most, --at-least"
        )
    return PrintedReference(mean.replace(",", "."), sd.replace(",", "."), int(n))


@dataclass(frozen=True, slots=True)
class CompareOptions:
    """What is asked of results, and where the claims and the reports go.

    With a ``level`` each arm is held against that; ``against`` are the results of the baseline,
    where they lie elsewhere, and ``within`` those of a reference, like whose runs new ones are to
    be, or its printed mean, sd and n. Without a word on what is ``better`` both sides of it are
    bad. ``step`` is the one at which the logs of a record count.
    """

    results: Path
    better: Better | None
    by: float | None = None
    baseline: str = ""
    hints: Hints = field(default_factory=Hints)
    out: Path = Path()
    reports: Path = Path("reports")
    command: str = ""
    allow_code: Consent = False
    why: str = ""
    level: MeanLimit | None = None
    against: Path | None = None
    within: Path | PrintedReference | None = None
    alpha: float | None = None
    step: int | None = None
    paired: bool = False


@dataclass(frozen=True, slots=True)
class ComparedResults:
    """What was judged, what was guessed of the results, and the claims that were written.

    ``read`` is how the results were read, and ``notes`` are what goes with the verdicts.
    """

    verified: Verified
    said: tuple[str, ...]
    claims: tuple[Path, ...]
    read: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def better_of(comparison: CompareOptions, measure: str) -> Better:
    """Which numbers are better: without a word, by the side of the limit, or by their name."""
    level = comparison.level
    if comparison.better or level is None:
        return comparison.better or way(measure.replace("_", " ")) or "higher"
    return "lower" if level.side == "at_most" else "higher"


def compare(comparison: CompareOptions, store: RunStore) -> ComparedResults:
    """Write the claims that the results stand for, judge them, and write their reports.

    ClaimError or DataError where the results cannot be compared, SpecError where a claim or a copy
    of values that somebody edited is in the way, OutputError where nothing can be written,
    CodeError for a reader that is not built in without consent.
    """
    _refuse_unused(comparison)
    if ":" in (reader := comparison.hints.reader):
        require_code([Module(reader)], comparison.allow_code, {reader: "--reader"})
    comparison, results, drafts = _placed(comparison)
    files = write(drafts, comparison.out)
    options = Options(
        store=store,
        reports=comparison.reports,
        train=False,
        keep=True,
        command=comparison.command,
        allow_code=comparison.allow_code,
    )
    before = [_former(comparison, drafts.ids[file.name]) for file in files]
    claims = load_claims(files, allow_code=comparison.allow_code)
    verified = verify_claims(claims, options)
    changed = [
        line
        for old, new in zip(before, verified.documents, strict=False)
        if old is not None and old.claim.id == new.claim.id
        for line in _changed(old, new, "mean" if results.items else "value")
    ]
    counts = (f"{arm} {_count(runs)}" for arm, runs in results.runs.items() if runs)
    of_runs = comparison.hints.unit and "seed" not in comparison.hints.unit.casefold()
    unit = "folds" if results.folds else "runs" if of_runs else "seeds"
    if results.tasks:
        lone = all(_count(runs) == "1" for runs in results.runs.values())
        unit = "values" if lone else unit
    each = " and task" if results.tasks else ""
    notes = (*dict.fromkeys(results.doubts.values()), *_notes(verified.documents, comparison))
    n = [] if results.items else [f"n, the {unit} per arm{each}: {', '.join(counts)}"]
    said = (*drafts.said, *n, *changed)
    return ComparedResults(verified, said, files, tuple(results.said), notes)


def _refuse_unused(comparison: CompareOptions) -> None:
    """ClaimError for options that would have no say."""
    unused = {
        "--by": comparison.by is not None,
        "--baseline": bool(comparison.baseline),
        "--against": comparison.against is not None,
        "--within": comparison.within is not None,
        "--paired": comparison.paired,
    }
    if comparison.level is not None and (given := [name for name, is_ in unused.items() if is_]):
        limit = f"--{comparison.level.side.replace('_', '-')}"
        mistake = f"{' and '.join(given)}: with {limit} no arm is compared with another"
        raise ClaimError(f"{mistake}\n  to do: leave it out, or leave out {limit}")
    if comparison.hints.items and (comparison.level is not None or comparison.within is not None):
        mistake = "--items: two arms are compared on the same items, and no limit is judged"
        raise ClaimError(f"{mistake}\n  to do: leave out the limit, or leave out --items")
    others: dict[str, object] = {"--against": comparison.against, "--within": comparison.within}
    others["--baseline"] = comparison.baseline or None
    if len(given := [name for name, place in others.items() if place is not None]) > 1:
        raise ClaimError(
            f"{' and '.join(given)}: each says what to compare with\n  to do: give one"
        )


def _placed(comparison: CompareOptions) -> tuple[CompareOptions, FoundResults, Drafts]:
    """The claims, in a folder of their own where those of other results, or a report, are there.

    ClaimError where there are such in that folder as well.
    """
    results, drafts = _drafted(comparison)
    there = _in_the_way(comparison, drafts)
    if there is None:
        return comparison, results, drafts
    place = os.path.relpath(comparison.results.resolve(), comparison.out.resolve())
    name = name_of(comparison.results.resolve().stem, before="results")
    folder = f"{name}_{hashlib.sha256(place.encode(errors='replace')).hexdigest()[:4]}"
    comparison = replace(comparison, out=comparison.out / folder)
    results, drafts = _drafted(comparison)
    if again := _in_the_way(comparison, drafts):
        raise ClaimError(
            f"{again}: here are other results\n  expected: nothing, or what was made of "
            f"{results.path}\n  to do: name other folders: --out second --reports more_reports"
        )
    drafts.said.append(f"{there} is of other results; the claim of these goes to {comparison.out}")
    return comparison, results, drafts


def _drafted(comparison: CompareOptions) -> tuple[FoundResults, Drafts]:
    try:
        results = _read(comparison)
    except DataError as error:  # also of a file that cannot be read: it was named to be judged
        raise ClaimError(str(error)) from error
    if not comparison.hints.measure:  # a number that an option names is meant
        refuse_wrong_side(comparison.level, results)
    if not re.search(r"(?i)percent|%|fraction|\bunits?\b", comparison.why):
        refuse_units(comparison.level, results)
    head = (
        "Written by `repro compare` when these results were there: what it says of them is",
        "exploratory. To declare it, correct what is not meant, say in `own` why it is claimed,",
        "and judge results that nobody has seen: `repro verify` with this file.",
    )
    place = Path(os.path.relpath(comparison.out))
    apart = comparison.against or comparison.within
    baseline = label_named(results.path, comparison.baseline, [*results.runs])
    if apart:
        arm = label_named(results.path, str(apart), [*results.runs])
        baseline = arm if arm in results.runs else [*results.runs][-1]
    better = better_of(comparison, results.measure)
    if comparison.within and comparison.better is None:
        results.said.append(f"{better} is better in tables (else: --better); both sides are tested")
    asked = DraftOptions(
        better,
        comparison.by,
        comparison.why or WHY,
        baseline,
        own=WRITTEN_FROM_RESULTS,
        head=head,
        out=comparison.out,
        ending="" if place == Path() else f"_{name_of(str(place), before='in')}",
        level=comparison.level,
        alpha=comparison.alpha,
        paired=comparison.paired,
        one_sided=comparison.against is not None,
        within=_bad_side(comparison),
        test_to_train=comparison.hints.test_to_train,
    )
    try:
        return results, drafts_of(results, asked)
    except ClaimError as error:
        lost = [f"\n  read: {line}" for line in results.said if "left out" in line]
        raise ClaimError("".join([str(error), *lost])) from error


def _read(comparison: CompareOptions) -> FoundResults:
    """The results, and with ``against`` those of the baseline as a second arm.

    A folder of logs that is held against a level, or another, is a record: one arm.
    """
    if (second := comparison.against or comparison.within) is None:
        return _one(comparison, comparison.results)
    if isinstance(second, PrintedReference):
        return _with_printed(_one(comparison, comparison.results, ""), second)
    if not second.exists() and number_in(str(second)) is not None:
        mistake = f"{second}: a number, and no results to compare with"
        advice = f"to hold the mean against it: --at-most {second} or --at-least {second}"
        raise ClaimError(f"{mistake}\n  expected: a file or folder of runs\n  to do: {advice}")
    if not (second.exists() or has_magic(str(second))):
        return _with_arm(comparison, str(second))
    other = _one(replace(comparison, hints=replace(comparison.hints, arm="")), second)
    lone = None if comparison.within is None else other.called
    results = _one(comparison, comparison.results, lone)
    if lone is None:
        refuse_arms(results)
    both = joined(results, other, meant="evaluation" in comparison.why.lower())
    if comparison.within:
        refuse_early(both, [*both.runs][-1])
    return both


def _with_arm(comparison: CompareOptions, name: str) -> FoundResults:
    """The results of several arms, one of which is what the others are held against."""
    arms: list[str] = []
    for lone in ("", "arm") if comparison.within else ("",):
        hints = replace(comparison.hints, lone=lone)
        with suppress(ClaimError, DataError):
            results = read_results(comparison.results, comparison.out, hints)
            arms = [*results.runs]
            if (arm := label_named(results.path, name, arms)) in arms:
                break
    else:
        raise _no_arm(comparison, name, arms)
    if comparison.within:
        refuse_early(results, arm)
    return results


def _no_arm(comparison: CompareOptions, name: str, arms: Sequence[str]) -> ClaimError:
    """The error of a name that neither a file nor an arm has."""
    printed = f", or {PRINTED_FORM}" if comparison.within else ""
    more = f"; arms are {named(arms)}" if arms else ""
    if not (arms or comparison.hints.arm):
        more = f"; for an arm of {comparison.results}, name their field: --arm FIELD"
    mistake = f"no file, no folder and no arm of {comparison.results} is called so"
    return refused(Path(name), mistake, f"runs, one of the arms{printed}", f"check the name{more}")


def _with_printed(results: FoundResults, printed: PrintedReference) -> FoundResults:
    """The runs that are there, and a reference of which a paper prints mean, sd and n."""
    told = {"mean": printed.mean, "sd": printed.sd, "n": printed.n}
    paper = "the paper" if "the paper" not in results.runs else "printed"
    runs = {**results.runs, paper: []}
    return replace(results, runs=runs, imports={}, table="", printed={paper: told})


def _one(comparison: CompareOptions, path: Path, lone: str | None = None) -> FoundResults:
    if comparison.hints.items:
        hints = replace(comparison.hints, alone=comparison.against is not None)
        return read_items(path, comparison.out, hints)
    if comparison.level or comparison.against or comparison.within:
        hints, step = comparison.hints, comparison.step
        return read_alone(path, comparison.out, hints, step, lone=lone)
    hints = replace(comparison.hints, step=comparison.step, baseline=comparison.baseline)
    return read_results(path, comparison.out, hints)


def _bad_side(comparison: CompareOptions) -> Literal["", "both", "higher", "lower"]:
    """Where a new run is bad, as against a reference; empty without one."""
    if comparison.within is None:
        return ""
    better = comparison.better
    return "both" if better is None else "higher" if better == "lower" else "lower"


def _in_the_way(comparison: CompareOptions, drafts: Drafts) -> Path | None:
    """A claim, or a report, that was made of other results and has the name of one of these."""
    if (claim := of_others(drafts, comparison.out)) is not None:
        return claim
    reports = (_taken(comparison, drafts, name) for name in drafts.claims)
    return next(filter(None, reports), None)


def _report(comparison: CompareOptions, claim_id: str) -> Path:
    return comparison.reports / claim_id / "declared" / JSON.file


def _former(comparison: CompareOptions, claim_id: str) -> Document | None:
    """The report that is there on a claim; None where there is none that can be read."""
    try:
        return read_document(_report(comparison, claim_id))
    except ReproError:
        return None


def _taken(comparison: CompareOptions, drafts: Drafts, name: str) -> Path | None:
    """The report of a claim that is to be written, where one on other results is there.

    Whose claim is there as well has been compared before; else the command says on what it was.
    """
    if (comparison.out / name).exists():
        return None
    claim_id = drafts.ids[name]
    former = _former(comparison, claim_id)
    if former is None:
        return None
    try:
        words = shlex.split(former.provenance.command)
    except ValueError:
        words = []
    mine = comparison.results.resolve()
    named = any(resolved(Path(word)) == mine for word in words)
    return None if named else _report(comparison, claim_id).parent


def _changed(old: Document, new: Document, what: str) -> Iterator[str]:
    """What is said of values that are not as they were when the results were last compared.

    ``what`` they are: values of runs, or means over items.
    """
    before, now = _values(old), _values(new)
    changed = sum(before[key] != now[key] for key in before.keys() & now.keys())
    counts = {
        "changed": changed,
        "new": len(now.keys() - before.keys()),
        "no longer there": len(before.keys() - now.keys()),
    }
    said = [f"{number_of(count, what)} {word}" for word, count in counts.items() if count]
    if not said:
        return
    words = [old.verdict.validity, *filter(None, [old.verdict.conclusion])]
    yield f"since the last comparison: {', '.join(said)} ({new.claim.id} was {', '.join(words)})"


def _values(document: Document) -> dict[tuple[str, str, int, str], float]:
    return {
        (arm.id, each.task, each.number, name): value
        for arm in document.arms
        for each in arm.replicates
        for name, value in each.values.items()
    }


def _notes(documents: Sequence[Document], asked: CompareOptions) -> Iterator[str]:
    """What stopping does to a record, and of which claim it is, where there are several."""
    gain = None if asked.against is None else (better_of(asked, ""), asked.by or 0.0)
    for document in documents:
        if said := stopping(document, asked.level, gain):
            yield said if len(documents) == 1 else f"{document.claim.id}: {said}"


def intervals(document: Document) -> Mapping[tuple[str, str], tuple[float, float]]:
    """The 95 % interval of each mean, by arm and measurement: Student's."""
    from repro.stats.contrast import Contrast

    found = {}
    for arm in document.arms:
        for each in arm.summaries:
            if each.n is not None and each.n > 1 and each.sd:
                reach = Contrast(each.mean, each.sd / math.sqrt(each.n), each.n - 1).interval(0.95)
                found[arm.id, each.measurement] = (reach.low, reach.high)
    return found


def _count(runs: Sequence[FoundValue]) -> str:
    tasks = Counter(run.task for run in runs if run.value is not None)
    fewest = min(tasks.values(), default=0)
    most = max(tasks.values(), default=0)
    missing = sum(run.missing for run in runs)
    diverged = sum(run.value is None and not run.missing for run in runs)
    lost = {"diverged": diverged, "missing": missing}
    said = " and ".join(f"{count} {word}" for word, count in lost.items() if count)
    shown = str(most) if fewest == most else f"{fewest} to {most}"
    return f"{shown} (and {said})" if said else shown
