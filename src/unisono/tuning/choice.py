"""What to use: for a whole launch under a weighting, or for one call."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from unisono.core.by_size import ROOT_DISAGREES, WITHOUT_SIZE
from unisono.core.errors import UserError
from unisono.core.interval import Interval
from unisono.core.language import N_, _
from unisono.core.sizes import format_size
from unisono.core.vocabulary import POSTED_MOST, Setting, blocking, is_ours
from unisono.tuning import choosing
from unisono.tuning.contents import Tuning
from unisono.tuning.plans import Plan, Rule


@dataclass(frozen=True, slots=True)
class Lookup:
    """The answer to "what for this collective, on so many ranks, at this size?"."""

    collective: str
    nodes: int
    ppn: int
    size: int
    plan: Plan
    """Of the case that answers: the one asked for, or the nearest (then `notes` say so)."""
    rule: Rule | None
    """None: no rule names this size, or rules do not apply to these ranks; the MPI decides by itself under the plan's
    launch setting."""
    notes: tuple[str, ...]
    simulated: bool = False
    """Whether nothing of it was measured."""

    @property
    def exact(self) -> bool:
        return not self.notes

    @property
    def of_these_ranks(self) -> bool:
        """Whether the plan is of these very ranks, measured or predicted."""
        return (self.nodes, self.ppn) == (self.plan.nodes, self.plan.ppn)

    @property
    def setting(self) -> Setting:
        """Launch part and call part together."""
        return self.plan.launch | (self.rule.call if self.rule else Setting())

    @property
    def gain(self) -> Interval | None:
        """The rule's where there is one, else the plan's for this collective over all sizes; None for ranks that
        have no plan."""
        if not self.of_these_ranks:
            return None
        return self.rule.gain if self.rule else self.plan.gain[self.collective]

    def as_dict(self) -> dict[str, Any]:
        return {
            "collective": self.collective,
            "nodes": self.nodes,
            "ppn": self.ppn,
            "size": self.size,
            "measured_nodes": self.plan.nodes,
            "measured_ppn": self.plan.ppn,
            "launch": dict(self.plan.launch),
            "call": dict(self.rule.call) if self.rule else {},
            "as_fast": [dict(call) for call in self.rule.as_fast] if self.rule else [],
            "range": self.rule.range_text() if self.rule else None,
            "gain": ends(self.gain) if self.gain else None,
            "basis": self.plan.basis,
            "sure": self.rule.sure if self.rule else None,
            "exact": self.exact,
            "simulated": self.simulated,
            "notes": list(self.notes),
        }


def ends(gain: Interval) -> dict[str, float | None]:
    """For JSON, where an open end is null."""
    return {name: value if math.isfinite(value) else None for name, value in asdict(gain).items()}


def cases_of(tuning: Tuning) -> str:
    """ "1 x 8, 1 x 36": the (nodes x ppn) a tuning has plans for."""
    return ", ".join(f"{nodes} x {ppn}" for nodes, ppn in tuning.cases())


def choose(
    tuning: Tuning, nodes: int, ppn: int, weights: Mapping[str, float] | None = None, *, library: bool = True
) -> Plan:
    """The plan to use for a measured (nodes, ppn): see choosing.choose, with the study's own margin.

    `library` False: of those that do without ours, which is what the MPI's own files can say.

    `weights` (collective -> share of the time, any scale) replace those of the document. A document cut down to one
    plan has no choice. Raises UserError for a case or collective that was not measured.
    """
    plans = [plan for plan in tuning.plans_for(nodes, ppn) if library or not plan.needs_library]
    if not plans:
        sentence = (
            _("{name}: has no plan for {nodes} x {ppn} ranks; it has {cases}")
            if library
            else _("{name}: has no plan without our library for {nodes} x {ppn} ranks; it has {cases}")
        )
        raise UserError(sentence.format(name=tuning.name, nodes=nodes, ppn=ppn, cases=cases_of(tuning)))
    used = dict(tuning.weights if weights is None else weights)
    for name, weight in used.items():
        if name not in tuning.collectives():
            raise UserError(
                _("weights: {collective} was not measured; {name} has {collectives}").format(
                    collective=name, name=tuning.name, collectives=", ".join(tuning.collectives())
                )
            )
        if not 0 <= weight < math.inf:
            raise UserError(
                _("weights: {name}={weight:g} is not a weight; write a number from 0 up").format(
                    name=name, weight=weight
                )
            )
    if used and not any(used.values()):
        raise UserError(_("weights: all are 0, so nothing would count"))
    if len(plans) == 1:
        return plans[0]
    return choosing.choose(plans, used, tuning.study.margin)


def without_library(tuning: Tuning, nodes: int, ppn: int, weights: Mapping[str, float] | None = None) -> Plan | None:
    """The best plan that does without our library; None for a document cut down to one that needs it."""
    if all(plan.needs_library for plan in tuning.plans_for(nodes, ppn)):
        return None
    return choose(tuning, nodes, ppn, weights, library=False)


def lookup(
    tuning: Tuning,
    collective: str,
    nodes: int,
    ppn: int,
    size: int,
    weights: Mapping[str, float] | None = None,
) -> Lookup:
    """What one call gets. `weights` choose the launch setting; without them this collective alone does. Ranks that were
    not measured get what `unisono run` gives them: the launch setting of the nearest case, and no rules. Raises
    UserError when the collective was not measured."""
    if collective not in tuning.collectives():
        raise UserError(
            _(
                "{name}: {collective} was not measured; it has {collectives}. To measure it: unisono tune --collective "
                "{collective} -o DIR"
            ).format(name=tuning.name, collective=collective, collectives=", ".join(tuning.collectives()))
        )
    case = nearest_case(tuning, nodes, ppn)
    plan = choose(tuning, *case, weights if weights is not None else {collective: 1.0})
    if collective not in plan.gain:
        raise UserError(
            _("{name}: {collective} was not measured on {nodes} x {ppn} ranks").format(
                name=tuning.name, collective=collective, nodes=case[0], ppn=case[1]
            )
        )
    if not rules_apply(plan, nodes, ppn):
        away = (unmeasured(tuning, case, nodes, ppn),)
        return Lookup(collective, nodes, ppn, size, plan, None, away, tuning.simulated)
    notes = [unmeasured(tuning, case, nodes, ppn)] if case != (nodes, ppn) else []
    notes += [foretold(tuning, plan)] if plan.predicted else []
    rule = plan.rule_at(collective, size)
    measured = sorted(size for rule in plan.rules_for(collective) for size in rule.sizes)
    if not plan.predicted and measured and not measured[0] <= size <= measured[-1]:
        above = size > measured[-1]
        sentence = (
            N_("{size} is outside what was measured: nothing above {end} was")
            if above
            else N_("{size} is outside what was measured: nothing below {end} was")
        )
        end = format_size(measured[-1] if above else measured[0])
        notes.append(sentence.format(size=format_size(size), end=end))
    by_root = collective in ROOT_DISAGREES and not plan.needs_library and rule is not None and _is_tuneds(rule)
    if rule and rule.call and (collective in WITHOUT_SIZE or by_root) and plan.tells_sizes_apart(collective):
        sentence = N_(
            "rules by message size for {collective} are left out, because its ranks know no size that all of them "
            "agree on, so the MPI decides"
        )
        notes.append(sentence.format(collective=collective))
        rule = None
    if rule is not None and is_ours(rule.call) and rule.call.get("algorithm") == "posted":
        notes += _too_long(collective, size, nodes * ppn)
    return Lookup(collective, nodes, ppn, size, plan, rule, tuple(notes), tuning.simulated)


def _is_tuneds(rule: Rule) -> bool:
    return rule.call.get("coll") == "tuned"


def _too_long(collective: str, size: int, ranks: int) -> list[str]:
    # Of these the size is that of a block.
    gives_to_each = blocking(collective) in {"alltoall", "scatter", "reduce_scatter_block"}
    if collective in WITHOUT_SIZE:  # long blocks go in messages
        return []
    if size * (ranks if gives_to_each else 1) <= POSTED_MOST:
        return []
    sentence = N_(
        "our library serves nonblocking and persistent collectives only if a rank gives at most {most}, so the MPI "
        "serves this one"
    )
    return [sentence.format(most=format_size(POSTED_MOST))]


def rules_apply(plan: Plan, nodes: int, ppn: int) -> bool:
    """Whether a plan's rules are used for so many ranks: our library goes by nodes and ranks a node, coll/tuned by the
    number of ranks alone."""
    if plan.needs_library:
        return (plan.nodes, plan.ppn) == (nodes, ppn)
    return plan.ranks == nodes * ppn


def unmeasured(tuning: Tuning, case: tuple[int, int], nodes: int, ppn: int) -> str:
    """What ranks get that were not measured, in the words of every command; a study keeps it."""
    return N_(
        "{nodes} x {ppn} ranks were not measured: the launch setting of {near_nodes} x {near_ppn} ranks is used, "
        "the nearest case that was measured (measured cases, nodes x ranks a node: {cases}); rules by message "
        "size apply only to communicators of measured sizes, and the MPI decides for all others"
    ).format(nodes=nodes, ppn=ppn, near_nodes=case[0], near_ppn=case[1], cases=_without_predicted(tuning))


def foretold(tuning: Tuning, plan: Plan) -> str:
    """What a predicted plan rests on, in the words of every command; a study keeps it."""
    return N_(
        "{nodes} x {ppn} ranks were not measured: their plan is predicted from the measured cases (nodes x ranks "
        "a node: {cases})"
    ).format(nodes=plan.nodes, ppn=plan.ppn, cases=_without_predicted(tuning))


def _without_predicted(tuning: Tuning) -> str:
    return ", ".join(f"{nodes} x {ppn}" for nodes, ppn in tuning.measured_cases())


def nearest_case(tuning: Tuning, nodes: int, ppn: int) -> tuple[int, int]:
    """The (nodes, ppn) asked for where it has plans, else the measured one most like it, by powers of two.

    The number of nodes weighs double, and one node against several double again: they are different machines to a
    collective.
    """

    def distance(case: tuple[int, int]) -> tuple[float, int, int]:
        by_nodes = abs(math.log2(case[0] / nodes))
        by_ppn = abs(math.log2(case[1] / ppn))
        return (2 * by_nodes + by_ppn + (2 if (case[0] == 1) != (nodes == 1) else 0), *case)

    if (nodes, ppn) in tuning.cases():
        return nodes, ppn
    return min(tuning.measured_cases() or tuning.cases(), key=distance)
