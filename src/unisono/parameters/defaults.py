"""What the MPI does by itself: which point-to-point layer, which collective component, which value."""

from __future__ import annotations

from collections.abc import Mapping

from unisono.machine.devices import FAST
from unisono.machine.model import Machine
from unisono.machine.version import at_least
from unisono.parameters import catalogue


def has_fast_network(machine: Machine) -> bool:
    """Whether there is an InfiniBand, RoCE or other RDMA port that is up."""
    return bool(fast_ports(machine))


def fast_ports(machine: Machine) -> list[str]:
    return [device.name for device in machine.devices if device.kind in FAST and device.state == "up"]


def default_pml(machine: Machine) -> str | None:
    """The point-to-point layer Open MPI chooses here; None when that cannot be said without a launch.

    Open MPI 4.1 and 5.0 put pml/ucx above ob1 only where UCX finds one of its fast transports on a device named mlx*
    (parameter opal_common_ucx_devices); Omni-Path and EFA go through cm. Tried on 4.1.4 and 5.0.11 without a network.
    """
    mpi = machine.mpi
    if mpi is None:
        return None
    chosen = machine.environment.get("OMPI_MCA_pml")
    if chosen is not None:
        return chosen if chosen.isalnum() else None
    if any(name.startswith(("OMPI_MCA_opal_common_ucx", "OMPI_MCA_pml_")) for name in machine.environment):
        return None
    present = mpi.components.get("pml", [])
    kinds = {device.kind for device in machine.devices if device.state == "up"}
    if "ucx" in present and any(name.startswith("mlx") for name in fast_ports(machine)):
        return "ucx"
    matching = mpi.components.get("mtl", [])
    if ("omnipath" in kinds and {"psm2", "ofi"} & set(matching)) or ("efa" in kinds and "ofi" in matching):
        return "cm"
    return "ob1" if "ob1" in present else None


def default_component(machine: Machine, nodes: int, ppn: int, setting: Mapping[str, str]) -> str | None:
    """The component that serves most collectives of a launch when none is preferred; None when it cannot be said.

    Priorities: HCOLL 90, HAN 35 (5.0 and newer, only several nodes of several ranks), coll/tuned 30; UCC stands on
    top once it is switched on (see spelling).
    """
    mpi = machine.mpi
    if mpi is None or _priorities_changed(machine, setting):
        return None
    present = mpi.components.get("coll", [])
    if "ucc" in present and value_of("coll_ucc_enable", machine, setting) == "1":
        return "ucc"
    if "ucc" in present and at_least(mpi.version, "6.0.0"):
        return None
    if "hcoll" in present and value_of("coll_hcoll_enable", machine, setting) != "0":
        return "hcoll"
    if "han" in present and at_least(mpi.version, "5.0.0") and nodes > 1 and ppn > 1:
        return "han"
    return "tuned" if "tuned" in present else None


def _priorities_changed(machine: Machine, setting: Mapping[str, str]) -> bool:
    names = [*setting, *(name.removeprefix("OMPI_MCA_") for name in machine.environment)]
    return any(name.startswith("coll_") and name.endswith("_priority") for name in names) or (
        "OMPI_MCA_coll" in machine.environment
    )


def value_of(name: str, machine: Machine, setting: Mapping[str, str]) -> str | None:
    """The value a parameter has under a setting: set by it, else by the user's environment, else its default."""
    return setting[name] if name in setting else default_value(name, machine)


def default_value(name: str, machine: Machine) -> str | None:
    """What not setting a parameter amounts to here; None when not known or not one value."""
    for variable in (name, f"OMPI_MCA_{name}", f"MPI_{name}"):
        if variable in machine.environment:
            return machine.environment[variable]
    if name == "pml":
        return default_pml(machine)
    if machine.mpi is None:
        return None
    parameter = catalogue.load(machine.mpi.family).get(name)
    return parameter.default if parameter else None
