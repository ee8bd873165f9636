"""What the MPI does by itself: which point-to-point layer, which collective component, which value."""

from __future__ import annotations

from collections.abc import Mapping

from unisono.core.version import at_least
from unisono.machine.description import Machine
from unisono.machine.devices import FAST
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
    if machine.mpi is None or any(name.startswith(("opal_common_ucx", "pml_")) for name in _mca_set(machine)):
        return None
    present = usable(machine, "pml")
    matching = usable(machine, "mtl")
    kinds = {device.kind for device in machine.devices if device.state == "up"}
    if "ucx" in present and any(name.startswith("mlx") for name in fast_ports(machine)):
        return "ucx"
    fits = ("omnipath" in kinds and {"psm2", "ofi"} & set(matching)) or ("efa" in kinds and "ofi" in matching)
    if "cm" in present and fits:
        return "cm"
    layers = [name for name in present if name in ("ob1", "ucx", "cm")]
    return "ob1" if "ob1" in layers else layers[0] if len(layers) == 1 else None


def usable(machine: Machine, framework: str) -> list[str]:
    """The components of a framework that neither a file nor the user's environment excludes."""
    if machine.mpi is None:
        return []
    return _selected(machine.mpi.components.get(framework, []), _mca_set(machine).get(framework, ""))


def _mca_set(machine: Machine) -> dict[str, str]:
    """MCA parameters set outside any setting of ours; the environment wins over files."""
    in_files = machine.mpi.settings if machine.mpi else {}
    prefix = "OMPI_MCA_"
    ours = {k.removeprefix(prefix): v for k, v in machine.environment.items() if k.startswith(prefix)}
    return {**in_files, **ours}


def _selected(components: list[str], selection: str) -> list[str]:
    """What a selection such as "ucx", "ucx,ob1" or "^ucx,ofi" leaves of some components."""
    names = selection.removeprefix("^").split(",")
    if not selection:
        return components
    return [name for name in components if (name in names) != selection.startswith("^")]


def default_component(machine: Machine, nodes: int, ppn: int, setting: Mapping[str, str]) -> str | None:
    """The component that serves most collectives of a launch when none is preferred; None when it cannot be said.

    Priorities: HCOLL 90, HAN 35 (5.0 and newer, only several nodes of several ranks), coll/tuned 30; UCC stands on
    top once it is switched on (see spelling).
    """
    mpi = machine.mpi
    if mpi is None or _priorities_changed(machine, setting):
        return None
    present = usable(machine, "coll")
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
    names = [*setting, *_mca_set(machine)]
    return any(name.startswith("coll_") and name.endswith("_priority") for name in names)


def value_of(name: str, machine: Machine, setting: Mapping[str, str]) -> str | None:
    """The value a parameter has under a setting: set by it, else by the user's environment, else its default."""
    return setting[name] if name in setting else default_value(name, machine)


def default_value(name: str, machine: Machine) -> str | None:
    """What not setting a parameter amounts to here; None when not known or not one value."""
    if name == "pml":
        return default_pml(machine)
    for variable in (name, f"OMPI_MCA_{name}", f"MPI_{name}"):
        if variable in machine.environment:
            return machine.environment[variable]
    if machine.mpi is None:
        return None
    in_files = {**machine.mpi.settings, **(machine.ucx.settings if machine.ucx else {})}
    if name in in_files:
        return in_files[name]
    parameter = catalogue.load(machine.mpi.family).get(name)
    return parameter.default if parameter else None
