"""Which NUMA domains of a node our collectives see: those that ranks are bound within (native/collectives/numa.c)."""

from __future__ import annotations

from unisono.core.language import _, ngettext
from unisono.machine.description import Machine


def described(machine: Machine) -> str:
    """One line: what there is, what is seen when ranks are left where the launcher puts them, what to pass for more."""
    sockets, domains = len({cpu.socket for cpu in machine.cpus}), len(machine.numa_nodes)
    there = ", ".join(
        (
            ngettext("{count} socket", "{count} sockets", sockets).format(count=sockets),
            ngettext("{count} NUMA domain", "{count} NUMA domains", domains).format(count=domains),
        )
    )
    mpi = machine.mpi
    if mpi is None:
        return there
    if domains == 1:
        return _("{there}: a node is one domain to our collectives").format(there=there)
    if not mpi.binds:
        return _(
            "{there}; {name} by itself binds no ranks: some ranks are not bound within one, so "
            "that a node is one domain to our collectives; pass -bind-to numa (or core) for all"
        ).format(there=there, name=mpi.name)
    if mpi.traits.BINDS_TO == "shares":
        return _(
            "{there}; {name} by itself gives each rank its share of the cores, which lies within one where there are "
            "at least as many ranks as domains: UNISONO_VERBOSE=1 in a run tells how many are seen"
        ).format(there=there, name=mpi.name)
    if binding_is_set(machine):
        return _(
            "{there}; the environment says how ranks are bound: UNISONO_VERBOSE=1 in a run tells how many are seen"
        ).format(there=there)
    return _(
        "{there}; {name} by itself binds ranks within one, unless there are more than cores: "
        "our collectives see all that have ranks"
    ).format(there=there, name=mpi.name)


def binding_is_set(machine: Machine) -> bool:
    """Whether the user's environment changes where the launcher puts ranks."""
    return any(name.startswith(machine.traits.MAPPERS) for name in machine.environment)
