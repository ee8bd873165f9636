"""Plans: a launch setting, rules by message size, and their gains: default time / tuned time. What deciding makes and
a tuning holds are the same objects; they are checked where a document is read or put together."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, AliasChoices, BeforeValidator, ConfigDict, Field

from unisono.core.fields import Collective, Count, SettingField, Size
from unisono.core.interval import Interval
from unisono.core.language import _
from unisono.core.sizes import format_size
from unisono.core.vocabulary import (
    CALL_SCOPE,
    DISPATCHED,
    LIBNBC,
    NATIVE,
    PERSISTENT,
    PRELOAD,
    UNISONO,
    Setting,
    is_ours,
    of_libnbc,
)
from unisono.tuning.names import check_value_names

Basis = Literal["measured", "predicted"]
"""What a plan with its rules rests on: measurements of its own ranks, or those of other numbers of nodes."""

CHECKED = ConfigDict(extra="forbid", revalidate_instances="always")
"""Of what deciding makes unchecked: a document checks it however it comes by it."""


def _gain(gain: Interval) -> Interval:
    if not (gain.mid > 0 and gain.low >= 0):
        raise ValueError(_("a gain is a ratio of times, above 0; mid is {mid}").format(mid=gain.mid))
    if not gain.low <= gain.mid <= gain.high:
        raise ValueError(
            _("low <= mid <= high does not hold for {low}, {mid}, {high}").format(
                low=gain.low, mid=gain.mid, high=gain.high
            )
        )
    return gain


Gain = Annotated[Interval, AfterValidator(_gain)]
"""default time / this time, as a document holds it."""


def gain_words(gain: Interval) -> str:
    """ "1.20x (1.10 to 1.30)"; "1.00x" where there is no interval; of too few launches nobody can know it."""
    if gain.exact:
        return f"{gain.mid:.2f}x"
    if not gain.known:
        return _("{mid:.2f}x (interval unknown)").format(mid=gain.mid)
    return _("{mid:.2f}x ({low:.2f} to {high:.2f})").format(mid=gain.mid, low=gain.low, high=gain.high)


def _of_a_call(call: Setting) -> Setting:
    check_value_names(call, CALL_SCOPE)
    if ("algorithm" in call or "segment" in call) and call.get("coll") not in (*NATIVE, UNISONO):
        raise ValueError(
            _(
                "algorithm and segment are those of coll/tuned, coll/libnbc, MPICH, Intel MPI or ours: write coll = "
                '"tuned", "libnbc", "mpich", "intel" or "unisono"'
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


@dataclass(frozen=True, slots=True)
class Rule:
    """Message sizes `first`..`last` (bytes, both included; no `last`: no upper end) -> what to use for them."""

    __pydantic_config__: ClassVar[ConfigDict] = CHECKED

    collective: Collective
    first: Annotated[Size, Field(validation_alias=AliasChoices("from", "first"), serialization_alias="from")]
    last: Annotated[Size | None, Field(validation_alias=AliasChoices("to", "last"), serialization_alias="to")]
    call: Annotated[SettingField, AfterValidator(_of_a_call)]
    """coll, algorithm and segment; empty: whatever the MPI does by itself. coll=unisono is one of our own algorithms,
    any other a component, coll/tuned with or without an algorithm."""
    gain: Gain
    sizes: tuple[Size, ...] = ()
    """The measured sizes that support it; of a predicted rule, those it was predicted at."""
    launches: Annotated[int, Field(ge=0)] = 0
    sure: Annotated[float, Field(ge=0, le=1)] | None = None
    """Of a predicted rule: how probable it is that nothing is faster by more than 5 %, at the least sure of its
    sizes (unisono.extrapolate)."""
    basis: Basis = "measured"
    as_fast: tuple[Annotated[SettingField, AfterValidator(_of_a_call)], ...] = ()
    """Other algorithms of ours that served these sizes equally fast; on the nodes of a job our library takes the one
    that puts the fewest bytes between groups of nodes."""

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


@dataclass(frozen=True, slots=True)
class Joint:
    """What a plan gains for several collectives together, judged by launch (unisono.decide.joint): more surely known
    than each by itself."""

    __pydantic_config__: ClassVar[ConfigDict] = CHECKED

    weights: Annotated[Mapping[Collective, Annotated[float, Field(gt=0)]], Field(min_length=1)]
    """Collective -> how much it counts, any scale: the weighting it holds for. Another is bounded by it as far as it is
    alike (choosing.mean_log)."""
    gain: Gain
    """Weighted geometric mean."""


def _of_a_launch(launch: Setting) -> Setting:
    for name in ("algorithm", "segment"):
        if name in launch:
            raise ValueError(_("{name} belongs in a rule's call, not in launch").format(name=name))
    check_value_names(launch)
    if launch.get(PRELOAD, UNISONO) != UNISONO:
        raise ValueError(
            _('{name}: {value!r} is not known; the only library is "{ours}"').format(
                name=PRELOAD, value=launch[PRELOAD], ours=UNISONO
            )
        )
    if is_ours(launch):
        raise ValueError(
            _('coll = "{ours}" belongs in a rule\'s call; in launch write {name} = "{ours}"').format(
                ours=UNISONO, name=PRELOAD
            )
        )
    return launch


def _left_out(value: Any) -> Any:
    """A rule as a document may write it: without an upper end, without what to use."""
    if not isinstance(value, dict):
        return value
    return {"call": {}, **({} if "last" in value else {"to": None}), **value}


def _ends(rule: Rule) -> Rule:
    if rule.last is not None and rule.last < rule.first:
        raise ValueError(_("from ({first}) is above to ({last})").format(first=rule.first, last=rule.last))
    return rule


@dataclass(frozen=True, slots=True)
class Plan:
    """One launch-scope setting and the best call-scope rules under it, for all collectives of one (nodes, ppn)."""

    __pydantic_config__: ClassVar[ConfigDict] = CHECKED

    nodes: Count
    ppn: Count
    launch: Annotated[SettingField, AfterValidator(_of_a_launch)]
    gain: Mapping[Collective, Gain]
    """Collective -> geometric mean over its sizes, rules applied."""
    rules: Annotated[
        tuple[Annotated[Rule, BeforeValidator(_left_out), AfterValidator(_ends)], ...],
        Field(validation_alias=AliasChoices("rule", "rules"), serialization_alias="rule"),
    ] = ()
    joint: Joint | None = None
    """None: a single collective counts, or this plan was not measured for all that do."""
    basis: Basis = "measured"
    """"predicted": from other numbers of nodes (unisono.extrapolate)."""

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

    def rules_for(self, collective: str) -> tuple[Rule, ...]:
        return tuple(rule for rule in self.rules if rule.collective == collective)

    def rule_at(self, collective: str, size: int) -> Rule | None:
        return next((rule for rule in self.rules_for(collective) if rule.covers(size)), None)

    def tells_sizes_apart(self, collective: str) -> bool:
        """Whether the rules for a collective are not one for all its sizes."""
        rules = sorted(self.rules_for(collective), key=lambda rule: rule.first)
        return len({rule.call for rule in rules}) > 1 or any(rule.last is not None for rule in rules[-1:])

    def __str__(self) -> str:
        return _("{nodes} x {ppn} ranks, {launch}").format(nodes=self.nodes, ppn=self.ppn, launch=self.launch)


def _default_launch(value: Any) -> Any:
    """A plan as a document may write it: without a launch setting."""
    return {"launch": {}, **value} if isinstance(value, dict) else value


def _served(plan: Plan) -> Plan:
    for rule in plan.rules:
        if is_ours(rule.call) and not plan.needs_library:
            raise ValueError(
                _('{collective}: coll = "{ours}" needs {name} = "{ours}" in the plan\'s launch').format(
                    collective=rule.collective, ours=UNISONO, name=PRELOAD
                )
            )
        if rule.as_fast and not all(map(is_ours, (rule.call, *rule.as_fast))):
            raise ValueError(
                _('{collective}: as_fast is for algorithms with coll = "{ours}", beside one in call').format(
                    collective=rule.collective, ours=UNISONO
                )
            )
        if of_libnbc(rule.call) and rule.collective in PERSISTENT and not plan.needs_library:
            raise ValueError(
                _(
                    '{collective}: coll = "{libnbc}" needs {name} = "{ours}" in the plan\'s launch, because Open MPI '
                    "has no parameter for the persistent form alone"
                ).format(collective=rule.collective, libnbc=LIBNBC, ours=UNISONO, name=PRELOAD)
            )
        if is_ours(rule.call) and rule.collective not in DISPATCHED:
            raise ValueError(
                _("{collective}: our library serves {dispatched}").format(
                    collective=rule.collective, dispatched=", ".join(DISPATCHED)
                )
            )
    return plan


def _one_basis(plan: Plan) -> Plan:
    for rule in plan.rules:
        if rule.basis != plan.basis:
            raise ValueError(
                _("basis: a rule for {collective} is {rule}, its plan is {plan}").format(
                    collective=rule.collective, rule=rule.basis, plan=plan.basis
                )
            )
    return plan


def _joint_of_its_own(plan: Plan) -> Plan:
    for name in plan.joint.weights if plan.joint else ():
        if name not in plan.gain:
            raise ValueError(_("joint: weighs {name}, for which the plan has no gain").format(name=name))
    return plan


def _no_overlap(plan: Plan) -> Plan:
    for collective in {rule.collective for rule in plan.rules}:
        rules = sorted(plan.rules_for(collective), key=lambda rule: rule.first)
        for before, after in pairwise(rules):
            if before.last is None or after.first <= before.last:
                raise ValueError(
                    _("{collective}: the rules for {before} and {after} overlap; every size may have one rule").format(
                        collective=collective, before=before.range_text(), after=after.range_text()
                    )
                )
    return plan


CheckedPlan = Annotated[
    Plan,
    BeforeValidator(_default_launch),
    AfterValidator(_served),
    AfterValidator(_one_basis),
    AfterValidator(_joint_of_its_own),
    AfterValidator(_no_overlap),
]
"""As a document holds it."""
