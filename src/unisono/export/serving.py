"""Plans compiled into our own library's rules, with a sentence for everything they cannot say."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from unisono.core.by_size import WITHOUT_SIZE
from unisono.core.language import N_
from unisono.core.vocabulary import (
    DISPATCHED,
    LEFT_TO_THE_MPI,
    LIBNBC,
    PERSISTENT,
    is_ours,
    started,
)
from unisono.export import dispatch
from unisono.export.compiled import algorithm_number
from unisono.export.dispatch import Rules
from unisono.machine.description import Mpi
from unisono.parameters.spelling import implementations
from unisono.tuning.contents import Tuning
from unisono.tuning.plans import Plan, Rule

USUAL = {"node_latency": 2e-7, "node_byte": 1.25e-10, "fabric_latency": 2e-6, "fabric_byte": 1e-10}
"""Stands in for costs that were not measured, such as those between nodes on one node, where they do not matter: what
the library itself takes for usual (native/collectives/comm.c)."""


def compile_serving(tuning: Tuning, plan: Plan, mpi: Mpi) -> tuple[Rules, list[str]]:
    """The rules of the plan and of all plans with its launch setting for other ranks, and what is left out.

    Ranks nobody measured have no rule, so the MPI serves them untouched. Raises UserError for an algorithm that this
    MPI does not have.
    """
    notes: list[str] = []
    rules: list[dispatch.Rule] = []
    for collective in DISPATCHED:
        for other in with_its_launch(tuning, plan):
            rules += _rules(collective, other, mpi, notes)
    costs = dict(tuning.costs.items())
    return Rules(tuple(rules), {**USUAL, **costs} if costs else {}), notes


def with_its_launch(tuning: Tuning, plan: Plan) -> list[Plan]:
    """The plan and those with the same launch setting for other ranks."""
    others = [other for other in tuning.plan if other.launch == plan.launch and other != plan]
    return sorted([plan, *others], key=lambda each: (each.nodes, each.ppn))


def _rules(collective: str, plan: Plan, mpi: Mpi, notes: list[str]) -> list[dispatch.Rule]:
    # What the MPI serves by its own files is left to it.
    named = sorted(plan.rules_for(collective), key=lambda rule: rule.first)
    named = [rule for rule in named if rule.call.get("coll") not in LEFT_TO_THE_MPI]
    shadowed = _shadowed(collective, plan)
    if not any(rule.call for rule in named) and not shadowed:
        return []
    if collective in WITHOUT_SIZE and replace(plan, rules=tuple(named)).tells_sizes_apart(collective):
        notes.append(
            N_(
                "{collective} on {nodes} x {ppn} ranks: rules by message size are left out, because "
                "its ranks do not know the size all of them agree on"
            ).format(collective=collective, nodes=plan.nodes, ppn=plan.ppn)
        )
        return []
    if collective in WITHOUT_SIZE:
        named = [replace(rule, first=0, last=None) for rule in named[:1]]
    found = [_rule(rule, plan, mpi, notes) for rule in named if rule.call]
    return [*found, *_left_to_the_mpi(collective, plan, found)] if shadowed else found


def _shadowed(collective: str, plan: Plan) -> bool:
    """Whether the library would serve a persistent collective that was measured by rules of the nonblocking form where
    it has none of its own."""
    named = any(rule.call for rule in plan.rules_for(started(collective)))
    return collective in PERSISTENT and collective in plan.gain and named


def _left_to_the_mpi(collective: str, plan: Plan, found: Sequence[dispatch.Rule]) -> list[dispatch.Rule]:
    """Rules that say so of all sizes that have no other."""
    rules, first = [], 0
    for rule in found:
        if rule.first > first:
            rules.append(dispatch.Rule(collective, str(plan.nodes), str(plan.ppn), first, rule.first - 1, ("mpi",)))
        if rule.last is None:
            return rules
        first = rule.last + 1
    return [*rules, dispatch.Rule(collective, str(plan.nodes), str(plan.ppn), first, None, ("mpi",))]


def _rule(rule: Rule, plan: Plan, mpi: Mpi, notes: list[str]) -> dispatch.Rule:
    call = rule.call
    use = implementations(call, rule.as_fast)
    where = N_("{collective}, {rule} on {nodes} x {ppn} ranks").format(
        collective=rule.collective, rule=rule.range_text(), nodes=plan.nodes, ppn=plan.ppn
    )
    if call["coll"] in ("tuned", LIBNBC) and "algorithm" in call:
        algorithm_number(rule, mpi)  # or it is refused
    elif not is_ours(call) and not mpi.traits.prefers(mpi.version):
        notes.append(
            N_("{where}: {use} is left out, because {name} {version} prefers no component call by call").format(
                where=where, use=use, name=mpi.name, version=mpi.version
            )
        )
        use = "mpi"
    return dispatch.Rule(rule.collective, str(plan.nodes), str(plan.ppn), rule.first, rule.last, (use,))


def other_collectives(plans: Sequence[Plan]) -> list[Plan]:
    """The plans with only the rules that our library cannot carry out: those stay with coll/tuned's own file."""
    return [
        replace(plan, rules=tuple(rule for rule in plan.rules if rule.collective not in DISPATCHED)) for plan in plans
    ]
