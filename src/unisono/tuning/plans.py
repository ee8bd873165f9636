"""Plans of a tuning: a launch setting, rules by message size, and their gains: default time / tuned time."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Annotated, Any

from pydantic import (
    AliasChoices,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainSerializer,
    PlainValidator,
    field_validator,
    model_validator,
)

from unisono.decide.decision import Basis
from unisono.language import _
from unisono.sizes import format_size
from unisono.study.config import Size
from unisono.tuning.names import check_value_names
from unisono.vocabulary import (
    CALL_SCOPE,
    COLLECTIVES,
    DISPATCHED,
    MPICH,
    PRELOAD,
    UNISONO,
    Setting,
    is_ours,
)


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


def _collective(value: object) -> str:
    if not isinstance(value, str) or value not in COLLECTIVES:
        raise ValueError(
            _("unknown collective {value!r}; known: {known}").format(value=value, known=", ".join(COLLECTIVES))
        )
    return value


SettingField = Annotated[Setting, PlainValidator(_setting), PlainSerializer(dict, return_type=dict[str, str])]
Collective = Annotated[str, Field(json_schema_extra={"enum": list(COLLECTIVES)}), BeforeValidator(_collective)]
Count = Annotated[int, Field(ge=1)]


class Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Gain(Part):
    """default time / this time, with its confidence interval."""

    mid: Annotated[float, Field(gt=0)]
    low: Annotated[float, Field(ge=0)]
    high: Annotated[float, Field(gt=0)]

    @model_validator(mode="after")
    def _ordered(self) -> Gain:
        if not self.low <= self.mid <= self.high:
            raise ValueError(
                _("low <= mid <= high does not hold for {low}, {mid}, {high}").format(
                    low=self.low, mid=self.mid, high=self.high
                )
            )
        return self

    @property
    def exact(self) -> bool:
        """Whether there is no interval: the default's own, or simulated."""
        return self.low == self.mid == self.high

    def __str__(self) -> str:
        if self.exact:
            return f"{self.mid:.2f}x"
        return _("{mid:.2f}x ({low:.2f} to {high:.2f})").format(mid=self.mid, low=self.low, high=self.high)


class RuleModel(Part):
    """Message sizes `first`..`last` (bytes, both included; no `last`: no upper end) -> what to use for them."""

    collective: Collective
    first: Size = Field(validation_alias=AliasChoices("from", "first"), serialization_alias="from")
    last: Size | None = Field(default=None, validation_alias=AliasChoices("to", "last"), serialization_alias="to")
    call: SettingField = Setting()
    """coll, algorithm and segment; empty: whatever the MPI does by itself. coll=unisono is one of our own algorithms,
    any other a component, coll/tuned with or without an algorithm."""
    gain: Gain
    sizes: tuple[Size, ...] = ()
    """The measured sizes that support it; of a predicted rule, those it was predicted at."""
    launches: Annotated[int, Field(ge=0)] = 0
    basis: Basis = "measured"
    sure: Annotated[float, Field(ge=0, le=1)] | None = None
    """Of a predicted rule: how probable it is that nothing is faster by more than 5 %, at the least sure of its
    sizes."""

    @field_validator("call")
    @classmethod
    def _call_scope(cls, call: Setting) -> Setting:
        check_value_names(call, CALL_SCOPE)
        if ("algorithm" in call or "segment" in call) and call.get("coll") not in ("tuned", MPICH, UNISONO):
            raise ValueError(
                _(
                    "algorithm and segment are those of coll/tuned, MPICH or ours: write coll = "
                    '"tuned", "mpich" or "unisono"'
                )
            )
        if is_ours(call) and "algorithm" not in call:
            raise ValueError(_('coll = "unisono" needs the algorithm: write algorithm = "NAME" beside it'))
        if "algorithm" in call and not re.fullmatch(r"[A-Za-z0-9_]+", call["algorithm"]):
            raise ValueError(
                _("algorithm: {algorithm!r} is not the name of an algorithm").format(algorithm=call["algorithm"])
            )
        if "segment" in call and not re.fullmatch("[0-9]{1,18}", call["segment"]):
            raise ValueError(_("segment: {segment!r} is not a number of bytes").format(segment=call["segment"]))
        return call

    @model_validator(mode="after")
    def _ordered(self) -> RuleModel:
        if self.last is not None and self.last < self.first:
            raise ValueError(_("from ({first}) is above to ({last})").format(first=self.first, last=self.last))
        return self

    def covers(self, size: int) -> bool:
        return self.first <= size and (self.last is None or size <= self.last)

    def range_text(self) -> str:
        """ "up to 16 KiB", "from 1 KiB", "1 KiB to 16 KiB", "all sizes"; for files and notes, which stay English.

        What people read at once is `words.sizes`.
        """
        if self.last is None:
            return "all sizes" if self.first == 0 else f"from {format_size(self.first)}"
        if self.first == 0:
            return f"up to {format_size(self.last)}"
        return f"{format_size(self.first)} to {format_size(self.last)}"


