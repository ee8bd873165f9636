"""Decisions and proofs of synthetic studies, put together plainly (medians over launches, normal intervals);
deciding itself is tested elsewhere.
"""

from __future__ import annotations

import math
import random
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from tests.report.synthetic import latency
from unisono.advise.prove import CaseProof, Failure, Proof, SizeProof
from unisono.core.interval import Interval
from unisono.core.vocabulary import DEFAULT, Case, Setting, call_part, launch_part
from unisono.decide.decision import Decision, Estimate, Step
from unisono.study.data import StudyData
from unisono.tuning.finding import Finding
from unisono.tuning.plans import Plan, Rule


def _interval(values: Sequence[float]) -> Interval:
    logs = [math.log(v) for v in values]
    mid = sum(logs) / len(logs)
    if len(logs) < 2:
        return Interval(math.exp(mid), 0.0, math.inf)
    spread = 2.6 * math.sqrt(sum((x - mid) ** 2 for x in logs) / (len(logs) - 1) / len(logs))
    return Interval(math.exp(mid), math.exp(mid - spread), math.exp(mid + spread))


def estimates(data: StudyData) -> list[Estimate]:
    """Plain estimates: geometric means over launches with normal intervals."""
    times: dict[tuple[Case, int, Setting], list[float]] = defaultdict(list)
    for sample in data.samples:
        times[sample.case, sample.size, sample.setting].append(sample.median)
    found = []
    for (case, size, setting), values in times.items():
        time, reference = _interval(values), _interval(times[case, size, DEFAULT])
        gain = Interval(
            reference.mid / time.mid,
            reference.mid / time.high if math.isfinite(time.high) else 0.0,
            reference.mid / time.low if time.low else math.inf,
        )
        if setting.is_default:
            gain = Interval(1.0, 1.0, 1.0)
        sure = gain.low > 1 + data.margin or gain.high < 1 - data.margin
        found.append(Estimate(case, size, setting, len(values), time, gain, sure))
    return found


def _mean(gains: Sequence[Interval]) -> Interval:
    def over(values: list[float]) -> float:
        return math.exp(sum(math.log(v) if v else -math.inf for v in values) / len(values))

    return Interval(over([g.mid for g in gains]), over([g.low for g in gains]), over([g.high for g in gains]))


def _rules(
    found: Mapping[tuple[Case, int, Setting], Estimate],
    case: Case,
    sizes: Sequence[int],
    launch: Setting,
    calls: Sequence[Setting],
) -> list[Rule]:
    def fastest(size: int) -> Setting:
        return min(calls, key=lambda call: found[case, size, launch | call].time.mid)

    best = [fastest(size) for size in sizes]
    rules = []
    start = 0
    for end in range(1, len(sizes) + 1):
        if end < len(sizes) and best[end] == best[start]:
            continue
        supported = sizes[start:end]
        rules.append(
            Rule(
                collective=case.collective,
                first=0 if start == 0 else sizes[start],
                last=None if end == len(sizes) else sizes[end] - 1,
                call=best[start],
                gain=_mean([found[case, s, launch | best[start]].gain for s in supported]),
                sizes=tuple(supported),
                launches=5,
            )
        )
        start = end
    return rules


def decision(data: StudyData, *, steps: bool = False) -> Decision:
    """One plan for every launch setting, rules by the fastest call setting at each size."""
    every = estimates(data)
    found = {(e.case, e.size, e.setting): e for e in every}
    cases = sorted({s.case for s in data.samples})
    plans = []
    for launch in sorted({launch_part(s.setting) for s in data.samples}):
        for nodes, ppn in sorted({(c.nodes, c.ppn) for c in cases}):
            rules, gain = [], {}
            for case in (c for c in cases if (c.nodes, c.ppn) == (nodes, ppn)):
                sizes = sorted({s.size for s in data.samples if s.case == case})
                calls = sorted({call_part(s.setting) for s in data.samples if s.case == case})
                mine = _rules(found, case, sizes, launch, calls)
                rules += mine
                gain[case.collective] = _mean(
                    [found[case, s, launch | rule.call].gain for rule in mine for s in rule.sizes]
                )
            plans.append(Plan(nodes, ppn, launch, gain, tuple(rules)))
    plans.sort(key=lambda p: -math.prod(g.mid for g in p.gain.values()))
    return Decision(
        method=data.method,
        margin=data.margin,
        confidence=data.confidence,
        statistic="mean" if steps else "median",
        estimates=tuple(every),
        plans=tuple(plans),
        findings=tuple(_findings(cases)),
        weights=data.weights,
        steps=tuple(_steps(every, cases) if steps else ()),
    )


