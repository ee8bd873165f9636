"""Tunings and machines that several test modules use."""

from __future__ import annotations

from unisono.core.interval import Interval
from unisono.core.vocabulary import Setting
from unisono.machine.description import Cpu, Device, Machine, Mpi, Node
from unisono.tuning.contents import Conditions, StudyPart, Tuning
from unisono.tuning.finding import Finding
from unisono.tuning.plans import Plan, Rule

ALGORITHMS = {
    "allreduce": {"ignore": 0, "recursive_doubling": 3, "ring": 4, "segmented_ring": 5},
    "alltoall": {"ignore": 0, "linear": 1, "pairwise": 2, "modified_bruck": 3, "linear_sync": 4},
    "allgather": {"ignore": 0, "linear": 1, "bruck": 2, "ring": 4},
    "bcast": {"ignore": 0, "chain": 2, "pipeline": 3, "binomial": 6},
    "gather": {"ignore": 0, "basic_linear": 1, "binomial": 2},
    "barrier": {"ignore": 0, "linear": 1, "tree": 6},
    "reduce_scatter_block": {"ignore": 0, "basic_linear": 1, "recursive_doubling": 2, "butterfly": 4},
}


def machine(version: str = "5.0.11", cpus: int = 4, *, nodes: int = 1, fast: bool = False) -> Machine:
    """A machine as `doctor` describes one, made up."""
    return Machine(
        name="here",
        cpu_model="Example CPU",
        cpus=[Cpu(cpu=i, core=i, numa=0, socket=0) for i in range(cpus)],
        sockets=1,
        numa_per_socket=1,
        smt=1,
        memory_bytes=1 << 33,
        memory_available_bytes=1 << 32,
        nodes=[Node(host="here" if nodes == 1 else f"n{i}", slots=cpus) for i in range(nodes)],
        mpi=Mpi(
            family="openmpi",
            version=version,
            mpirun="/opt/mpi/bin/mpirun",
            components={"coll": ["basic", "han", "libnbc", "tuned"], "pml": ["ob1", "ucx"]},
            algorithms=ALGORITHMS,
            call_scope=["coll", "algorithm", "segment"],
        ),
        devices=[Device(name="mlx5_0:1", kind="infiniband")] if fast else [],
    )


def rule(
    collective: str,
    first: int,
    last: int | None,
    call: dict[str, str],
    *,
    gain: float = 1.5,
    sizes: tuple[int, ...] = (),
) -> Rule:
    return Rule(collective, first, last, Setting(call), Interval(gain, gain * 0.9, gain * 1.1), sizes, 4)


def tuned(algorithm: str, **more: str) -> dict[str, str]:
    return {"coll": "tuned", "algorithm": algorithm, **more}


def plan(
    nodes: int = 1,
    ppn: int = 4,
    launch: dict[str, str] | None = None,
    gain: dict[str, float] | None = None,
    rules: tuple[Rule, ...] = (),
) -> Plan:
    gains = gain or {"allreduce": 1.0, "alltoall": 1.0}
    return Plan(
        nodes=nodes,
        ppn=ppn,
        launch=Setting(launch or {}),
        gain={name: Interval(mid=mid, low=mid * 0.95, high=mid * 1.05) for name, mid in gains.items()},
        rules=rules,
    )


def tuning(*plans: Plan, weights: dict[str, float] | None = None, name: str = "example") -> Tuning:
    return Tuning(
        format="unisono-tuning",
        version=1,
        name=name,
        created="2026-03-01T12:00:00Z",
        made_by="unisono 0.1.0",
        study=StudyPart(id="abc123", name="quick", method="race", margin=0.03, confidence=0.95),
        conditions=Conditions(launches=12, ranks=(4,), notes=("block is cyclic here: there is one NUMA node",)),
        machine={"CPU": "Example CPU", "MPI": "openmpi 5.0.11"},
        weights=weights or {},
        plan=plans or EXAMPLE_PLANS,
        finding=(Finding(kind="better", text='UCX_RNDV_THRESH=16kb is 1.4x faster ("medium" sizes)'),),
    )


EXAMPLE_PLANS = (
    plan(
        launch={"UCX_RNDV_THRESH": "16kb", "pml": "ucx"},
        gain={"allreduce": 1.10, "alltoall": 1.40},
        rules=(
            rule("allreduce", 0, 4095, {}, gain=1.0, sizes=(8, 1024)),
            rule("allreduce", 4096, None, tuned("ring"), sizes=(4096, 65536, 1 << 20)),
            rule("alltoall", 0, 1023, tuned("modified_bruck"), gain=1.8, sizes=(8, 512)),
            rule("alltoall", 1024, 65535, tuned("pairwise"), gain=1.2, sizes=(1024, 32768)),
        ),
    ),
    plan(
        gain={"allreduce": 1.20, "alltoall": 1.05},
        rules=(rule("allreduce", 4096, None, tuned("segmented_ring", segment="8192"), sizes=(4096, 1 << 20)),),
    ),
)
