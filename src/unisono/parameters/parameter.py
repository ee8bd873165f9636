"""A parameter as the catalogue describes it."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Spelled(_Model):
    """How versions of the MPI before `before` write a parameter and its values; every version when it is left out."""

    before: str | None = None
    name: str
    values: dict[str, str] = Field(default_factory=dict)
    """Our value -> theirs, where they differ."""


class Also(_Model):
    """Words a value needs beside it in versions before `before`, or it would have no effect."""

    value: str
    words: dict[str, str]
    before: str | None = None


class Parameter(_Model):
    """Something that can be varied.

    `needs` are the conditions of unisono.parameters.conditions: "component:coll/hcoll", "pml:ob1", "ucx", "fabric" ...
    """

    name: str
    kind: Literal["env", "mca", "component", "algorithm", "placement", "preload", "boot"]
    scope: Literal["boot", "launch", "call"]
    meaning: str
    """One sentence."""
    source: str
    """Where the meaning and the values come from."""
    values: tuple[str, ...] = ()
    """Values worth trying; empty where the machine itself says (components, algorithms, devices)."""
    takes: Literal["thresholds", "integer"] | None = None
    """What a value must look like, where that is known (unisono.parameters.values)."""
    default: str | None = None
    """What not setting it amounts to, where that is one fixed value."""
    needs: tuple[str, ...] = ()
    serves: tuple[str, ...] = ()
    """The collectives that it concerns; empty: all."""
    remedy: str = ""
    """What would make it available, where that is particular to this parameter."""
    spelled: tuple[Spelled, ...] = ()
    also: tuple[Also, ...] = ()


class Component(_Model):
    """A component of Open MPI's coll framework that can be preferred."""

    name: str
    meaning: str
    source: str
    serves: tuple[str, ...]
    """The blocking collectives it implements; the others stay with whoever serves them otherwise."""
    nodes: Literal["one", "several", "any"] = "any"
    """Communicators it accepts: of one node, of several, or both."""
    enable: bool = False
    """Has a coll_<name>_enable switch beside its priority."""
    remedy: str = ""
