"""Fields that several documents have: message sizes, collectives, settings, counts. Wrong ones raise ValueError, which
pydantic gives the place of."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, PlainSerializer, PlainValidator

from unisono.core.errors import UserError
from unisono.core.language import _
from unisono.core.names import close_names
from unisono.core.sizes import parse_size
from unisono.core.vocabulary import COLLECTIVES, KINDS, Setting


class Part(BaseModel):
    """A part of a document, which knows all its keys."""

    model_config = ConfigDict(extra="forbid", frozen=True)


def _size(value: Any) -> int:
    if not isinstance(value, (str, int)):
        raise ValueError(_("{value!r} is not a size; write for example 8, 16K or 1M").format(value=value))
    try:
        return parse_size(value)
    except UserError as error:
        raise ValueError(str(error).removeprefix("size: ")) from error


def collective(value: object, besides: Iterable[str] = ()) -> str:
    """Raises ValueError for a name that is no collective's, with the nearest of those that would do: `besides`, too."""
    if isinstance(value, str) and value in COLLECTIVES:
        return value
    known = [*COLLECTIVES, *besides]
    near = close_names(value.lower().removeprefix("mpi_"), known) if isinstance(value, str) else []
    sentence = (
        _("unknown collective {value!r}; did you mean {near}?")
        if near
        else _("unknown collective {value!r}; known: {known}")
    )
    raise ValueError(sentence.format(value=value, near=near[0] if near else "", known=", ".join(known)))


def collectives(values: Sequence[object]) -> list[str]:
    """Each of them once; a kind (KINDS) stands for all of its kind, "all" for all kinds. Raises ValueError as above."""
    kinds = KINDS | {"all": [name for names in KINDS.values() for name in names]}
    found: dict[str, None] = {}
    for value in values:
        several = kinds.get(value) if isinstance(value, str) else None
        found |= dict.fromkeys(several if several is not None else [collective(value, kinds)])
    return list(found)


def collective_given(text: str, option: str) -> str:
    """The collective that an option of a command line names. Raises UserError for another word."""
    try:
        return collective(text)
    except ValueError as error:
        raise UserError(f"{option}: {error}") from error


def collectives_given(texts: Sequence[str], option: str) -> list[str]:
    """Those that an option of a command line names. Raises UserError for another word."""
    try:
        return collectives(texts)
    except ValueError as error:
        raise UserError(f"{option}: {error}") from error


def _setting(value: Any) -> Setting:
    if isinstance(value, Setting):
        return value
    if not isinstance(value, dict):
        raise ValueError(_('a setting is a table of parameters, for example { UCX_RNDV_THRESH = "16kb" }'))
    for name, content in value.items():
        if isinstance(content, bool) or not isinstance(content, (str, int)):
            raise ValueError(
                _('{name}: {content!r} is not a value; write it in quotes, for example {name} = "1"').format(
                    name=name, content=content
                )
            )
    return Setting(value)


Size = Annotated[int, BeforeValidator(_size)]
"""Bytes."""
SettingField = Annotated[Setting, PlainValidator(_setting), PlainSerializer(dict, return_type=dict[str, str])]
Collective = Annotated[str, Field(json_schema_extra={"enum": list(COLLECTIVES)}), BeforeValidator(collective)]
Count = Annotated[int, Field(ge=1)]
