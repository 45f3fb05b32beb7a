"""From results to the claims that they stand for: every other arm is better than the baseline."""

from __future__ import annotations

import hashlib
import os
import re
import shlex
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import combinations
from pathlib import Path
from typing import Any, Literal

from repro.drafting.claim_text import Better, Draft, MeanLimit, TestOfItems, claim_text, labels_of
from repro.drafting.copied_values import CLUSTER, ITEM, SEED, tidy_text
from repro.errors import OutputError, Place, Problem, SpecError, printable
from repro.results.forms import named, refused
from repro.results.found_results import FoundResults
from repro.results.readings import short
from repro.results.roles import role_of
from repro.results.run_values import answered_once, several_of
from repro.schema.base import name_of
from repro.schema.messages import choose
from repro.schema.numbers import number_of

BASELINES = ("baseline", "control", "plain", "vanilla", "default", "reference", "base", "none")
"""Words in the name of the arm that others are compared with, the surest first."""

LEAST_SEEDS = 3
"""No fewer per arm are accepted for a difference of means."""

LEAST_TASKS, LEAST_PER_TASK = 3, 2
"""No fewer tasks, and runs of each, are accepted for a difference over tasks."""

OWN_RUNS = re.compile(r"data[ _-]?set|env|game", re.IGNORECASE)
"""In the name of a field: each of its tasks is trained on separately."""

MARK = "# unedited: "
ORIGIN = "Results: "
"""Before the place of the results, in the head of a claim."""

LONGEST_ID = 64
"""Characters of the id of a claim."""


@dataclass(frozen=True, slots=True)
class DraftOptions:
    """What is asked of the results; ``why`` is the reason of a margin, ``ask`` leaves it open.

    With a ``level`` each arm is held against that, and none is compared with another; with
    ``one_sided`` a difference is sought in one direction. ``within``: an arm is held against the
    baseline as its reference, and is bad on that side. ``out`` is the folder to which the
    claims go, and ``ending`` what their ids end with.
    """

    better: Better
    by: float | None = None
    why: str = ""
    baseline: str = ""
    own: str = ""
    head: Sequence[str] = ()
    ask: bool = False
    out: Path = Path()
    ending: str = ""
    level: MeanLimit | None = None
    alpha: float | None = None
    paired: bool = False
    one_sided: bool = False
    within: Literal["", "both", "higher", "lower"] = ""
    test_to_train: float | None = None


COPY = "_as_compared.csv"
"""How the name of a table ends that holds the values of results."""


@dataclass(slots=True)
class Drafts:
    """Claims and their ids by the names of their files, and the tables that they read."""

    claims: dict[str, str] = field(default_factory=dict)
    ids: dict[str, str] = field(default_factory=dict)
    tables: dict[str, str] = field(default_factory=dict)
    said: list[str] = field(default_factory=list)


def drafts_of(results: FoundResults, asked: DraftOptions) -> Drafts:
    """A claim for each arm but the baseline, on each about its level, or on each pair of methods.

    ClaimError where nothing can be compared.
    """
    if asked.level is not None and not asked.level.sd:
        results = _with_enough(results)
    _comparable(results, asked)
    both, said = _compared(results, asked)
    names = _names_of(results.runs)
    measurement = name_of(results.measure, before="value")
    drafts = Drafts(said=[*results.said, *filter(None, [said])])
    pairs = [_pair_name(names, label, baseline, asked) for label, baseline in both]
    ids = [_shortened(f"{name}{asked.ending}") for name in pairs]
    origin = os.path.relpath(results.path.resolve(), asked.out.resolve())
    asked = replace(asked, head=(*asked.head, f"{ORIGIN}{printable(origin)}"))
    family = ids if len(both) > 1 and asked.level is None else ()
    every = len({baseline for _, baseline in both}) > 1
    # a claim can read the results as they are, but a table may hold no other arms
    alike = measurement == results.measure and all(text == name for text, name in names.items())
    readable = results.imports or (results.table and alike and len(names) == 2 - bool(asked.level))
    for name, claim_id, (label, baseline) in zip(pairs, ids, both, strict=True):
        pair, file = tuple(filter(None, (label, baseline))), results.table
        shown, together = _shown(results, pair)
        asked_here = asked
        if not readable:
            alone = together or len(both) == 1
            stem = name_of(results.path.resolve().stem, before="results") if alone else name
            written = {asked.out / f"{each}.claim.yaml" for each in pairs}
            if alone and _readers(asked.out / f"{stem}{COPY}") - written:
                stem = name
            file = f"{stem}{COPY}"
            drafts.tables[file] = text = tidy_text(results, shown, names, measurement)
            copied = f"Its values are copied to {file}, SHA-256 {_digest(text)}."
            asked_here = replace(asked, head=(*asked.head, copied))
        draft = _draft(results, asked_here, names, pair, measurement, file, shown)
        text = claim_text(replace(draft, id=claim_id, family=family, every_pair=every))
        drafts.claims[f"{name}.claim.yaml"] = text
        drafts.ids[f"{name}.claim.yaml"] = claim_id
    if drafts.tables:
        drafts.said.append(_said_of_tables(drafts, asked.out))
    return drafts


