"""Which NUMA domains of a node our collectives see: those that ranks are bound within (native/collectives/numa.c)."""

from __future__ import annotations

from unisono.machine.model import Machine

_MAPPERS = ("PRTE_MCA_", "OMPI_MCA_rmaps", "OMPI_MCA_hwloc", "OMPI_MCA_orte")
"""Begin the names of variables by which Open MPI's launcher maps and binds otherwise."""


def described(machine: Machine) -> str:
    """One line: what there is, what is seen when ranks are left where the launcher puts them, what to pass for more."""
    sockets, domains = len({cpu.socket for cpu in machine.cpus}), len(machine.numa_nodes)
    there = f"{sockets} socket{'s' if sockets > 1 else ''}, {domains} NUMA domain{'s' if domains > 1 else ''}"
    mpi = machine.mpi
    if mpi is None:
        return there
    if domains == 1:
        return f"{there}: a node is one domain to our collectives"
    if mpi.is_hydra:
        return (
            f"{there}; {mpi.name} by itself binds no ranks: some ranks are not bound within one, so that a node is one"
            " domain to our collectives; pass -bind-to numa (or core) for all"
        )
    if binding_is_set(machine):
        return f"{there}; the environment says how ranks are bound: UNISONO_VERBOSE=1 in a run tells how many are seen"
    return (
        f"{there}; {mpi.name} by itself binds ranks within one, unless there are more than cores: our collectives see"
        " all that have ranks"
    )


def binding_is_set(machine: Machine) -> bool:
    """Whether the user's environment changes where Open MPI's launcher puts ranks."""
    return any(name.startswith(_MAPPERS) for name in machine.environment)
