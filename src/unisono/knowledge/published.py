"""The published results as data; the TOML files beside this module say what their keys mean."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AliasChoices, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from unisono.core.errors import UserError
from unisono.core.fields import Collective, Count, SettingField
from unisono.core.language import _
from unisono.core.sizes import format_size, parse_size
from unisono.core.toml import explain_validation, read_toml
from unisono.core.vocabulary import Setting
from unisono.machine.description import Machine

_FILES = ("bm-standard-e5-192", "bm-optimized3-36", "npb-ft-optimized3-36")

Size = Annotated[int, BeforeValidator(parse_size)]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Source(_Part):
    """Where results come from: who published them, on what machine, with which software."""

    id: str
    title: str
    publisher: str
    shape: str
    cpu: str
    """A part of the CPU model's name."""
    cores: int
    """Of one node."""
    software: tuple[str, ...]
    method: str
    remarks: tuple[str, ...] = ()

    def is_of(self, machine: Machine) -> bool:
        """Whether a machine's nodes are of the kind the results were measured on."""
        return self.cpu.lower() in machine.cpu_model.lower() and self.cores == machine.cores


class Range(_Part):
    """Message sizes in bytes, both ends included; None: open."""

    first: Size | None = Field(default=None, validation_alias=AliasChoices("from", "first"))
    last: Size | None = Field(default=None, validation_alias=AliasChoices("to", "last"))

    def text(self) -> str:
        """ "up to 128 B", "from 8 KiB", "8 KiB to 128 KiB", "at 8 KiB", "all sizes"."""
        if self.first is None:
            return _("all sizes") if self.last is None else _("up to {last}").format(last=format_size(self.last))
        if self.last is None:
            return _("from {first}").format(first=format_size(self.first))
        if self.first == self.last:
            return _("at {first}").format(first=format_size(self.first))
        return _("{first} to {last}").format(first=format_size(self.first), last=format_size(self.last))


class Effect(Range):
    """What one value of a parameter did, against the other choice."""

    parameter: str
    value: str
    effect: Literal["better", "worse", "none", "singular point"]
    sizes: str | None = None
    """A group of sizes the document names without bounds: small, medium, large, nearly all."""
    strength: Literal["clear", "much", "slight", "mostly"] | None = None


class Proof(_Part):
    """Seconds before and after, as published."""

    what: str
    as_is: float
    tuned: float

    @property
    def improvement(self) -> float:
        """as-is / tuned - 1: 0.12 is "12 % faster"."""
        return self.as_is / self.tuned - 1


class Published(_Part):
    """What a document says about one case."""

    source: Source
    nodes: Count
    ppn: Count
    collective: Collective
    size: Size | None = None
    best: SettingField
    fixed: dict[str, str] = {}
    """What was fixed beside it, boot settings included."""
    gains: Range | None = None
    """Where the best setting beats the default."""
    nps: str | None = None
    placement: str | None = None
    ucc: str | None = None
    hcoll: str | None = None
    effects: tuple[Effect, ...] = ()
    proof: tuple[Proof, ...] = ()

    @property
    def setting(self) -> Setting:
        """`best` with what else of it a launch can set."""
        return self.best | ({"placement": self.fixed["placement"]} if "placement" in self.fixed else {})

    def sentences(self) -> list[str]:
        """What is known, for showing beside results of our own."""
        sentence = (
            _("{collective} of {size} on {nodes} x {ppn} ranks of {shape}: {setting}")
            if self.size
            else _("{collective} on {nodes} x {ppn} ranks of {shape}: {setting}")
        )
        out = [
            sentence.format(
                collective=self.collective,
                size=format_size(self.size or 0),
                nodes=self.nodes,
                ppn=self.ppn,
                shape=self.source.shape,
                setting=self.setting,
            )
        ]
        if self.gains:
            out.append(_("faster than the default {sizes}").format(sizes=self.gains.text()))
        said = {"NPS": self.nps, _("placement"): self.placement, "UCC": self.ucc, "HCOLL": self.hcoll}
        out += [f"{name}: {text}" for name, text in said.items() if text and text != "-"]
        proof = _("{what}: {as_is:g} s untuned, {tuned:g} s tuned ({improvement:.1%})")
        out += [proof.format(what=p.what, as_is=p.as_is, tuned=p.tuned, improvement=p.improvement) for p in self.proof]
        return [*out, f"({self.source.publisher}: {self.source.title})"]


@cache
def published() -> tuple[Published, ...]:
    """All of it, in the order of the sources."""
    return tuple(result for name in _FILES for result in _load(Path(__file__).with_name(f"{name}.toml")))


def find(machine: Machine, collective: str, nodes: int, ppn: int) -> list[Published]:
    """What was published for this kind of machine and exactly this case."""
    return [
        result
        for result in published()
        if result.source.is_of(machine) and (result.collective, result.nodes, result.ppn) == (collective, nodes, ppn)
    ]


def _load(path: Path) -> list[Published]:
    document: dict[str, Any] = read_toml(path)
    try:
        source = Source.model_validate(document["source"])
        return [Published.model_validate({"source": source, **result}) for result in document["result"]]
    except ValidationError as error:
        raise UserError(explain_validation(path, error)) from error