def _shown(results: FoundResults, pair: Collection[str]) -> tuple[tuple[str, ...], bool]:
    """The arms of a claim, and whether they are those of all claims on complete arms.

    Methods over data sets are ranked with all others that have a value on each.
    """
    if not _single_values(results):
        return tuple(pair), False
    lost = {arm for arm, runs in results.runs.items() if any(run.value is None for run in runs)}
    return tuple(arm for arm in results.runs if arm in pair or arm not in lost), not lost & {*pair}


def _said_of_tables(drafts: Drafts, out: Path) -> str:
    """That values are copied to files below ``out``, and which claims read them."""
    files = [printable(str(out / file)) for file in drafts.tables]
    one = "the claim reads" if len(drafts.claims) == 1 else "the claims read"
    reads = "one for each claim" if 1 < len(files) == len(drafts.claims) else f"which {one}"
    return f"the values are copied to {files[0] if len(files) == 1 else named(files)}, {reads}"


def _names_of(labels: Iterable[str]) -> dict[str, str]:
    """What a claim calls each arm: no two have one name."""
    names: dict[str, str] = {}
    for label in labels:
        names[label] = name_of(label, names.values())
    return names


def _pair_name(names: Mapping[str, str], label: str, baseline: str, asked: DraftOptions) -> str:
    """The name of a claim on an arm: `mixup_vs_plain`, or `mixup_at_most` of a level."""
    rest = f"vs_{names[baseline]}" if asked.level is None else asked.level.side
    return _shortened(f"{names[label]}_{rest}")


def _shortened(claim_id: str) -> str:
    """An id that is too long, cut, with a mark that tells it from others of the same beginning."""
    if len(claim_id) <= LONGEST_ID:
        return claim_id
    mark = _digest(claim_id)[:6]
    return f"{claim_id[: LONGEST_ID - len(mark) - 1]}_{mark}"


def _draft(
    results: FoundResults,
    asked: DraftOptions,
    names: Mapping[str, str],
    pair: tuple[str, ...],
    measurement: str,
    file: str,
    shown: Sequence[str],
) -> Draft:
    """The claim on a pair, or an arm; its id is still to be given. ``shown`` are all its arms."""
    labels = labels_of(names)
    return Draft(
        id="",
        title=_title(results, asked, [labels[each] for each in pair])[:200],
        own=results.with_doubts(asked.own, pair),
        head=asked.head,
        labels={names[each]: labels[each] for each in shown},
        arms={names[each]: _source(results, each, measurement, file) for each in shown},
        compared=tuple(names[each] for each in pair),
        seeds=_seeds(results, pair, asked),
        measurement=measurement,
        reported=_reported(results, asked),
        better=asked.better,
        smallest=None if asked.by is None else (asked.by, asked.why),
        ask=asked.ask,
        either_way=not (asked.level or asked.within) and _either_way(results, asked),
        tasks=results.tasks,
        level=asked.level,
        alpha=_one_sided_alpha(asked.alpha) if results.tasks else asked.alpha,
        paired=asked.paired,
        one_sided=asked.one_sided,
        within=asked.within,
        items=_test_of_items(results, pair),
        folds=results.folds,
        test_to_train=asked.test_to_train,
    )


def _source(results: FoundResults, arm: str, measurement: str, file: str) -> dict[str, Any]:
    """Where the values of an arm are, as its keys in a claim say it."""
    if arm in results.printed:
        return {"published": {measurement: results.printed[arm]}}
    return {"import": results.imports[arm]} if results.imports else {"table": file}


