"""Sockets, NUMA nodes, cores, hardware threads and caches, from /sys/devices/system."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from unisono.machine.description import Cache, Cpu
from unisono.machine.files import list_directory, parse_cpu_list, read_int, read_text

_CPU = "sys/devices/system/cpu"
_NODE = "sys/devices/system/node"
_CACHE_UNITS = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


@dataclass(frozen=True)
class Topology:
    """`cpus` are those of the affinity mask; the counts are of the whole node, whatever the mask."""

    cpus: list[Cpu]
    sockets: int
    numa_per_socket: int
    smt: int
    caches: list[Cache] = field(default_factory=list)


@dataclass(frozen=True)
class _CacheInstance:
    level: str
    bytes: int
    cpus: tuple[int, ...]


def read_topology(root: Path, affinity: set[int] | None = None) -> Topology:
    """The topology of the tree under `root`; `affinity` None means every CPU that is online.

    Cores, sockets and last-level caches are numbered 0, 1, ... over all online CPUs in the order of the lowest CPU
    they hold, so the numbers do not depend on the mask and follow Linux's own numbering.
    """
    online = _online(root)
    numa = _numa_of(root, online)
    package = {cpu: read_int(root, f"{_CPU}/cpu{cpu}/topology/physical_package_id") for cpu in online}
    socket = _dense({cpu: (value if value is not None and value >= 0 else 0,) for cpu, value in package.items()})
    siblings = {cpu: _siblings(root, cpu, online) for cpu in online}
    core = _dense(siblings)
    instances = {cpu: _caches_of(root, cpu, online) for cpu in online}
    of_socket = {s: tuple(cpu for cpu in online if socket[cpu] == s) for s in set(socket.values())}
    last = _dense({cpu: _last_level(instances[cpu], of_socket[socket[cpu]]) for cpu in online})
    allowed = [cpu for cpu in online if affinity is None or cpu in affinity] or online
    numa_nodes = {s: {numa[cpu] for cpu in cpus} for s, cpus in of_socket.items()}
    return Topology(
        cpus=[Cpu(cpu=c, core=core[c], numa=numa[c], socket=socket[c], l3=last[c]) for c in allowed],
        sockets=len(numa_nodes),
        numa_per_socket=max(len(nodes) for nodes in numa_nodes.values()),
        smt=max(Counter(core.values()).values()),
        caches=_summary(instances, core),
    )


def _online(root: Path) -> list[int]:
    text = read_text(root, f"{_CPU}/online")
    if text:
        return parse_cpu_list(text) or [0]
    names = (name[3:] for name in list_directory(root, _CPU) if name.startswith("cpu"))
    return sorted(int(number) for number in names if number.isdigit()) or [0]


def _numa_of(root: Path, online: list[int]) -> dict[int, int]:
    """CPU -> NUMA node by the kernel's number; 0 where the kernel shows none."""
    numa = dict.fromkeys(online, 0)
    for name in list_directory(root, _NODE):
        if name.startswith("node") and name[4:].isdigit():
            for cpu in parse_cpu_list(read_text(root, f"{_NODE}/{name}/cpulist") or ""):
                if cpu in numa:
                    numa[cpu] = int(name[4:])
    return numa


def _siblings(root: Path, cpu: int, online: list[int]) -> tuple[int, ...]:
    """The CPUs of one core. The file was called thread_siblings_list before Linux 5.3."""
    for name in ("core_cpus_list", "thread_siblings_list"):
        text = read_text(root, f"{_CPU}/cpu{cpu}/topology/{name}")
        if text:
            return tuple(c for c in parse_cpu_list(text) if c in online) or (cpu,)
    return (cpu,)


def _caches_of(root: Path, cpu: int, online: list[int]) -> list[_CacheInstance]:
    base = f"{_CPU}/cpu{cpu}/cache"
    found = []
    for index in list_directory(root, base):
        level = read_int(root, f"{base}/{index}/level")
        kind = read_text(root, f"{base}/{index}/type")
        size = parse_cache_size(read_text(root, f"{base}/{index}/size") or "")
        if level is None or size is None or kind not in ("Data", "Unified"):
            continue
        shared = parse_cpu_list(read_text(root, f"{base}/{index}/shared_cpu_list") or str(cpu))
        name = f"L{level}d" if kind == "Data" else f"L{level}"
        found.append(_CacheInstance(name, size, tuple(c for c in shared if c in online) or (cpu,)))
    return sorted(found, key=lambda c: c.level)


def parse_cache_size(text: str) -> int | None:
    """Bytes of the kernel's "32K", "1024K", "36M"; None for anything else."""
    number, unit = (text[:-1], _CACHE_UNITS.get(text[-1])) if text and text[-1] in _CACHE_UNITS else (text, 1)
    return int(number) * unit if unit and number.isascii() and number.isdigit() else None


def _last_level(caches: list[_CacheInstance], socket_cpus: tuple[int, ...]) -> tuple[int, ...]:
    """The CPUs that share the highest cache level; a whole socket where no cache is shown."""
    return max(caches, key=lambda c: c.level).cpus if caches else socket_cpus


def _dense(groups: dict[int, tuple[int, ...]]) -> dict[int, int]:
    """CPU -> group numbered 0, 1, ... by the lowest CPU of each group."""
    first: dict[tuple[int, ...], int] = {}
    for cpu in sorted(groups):
        first.setdefault(groups[cpu], cpu)
    number = {group: index for index, (group, _) in enumerate(sorted(first.items(), key=lambda item: item[1]))}
    return {cpu: number[group] for cpu, group in groups.items()}


def _summary(instances: dict[int, list[_CacheInstance]], core: dict[int, int]) -> list[Cache]:
    """One entry a level: the most common size and sharing (hybrid CPUs have several)."""
    by_level: dict[str, Counter[tuple[int, int]]] = {}
    for caches in instances.values():
        for cache in caches:
            sharing = len({core[cpu] for cpu in cache.cpus})
            by_level.setdefault(cache.level, Counter())[(cache.bytes, sharing)] += 1
    common = {level: counts.most_common(1)[0][0] for level, counts in sorted(by_level.items())}
    return [Cache(level=level, bytes=size, shared_by=sharing) for level, (size, sharing) in common.items()]
