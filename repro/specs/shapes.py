"""What a type says about the documents that it reads: its keys, kinds, entries and patterns."""

from __future__ import annotations

from collections.abc import Iterable
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import Tag


def pattern(text: Any) -> str:
    """The pattern of a constrained text."""
    return str(get_args(text)[1].pattern)


def listed(options: Iterable[object]) -> str:
    """Options for the reader, in order."""
    words = [str(option) for option in options]
    return ("one of " if len(words) > 1 else "") + ", ".join(words)


def bare(annotation: Any) -> Any:
    """A type without its constraints, and without None as an alternative."""
    if get_origin(annotation) is Annotated:
        return bare(get_args(annotation)[0])
    if get_origin(annotation) in {Union, UnionType}:
        members = [member for member in get_args(annotation) if member is not type(None)]
        return bare(members[0]) if len(members) == 1 else annotation
    return annotation


def entry_type(container: Any) -> Any:
    """The type of the entries of a list or of the values of a mapping."""
    arguments = get_args(container)
    if get_origin(container) is dict:
        return arguments[1]
    return arguments[0] if get_origin(container) is tuple else Any


def kinds(member: Any) -> tuple[object, ...]:
    """The values of ``kind`` or ``method``, or the tags, by which a member of a union is known."""
    tags = tuple(one.tag for one in getattr(member, "__metadata__", ()) if isinstance(one, Tag))
    if tags:
        return tags
    fields = getattr(member, "model_fields", {})
    key = next((key for key in ("kind", "method") if key in fields), None)
    return () if key is None else get_args(fields[key].annotation)


def all_kinds(union: Any) -> list[str]:
    """All kinds that a union tells apart."""
    return [str(kind) for member in get_args(bare(union)) for kind in kinds(member)]


def keys_of(model: Any) -> list[str]:
    """The keys of a mapping that a model reads."""
    fields = getattr(model, "model_fields", {})
    return [field.alias or name for name, field in fields.items()]


def description(annotation: Any) -> str:
    """What belongs at a missing key."""
    here = bare(annotation)
    if get_origin(here) is Literal:
        return listed(get_args(here))
    if get_origin(here) is tuple:
        return "a list"
    if get_origin(here) in {Union, UnionType}:
        *first, last = dict.fromkeys(description(member) for member in get_args(here))
        return f"{', '.join(first)} or {last}" if first else last
    if keys_of(here):
        return f"a mapping with the keys {', '.join(keys_of(here))}"
    return {str: "a text", int: "a whole number", float: "a number"}.get(here, "a mapping")
