"""The base of every specification: frozen, strict, no unknown keys; names and declared sizes."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, Self, Union, get_args

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Discriminator,
    Field,
    GetJsonSchemaHandler,
    SerializeAsAny,
    StringConstraints,
    Tag,
    model_validator,
)
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, PydanticKnownError

Name = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]{0,63}$")]
"""A short name: lower-case letters, digits and underscores; safe in a path and in a page."""

ConfigurationId = Annotated[
    str, StringConstraints(pattern=r"^[a-z][a-z0-9_]{0,63}(/[a-z][a-z0-9_]{0,63}){1,3}$")
]
"""A configuration's path below `configurations/`, without its ending: `yang2018/ptb/mos`."""

ObjectName = Annotated[
    str,
    StringConstraints(
        pattern=r"^[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)*:[A-Za-z_][A-Za-z0-9_]*$"
    ),
]
"""Something in an importable Python module: `my_package.layers:MyLayer`."""

PartName = Annotated[
    str,
    StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z0-9_]+){0,9}$", max_length=100),
]
"""A parameter of a model, or the beginning of its name up to a dot: `output`, `trunk.layers.0`."""

Reason = Annotated[str, StringConstraints(min_length=8, max_length=600)]
"""A sentence that says why; it is printed in the report."""

DECIMAL = r"^-?[0-9]+(\.[0-9]+)?([eE]-?[0-9]+)?$"

Decimal = Annotated[str, StringConstraints(pattern=DECIMAL)]
"""A number as it was printed, in quotes, because YAML turns 3.20 into 3.2."""

PrintedP = Annotated[
    str, StringConstraints(pattern=r"^[<>]? ?[0-9]*\.?[0-9]+([eE]-?[0-9]+)?$", max_length=40)
]
"""A p-value as it was printed, in quotes; `<0.001` and `>0.05` are bounds."""

CsvName = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9_]{0,99}\.csv$")]
"""The name of a CSV file that lies in the folder of the document that names it."""

ArgumentName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z][A-Za-z0-9_.-]{0,63}$")]
"""An argument of a program: `lr`, `optimizer.name`."""

VariableName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,99}$")]
"""A variable of an environment."""

FilePattern = Annotated[
    str,
    StringConstraints(
        pattern=r"^[\w*?\[][\w.*?\[\]!+ -]*(/[\w*?\[][\w.*?\[\]!+ -]*)*$",
        max_length=300,
    ),
]
"""A file below a folder, or a pattern of such files: `train.py`, `src/**/*.py`."""

ImportPath = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_{*][^\\]*$", max_length=300)]
"""Files below a folder, with parts of names in braces: `runs/{arm}/seed_{seed}/metrics.csv`."""

MemorySize = Annotated[str, StringConstraints(pattern=r"^[0-9]{1,6}(\.[0-9])? ?(GB|MB)$")]
"""`8 GB`, `500 MB`."""

LARGEST, SMALLEST = 1e60, 1e-60
"""The sizes of numbers that are computed with; 0 is one as well.

Degrees of freedom take the fourth power of a spread. That of the largest is 1e240; a spread that
counts is at least 1e-12 of its values, so that of the smallest is 1e-288. Both, and one over
both, are float64 with all their digits.
"""


def sized(number: float) -> float:
    """The number, if its size is one that can be computed with."""
    if number > LARGEST or -SMALLEST < number < 0:
        limit = LARGEST if number > 0 else -SMALLEST
        raise PydanticKnownError("less_than_equal", {"le": limit})
    if number < -LARGEST or 0 < number < SMALLEST:
        limit = SMALLEST if number > 0 else -LARGEST
        raise PydanticKnownError("greater_than_equal", {"ge": limit})
    return number


def _printed(text: str) -> str:
    """A printed number whose size, and that of its last digit, can be computed with."""
    sized(float(text))
    exponent = text.lower().partition("e")[2]
    sized(float(f"1e{exponent}") if exponent else 1.0)
    return text


Size = Annotated[float, AfterValidator(sized)]
PositiveSize = Annotated[float, Field(gt=0), AfterValidator(sized)]

