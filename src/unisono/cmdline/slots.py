"""Cores in the launcher's numbering, the domains they form, and how many ranks each domain gets."""

from __future__ import annotations

from collections.abc import Sequence

from unisono.machine.description import Cpu, Machine
from unisono.mpi.places import Core


def cores(machine: Machine) -> list[Core]:
    """All cores of a node in hwloc's order: a tree of sockets, NUMA nodes and caches, walked by first CPU."""

    def first(key: str) -> dict[int, int]:
        lowest: dict[int, int] = {}
        for cpu in machine.cpus:
            domain: int = getattr(cpu, key)
            lowest[domain] = min(cpu.cpu, lowest.get(domain, cpu.cpu))
        return lowest

    socket, numa, l3, core = first("socket"), first("numa"), first("l3"), first("core")

    def position(cpu: Cpu) -> tuple[int, ...]:
        return socket[cpu.socket], numa[cpu.numa], l3[cpu.l3], core[cpu.core], cpu.cpu

    by_core: dict[int, list[Cpu]] = {}
    for cpu in sorted(machine.cpus, key=position):
        by_core.setdefault(cpu.core, []).append(cpu)
    logical = {key: _dense(key, by_core) for key in ("socket", "numa", "l3")}
    seen_in_socket: dict[int, int] = {}
    found: list[Core] = []
    pus = 0
    for number, threads in enumerate(by_core.values()):
        home = threads[0]
        in_socket = seen_in_socket.get(home.socket, 0)
        seen_in_socket[home.socket] = in_socket + 1
        found.append(
            Core(
                logical=number,
                first_pu=pus,
                in_socket=in_socket,
                cpus=tuple(cpu.cpu for cpu in threads),
                socket=logical["socket"][home.socket],
                numa=logical["numa"][home.numa],
                l3=logical["l3"][home.l3],
            )
        )
        pus += len(threads)
    return found


def _dense(key: str, by_core: dict[int, list[Cpu]]) -> dict[int, int]:
    numbers: dict[int, int] = {}
    for threads in by_core.values():
        numbers.setdefault(getattr(threads[0], key), len(numbers))
    return numbers


def domains(all_cores: Sequence[Core], level: str) -> list[list[Core]]:
    """The cores of each domain of the level, in logical order; the whole node for "node"."""
    if level == "node":
        return [list(all_cores)]
    groups: dict[int, list[Core]] = {}
    for core in all_cores:
        groups.setdefault(getattr(core, level), []).append(core)
    return [groups[key] for key in sorted(groups)]


def even(ranks: int, capacities: Sequence[int], *, in_turn: bool = False) -> list[int]:
    """How many ranks each domain gets: as equal as capacities allow.

    What is left over is spread out, or goes to the first domains (`in_turn`: dealt out one by one). `ranks` must not
    exceed the sum of the capacities.
    """
    counts = [0] * len(capacities)
    left = ranks
    while left:
        free = [i for i, capacity in enumerate(capacities) if counts[i] < capacity]
        takers = free[:left] if in_turn or left >= len(free) else [free[j * len(free) // left] for j in range(left)]
        for i in takers:
            counts[i] += 1
        left -= len(takers)
    return counts
