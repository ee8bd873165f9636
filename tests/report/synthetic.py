"""Studies and decisions that never ran, with the curves real machines have: eager and rendezvous, algorithms that
cross, a component that is good for small messages only, launch effects, outliers, launches that failed.

The decision is put together plainly (medians over launches, normal intervals); deciding itself is tested elsewhere.
"""

from __future__ import annotations

import itertools
import math
import random
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from unisono.advise.prove import CaseProof, Failure, Proof, SizeProof
from unisono.decide.model import Decision, Estimate, Finding, Interval, Plan, Rule, Step
from unisono.machine.model import Cache, Cpu, Device, Machine, Mpi, Node, Ucx
from unisono.model import CALL_SCOPE, DEFAULT, Case, Sample, Setting, call_part, launch_part
from unisono.sizes import parse_size
from unisono.study.data import LaunchRow, Refusal, StudyData

MARGIN = 0.03
SIZES = tuple(1 << power for power in range(3, 23, 2))


def machine(sockets: int = 1, numa_per_socket: int = 1, cores: int = 2, l3: int = 1, smt: int = 1) -> Machine:
    """`cores` in all, spread evenly; `l3` caches a NUMA node."""
    numa = sockets * numa_per_socket
    cpus = [
        Cpu(
            cpu=core + thread * cores,
            core=core,
            numa=core * numa // cores,
            socket=core * sockets // cores,
            l3=core * numa * l3 // cores,
        )
        for thread in range(smt)
        for core in range(cores)
    ]
    return Machine(
        name="bm-standard-e5" if sockets > 1 else "workstation",
        cpu_model="AMD EPYC 9J14 96-Core Processor" if sockets > 1 else "Intel(R) Xeon(R) Gold 6354 CPU @ 3.00GHz",
        cpus=cpus,
        sockets=sockets,
        numa_per_socket=numa_per_socket,
        smt=smt,
        caches=[
            Cache(level="L1d", bytes=32 << 10, shared_by=1),
            Cache(level="L2", bytes=1 << 20, shared_by=1),
            Cache(level="L3", bytes=32 << 20, shared_by=max(1, cores // (numa * l3))),
        ],
        memory_bytes=768 << 30 if sockets > 1 else 24 << 30,
        memory_available_bytes=740 << 30 if sockets > 1 else 21 << 30,
        governor="performance",
        kernel="5.14.0-503.26.1.el9_5.x86_64",
        os="Oracle Linux Server 9.5",
        nodes=[Node(host="node-1", slots=cores)],
        mpi=Mpi(
            family="openmpi",
            version="5.0.11",
            mpirun="/opt/openmpi/bin/mpirun",
            mpicc="/opt/openmpi/bin/mpicc",
            components={"coll": ["adapt", "basic", "han", "libnbc", "tuned"], "pml": ["cm", "ob1", "ucx"]},
            call_scope=list(CALL_SCOPE),
        ),
        ucx=Ucx(
            version="1.20.1", library="/opt/ucx/lib/libucp.so.0", transports={"posix": ["memory"], "self": ["memory"]}
        ),
        devices=[Device(name="mlx5_2:1", kind="roce", gbps=100.0, numa=0)] if sockets > 1 else [],
    )


def latency(case: Case, size: int, setting: Mapping[str, str]) -> float:
    """Seconds, without noise."""
    ranks, many = case.ranks, math.log2(max(2, case.ranks))
    alltoall = case.collective in ("alltoall", "allgather")
    volume = size * (ranks - 1) if alltoall else 2.0 * size * (ranks - 1) / ranks
    bandwidth = 9e9 / (1 + ranks / 48)
    alpha = 0.35e-6 * (many if not alltoall else 0.35 * ranks + many)
    threshold = {"auto": "8kb"}.get(setting.get("UCX_RNDV_THRESH", "auto"), setting.get("UCX_RNDV_THRESH", "auto"))
    limit = parse_size(threshold)
    if setting.get("pml") == "ob1":
        alpha, limit = alpha * 0.85, 4096
    copies = 2.0 if size < limit else 1.15
    seconds = alpha + copies * volume / bandwidth + (1.2e-6 * many if size >= limit else 0.0)
    algorithm = setting.get("algorithm")
    if algorithm in ("ring", "pairwise", "neighbor"):
        seconds = alpha * 1.9 + 0.72 * (seconds - alpha)
    elif algorithm in ("recursive_doubling", "modified_bruck", "bruck"):
        seconds = alpha * 0.72 + 1.7 * (seconds - alpha)
    elif algorithm in ("basic_linear", "linear"):
        seconds = alpha * 1.35 + 1.25 * (seconds - alpha)
    component = setting.get("coll")
    if component == "hcoll":
        seconds = alpha * 0.45 + (1.6 if alltoall else 0.95) * (seconds - alpha)
    elif component == "ucc":
        seconds = alpha * 1.2 + (1.0 if alltoall else 0.7) * (seconds - alpha)
    elif component == "han":
        seconds *= 1.18
    if setting.get("placement") == "cyclic":
        seconds *= 1.07
    if size == 8192 and component is None and case.collective == "allgather":
        seconds *= 1.9
    return seconds


def limits_json(ranks: int, cores: int) -> dict[str, Any]:
    """What the benchmark would answer to `limits`."""
    noise = random.Random(7)
    shown = min(ranks, cores)

    def one_way(a: int, b: int) -> float:
        group = max(1, cores // 8)
        base = 60.0 if a // group == b // group else 110.0 if a * 2 // cores == b * 2 // cores else 240.0
        return round(base * (1 + 0.08 * noise.random()), 1)

    return {
        "latency_ns": 71,
        "pairs": [[a, b, one_way(a, b)] for b in range(shown) for a in range(b) if shown <= 16 or a == 0],
        "copy": [_copy(1 << power, shown) for power in range(12, 27, 2)],
        "flags_ns": 140 * math.log2(max(2, ranks)),
    }


def _copy(size: int, ranks: int) -> dict[str, float]:
    one = 24 / (1 + 700 / size) / (1 + size / 3e8)
    every = one * min(ranks, 6) ** 0.7 / (1 + size / 4e7)
    return {"bytes": size, "gbps_one": round(one, 3), "gbps_all": round(every, 3)}


def _quartiles(median: float, noise: random.Random) -> tuple[float, ...]:
    spread = 0.04 + 0.03 * noise.random()
    return median * (1 - 1.5 * spread), median * (1 - spread), median * (1 + spread), median * (1 + 4 * spread)


def study(
    name: str = "quick",
    *,
    cases: Sequence[Case] = (Case("allreduce", 1, 2), Case("alltoall", 1, 2)),
    sizes: Sequence[int] = SIZES,
    launch_settings: Sequence[Setting] | None = None,
    call_settings: Mapping[str, Sequence[Setting]] | None = None,
    launches: int = 5,
    method: str = "race",
    on: Machine | None = None,
    failures: bool = True,
    drift: float = 0.02,
    seed: int = 1,
) -> StudyData:
    """Every combination of launch and call settings, `launches` times, in rounds."""
    noise = random.Random(seed)
    on = on or machine()
    launch_settings = launch_settings or [
        DEFAULT,
        *(Setting({"UCX_RNDV_THRESH": v}) for v in ("4kb", "16kb", "64kb", "128kb")),
        Setting({"pml": "ob1"}),
    ]
    call_settings = call_settings or {
        "allreduce": _tuned("recursive_doubling", "ring", "basic_linear", component=("han",)),
        "alltoall": _tuned("pairwise", "modified_bruck", "linear"),
    }
    samples: list[Sample] = []
    rows: list[LaunchRow] = []
    shapes = sorted({(c.nodes, c.ppn) for c in cases})
    for round_ in range(launches):
        jobs = list(itertools.product(shapes, launch_settings))
        noise.shuffle(jobs)
        for (nodes, ppn), setting in jobs:
            number = len(rows) + 1
            broken = failures and (round_, setting) == (1, launch_settings[-1])
            effect = noise.gauss(1, drift / 2) * (1 + drift * math.sin(number / 9)) * (1.35 if number == 23 else 1)
            words = " ".join(f"-x {k}={v}" if k.startswith("UCX_") else f"--mca {k} {v}" for k, v in setting.items())
            rows.append(
                LaunchRow(
                    id=number,
                    setting=setting,
                    nodes=nodes,
                    ppn=ppn,
                    round=round_,
                    status="crashed" if broken else "done",
                    reason="rank 1 on node-1 ended by signal 11; stderr: [node-1:4242] *** Process received signal ***"
                    if broken
                    else "",
                    seconds=noise.uniform(3.5, 5.5) * (0.3 if broken else 1),
                    command=f"/opt/openmpi/bin/mpirun -n {nodes * ppn} --bind-to core {words} unisono-bench".replace(
                        "  ", " "
                    ),
                    oversubscribed=False,
                )
            )
            if broken:
                continue
            for case in cases:
                if (case.nodes, case.ppn) != (nodes, ppn):
                    continue
                for call in (DEFAULT, *call_settings.get(case.collective, ())):
                    for size in sizes:
                        middle = latency(case, size, setting | call) * effect * noise.gauss(1, 0.012)
                        low, q1, q3, p95 = _quartiles(middle, noise)
                        samples.append(
                            Sample(
                                launch=number,
                                round=round_,
                                case=case,
                                size=size,
                                setting=setting | call,
                                repetitions=200,
                                discarded=noise.choice((0, 0, 1, 3)),
                                sync="clock",
                                minimum=low,
                                q1=q1,
                                median=middle,
                                q3=q3,
                                p95=p95,
                                mean=middle * 1.03,
                                trimmed=middle * 1.01,
                                correct=True,
                            )
                        )
    return StudyData(
        id=f"{name}-0001",
        name=name,
        created="2025-11-21T20:40:12.345+00:00",
        method=method,
        margin=MARGIN,
        confidence=0.95,
        weights={c.collective: 1.0 / len(cases) for c in cases},
        machine=on,
        samples=tuple(samples),
        launches=tuple(rows),
        limits={(n, p): limits_json(n * p, on.cores) for n, p in shapes},
        refusals=(Refusal(1, cases[-1].collective, 1 << 30, DEFAULT, "memory: needs 34 GiB of 21 GiB available"),),
        notes=(
            "placement: block and cyclic are the same with one NUMA node; folded into block.",
            "Every launch, the default included, excludes btl/ofi: without a fabric MPI_Init waits a second for it.",
        ),
        scope=CALL_SCOPE,
    )


def _tuned(*algorithms: str, component: Iterable[str] = ()) -> list[Setting]:
    return [
        *(Setting({"coll": "tuned", "algorithm": a}) for a in algorithms),
        *(Setting({"coll": c}) for c in component),
    ]


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
                case=case,
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
            None,
            "placement",
            "cyclic",
            "placement has no effect here: one NUMA node, so cyclic is the same as block.",
        ),
    ]
    for case in cases:
        name = case.collective
        found += [
            Finding(
                "better",
                case,
                "UCX_RNDV_THRESH",
                "16kb",
                f"UCX_RNDV_THRESH=16kb makes {name} faster from 4 KiB to 16 KiB, by 1.12x to 1.31x.",
                4096,
                16384,
                Interval(1.21, 1.12, 1.31),
            ),
            Finding(
                "worse",
                case,
                "coll",
                "han",
                f"han is slower for {name} from 8 B to 4 MiB, by 1.15x to 1.21x.",
                8,
                4 << 20,
                Interval(0.85, 0.83, 0.87),
            ),
            Finding(
                "mixed",
                case,
                "algorithm",
                "ring",
                f"ring is faster for {name} from 64 KiB up (1.3x) and slower up to 2 KiB (1.8x).",
                8,
                4 << 20,
                Interval(0.98, 0.6, 1.3),
            ),
            Finding("no difference", case, "pml", "ob1", f"pml=ob1 makes no significant difference for {name}."),
        ]
    found.append(
        Finding(
            "singular point",
            cases[-1],
            "coll",
            "",
            f"A singular point of {cases[-1].collective} at 8 KiB: 1.9x its neighbours without a component.",
            8192,
            8192,
            Interval(0.53, 0.5, 0.56),
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
                rule = next((r for r in plan.rules if r.case == case and r.first <= size <= (r.last or size)), None)
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


def oci(
    ppns: Sequence[int] = (48, 96),
    thresholds: Sequence[str] = ("", "4kb", "8kb", "16kb", "32kb", "64kb", "128kb"),
    powers: Iterable[int] = range(23),
) -> StudyData:
    """Like document 000: two sockets, four NUMA nodes a socket, thresholds x placements x components."""
    return study(
        "oci-bm-standard-e5-192",
        cases=[Case(c, 1, ppn) for ppn in ppns for c in ("alltoall", "allgather", "allreduce")],
        sizes=[0, *(1 << power for power in powers)],
        launch_settings=[
            Setting({k: v for k, v in (("UCX_RNDV_THRESH", t), ("placement", p), ("coll", c)) if v})
            for t in thresholds
            for p in ("", "cyclic")
            for c in ("", "hcoll", "ucc")
        ],
        call_settings={"alltoall": [], "allgather": [], "allreduce": []},
        method="classic",
        launches=5,
        on=machine(sockets=2, numa_per_socket=4, cores=192, l3=3),
    )