def _findings(cases: Sequence[Case]) -> list[Finding]:
    found = [
        Finding(
            "folded",
            "placement has no effect here: one NUMA node, so cyclic is the same as block.",
            parameter="placement",
            value="cyclic",
        ),
    ]
    for case in cases:
        name = case.collective
        found += [
            Finding.of(
                case,
                "better",
                f"UCX_RNDV_THRESH=16kb makes {name} faster from 4 KiB to 16 KiB, 1.12x to 1.31x as fast.",
                parameter="UCX_RNDV_THRESH",
                value="16kb",
                first=4096,
                last=16384,
                gain=Interval(1.21, 1.12, 1.31),
            ),
            Finding.of(
                case,
                "worse",
                f"han is slower for {name} from 8 B to 4 MiB, taking 1.15x to 1.21x as long.",
                parameter="coll",
                value="han",
                first=8,
                last=4 << 20,
                gain=Interval(0.85, 0.83, 0.87),
            ),
            Finding.of(
                case,
                "mixed",
                f"ring is faster for {name} from 64 KiB up (1.3x) and slower up to 2 KiB (1.8x).",
                parameter="algorithm",
                value="ring",
                first=8,
                last=4 << 20,
                gain=Interval(0.98, 0.6, 1.3),
            ),
            Finding.of(
                case,
                "no difference",
                f"pml=ob1 makes no significant difference for {name}.",
                parameter="pml",
                value="ob1",
            ),
        ]
    found.append(
        Finding.of(
            cases[-1],
            "singular point",
            f"A singular point of {cases[-1].collective} at 8 KiB: 1.9x its neighbours without a component.",
            parameter="coll",
            first=8192,
            last=8192,
            gain=Interval(0.53, 0.5, 0.56),
        )
    )
    return found


def _steps(every: Sequence[Estimate], cases: Sequence[Case]) -> list[Step]:
    """The three steps of documents 000 and 001, from whatever was measured."""
    steps = []

    def value(setting: Setting, name: str) -> str:
        return setting.get(name, "not set")

    for case in cases:
        mine = [e for e in every if e.case == case]
        for number, compared in enumerate(("UCX_RNDV_THRESH", "placement", "coll"), 1):
            panels: dict[Setting, dict[str, dict[int, float]]] = defaultdict(lambda: defaultdict(dict))
            for estimate in mine:
                fixed = estimate.setting.without(compared)
                if number > 1 and fixed.get("UCX_RNDV_THRESH") != "16kb":
                    continue
                if (number == 2 and "coll" in fixed) or (number == 3 and "placement" in fixed):
                    continue
                panels[fixed][value(estimate.setting, compared)][estimate.size] = estimate.time.mid
            for fixed, curves in panels.items():
                if len(curves) > 1:
                    chosen = min(curves, key=lambda v: sum(math.log(t) for t in curves[v].values()))
                    steps.append(Step(case, number, compared, fixed, chosen, number != 2, curves))
    return steps


def verification(data: StudyData, decided: Decision, launches: int = 5, seed: int = 3) -> dict[str, Any]:
    """What proving the first plan of each (nodes, ppn) would have found."""
    noise = random.Random(seed)
    cases: list[CaseProof] = []
    for plan in {(p.nodes, p.ppn): p for p in reversed(decided.plans)}.values():
        for name in plan.gain:
            case = Case(name, plan.nodes, plan.ppn)
            sizes = []
            for size in sorted({s.size for s in data.samples if s.case == case}):
                rule = next(
                    (r for r in plan.rules if r.collective == case.collective and r.first <= size <= (r.last or size)),
                    None,
                )
                tuned = latency(case, size, plan.launch | (rule.call if rule else DEFAULT))
                sides = [
                    [t * noise.gauss(1, 0.02) for _ in range(launches)] for t in (latency(case, size, DEFAULT), tuned)
                ]
                gain = _interval([a / b for a, b in zip(*sides, strict=True)])
                sizes.append(SizeProof(size, gain, tuple(sides[0]), tuple(sides[1])))
            means = _mean([s.gain for s in sizes])
            cases.append(CaseProof(name, plan.nodes, plan.ppn, means, launches, tuple(sizes)))
    proof = Proof(0.95, tuple(cases), (Failure(1, 2, 3, True, "hung", "no answer within 60 s"),), (), ())
    return proof.as_dict()
