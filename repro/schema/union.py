"""Unions of a seam's specifications: those built in, by ``kind``, and any that a file names.

A mapping with the key ``use`` (`module:object`), or with a ``kind`` that an installed package
adds, is kept as it stands: its class is found, with consent, when the shape of the file is known.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Union, get_args

from pydantic import BaseModel, Discriminator, GetJsonSchemaHandler, SerializeAsAny, Tag
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

UNREAD, READ = "unread:", "read:"
"""The tags of what is not built in: before its class is found, and after. No ``kind`` is such."""


def open_union(
    builtin: Sequence[type[BaseModel]],
    unread: type[BaseModel],
    read: type[BaseModel],
    added: Callable[[str], bool],
) -> Any:
    """The union of ``builtin``, by ``kind``; of ``unread`` mappings; and of what they turn out as.

    ``read`` is the base of the classes of others, and ``added`` says whether a ``kind`` that is
    not built in is one that an installed package adds.
    """
    by_kind = {str(get_args(each.model_fields["kind"].annotation)[0]): each for each in builtin}

    def kind(value: Any) -> Any:
        if isinstance(value, BaseModel):
            own = READ if isinstance(value, read) else getattr(value, "kind", None)
            return UNREAD if isinstance(value, unread) else own
        if not isinstance(value, dict):
            return next(iter(by_kind))  # of the wrong type, whatever it was meant to be
        name = value.get("kind")
        others = "use" in value or (isinstance(name, str) and name not in by_kind and added(name))
        return UNREAD if others else name

    members = [Annotated[each, Tag(name)] for name, each in by_kind.items()]
    whole: Any = SerializeAsAny()  # type: ignore[type-arg]
    members += [Annotated[unread, Tag(UNREAD)], Annotated[read, whole, Tag(READ)]]
    names = tuple(by_kind)
    return Annotated[Union[tuple(members)], Discriminator(kind), _JsonSchema(names)]  # noqa: UP007


@dataclass(frozen=True, slots=True)
class _JsonSchema:
    """Tells editors which ``kind`` is which, and leaves out what no file has."""

    kinds: tuple[str, ...]

    def __get_pydantic_json_schema__(
        self, core_schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        """The members as they are in a file: built-ins by kind, and one with ``use``."""
        *members, _ = handler(core_schema)["oneOf"]
        mapping = {kind: each["$ref"] for kind, each in zip(self.kinds, members, strict=False)}
        return {"discriminator": {"mapping": mapping, "propertyName": "kind"}, "oneOf": members}
