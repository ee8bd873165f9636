"""What a tuning holds. Gains are default time / tuned time: above 1 is faster."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Annotated, Any, Literal

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

from unisono.decide.model import Basis, Interval, Joint, Plan, Rule
from unisono.language import _, ngettext
from unisono.launch.layouts import Layout
from unisono.machine.model import mpi_name
from unisono.model import (
    CALL_SCOPE,
    COLLECTIVES,
    DISPATCHED,
    MPICH,
    PRELOAD,
    SIMULATED,
    UNISONO,
    Case,
    Level,
    Setting,
    is_ours,
)
from unisono.sizes import format_size
from unisono.study.config import Size
from unisono.tuning.names import check_value_names

FORMAT: Literal["unisono-tuning"] = "unisono-tuning"
VERSION: Literal[1] = 1


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


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Gain(_Part):
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


class RuleModel(_Part):
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


class JointModel(_Part):
    """What a plan gains for several collectives together, judged by launch: more surely known than each by itself."""

    gain: Gain
    """Weighted geometric mean."""
    weights: dict[Collective, Annotated[float, Field(gt=0)]] = Field(min_length=1)
    """The weighting it holds for; another is bounded by it as far as it is alike (decide.choosing.mean_log)."""


class PlanModel(_Part):
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

    def to_plan(self) -> Plan:
        """The same as deciding knows it."""
        joint = self.joint
        return Plan(
            nodes=self.nodes,
            ppn=self.ppn,
            launch=self.launch,
            gain={name: Interval(gain.mid, gain.low, gain.high) for name, gain in self.gain.items()},
            rules=tuple(
                Rule(
                    case=Case(rule.collective, self.nodes, self.ppn),
                    first=rule.first,
                    last=rule.last,
                    call=rule.call,
                    gain=Interval(rule.gain.mid, rule.gain.low, rule.gain.high),
                    sizes=rule.sizes,
                    launches=rule.launches,
                    sure=rule.sure,
                )
                for rule in self.rule
            ),
            joint=Joint(dict(joint.weights), Interval(joint.gain.mid, joint.gain.low, joint.gain.high))
            if joint
            else None,
            basis=self.basis,
        )

    def __str__(self) -> str:
        return _("{nodes} x {ppn} ranks, {launch}").format(nodes=self.nodes, ppn=self.ppn, launch=self.launch)


class LayoutModel(_Part):
    """How to run a program on `nodes` nodes: processes x threads, and where their memory comes from."""

    program: str
    """What it was measured with: a command line with {ranks} and {threads}, or "solver 64"."""
    metric: str = "wall time"
    nodes: Count
    threads: Count
    """Of a process."""
    processes: Count
    """Of a node."""
    numa: Literal["none", "local", "socket-local", "socket-interleave"] = "none"
    """hybrid.policies says what each is."""
    packing: Literal["single", "threads"] = "single"
    """Who packs the halo; for programs that let one choose, as unisono-solver does."""
    links: SettingField = Setting()
    """Over how many links a message may go; empty: as UCX decides."""
    reference: str
    """The layout it is compared with, in words."""
    gain: Gain
    """Time of the reference / time of this."""
    proven: bool
    """False: nothing was proven faster than the reference, which this then is."""
    launches: Annotated[int, Field(ge=0)] = 0
    study: str
    """Id of the study."""

    @field_validator("links")
    @classmethod
    def _known(cls, links: Setting) -> Setting:
        check_value_names(links)
        return links

    @property
    def shape(self) -> Layout:
        return Layout(self.threads, self.processes)

    @property
    def words(self) -> str:
        """ "2 processes of 8 threads a node, socket-local, packed by threads"."""
        processes = ngettext("{count} process", "{count} processes", self.processes).format(count=self.processes)
        threads = ngettext("{count} thread", "{count} threads", self.threads).format(count=self.threads)
        first = _("{processes} of {threads} a node").format(processes=processes, threads=threads)
        rest: list[str] = [self.numa] if self.numa != "none" else []
        rest += [_("packed by threads")] if self.packing == "threads" else []
        return ", ".join([first, *rest, *(f"{name}={value}" for name, value in self.links.items())])


class MpiPart(_Part):
    """The MPI it was measured with: the one to use it with, where a command line does not say which."""

    family: str
    version: str
    mpirun: str
    """Absolute path; empty: not known (results of another benchmark)."""
    mpicc: str | None = None
    """Absolute path; None: there was none beside mpirun."""

    @property
    def words(self) -> str:
        """ "Open MPI 5.0.11 (/opt/openmpi/bin/mpirun)"."""
        where = f" ({self.mpirun})" if self.mpirun else ""
        return f"{mpi_name(self.family)} {self.version}{where}"


class StudyPart(_Part):
    """Where it comes from."""

    id: str
    name: str
    method: str
    margin: Annotated[float, Field(ge=0)]
    """The default is kept unless beaten by more than this."""
    confidence: Annotated[float, Field(gt=0, lt=1)]
    statistic: str = "median"
    reproducible: Level | None = None
    """What the results of reductions do not depend on with this tuning, by our library (unisono.model.REPRODUCIBLE)."""


class Conditions(_Part):
    """Under which it was measured."""

    oversubscribed: bool = False
    """More ranks than CPUs: the figures hold for that only."""
    launches: Annotated[int, Field(ge=0)] = 0
    ranks: tuple[Count, ...] = ()
    notes: tuple[str, ...] = ()


class Costs(_Part):
    """What our cost model reckons with where no rule says what to use; in seconds, measured with the study."""

    node_latency: Annotated[float, Field(gt=0)] | None = None
    """One way between two ranks of a node."""
    node_byte: Annotated[float, Field(gt=0)] | None = None
    """A byte copied within a node, by every rank at once."""
    fabric_latency: Annotated[float, Field(gt=0)] | None = None
    """Half a round trip between two nodes."""
    fabric_byte: Annotated[float, Field(gt=0)] | None = None
    """A byte between two nodes, by one pair of ranks."""

    def items(self) -> list[tuple[str, float]]:
        """Those that are known."""
        return [(name, value) for name, value in self.model_dump().items() if value is not None]


class ProofModel(_Part):
    """Default against tuned on fresh launches, for one collective."""

    collective: Collective
    nodes: Count
    ppn: Count
    gain: Gain
    launches: Annotated[int, Field(ge=0)]
    """Of each side; 0: both are the same."""
    verdict: str


class FindingModel(_Part):
    kind: str
    text: str
    collective: Collective | None = None
    nodes: Count | None = None
    ppn: Count | None = None
    parameter: str | None = None
    value: str | None = None


class Tuning(_Part):
    """The whole document."""

    format: Literal["unisono-tuning"]
    version: Literal[1]
    name: str
    created: str
    """ISO 8601, UTC."""
    made_by: str
    study: StudyPart
    conditions: Conditions = Conditions()
    machine: dict[str, str] = {}
    """The fingerprint of the machine it was measured on."""
    mpi: MpiPart | None = None
    """None: of a document written before this was kept."""
    costs: Costs = Costs()
    weights: dict[Collective, Annotated[float, Field(ge=0)]] = {}
    """Collective -> how much it counts when one launch setting is chosen for all."""
    plan: tuple[PlanModel, ...] = ()
    """Best first within one (nodes, ppn); the default launch setting is among them."""
    layout: tuple[LayoutModel, ...] = ()
    """One for each program and number of nodes they were compared on."""
    proof: tuple[ProofModel, ...] = ()
    """Of these plans as they stand; empty: none was made, or none is kept."""
    finding: tuple[FindingModel, ...] = ()

    @model_validator(mode="after")
    def _consistent(self) -> Tuning:
        if not self.plan and not self.layout:
            raise ValueError(_("plan: there is none, and no layout either: a tuning holds one of them at least"))
        kinds = [(layout.program, layout.nodes) for layout in self.layout]
        for program, nodes in kinds:
            if kinds.count((program, nodes)) > 1:
                raise ValueError(
                    _("layout: that of {program!r} on {nodes} nodes is there twice").format(
                        program=program, nodes=nodes
                    )
                )
        seen: set[tuple[int, int, Setting]] = set()
        for plan in self.plan:
            key = (plan.nodes, plan.ppn, plan.launch)
            if key in seen:
                raise ValueError(_("plan: {plan} is there twice").format(plan=plan))
            seen.add(key)
        known = {collective for plan in self.plan for collective in plan.gain}
        for name in self.weights:
            if name not in known:
                raise ValueError(_("weights.{name}: no plan has a gain for {name}").format(name=name))
        return self

    @property
    def simulated(self) -> bool:
        """Whether nothing of it was measured (unisono simulate tune)."""
        return self.study.method == SIMULATED

    def cases(self) -> list[tuple[int, int]]:
        """The (nodes, ppn) it has plans for, in order."""
        return list(dict.fromkeys((plan.nodes, plan.ppn) for plan in self.plan))

    def measured_cases(self) -> list[tuple[int, int]]:
        """Those of them that were measured."""
        return list(dict.fromkeys((plan.nodes, plan.ppn) for plan in self.plan if not plan.predicted))

    def plans_for(self, nodes: int, ppn: int) -> Iterator[PlanModel]:
        return (plan for plan in self.plan if (plan.nodes, plan.ppn) == (nodes, ppn))

    def collectives(self) -> list[str]:
        return list(dict.fromkeys(name for plan in self.plan for name in plan.gain))
