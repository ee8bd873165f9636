"""Machines made up for tests: as many sockets, NUMA nodes and cores as a test wants."""

from __future__ import annotations

from unisono.machine.description import Cpu, Machine, Mpi, Node


def machine(cores: int = 2, numa: int = 1, sockets: int = 1, nodes: int = 1, version: str = "5.0.11") -> Machine:
    per_numa = cores // numa
    return Machine(
        name="made-up",
        cpu_model="Made Up 3000",
        cpus=[
            Cpu(cpu=c, core=c, numa=c // per_numa, socket=c // (cores // sockets), l3=c // per_numa)
            for c in range(cores)
        ],
        sockets=sockets,
        numa_per_socket=numa // sockets,
        smt=1,
        memory_bytes=64 << 30,
        memory_available_bytes=48 << 30,
        nodes=[Node(host=f"n{i}", slots=cores) for i in range(nodes)],
        mpi=Mpi(
            family="openmpi",
            version=version,
            mpirun="/opt/mpi/bin/mpirun",
            mpicc="/opt/mpi/bin/mpicc",
            components={
                "coll": ["adapt", "basic", "han", "libnbc", "self", "sm", "tuned"],
                "pml": ["cm", "ob1", "ucx"],
                "btl": ["self", "sm", "tcp"],
            },
            algorithms={
                "allreduce": {"basic_linear": 1, "recursive_doubling": 3, "ring": 4},
                "alltoall": {"linear": 1, "pairwise": 2, "two_proc": 5},
                "bcast": {"basic_linear": 1, "chain": 2},
            },
            call_scope=["coll", "algorithm", "segment"],
        ),
    )
