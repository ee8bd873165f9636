"""Which domains of a node our collectives see: those that ranks are bound within (native/collectives/levels.c)."""

from __future__ import annotations

from unisono.core.language import _, ngettext
from unisono.machine.description import Machine


def there(machine: Machine) -> str:
    """How many sockets, NUMA domains and caches of the last level a node has."""
    sockets, domains = len({cpu.socket for cpu in machine.cpus}), len(machine.numa_nodes)
    caches = len({cpu.l3 for cpu in machine.cpus})
    return ", ".join(
        (
            ngettext("{count} socket", "{count} sockets", sockets).format(count=sockets),
            ngettext("{count} NUMA domain", "{count} NUMA domains", domains).format(count=domains),
            ngettext("{count} last-level cache", "{count} last-level caches", caches).format(count=caches),
        )
    )


def described(machine: Machine) -> str:
    """One line: what there is, what is seen when ranks are left where the launcher puts them, what to pass for more."""
    there_is = there(machine)
    mpi = machine.mpi
    if mpi is None:
        return there_is
    if not machine.has_domains:
        return _("{there}: a node is one domain to our collectives").format(there=there_is)
    if not mpi.binds:
        return _(
            "{there}; {name} binds no ranks by default, so some ranks are not bound within one domain and our "
            "collectives take the node as one; pass -bind-to core to use all domains"
        ).format(there=there_is, name=mpi.name)
    if mpi.traits.BINDS_TO == "shares":
        return _(
            "{there}; {name} by default gives each rank its share of the cores, which lies within one domain if "
            "there are at least as many ranks as domains; UNISONO_VERBOSE=1 in a run shows how many are seen"
        ).format(there=there_is, name=mpi.name)
    if binding_is_set(machine):
        return _(
            "{there}; the environment sets how ranks are bound; UNISONO_VERBOSE=1 in a run shows how many "
            "domains are seen"
        ).format(there=there_is)
    return _(
        "{there}; {name} by default binds each rank within a NUMA domain, unless there are more ranks than "
        "cores; our collectives see every domain that has ranks, and its caches if ranks are bound to cores"
    ).format(there=there_is, name=mpi.name)


def binding_is_set(machine: Machine) -> bool:
    """Whether the user's environment changes where the launcher puts ranks."""
    return any(name.startswith(machine.traits.MAPPERS) for name in machine.environment)