def _one_sided_alpha(asked: float | None) -> float:
    """Half of a level: tests over tasks have one side, and those of seeds two."""
    return (0.05 if asked is None else asked) / 2


def _title(results: FoundResults, asked: DraftOptions, labels: Sequence[str]) -> str:
    """What is claimed of the arms, which are called so."""
    if asked.level is not None:
        said = f"{asked.level.side.replace('_', ' ')} {asked.level.limit!r}"
        return f"{labels[0]} has a mean {results.called} of {said}"
    if asked.within:
        return f"{labels[0]} lies, in {results.called}, within the range of {labels[1]}"
    if _either_way(results, asked):
        return f"{labels[0]} and {labels[1]} differ in {results.called}"
    over = f" over {number_of(len(results.tasks), 'task')}" if results.tasks else ""
    return f"{labels[0]} has a {asked.better} {results.called} than {labels[1]}{over}"


def _with_enough(results: FoundResults) -> FoundResults:
    """The arms with seeds enough to be held against a level, where some have."""
    enough = {arm: runs for arm, runs in results.runs.items() if len(runs) >= LEAST_SEEDS}
    few = [arm for arm in results.runs if arm not in enough]
    if not (enough and few):
        return results
    said = f"left out, with fewer than {LEAST_SEEDS} seeds: {named(few)}"
    return replace(results, runs=enough, said=[*results.said, said])


def _comparable(results: FoundResults, asked: DraftOptions) -> None:
    """At least two arms, or one with a level, and no seed twice in one."""
    path, arms = results.path, list(results.runs)
    if asked.level is not None and results.tasks:
        advice = _one_task(results) or "leave out the limit: over tasks one arm is held to another"
        raise refused(path, "the runs are of several tasks", "runs of one task", advice)
    if len(arms) < 2 - bool(asked.level):
        there = f"one arm is in it, '{arms[0]}'" if arms else "no arm is in it"
        advice = "name the field that tells them apart: --arm"
        raise refused(path, there, "two arms or more", advice)
    if results.tasks:
        _comparable_tasks(results, asked)
    few = [arm for arm, runs in results.runs.items() if len(runs) < LEAST_SEEDS]
    few = [arm for arm in few if not asked.within or arm == asked.baseline]
    few = [arm for arm in few if arm not in results.printed]
    few = [] if results.items or (asked.level and asked.level.sd) else few
    if few and not (asked.ask or results.tasks):
        some = len(results.runs[few[0]])
        mistake = f"arm '{few[0]}' has {number_of(some, 'seed')}, which cannot decide"
        expected = f"at least {LEAST_SEEDS} seeds per arm"
        raise refused(path, mistake, expected, "run more seeds, or name the arms: --arm FIELD")
    if twice := several_of(results.runs):
        mistake = f"arm '{twice[0]}' has two runs with one seed"
        advice = "name the field of the seed, --seed FIELD, or leave out runs that were repeated"
        raise refused(path, mistake, "one run for each seed", advice)


def _comparable_tasks(results: FoundResults, asked: DraftOptions) -> None:
    """At least three tasks, each in every arm, and no margin: none is tested over tasks."""
    path, tasks = results.path, results.tasks
    mistake = f"the runs are of several tasks: '{results.task}' is {named(tasks)}"
    advice = _one_task(results)
    if len(tasks) < LEAST_TASKS:
        expected = f"runs of one task, or of at least {LEAST_TASKS}, which are compared together"
        raise refused(path, mistake, expected, advice or f"add tasks, to {LEAST_TASKS} or more")
    for arm, runs in results.runs.items():
        if without := [task for task in tasks if task not in {run.task for run in runs}]:
            told = f"{mistake}; arm '{arm}' has no run of {named(without)}"
            to_do = f"add what is missing, or leave {named(without)} out of every arm"
            raise refused(path, told, "runs of every task in each arm", to_do)
    counts = Counter((arm, run.task) for arm, runs in results.runs.items() for run in runs)
    if _single_values(results) and not (results.apart or OWN_RUNS.search(results.task)):
        one = f"the rows are one value per arm and task: {number_of(len(tasks), 'task')} of "
        one += f"'{results.task}', and a model that was evaluated on all of them is one run"
        advice = "give several seeds of each, a row per run; or, if every task was trained on "
        advice += "separately, call its field `dataset`"
        raise refused(path, one, "several runs of each task in each arm", advice)
    (arm, task), count = min(counts.items(), key=lambda each: each[1])
    if count < LEAST_PER_TASK and not _single_values(results):
        more = [short(name) for (of, name), n in counts.items() if of == arm and n > count]
        told = f", and more of {named(more)}" if more else ""
        few = f"arm '{arm}' has {number_of(count, 'run')} of task '{short(task)}'{told}"
        advice = "run more seeds, or leave doubles out: chance is not known from one"
        raise refused(path, few, f"at least {LEAST_PER_TASK} of each, with other seeds", advice)
    if asked.by is not None:
        expected = "no smallest difference: over tasks none is tested"
        raise refused(path, mistake, expected, "leave out --by" + (advice and f", or {advice}"))