class JointModel(Part):
    """What a plan gains for several collectives together, judged by launch: more surely known than each by itself."""

    gain: Gain
    """Weighted geometric mean."""
    weights: dict[Collective, Annotated[float, Field(gt=0)]] = Field(min_length=1)
    """The weighting it holds for; another is bounded by it as far as it is alike (decide.choosing.mean_log)."""


class PlanModel(Part):
    """One launch-scope setting and the best call-scope rules under it, for all collectives of one (nodes, ppn)."""

    nodes: Count
    ppn: Count
    launch: SettingField = Setting()
    gain: dict[Collective, Gain]
    """Collective -> geometric mean over its sizes, rules applied."""
    joint: JointModel | None = None
    basis: Basis = "measured"
    """"predicted": from other numbers of nodes (unisono.extrapolate)."""
    rule: tuple[RuleModel, ...] = ()

    @field_validator("launch")
    @classmethod
    def _launch_scope(cls, launch: Setting) -> Setting:
        for name in ("algorithm", "segment"):
            if name in launch:
                raise ValueError(_("{name} belongs into a rule's call, not into launch").format(name=name))
        check_value_names(launch)
        if launch.get(PRELOAD, UNISONO) != UNISONO:
            raise ValueError(
                _('{name}: {value!r} is not known; the library there is, is "{ours}"').format(
                    name=PRELOAD, value=launch[PRELOAD], ours=UNISONO
                )
            )
        if is_ours(launch):
            raise ValueError(
                _('coll = "{ours}" belongs into a rule\'s call; in launch write {name} = "{ours}"').format(
                    ours=UNISONO, name=PRELOAD
                )
            )
        return launch

    @model_validator(mode="after")
    def _served(self) -> PlanModel:
        for rule in self.rule:
            if is_ours(rule.call) and not self.needs_library:
                raise ValueError(
                    _('{collective}: coll = "{ours}" needs {name} = "{ours}" in the plan\'s launch').format(
                        collective=rule.collective, ours=UNISONO, name=PRELOAD
                    )
                )
            if is_ours(rule.call) and rule.collective not in DISPATCHED:
                raise ValueError(
                    _("{collective}: our library serves {dispatched}").format(
                        collective=rule.collective, dispatched=", ".join(DISPATCHED)
                    )
                )
        return self

    @model_validator(mode="after")
    def _one_basis(self) -> PlanModel:
        for rule in self.rule:
            if rule.basis != self.basis:
                raise ValueError(
                    _("basis: a rule for {collective} is {rule}, its plan is {plan}").format(
                        collective=rule.collective, rule=rule.basis, plan=self.basis
                    )
                )
        return self

    @model_validator(mode="after")
    def _joint_of_its_own(self) -> PlanModel:
        for name in self.joint.weights if self.joint else ():
            if name not in self.gain:
                raise ValueError(_("joint: weighs {name}, for which the plan has no gain").format(name=name))
        return self

    @model_validator(mode="after")
    def _no_overlap(self) -> PlanModel:
        for collective in {rule.collective for rule in self.rule}:
            rules = sorted(self.rules_for(collective), key=lambda rule: rule.first)
            for before, after in pairwise(rules):
                if before.last is None or after.first <= before.last:
                    raise ValueError(
                        _(
                            "{collective}: the rules for {before} and {after} overlap; every size may have one rule"
                        ).format(collective=collective, before=before.range_text(), after=after.range_text())
                    )
        return self

    @property
    def ranks(self) -> int:
        return self.nodes * self.ppn

    @property
    def predicted(self) -> bool:
        return self.basis == "predicted"

    @property
    def needs_library(self) -> bool:
        """Whether it is ours to carry out: libunisono.so in the ranks, with rules of its own."""
        return PRELOAD in self.launch

    def rules_for(self, collective: str) -> tuple[RuleModel, ...]:
        return tuple(rule for rule in self.rule if rule.collective == collective)

    def rule_at(self, collective: str, size: int) -> RuleModel | None:
        return next((rule for rule in self.rules_for(collective) if rule.covers(size)), None)

    def __str__(self) -> str:
        return _("{nodes} x {ppn} ranks, {launch}").format(nodes=self.nodes, ppn=self.ppn, launch=self.launch)
