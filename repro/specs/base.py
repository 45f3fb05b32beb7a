"""The base of every specification: frozen, strict, unknown keys forbidden."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

Name = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]{0,63}$")]
"""A short name: lower-case letters, digits and underscores; safe in a path and in a page."""

ConfigurationId = Annotated[
    str, StringConstraints(pattern=r"^[a-z][a-z0-9_]{0,63}(/[a-z][a-z0-9_]{0,63}){1,3}$")
]
"""A configuration's path below `configurations/`, without its ending: `yang2018/ptb/mos`."""

Reason = Annotated[str, StringConstraints(min_length=8, max_length=600)]
"""A sentence that says why; it is printed in the report."""

Decimal = Annotated[str, StringConstraints(pattern=r"^-?[0-9]+(\.[0-9]+)?([eE]-?[0-9]+)?$")]
"""A number as it was printed, in quotes, because YAML turns 3.20 into 3.2."""

Probability = Annotated[float, Field(ge=0, lt=1)]
Positive = Annotated[float, Field(gt=0)]
Count = Annotated[int, Field(ge=1, le=10**9)]


class Spec(BaseModel):
    """A frozen record of a document; validated from JSON, so that strictness costs no tuples."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, allow_inf_nan=False)