PrintedSize = Annotated[
    str,
    StringConstraints(pattern=DECIMAL, max_length=40),
    AfterValidator(_printed),
]
"""A printed number that is computed with, not only shown."""

Probability = Annotated[float, Field(ge=0, lt=1)]
Positive = Annotated[float, Field(gt=0)]
Count = Annotated[int, Field(ge=1, le=10**9)]


class Spec(BaseModel):
    """A frozen record of a document; validated from JSON, so that strictness costs no tuples."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, allow_inf_nan=False)

    @classmethod
    def where_else(cls, key: str) -> str:
        """What to do with a key that stands here and belongs elsewhere; else nothing."""
        del key
        return ""


class ShareOfGain(Spec):
    """A share of a gain that was claimed, in the units of the measurement, as it was printed."""

    share: Annotated[PositiveSize, Field(le=1)]
    gain: PrintedSize

    @property
    def size(self) -> float:
        """The share times the gain, above 0."""
        return self.share * abs(float(self.gain))


class Margin(Spec):
    """A declared limit with the reason for its size, in one of three ways.

    ``abs`` is in the units of the measurement, ``relative`` a share of the mean of b, and
    ``of_gain`` a share of the gain that was claimed.
    """

    abs: PositiveSize | None = None
    relative: Annotated[PositiveSize, Field(lt=1)] | None = None
    of_gain: ShareOfGain | None = None
    why: Reason

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        ways = [self.abs, self.relative, self.of_gain]
        if sum(way is not None for way in ways) != 1:
            raise ValueError("a margin has one size: either abs, relative or of_gain")
        if self.of_gain is not None and self.of_gain.size == 0:
            raise ValueError("a share of no gain leaves no margin: write the gain as printed")
        return self

    @property
    def size(self) -> float:
        """The margin: in the units of the measurement, or a share if it is relative."""
        if self.relative is not None:
            return self.relative
        return self.of_gain.size if self.of_gain is not None else self.abs or 0.0


TaskName = Annotated[str, StringConstraints(pattern=r"^\S(.{0,98}\S)?$")]
"""A task, as the table calls it."""


class LeastRatio(Spec):
    """A declared least ratio, with the reason for its size."""

    value: Annotated[Size, Field(ge=1)]
    why: Reason


class Factor(Spec):
    """A declared factor, above 1, with the reason for its size."""

    value: Annotated[Size, Field(gt=1)]
    why: Reason


class Censored(Spec):
    """The budget of a measured time: a run whose value is ``at`` or more did not get there.

    ``why`` is the reason for the size of the budget.
    """

    at: Annotated[Size, Field(gt=0)]
    why: Reason


class Limit(Spec):
    """A fixed bound, or the structural bound d + 2 of the arm's own output layer."""

    value: Size | Literal["structural"]
    why: Reason


class Share(Spec):
    """A declared share, such as that of the replicates that must keep a bound."""

    value: Annotated[float, Field(gt=0, lt=1)]
    why: Reason


class Magnitude(Spec):
    """A declared size of a correlation, without its sign."""

    value: Annotated[float, Field(gt=0, lt=1)]
    why: Reason


class Window(Spec):
    """The range of a measurement to which points are restricted, ends included."""

    low: Size
    high: Size
    why: Reason

    @model_validator(mode="after")
    def _not_empty(self) -> Self:
        if self.low >= self.high:
            raise ValueError("a window runs from low to high: low must be below high")
        return self


FileName = Annotated[
    str,
    StringConstraints(
        pattern=r"^[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}(/[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}){0,3}$"
    ),
]
"""A file in the folder of the claim file, or below it."""

BesideName = Annotated[
    str,
    StringConstraints(
        pattern=r"^\.?[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}(/[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}){0,3}$"
    ),
]
"""A file beside another, or in a folder there, which may be hidden: `.hydra/config.yaml`."""

SeedCount = Annotated[int, Field(ge=2, le=10_000)]
FewSeeds = Annotated[int, Field(ge=1, le=10_000)]
"""Seeds of a claim, some kinds of which make do with one."""

RunNumber = Annotated[int, Field(ge=0, lt=2**32)]
"""The number of a run: a seed that every generator takes."""