def _one_task(results: FoundResults) -> str:
    """How to compare the runs of one task; empty where none has enough of them in every arm."""
    counts = Counter((arm, run.task) for arm, runs in results.runs.items() for run in runs)
    for task in results.tasks:
        if all(counts[arm, task] >= LEAST_SEEDS for arm in results.runs):
            more = "" if role_of(results.task) == "task" else f" --task-field {results.task}"
            return f"compare the runs of one, as in --task {shlex.quote(task)}{more}"
    return ""


def _compared(results: FoundResults, asked: DraftOptions) -> tuple[list[tuple[str, str]], str]:
    """Each arm with what it is compared with, or alone; and what is said of the choice.

    Without a baseline, methods over data sets are compared in pairs, in the order of the results:
    an order that their values choose would double the error rate.
    """
    arms = list(results.runs)
    if asked.level is not None:
        return [(arm, "") for arm in arms], ""
    if _single_values(results) and not (asked.baseline or _named_baseline(arms)) and len(arms) > 2:
        pairs = [(later, earlier) for earlier, later in combinations(arms, 2)]
        return pairs, f"all {len(pairs)} pairs, for no arm is named a baseline (else: --baseline)"
    baseline, said = _baseline(results, asked)
    return [(arm, baseline) for arm in arms if arm != baseline], said


def _baseline(results: FoundResults, asked: DraftOptions) -> tuple[str, str]:
    """The arm that others are compared with, and what is said of the choice.

    ClaimError where none is named and there are several others, or a margin or tasks, whose test
    has a direction.
    """
    arms = list(results.runs)
    if asked.baseline:
        if asked.baseline not in arms:
            mistake = f"there is no arm '{asked.baseline}'"
            advice = choose(asked.baseline, arms)
            raise refused(results.path, mistake, ", ".join(arms), advice)
        return asked.baseline, f"compared with '{asked.baseline}'"
    if found := _named_baseline(arms):
        return found, f"compared with '{found}', by its name (else: --baseline)"
    if _either_way(results, asked):
        said = f"whether '{arms[1]}' and '{arms[0]}' differ, for neither is named a baseline"
        return arms[0], f"{said} (else: --baseline)"
    why = "" if asked.by is None else ", and a smallest difference has a direction"
    mistake = f"no arm is named a baseline: {named(arms)}{why}"
    advice = f"name it, as in --baseline {shlex.quote(arms[0])}"
    raise refused(results.path, mistake, "the arm that others are compared with", advice)


def _named_baseline(arms: Sequence[str]) -> str:
    """The only arm with such a word in its name; empty where there is none."""
    words = {arm: re.split(r"[^a-z]+", arm.casefold()) for arm in arms}
    for word in BASELINES:
        having = [arm for arm in arms if word in words[arm]]
        if len(having) == 1:
            return having[0]
    return ""


def _either_way(results: FoundResults, asked: DraftOptions) -> bool:
    """Whether two arms are compared of which neither is the baseline."""
    named_one = asked.baseline or _named_baseline(list(results.runs))
    return not (named_one or results.tasks or asked.by is not None) and len(results.runs) == 2


