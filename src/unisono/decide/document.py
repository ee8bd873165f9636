"""From a decision to the document."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from unisono import __version__
from unisono.core.errors import LaunchError
from unisono.core.interval import Interval
from unisono.decide.decision import Decision
from unisono.decide.joint import counted
from unisono.machine.fingerprint import fingerprint
from unisono.measure.protocol import parse_limits
from unisono.study.data import StudyData
from unisono.tuning.contents import FORMAT, VERSION, Conditions, Costs, MpiPart, StudyPart, Tuning
from unisono.tuning.finding import Finding
from unisono.tuning.plans import Plan, Rule


def from_decision(decision: Decision, study: StudyData) -> Tuning:
    """The document of what was decided. Gains are kept to four digits: more would be noise in a `git diff`."""
    done = [launch for launch in study.launches if launch.status == "done"]
    ranks = {launch.nodes * launch.ppn for launch in done} or {plan.nodes * plan.ppn for plan in decision.plans}
    collectives = list(dict.fromkeys(name for plan in decision.plans for name in plan.gain))
    weights = counted(dict.fromkeys(collectives), decision.weights)
    return Tuning(
        **head(study),
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
        costs=costs(study),
        weights={name: float(weights.get(name, 0.0)) for name in collectives},
        plan=tuple(_plan(plan) for plan in decision.plans),
        finding=tuple(_finding(finding) for finding in decision.findings),
    )


def head(study: StudyData) -> dict[str, Any]:
    """What every document says of where it comes from."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "name": study.name,
        "created": study.created,
        "made_by": f"unisono {__version__}",
        "machine": fingerprint(study.machine),
        "mpi": MpiPart.of(study.machine),
    }


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


def _plan(plan: Plan) -> Plan:
    return replace(
        plan,
        gain={name: rounded(gain) for name, gain in plan.gain.items()},
        joint=replace(plan.joint, gain=rounded(plan.joint.gain)) if plan.joint else None,
        rules=tuple(_rule(rule) for rule in plan.rules),
    )


def _rule(rule: Rule) -> Rule:
    return replace(rule, gain=rounded(rule.gain), sure=None if rule.sure is None else _round(rule.sure))


def rounded(interval: Interval) -> Interval:
    """To four digits, as all in a document."""
    return Interval(_round(interval.mid), _round(interval.low), _round(interval.high))


def _round(value: float) -> float:
    return float(f"{value:.4g}") if math.isfinite(value) else value


def _finding(finding: Finding) -> Finding:
    return replace(finding, first=None, last=None, gain=None)
