"""The conditions in a parameter's `needs`: does this machine meet one, and if not, why and what would change that."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from unisono.core.errors import UserError
from unisono.core.language import N_, _
from unisono.core.version import at_least
from unisono.machine.description import Machine
from unisono.parameters.defaults import default_pml, fast_ports, usable


@dataclass(frozen=True)
class Met:
    """`note` is what to know although the condition is met."""

    note: str = ""


@dataclass(frozen=True)
class Unmet:
    reason: str
    remedy: str


Result = Met | Unmet


def check(need: str, machine: Machine) -> Result:
    """One condition; UserError when the catalogue names one that does not exist."""
    word, _colon, argument = need.partition(":")
    if need in _PLAIN:
        return _PLAIN[need](machine)
    if word in _WITH_ARGUMENT and argument:
        return _WITH_ARGUMENT[word](argument, machine)
    if need.startswith("version>="):
        return _version(need.removeprefix("version>="), machine)
    raise UserError(_("the catalogue of parameters names an unknown condition {need!r}").format(need=need))


def _component(argument: str, machine: Machine) -> Result:
    framework, _slash, component = argument.partition("/")
    if component in _components(machine, framework):
        return Met()
    return Unmet(
        N_("{machine} has no {framework}/{component} component").format(
            machine=_mpi(machine), framework=framework, component=component
        ),
        N_("use an Open MPI built with {component}").format(component=component),
    )


def _framework(framework: str, machine: Machine) -> Result:
    if _components(machine, framework):
        return Met()
    return Unmet(
        N_("{machine} has no component of {framework}").format(machine=_mpi(machine), framework=framework),
        N_("use an Open MPI built with one of {framework}").format(framework=framework),
    )


def _pml(layer: str, machine: Machine) -> Result:
    if layer not in _components(machine, "pml"):
        return Unmet(
            N_("{machine} has no pml/{layer}").format(machine=_mpi(machine), layer=layer),
            N_("use an Open MPI built with {layer}").format(layer=layer),
        )
    chosen = default_pml(machine)
    if chosen == layer:
        return Met()
    if layer == "cm":
        return Unmet(N_("no network here that pml/cm serves (Omni-Path, EFA)"), N_("run on nodes with such a network"))
    sentence = (
        N_("it only acts together with pml={layer}; the default here is {chosen}")
        if chosen
        else N_("it only acts together with pml={layer}")
    )
    return Met(sentence.format(layer=layer, chosen=chosen))


def _binding(machine: Machine) -> Result:
    if machine.mpi is None or machine.mpi.launcher_binds:
        return Met()
    return Unmet(
        N_("{launcher} binds no ranks here: Slurm has no plugin for it").format(launcher=machine.mpi.launcher[0]),
        N_("start ranks by mpirun, or ask for TaskPlugin=task/affinity in slurm.conf"),
    )


def _ucx(machine: Machine) -> Result:
    if not machine.traits.MCA:
        return _ucx_of_mpich(machine)
    coll = _components(machine, "coll")
    if "ucx" in _components(machine, "pml"):
        return _pml("ucx", machine)
    if "hcoll" in coll or "ucc" in coll:
        return Met(N_("it only acts on HCOLL and UCC, because this MPI has no pml/ucx"))
    return Unmet(
        N_("{machine} was built without UCX").format(machine=_mpi(machine)), N_("use an Open MPI configured --with-ucx")
    )


def _ucx_of_mpich(machine: Machine) -> Result:
    if "ucx" not in _components(machine, "netmod"):
        return Unmet(
            N_("{machine} does not say that it was built with UCX").format(machine=_mpi(machine)),
            N_("use an MPICH configured --with-device=ch4:ucx"),
        )
    if len(machine.nodes) > 1:
        return Met()
    return Unmet(
        N_("within a node {machine} sends messages through its own shared memory, not through UCX").format(
            machine=_mpi(machine)
        ),
        N_("run inside a job with several nodes"),
    )


def _fabric(machine: Machine) -> Result:
    ports = fast_ports(machine)
    if ports:
        return Met()
    return Unmet(N_("no InfiniBand, RoCE or other RDMA port is up here"), N_("run on nodes with such a network"))


def _infiniband(machine: Machine) -> Result:
    if any(device.kind == "infiniband" and device.state == "up" for device in machine.devices):
        return Met()
    return Unmet(N_("no InfiniBand port is up here"), N_("run on nodes with InfiniBand"))


def _rails(machine: Machine) -> Result:
    ports = fast_ports(machine)
    if len(ports) > 1:
        return Met()
    if ports:
        return Unmet(
            N_("one network link ({ports}): nothing to spread over").format(ports=ports[0]),
            N_("run on nodes with several links"),
        )
    return Unmet(N_("no fast network, so no links to spread over"), N_("run on nodes with several links"))


def _several_nodes(machine: Machine) -> Result:
    if len(machine.nodes) > 1:
        return Met()
    return Unmet(
        N_("one node: this only concerns communication between nodes"), N_("run inside a job with several nodes")
    )


def _transport(transport: str, machine: Machine) -> Result:
    if machine.ucx is None or transport in machine.ucx.transports:
        return Met()
    return Unmet(
        N_("UCX has no transport {transport} here").format(transport=transport),
        N_("use a UCX built with {transport}").format(transport=transport),
    )


def _version(wanted: str, machine: Machine) -> Result:
    if machine.mpi is not None and at_least(machine.mpi.version, wanted):
        return Met()
    return Unmet(
        N_("{machine} is too old for it").format(machine=_mpi(machine)),
        N_("use {mpi} {wanted} or newer").format(mpi=machine.traits.NAME, wanted=wanted),
    )


def _components(machine: Machine, framework: str) -> list[str]:
    if framework == "coll":
        return usable(machine, "coll")
    # one that a file excludes is used again as soon as a setting names it
    return machine.mpi.components.get(framework, []) if machine.mpi else []


def _mpi(machine: Machine) -> str:
    return f"{machine.mpi.name} {machine.mpi.version}" if machine.mpi else N_("no MPI is described here, which")


_PLAIN: dict[str, Callable[[Machine], Result]] = {
    "binding": _binding,
    "ucx": _ucx,
    "fabric": _fabric,
    "infiniband": _infiniband,
    "rails": _rails,
    "nodes>1": _several_nodes,
}

_WITH_ARGUMENT: dict[str, Callable[[str, Machine], Result]] = {
    "component": _component,
    "framework": _framework,
    "pml": _pml,
    "transport": _transport,
}
