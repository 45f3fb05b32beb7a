"""The base of every specification: frozen, strict, unknown keys forbidden."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints
from pydantic_core import PydanticKnownError

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
