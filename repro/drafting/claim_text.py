"""The text of a claim file: what its parts are, and how they are written for a reader."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

Better = Literal["lower", "higher"]
TestOfItems = Literal["", "t", "crossed", "mcnemar"]

LABEL, CUT = 40, "..."
"""Characters of a label, and what stands for those that are cut."""

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_./-]*")
_WORDS_OF_YAML = frozenset({"true", "false", "null", "yes", "no", "on", "off", "y", "n"})


@dataclass(frozen=True, slots=True)
class MeanLimit:
    """The limit of a mean, and why; ``sd`` is its known standard deviation, if it has one."""

    side: Literal["at_most", "at_least"]
    limit: float
    why: str
    sd: tuple[float, str] | None = None


@dataclass(frozen=True, slots=True)
class Draft:
    """The parts of a claim about a difference, or a level; ``head`` is for its author.

    ``smallest`` is the smallest effect with its reason; None asks the author for both. ``arms`` are
    the keys of each arm besides its label. ``sequential`` is for `repro gate`, which spends seeds.
    ``either_way``: no arm is the baseline, and the claim is that they differ. ``level``: the claim
    is that of one arm against a limit. ``within``: the first arm is a run like those of the second,
    and bad on this side. ``every_pair``: its family is of all pairs, and not of one baseline.
    ``tasks`` are those over which the arms are compared, with at least ``seeds["min"]`` runs each;
    ``arms`` may then hold others, which are ranked with them. ``folds``: seeds are the folds of one
    data set, of which there are so many; ``test_to_train`` is their share, where it is not theirs
    by cross-validation.
    """

    id: str
    title: str
    own: str
    head: Sequence[str]
    labels: Mapping[str, str]
    arms: Mapping[str, Mapping[str, Any]]
    compared: tuple[str, ...]
    seeds: Mapping[str, Any]
    measurement: str
    reported: Mapping[str, Any]
    better: Better
    smallest: tuple[float, str] | None = None
    either_way: bool = False
    ask: bool = False
    family: Sequence[str] = ()
    every_pair: bool = False
    tasks: Sequence[str] = ()
    sequential: bool = False
    configuration: Mapping[str, Any] = field(default_factory=dict)
    level: MeanLimit | None = None
    alpha: float | None = None
    paired: bool = False
    one_sided: bool = False
    within: Literal["", "both", "higher", "lower"] = ""
    items: TestOfItems = ""
    folds: int = 0
    test_to_train: float | None = None


MARGIN = (
    "The smallest difference that would matter to you, in the units of the measurement, and why.",
    "Decide it before you look at results: without it, better may mean better by next to nothing.",
)


def claim_text(draft: Draft) -> str:
    """A claim file; with ``ask`` the margin and its reason are left to be filled in."""
    lines = [f"# {line}".rstrip() for line in draft.head]
    lines += [
        "schema: 1",
        f"id: {draft.id}",
        f"title: {_value(draft.title)}",
        *([] if draft.own else ["# Why you claim it: who would do what, if it is confirmed?"]),
        f"source: {{own: {_value(draft.own, quote=True)}}}",
    ]
    if draft.alpha is not None:
        lines.append(f"alpha: {draft.alpha!r}")
    if draft.configuration:
        lines.append("configuration:")
        lines += (f"  {key}: {_value(value)}" for key, value in draft.configuration.items())
        lines.append("# What the arms differ in, as in: args: {lr: 0.1}")
    lines.append("arms:")
    for name, keys in draft.arms.items():
        lines.append(f"  {_value(name)}: {_value({'label': draft.labels[name], **keys})}")
    lines += [
        _design(draft),
        f"seeds: {_value(draft.seeds)}",
        *(["sequential: {method: eprocess_t}"] if draft.sequential else []),
        "measurements:",
        f"  {_value(draft.measurement)}: {_value({'kind': 'reported', **draft.reported})}",
        "expectations:",
        f"  - id: {_expectation_id(draft)}",
        f"    measurement: {_value(draft.measurement)}",
        f"    of: {_value(draft.compared)}",
        *_expected(draft),
    ]
    if draft.family:
        members = f"[{', '.join(draft.family)}]"
        why = "each is compared with the same baseline"
        why = "every pair of methods is compared" if draft.every_pair else why
        family = f"{{name: compared, method: holm, members: {members}, why: {_value(why)}}}"
        lines += ["family:", f"  {family}"]
    return "\n".join(lines) + "\n"


def _design(draft: Draft) -> str:
    if draft.folds:
        return "design: paired  # a seed is a fold, which is the same in both arms"
    if draft.paired:
        return "design: paired  # runs with one seed share their randomness"
    alone = "" if draft.level else "  # or paired: runs with one seed share their randomness"
    return f"design: independent{alone}"


def _expectation_id(draft: Draft) -> str:
    if draft.level is not None:
        return draft.level.side
    return "as_the_reference" if draft.within else "different" if draft.either_way else "better"


def _expected(draft: Draft) -> list[str]:
    """The kind of the expectation, and what it declares."""
    if draft.within:
        margin = [line.replace("smallest_effect", "margin") for line in _margin(draft)]
        return ["    kind: within", f"    side: {draft.within}", *margin]
    if draft.items:
        direction = "different" if draft.either_way else draft.better
        test = [] if draft.items == "t" else [f"    test: {draft.items}"]
        return ["    kind: items", f"    direction: {direction}", *test, *_margin(draft)]
    if draft.level is None:
        return _over_tasks(draft) if draft.tasks else _difference(draft)
    level = draft.level
    limit = f"{{value: {level.limit!r}, why: {_value(level.why, quote=True)}}}"
    lines = ["    kind: level", f"    {level.side}: {limit}"]
    if level.sd is not None:
        sd, why = level.sd
        lines.append(f"    sd: {{value: {sd!r}, why: {_value(why, quote=True)}}}")
    return lines


ENOUGH_PER_TASK = 3
"""Runs of each task from which on chance is known within tasks; with fewer, it is between them."""


def _over_tasks(draft: Draft) -> list[str]:
    """By what only compares runs of one task with each other, where there are enough of them."""
    if draft.seeds["min"] == 1:
        return _over_single_values(draft)
    kind = ["    kind: meta_analysis  # about tasks like these, in one unit"]
    if draft.seeds["min"] >= ENOUGH_PER_TASK:
        kind = ["    kind: over_tasks", "    aggregate: improvement  # in one unit: mean or iqm"]
    own = "    # A seed is one run on all tasks; runs: per_task, if each task has runs of its own."
    return [*kind, own, f"    tasks: {_value(list(draft.tasks))}"]


RANKED = 6
"""Tasks from which on signed ranks can decide at 2.5 %, on one side."""


def _over_single_values(draft: Draft) -> list[str]:
    """By the effects of the tasks: one value of each arm says nothing of chance within a task."""
    test = "    test: wilcoxon  # or t, of their mean, or sign"
    return [
        "    kind: meta_analysis  # the differences within tasks, about tasks like these",
        test if len(draft.tasks) >= RANKED else "    test: t",
        "    runs: per_task  # each value is of a separate run; one model on all is one run",
        f"    tasks: {_value(list(draft.tasks))}",
    ]


def _difference(draft: Draft) -> list[str]:
    folds: list[str] = []
    if draft.folds:
        share = draft.test_to_train or 1 / (draft.folds - 1)
        by = "" if draft.test_to_train else f"1 / (k - 1) for {draft.folds} folds: "
        why = f"{by}the size of a test set over its training set"
        folds = [f"    folds: {{test_to_train: {share!r}}}  # {why}"]
    if draft.either_way:
        direction = "    direction: different  # neither is the baseline"
        return ["    kind: difference", direction, *folds]
    tails = ["    tails: 1"] if draft.one_sided else []
    direction = f"    direction: {draft.better}"
    return ["    kind: difference", direction, *tails, *folds, *_margin(draft)]


def _margin(draft: Draft) -> list[str]:
    if draft.smallest is not None:
        size, why = draft.smallest
        return [f"    smallest_effect: {{abs: {size!r}, why: {_value(why, quote=True)}}}"]
    if draft.ask:
        return [*(f"    # {line}" for line in MARGIN), '    smallest_effect: {abs: , why: ""}']
    return []


def _value(value: Any, *, quote: bool = False) -> str:
    """A value in one line of YAML: texts that may be read as anything else are in quotes."""
    if isinstance(value, Mapping):
        return (
            "{" + ", ".join(f"{_value(key)}: {_value(each)}" for key, each in value.items()) + "}"
        )
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_value, value))}]"
    if isinstance(value, str):
        plain = _PLAIN.fullmatch(value) and value.casefold() not in _WORDS_OF_YAML
        return value if plain and not quote else json.dumps(value, ensure_ascii=False)
    return json.dumps(value)


def labels_of(names: Mapping[str, str]) -> dict[str, str]:
    """What a report calls each arm: of long labels both ends, where that tells them apart.

    ``names`` are those of the arms by their labels.
    """
    end = (LABEL - len(CUT)) // 2
    shown = {
        label: label if len(label) <= LABEL else f"{label[:end]}{CUT}{label[-end:]}"
        for label in names
    }
    for label, name in names.items():
        if sum(each == shown[label] for each in shown.values()) > 1:
            number = f" ({[*names].index(label) + 1})"
            shown[label] = f"{name[: LABEL - len(number)]}{number}"
    return shown
