"""Which placements are the same on a machine, by counting domains (unisono.cmdline.placement computes the places)."""

from __future__ import annotations

from unisono.core.language import N_
from unisono.machine.description import Machine
from unisono.machine.domains import binding_is_set

LEVELS = ("numa", "socket", "l3", "node")
_PREFERRED = ("block", "cyclic", "block:socket", "cyclic:socket", "block:l3", "cyclic:l3", "block:node", "cyclic:node")
_DOMAINS = {
    "numa": (N_("NUMA node"), N_("NUMA nodes")),
    "socket": ("socket", "sockets"),
    "l3": (N_("L3 cache"), N_("L3 caches")),
}

_Key = tuple[str, frozenset[frozenset[int]]]


def same_placement(value: str, machine: Machine, nodes: int, ppn: int) -> tuple[str, str]:
    """(the simplest placement with the same places, the sentence why it is the same; "" when it is `value` itself).

    A value that is no placement is returned as it is: unisono.cmdline.placement refuses it with a message of its own.
    """
    wanted = _key(value, machine, nodes, ppn)
    if wanted is None:
        return value, ""
    for candidate in _PREFERRED:
        if candidate == value:
            break
        if _key(candidate, machine, nodes, ppn) == wanted:
            return candidate, _sentence(value, candidate, machine, nodes, ppn)
    return value, ""


def is_default_binding(machine: Machine, nodes: int, ppn: int) -> bool:
    """Whether mpirun by itself does what `block` asks for: two ranks, one after the other, each bound to a core.

    Open MPI maps and binds by core up to two ranks (tried on 4.1.4 and 5.0.11); beyond, 4.1.4 by NUMA domain.
    """
    return (
        machine.traits.BINDS_TO == "cores"
        and not (machine.mpi and machine.mpi.launcher)
        and nodes == 1
        and ppn == 2
        and machine.cores >= 2
        and not binding_is_set(machine)
        and _key("block", machine, 1, 2) == _key("block:node", machine, 1, 2)
    )


def _key(value: str, machine: Machine, nodes: int, ppn: int) -> _Key | None:
    """Equal keys: every rank at the same place (placements with other keys may still coincide for some ppn).

    None for what is no placement. One rank a node, or one domain, or a block over domains that all cores fill, is the
    block over the node; one rank in every domain makes cyclic the same as block.
    """
    order, _, level = value.partition(":")
    level = level or "numa"
    if order not in ("block", "cyclic") or level not in LEVELS:
        return None
    whole: _Key = ("block", frozenset())
    if level == "node":
        return ("cyclic-nodes", frozenset()) if order == "cyclic" and nodes > 1 and ppn > 1 else whole
    partition = _partition(machine, level)
    if len(partition) == 1 or ppn == 1:
        return whole
    if order == "cyclic" and ppn != len(partition):
        return ("cyclic", partition)
    return whole if ppn == machine.cores else ("block", partition)


def _partition(machine: Machine, level: str) -> frozenset[frozenset[int]]:
    groups: dict[int, set[int]] = {}
    for cpu in machine.cpus:
        groups.setdefault(getattr(cpu, level), set()).add(cpu.cpu)
    return frozenset(frozenset(group) for group in groups.values())


def _sentence(value: str, same: str, machine: Machine, nodes: int, ppn: int) -> str:
    order, _, level = value.partition(":")
    level = level or "numa"
    measured = N_("measured once, as {same}.").format(same=same)
    if level == "node":
        why = N_("One node is used") if nodes == 1 else N_("One rank a node is used")
        return N_("{why}, so {value} and {same} are the same placement: {measured}").format(
            why=why, value=value, same=same, measured=measured
        )
    if ppn == 1:
        return N_("With one rank a node {value} and {same} are the same placement: {measured}").format(
            value=value, same=same, measured=measured
        )
    one, many = _DOMAINS[level]
    count = len(_partition(machine, level))
    if count == 1:
        what = N_("block and cyclic") if order == "cyclic" and ":" not in value else f"{same} and {value}"
        return N_("This machine has one {one}, so {what} are the same placement: {measured}").format(
            one=one, what=what, measured=measured
        )
    if order == "cyclic" and ppn == count:
        return N_("One rank in each of {count} {many}: {value} and {same} are the same placement, {measured}").format(
            count=count, many=many, value=value, same=same, measured=measured
        )
    return N_("{value} and {same} give every rank the same place here: {measured}").format(
        value=value, same=same, measured=measured
    )
