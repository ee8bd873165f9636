"""Studies that never ran, with the curves real machines have: eager and rendezvous, algorithms that cross, a
component that is good for small messages only, launch effects, outliers, launches that failed.
"""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from unisono.core.sizes import parse_size
from unisono.core.vocabulary import CALL_SCOPE, DEFAULT, Case, Sample, Setting
from unisono.machine.description import Cache, Cpu, Device, Machine, Mpi, Node, Ucx
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


def oci(
    ppns: Sequence[int] = (48, 96),
    thresholds: Sequence[str] = ("", "4kb", "8kb", "16kb", "32kb", "64kb", "128kb"),
    powers: Iterable[int] = range(23),
) -> StudyData:
    """Like Oracle's tuning guide: two sockets, four NUMA nodes a socket, thresholds x placements x components."""
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
