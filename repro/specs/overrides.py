"""What a scale changes of an expectation, and changes that this kind cannot have."""

from __future__ import annotations

from collections.abc import Iterator
from typing import get_args

from pydantic import BaseModel

from repro.errors import Problem
from repro.specs.expectation import Expectation, ExpectationOverride, Ratio, Separation
from repro.specs.shapes import bare, listed
from repro.specs.sizes import LeastRatio, Limit
from repro.specs.wording import choose
from repro.specs.yaml import Document, Steps


def overridden(base: Expectation, override: ExpectationOverride) -> Expectation:
    """The expectation with the sizes that a scale gives it."""
    update = {key: getattr(override, key) for key in override.model_fields_set}
    if isinstance(base, Ratio | Separation) and override.at_least is not None:
        update["at_least"] = LeastRatio(**dict(override.at_least))
    return base.model_copy(update=update)


def wrong_overrides(
    document: Document, steps: Steps, base: Expectation, override: ExpectationOverride
) -> Iterator[Problem]:
    """What the override at ``steps`` of a claim changes, and cannot change."""
    allowed = _sizes(type(base))
    for key in sorted(override.model_fields_set):
        if key not in allowed:
            what = f"{document.name(steps)}: kind '{base.kind}' has no '{key}' to override"
            advice = choose(key, allowed) if allowed else "remove it"
            expected = listed(allowed) if allowed else "no key"
            yield Problem(document.key_place((*steps, key)), what, expected, advice)
        elif getattr(override, key) is None and not _may_be_left_out(type(base), key):
            what = f"{document.name((*steps, key))}: an expectation needs this"
            advice = "write a value, or remove the line"
            words = {"test": "the name of a test", "role": "decisive or context"}
            expected = words.get(key, "a mapping")
            yield Problem(document.place((*steps, key)), what, expected, advice)
    if isinstance(base, Ratio | Separation) and override.at_least is not None:
        yield from _not_a_ratio(document, (*steps, "at_least", "value"), override.at_least)


def _not_a_ratio(document: Document, steps: Steps, limit: Limit) -> Iterator[Problem]:
    """That a scale gives a ratio a limit that no least ratio can have."""
    if isinstance(limit.value, str) or limit.value < 1:
        what = f"{document.name(steps)}: {limit.value} is no least ratio"
        expected, advice = "a number of at least 1", "write how many times"
        yield Problem(document.place(steps), what, expected, advice)


def _may_be_left_out(kind: type[BaseModel], key: str) -> bool:
    return type(None) in get_args(kind.model_fields[key].annotation)


def _sizes(kind: type[BaseModel]) -> list[str]:
    """What a scale may change of this kind: the keys that both have, with the same type.

    ``at_least`` is a limit here, of which that of a ratio is one.
    """
    fields = kind.model_fields
    return [
        key
        for key, field in ExpectationOverride.model_fields.items()
        if key in fields
        and (key == "at_least" or bare(fields[key].annotation) == bare(field.annotation))
    ]
