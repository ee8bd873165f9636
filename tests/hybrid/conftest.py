"""Machines that are not here."""

from __future__ import annotations

from unisono.machine.description import Cpu, Machine, Node


def node(cores: int, numa: int) -> Machine:
    """One node of so many cores on so many NUMA nodes, a socket each."""
    each = cores // numa
    cpus = [Cpu(cpu=i, core=i, numa=i // each, socket=i // each) for i in range(cores)]
    return Machine(
        name="n0",
        cpu_model="test",
        cpus=cpus,
        sockets=numa,
        numa_per_socket=1,
        smt=1,
        memory_bytes=1 << 34,
        memory_available_bytes=1 << 34,
        nodes=[Node(host="n0", slots=cores)],
    )
