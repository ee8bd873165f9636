"""The parameters we know, from the TOML files beside this module."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from unisono import mpi
from unisono.core.errors import UserError
from unisono.core.language import _
from unisono.core.toml import explain_validation, read_toml
from unisono.parameters.parameter import Component, Parameter

_FILES = {one.FAMILY: one.CATALOGUE for one in mpi.FAMILIES}

FAMILIES = tuple(_FILES)


@cache
def load(family: str) -> dict[str, Parameter]:
    """Name -> parameter for one MPI family, in the order of the files. UserError for a family without a catalogue."""
    found: dict[str, Parameter] = {}
    for path, entry in _entries(family, "parameter"):
        try:
            parameter = Parameter.model_validate(entry)
        except ValidationError as error:
            raise UserError(
                _("{path} (in parameter {entry})").format(
                    path=explain_validation(path, error), entry=entry.get("name", "?")
                )
            ) from error
        if parameter.name in found:
            raise UserError(_("{path}: parameter {name} is described twice").format(path=path, name=parameter.name))
        found[parameter.name] = parameter
    return found


@cache
def components(family: str) -> dict[str, Component]:
    """Name -> collective component that can be preferred, best documented first."""
    found: dict[str, Component] = {}
    for path, entry in _entries(family, "component"):
        try:
            component = Component.model_validate(entry)
        except ValidationError as error:
            raise UserError(
                _("{path} (in component {entry})").format(
                    path=explain_validation(path, error), entry=entry.get("name", "?")
                )
            ) from error
        found[component.name] = component
    return found


def _entries(family: str, table: str) -> list[tuple[Path, dict[str, Any]]]:
    if family not in _FILES:
        raise UserError(
            _("no catalogue of parameters for {family!r}; there is one for: {files}").format(
                family=family, files=", ".join(_FILES)
            )
        )
    paths = [Path(__file__).with_name(f"{name}.toml") for name in _FILES[family]]
    return [(path, entry) for path in paths for entry in read_toml(path).get(table, [])]


def texts() -> Iterator[str]:
    """What the files say to people, in English: the catalogues of translations must have it."""
    for family in _FILES:
        for meaning, remedy in [
            *((parameter.meaning, parameter.remedy) for parameter in load(family).values()),
            *((component.meaning, component.remedy) for component in components(family).values()),
        ]:
            yield from (text for text in (meaning, remedy) if text)
