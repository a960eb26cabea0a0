"""Base of every model in the contract: frozen, closed, and strict about what JSON may hold."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, StringConstraints


class Model(BaseModel):
    """Immutable value; unknown fields and NaN are refused."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", allow_inf_nan=False, use_attribute_docstrings=True
    )


Sha256 = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
"""Lower-case hexadecimal digest that names a blob."""

Name = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]{0,63}$")]
"""Name of a task, case or parameter, safe in a path and in a URL."""

Identifier = Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,127}$")]
"""A Python identifier of plain ASCII."""

Symbol = Annotated[str, StringConstraints(pattern=r"^[A-Za-z_.$][A-Za-z0-9_.$]{0,511}$")]
"""Name of a function in a cubin."""

ShortText = Annotated[str, StringConstraints(max_length=500)]
LongText = Annotated[str, StringConstraints(max_length=65_536)]

Count = Annotated[int, Field(ge=0, lt=2**62)]
"""A number of things or bytes."""
