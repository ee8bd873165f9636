"""Which parameters can be varied on a machine, which values they can take there, and what stands in the way."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from unisono.core.language import _
from unisono.core.version import at_least
from unisono.machine.description import Machine
from unisono.parameters import catalogue, conditions
from unisono.parameters.conditions import Unmet
from unisono.parameters.defaults import default_component, default_pml, fast_ports, usable
from unisono.parameters.known import require_known
from unisono.parameters.parameter import Parameter


@dataclass(frozen=True)
class Availability:
    available: bool
    reason: str
    """Why not; or, where it is available, what to know about it (the default here, the values there are)."""
    remedy: str
    """What would make it available; empty where it is."""


def availability(name: str, machine: Machine) -> Availability:
    """Whether a study can vary this parameter here. UserError for a name nobody knows."""
    listed = catalogue.load(machine.family).get(name)
    parameter = listed or require_known(name, machine)
    if parameter.scope == "boot":
        reason = _("a boot setting, recorded and never set: {name}").format(name=_boot_value(name, machine))
        return Availability(False, reason, _("measure on bare metal") if machine.virtual else parameter.remedy)
    notes = []
    for need in parameter.needs:
        result = conditions.check(need, machine)
        if isinstance(result, Unmet):
            return Availability(False, result.reason, parameter.remedy or result.remedy)
        if result.note:
            notes.append(result.note)
    values = available_values(name, machine, None)
    choices = len(set(values) - {parameter.default}) + (parameter.default is not None)
    if name == "coll" and machine.mpi is not None and not machine.traits.MCA:
        return Availability(True, _("our own (unisono); {name} has no components").format(name=machine.mpi.name), "")
    if parameter.kind in ("mca", "component") and choices < 2:
        only = _("only {values} is here").format(values=values[0]) if values else _("nothing to choose from here")
        return Availability(
            False,
            _("{only}, so there is nothing to compare").format(only=only),
            _("use an Open MPI built with more of them"),
        )
    return Availability(True, "; ".join([*notes, *_notes(parameter, values, machine)]), "")


def _notes(parameter: Parameter, values: Sequence[str], machine: Machine) -> list[str]:
    if parameter.name == "pml":
        chosen = default_pml(machine)
        return [", ".join(values) + (_("; the default here is {chosen}").format(chosen=chosen) if chosen else "")]
    if parameter.name == "coll":
        chosen = default_component(machine, 1, 2, {})
        return [
            ", ".join(values) + (_("; the default on one node is {chosen}").format(chosen=chosen) if chosen else "")
        ]
    if parameter.name == "algorithm" and machine.mpi is not None and machine.mpi.algorithms:
        count = sum(len(algorithms) for algorithms in machine.mpi.algorithms.values())
        return [
            _("{count} algorithms for {count2} collectives").format(count=count, count2=len(machine.mpi.algorithms))
        ]
    if parameter.name == "placement" and len(machine.numa_nodes) == 1:
        return [_("one NUMA node, so block and cyclic are the same")]
    return []


def _boot_value(name: str, machine: Machine) -> str:
    if name == "NPS":
        return (
            _("{numa_per_socket} NUMA nodes per socket").format(numa_per_socket=machine.numa_per_socket)
            if machine.numa_per_socket > 1
            else _("1 NUMA node per socket")
        )
    if name == "SMT":
        return (
            _("off or absent, 1 thread a core")
            if machine.smt == 1
            else _("on, {smt} threads a core").format(smt=machine.smt)
        )
    if machine.governor:
        return machine.governor
    return _("not exposed") + (f" ({machine.virtual})" if machine.virtual else "")


def available_values(name: str, machine: Machine, collective: str | None) -> list[str]:
    """What "all" means in a study: every value that can have an effect here, for one collective where it depends on it.

    Empty where the parameter is not available.
    """
    parameter = catalogue.load(machine.family).get(name) or require_known(name, machine)
    if parameter.scope == "boot":
        return []
    if any(isinstance(conditions.check(need, machine), Unmet) for need in parameter.needs):
        return []
    special = {
        "pml": _pmls,
        "btl": _btls,
        "mtl": lambda machine: _present(machine, "mtl"),
        "smsc": _single_copies,
        "UCX_TLS": _transports,
        "UCX_NET_DEVICES": fast_ports,
        "placement": _placements,
    }
    if name == "coll":
        return coll_candidates(machine, collective)
    if name == "algorithm":
        return _algorithms(machine, collective)
    return special[name](machine) if name in special else list(parameter.values)


def coll_candidates(machine: Machine, collective: str | None) -> list[str]:
    """Components present that can be preferred and, for a collective, implement it."""
    several = len(machine.nodes) > 1
    return [
        name
        for name, component in catalogue.components(machine.family).items()
        if name in _present(machine, "coll")
        and (collective is None or collective in component.serves)
        and (several or component.nodes != "several")
    ]


def _algorithms(machine: Machine, collective: str | None) -> list[str]:
    known = machine.mpi.algorithms if machine.mpi else {}
    if collective is not None:
        return list(known.get(collective, {}))
    return sorted({name for algorithms in known.values() for name in algorithms})


def _pmls(machine: Machine) -> list[str]:
    present = _present(machine, "pml")
    # cm aborts in MPI_Init where no matching network answers
    return [name for name in ("ob1", "ucx") if name in present] + (["cm"] if default_pml(machine) == "cm" else [])


def _btls(machine: Machine) -> list[str]:
    present = {"sm" if name == "vader" else name for name in _present(machine, "btl")}
    values = catalogue.load(machine.family)["btl"].values
    return [value for value in values if set(value.split(",")) <= present]


def _single_copies(machine: Machine) -> list[str]:
    if machine.mpi is not None and not at_least(machine.mpi.version, "5.0.0"):
        return ["cma", "none"]  # whether xpmem or knem were built in is not among the components before 5.0
    return [*(name for name in ("cma", "xpmem", "knem") if name in _present(machine, "smsc")), "none"]


def _transports(machine: Machine) -> list[str]:
    """Combinations worth comparing: all but one kind of connection, where several could carry the traffic."""
    found = machine.ucx.transports if machine.ucx else {}
    wanted = [
        ("self,sm,rc", ("rc_mlx5", "rc_verbs")),
        ("self,sm,ud", ("ud_mlx5", "ud_verbs")),
        ("self,sm,dc", ("dc_mlx5",)),
    ]
    values = [words for words, names in wanted if any(name in found for name in names)]
    return values + (["^cma"] if "cma" in found else [])


def _placements(machine: Machine) -> list[str]:
    values = ["block"]
    if len(machine.numa_nodes) > 1:
        values.append("cyclic")
    if machine.sockets > 1 and machine.numa_per_socket > 1:
        values.append("cyclic:socket")
    caches = len({cpu.l3 for cpu in machine.cpus})
    if caches > len(machine.numa_nodes) and caches < machine.cores:
        values.append("cyclic:l3")
    return values + (["cyclic:node"] if len(machine.nodes) > 1 else [])


def _present(machine: Machine, framework: str) -> list[str]:
    if framework == "coll":
        return usable(machine, "coll")
    return machine.mpi.components.get(framework, []) if machine.mpi else []