def _seeds(results: FoundResults, labels: Sequence[str], asked: DraftOptions) -> dict[str, Any]:
    """As many as both arms have, in every task, those that are lost included."""
    counts = Counter((label, run.task) for label in labels for run in results.runs[label])
    count = min(counts.values())
    count = max(count, LEAST_SEEDS) if asked.ask and not results.tasks else count
    more = {"unit": SEED, "items": ITEM} if results.items else {}
    more |= {"clusters": CLUSTER} if any(row.cluster for row in results.items) else {}
    return {"min": count, "plan": count, **more}


def _test_of_items(results: FoundResults, pair: Sequence[str]) -> TestOfItems:
    """By the trained models themselves; with enough runs of each by any seeds."""
    if not results.items:
        return ""
    if min(len(results.runs[arm]) for arm in pair) >= LEAST_SEEDS:
        return "crossed"
    exact = answered_once(row for row in results.items if row.arm in pair)
    return "mcnemar" if exact else "t"


def _reported(results: FoundResults, asked: DraftOptions) -> dict[str, str]:
    reported = {"from": results.measure} if results.imports else {}
    reported |= {"reduce": results.reduce} if results.reduce and results.imports else {}
    return {
        **reported,
        "label": results.called[:80] if len(results.called) > 1 else f"the number {results.called}",
        "better": asked.better,
    }


def _single_values(results: FoundResults) -> bool:
    """Whether every arm has one value in each of several tasks, and no more."""
    return bool(results.tasks) and all(
        len(runs) == len(results.tasks) for runs in results.runs.values()
    )


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def marked(text: str) -> str:
    """The text with a last line by which it is known that nobody has edited it."""
    return f"{text}{MARK}{_digest(text)}\n"


def write(drafts: Drafts, out: Path) -> tuple[Path, ...]:
    """Write the claims and the table that they read, in place of nothing but unedited ones.

    The files of the claims. SpecError where a file that somebody edited is in the way, or a claim
    from other results, and then nothing is written; OutputError where nothing can be.
    """
    claims = {out / name: marked(text) for name, text in drafts.claims.items()}
    tables = {out / name: text for name, text in drafts.tables.items()}
    if (file := of_others(drafts, out)) is not None:
        raise _of_others(file, _origin(_text(file)))
    for file in claims:
        with _told(file):
            if file.exists() and not _unedited(_text(file)):
                raise _in_the_way(file)
    for file, text in tables.items():
        with _told(file):
            if file.exists() and not _copied(file, text, claims):
                raise _in_the_way(file)
    for file, text in {**tables, **claims}.items():
        with _told(file):
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
    return tuple(claims)


@contextmanager
def _told(file: Path) -> Iterator[None]:
    """OutputError for whatever the file system refuses."""
    try:
        yield
    except OSError as error:
        raise OutputError(file, error) from None


def _text(file: Path) -> str:
    return file.read_text(encoding="utf-8", errors="replace")


def _in_the_way(file: Path) -> SpecError:
    mistake, advice = "this file is there already", "name another place, or move it away"
    return SpecError([Problem(Place(str(file)), mistake, "no file, or one unedited", advice)])


def of_others(drafts: Drafts, out: Path) -> Path | None:
    """The first claim file that is there already, and was written from other results."""
    for name, text in drafts.claims.items():
        file = out / name
        with _told(file):
            if file.exists() and _origin(_text(file)) not in ("", _origin(text)):
                return file
    return None


def _of_others(file: Path, other: str) -> SpecError:
    mistake = f"this claim was written from other results, {other}"
    advice = "name another folder for this one, as in --out second"
    return SpecError([Problem(Place(str(file)), mistake, "no claim, or one of these", advice)])


def _origin(text: str) -> str:
    """Where the results lie that a claim was written from; empty where it does not say so."""
    start = f"# {ORIGIN}"
    lines = (line for line in text.split("\n") if line.startswith(start))
    return next(lines, start).removeprefix(start)


def _unedited(text: str) -> bool:
    before, mark, _ = text.rpartition(MARK)
    return bool(mark) and marked(before) == text


def _copied(file: Path, new: str, claims: Collection[Path]) -> bool:
    """Whether a table may be replaced: no claim but these reads it, and nobody has edited it."""
    text, readers = _text(file), _readers(file)
    if text == new:
        return True
    return readers <= {*claims} and any(_digest(text) in _text(each) for each in readers)


def _readers(file: Path) -> set[Path]:
    """The claims that name a table, in its folder."""
    return {each for each in file.parent.glob("*.claim.yaml") if file.name in _text(each)}
