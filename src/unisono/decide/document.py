"""From a decision to the document."""

from __future__ import annotations

import math

from unisono import __version__
from unisono.decide.decision import Basis, Decision, Finding, Interval, Plan, Rule
from unisono.decide.joint import counted
from unisono.errors import LaunchError
from unisono.machine.description import Machine
from unisono.machine.fingerprint import fingerprint
from unisono.measure.protocol import parse_limits
from unisono.study.data import StudyData
from unisono.tuning.contents import FORMAT, VERSION, Conditions, Costs, FindingModel, MpiPart, StudyPart, Tuning
from unisono.tuning.plans import Gain, JointModel, PlanModel, RuleModel


def from_decision(decision: Decision, study: StudyData) -> Tuning:
    """The document of what was decided. Gains are kept to four digits: more would be noise in a `git diff`."""
    done = [launch for launch in study.launches if launch.status == "done"]
    ranks = {launch.nodes * launch.ppn for launch in done} or {plan.nodes * plan.ppn for plan in decision.plans}
    collectives = list(dict.fromkeys(name for plan in decision.plans for name in plan.gain))
    weights = counted(dict.fromkeys(collectives), decision.weights)
    return Tuning(
        format=FORMAT,
        version=VERSION,
        name=study.name,
        created=study.created,
        made_by=f"unisono {__version__}",
        study=StudyPart(
            id=study.id,
            name=study.name,
            method=decision.method,
            margin=decision.margin,
            confidence=decision.confidence,
            statistic=decision.statistic,
            reproducible=study.reproducible,
        ),
        conditions=Conditions(
            oversubscribed=any(launch.oversubscribed for launch in done),
            launches=len(done),
            ranks=tuple(sorted(ranks)),
            notes=study.notes,
        ),
        machine=fingerprint(study.machine),
        mpi=mpi_of(study.machine),
        costs=costs(study),
        weights={name: float(weights.get(name, 0.0)) for name in collectives},
        plan=tuple(_plan(plan) for plan in decision.plans),
        finding=tuple(_finding(finding) for finding in decision.findings),
    )


def mpi_of(machine: Machine) -> MpiPart | None:
    """What a tuning remembers of the MPI it was measured with."""
    mpi = machine.mpi
    if mpi is None:
        return None
    return MpiPart(family=mpi.family, version=mpi.version, mpirun=mpi.mpirun, mpicc=mpi.mpicc)


_TYPICAL = 256 << 10
"""Bytes at which a copy is what the model means by one: beyond the start of it, within a node's caches."""


def costs(study: StudyData) -> Costs:
    """What one message and one byte cost, from the limits measured in the study's own launches."""
    found: dict[str, float] = {}
    for (_, ppn), document in study.limits.items():
        try:
            limits = parse_limits(document)
        except LaunchError:
            continue  # stored by a benchmark that said it in another form
        if limits.latency_ns:
            found["node_latency"] = limits.latency_ns * 1e-9
        if limits.copy_rates:
            rate = min(limits.copy_rates, key=lambda rate: abs(math.log(rate.bytes / _TYPICAL)))
            if rate.gbps_all > 0:
                found["node_byte"] = ppn / (rate.gbps_all * 1e9)
        if limits.link is not None:
            found["fabric_latency"] = limits.link.latency_ns * 1e-9
            if limits.link.message_ns is not None:
                # Never free: a difference of two times may come out as nothing.
                found["fabric_message"] = max(limits.link.message_ns, limits.link.latency_ns / 100) * 1e-9
            best = max((rate.gbps_one for rate in limits.link.bandwidth), default=0.0)
            if best > 0:
                found["fabric_byte"] = 1 / (best * 1e9)
    return Costs(**{name: _round(value) for name, value in found.items() if value > 0})


def _plan(plan: Plan) -> PlanModel:
    return PlanModel(
        nodes=plan.nodes,
        ppn=plan.ppn,
        launch=plan.launch,
        gain={name: gain_of(gain) for name, gain in plan.gain.items()},
        joint=JointModel(gain=gain_of(plan.joint.gain), weights=dict(plan.joint.weights)) if plan.joint else None,
        basis=plan.basis,
        rule=tuple(_rule(rule, plan.basis) for rule in plan.rules),
    )


def _rule(rule: Rule, basis: Basis) -> RuleModel:
    return RuleModel(
        collective=rule.case.collective,
        first=rule.first,
        last=rule.last,
        call=rule.call,
        gain=gain_of(rule.gain),
        sizes=rule.sizes,
        launches=rule.launches,
        basis=basis,
        sure=None if rule.sure is None else _round(rule.sure),
    )


def gain_of(interval: Interval) -> Gain:
    """To four digits, as all in a document."""
    return Gain(mid=_round(interval.mid), low=_round(interval.low), high=_round(interval.high))


def _round(value: float) -> float:
    return float(f"{value:.4g}") if math.isfinite(value) else value


def _finding(finding: Finding) -> FindingModel:
    case = finding.case
    return FindingModel(
        kind=finding.kind,
        text=finding.text,
        collective=case.collective if case else None,
        nodes=case.nodes if case else None,
        ppn=case.ppn if case else None,
        parameter=finding.parameter or None,
        value=finding.value or None,
    )