SeedNumber = Annotated[int, Field(ge=0, lt=2**53)]

DivergedPolicy = Annotated[
    str, StringConstraints(pattern=r"^(invalid|worst|exclude<=(0|[1-9][0-9]{0,3}))$")
]
"""``invalid``: one that diverges makes the evidence INVALID. ``exclude<=k``: up to k an arm are
left out and named. ``worst``: each counts as worse than any that finished, in tests of order."""

SettingPath = Annotated[
    str, StringConstraints(pattern=r"^(model|recipe)(\.[a-z][a-z0-9_]{0,63}){0,6}$")
]
"""The dotted path of a value of a model or of a recipe: `recipe.dropout.hidden`."""

OrderColumn = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_][A-Za-z0-9_ ./:-]{0,99}$")]
"""The column of a table that says in which order its seeds came: a number or a date per seed. A
table is judged once, with all its seeds, unless the claim declares one."""

UnitColumn = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_][A-Za-z0-9_ ./:-]{0,99}$")]
"""The column of a table with the number of the unit, such as a training run, that a row is an
evaluation of."""

Sha256 = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]


UNREAD, READ = "unread:", "read:"
"""The tags of what is not built in: before its class is found, and after. No ``kind`` is such."""


def open_union(
    builtin: Sequence[type[BaseModel]],
    unread: type[BaseModel],
    read: type[BaseModel],
    added: Callable[[str], bool],
    field: str = "kind",
) -> Any:
    """The union of ``builtin``, by ``field``; of ``unread`` mappings; and of what they turn out as.

    A mapping with the key ``use``, if ``unread`` has it, or with a name that was ``added``, is
    kept unread: its class, below ``read``, is found, with consent, when the file's shape is known.
    """
    names = {str(get_args(each.model_fields[field].annotation)[0]): each for each in builtin}
    key = builtin[0].model_fields[field].alias or field

    def tag(value: Any) -> Any:
        if isinstance(value, BaseModel):
            if isinstance(value, unread):
                return UNREAD
            return READ if isinstance(value, read) else getattr(value, field, None)
        if not isinstance(value, dict):
            return next(iter(names))  # of the wrong type, whatever it was meant to be
        name = value.get(key)
        used = "use" in value and "use" in unread.model_fields
        others = used or (isinstance(name, str) and name not in names and added(name))
        return UNREAD if others else name

    tag.__name__ = key  # which errors name
    members = [Annotated[each, Tag(name)] for name, each in names.items()]
    whole: Any = SerializeAsAny()  # type: ignore[type-arg]
    members += [Annotated[unread, Tag(UNREAD)], Annotated[read, whole, Tag(READ)]]
    schema = _JsonSchema(key, tuple(names))
    return Annotated[Union[tuple(members)], Discriminator(tag), schema]  # noqa: UP007


@dataclass(frozen=True, slots=True)
class _JsonSchema:
    """Tells editors by the ``key`` which member is which, and leaves out what no file has."""

    key: str
    names: tuple[str, ...]

    def __get_pydantic_json_schema__(
        self, core_schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        """The members as they are in a file: built-ins by name, and one that is not built in."""
        *members, _ = handler(core_schema)["oneOf"]
        mapping = {name: each["$ref"] for name, each in zip(self.names, members, strict=False)}
        return {"discriminator": {"mapping": mapping, "propertyName": self.key}, "oneOf": members}


def name_of(text: str, taken: Iterable[str] = (), before: str = "arm") -> str:
    """A name for a text, as a claim has names; another one for each text."""
    letters = unicodedata.normalize("NFKD", text.lower())
    latin = "".join(each for each in letters if not unicodedata.combining(each))
    name = re.sub(r"[^a-z0-9]+", "_", latin).strip("_")[:50]
    if not name and not text.isascii():
        name = hashlib.sha256(text.encode()).hexdigest()[:6]  # letters that have no Latin name
        name = f"{before}_{name}"
    name = name if name[:1].isalpha() else f"{before}_{name}".rstrip("_")
    taken, found, count = set(taken), name, 1
    while found in taken:
        count += 1
        found = f"{name}_{count}"
    return found
