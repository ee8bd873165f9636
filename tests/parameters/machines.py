"""Machines to ask about parameters: the described ones, and small ones with a chosen MPI."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.machine.trees import recorded
from unisono.inventory.describe import load
from unisono.machine.description import Cpu, Device, Machine, Mpi, Node, Ucx
from unisono.mpi.openmpi import call_scope
from unisono.mpi.openmpi.ompi_info import parse_algorithms, parse_components

STUDIES = Path(__file__).parents[2] / "studies" / "machines"


def described(name: str) -> Machine:
    return load(STUDIES / f"{name}.json")


def open_mpi(version: str, more_coll: tuple[str, ...] = (), settings: dict[str, str] | None = None) -> Mpi:
    """Open MPI with the components and algorithms recorded for its series, under any version number."""
    series = "5.0.11" if int(version.split(".")[0]) >= 5 else "4.1.4"
    components = parse_components(recorded(f"ompi_info-{series}.txt"))
    components["coll"] = sorted([*components["coll"], *more_coll])
    return Mpi(
        family="openmpi",
        version=version,
        mpirun="/opt/openmpi/bin/mpirun",
        components=components,
        algorithms=parse_algorithms(recorded(f"ompi_info-tuned-{series}.txt")),
        call_scope=call_scope(version, components),
        settings=settings or {},
    )


FAST = Device(name="mlx5_0:1", kind="infiniband", gbps=200.0)


def small(
    version: str = "5.0.11", *, cores: int = 8, numa: int = 1, sockets: int = 1, nodes: int = 1, **more: Any
) -> Machine:
    """A described machine (not this one, so that nothing is asked of it) of equal NUMA nodes; one L3 each."""
    per_numa, per_socket = cores // numa, cores // sockets
    values: dict[str, Any] = {
        "name": "small",
        "source": "made up for a test",
        "cpu_model": "a CPU",
        "cpus": [
            Cpu(cpu=c, core=c, numa=c // per_numa, socket=c // per_socket, l3=c // per_numa) for c in range(cores)
        ],
        "sockets": sockets,
        "numa_per_socket": numa // sockets,
        "smt": 1,
        "memory_bytes": 1 << 34,
        "memory_available_bytes": 1 << 34,
        "nodes": [Node(host=f"n{n}", slots=cores) for n in range(nodes)],
        "mpi": open_mpi(version),
        "ucx": Ucx(
            version="1.17.0", library="/nowhere/libucp.so.0", transports={"posix": ["memory"], "cma": ["memory"]}
        ),
    }
    return Machine(**{**values, **more})
