"""`unisono doctor`: one page on what is here and what can be varied, for people and as JSON."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from unisono.core.language import _, joined, ngettext, translated
from unisono.core.sizes import format_size
from unisono.machine import coordinates, domains
from unisono.machine.description import Machine
from unisono.machine.files import format_cpu_list
from unisono.machine.limits import quota_sentence
from unisono.machine.picture import topology_text

if TYPE_CHECKING:
    from rich.console import Console

_TABLE_WIDTH = 110
"""In a narrower terminal a table would leave less than half of it to what there is to say of a parameter, on hundreds
of lines."""


def machine_rows(machine: Machine) -> list[tuple[str, str]]:
    """(label, value) of the machine itself, in reading order."""
    mask = f", CPUs {format_cpu_list(cpu.cpu for cpu in machine.cpus)}"
    sockets = ngettext("{count} socket", "{count} sockets", machine.sockets).format(count=machine.sockets)
    numa = ngettext("{count} NUMA node per socket", "{count} NUMA nodes per socket", machine.numa_per_socket).format(
        count=machine.numa_per_socket
    )
    cores = ngettext("{count} core", "{count} cores", machine.cores).format(count=machine.cores)
    smt = _("{smt} threads a core").format(smt=machine.smt) if machine.smt > 1 else _("1 thread a core")
    rows = [
        (_("Machine"), machine.name + ("" if machine.source == "measured" else _(" (described, not measured)"))),
        ("CPU", machine.cpu_model),
        (
            _("Topology"),
            f"{sockets}, {numa} (NPS {machine.numa_per_socket}), {cores}, {smt}{mask}",
        ),
        (_("Caches"), "; ".join(_cache(c.level, c.bytes, c.shared_by) for c in machine.caches) or _("not exposed")),
        (_("Governor"), governor(machine)),
        (
            _("Memory"),
            _("{memory_bytes}, {memory_available_bytes} available").format(
                memory_bytes=_gib(machine.memory_bytes), memory_available_bytes=_gib(machine.memory_available_bytes)
            ),
        ),
        *([(_("CPU quota"), quota)] if (quota := quota_sentence(machine)) else []),
        (
            _("System"),
            ", ".join(part for part in (machine.os, f"Linux {machine.kernel}" if machine.kernel else "") if part),
        ),
        (_("Virtual"), translated(machine.virtual or "") or _("no")),
    ]
    if len(machine.nodes) > 1:
        rows.append((_("Nodes"), f"{len(machine.nodes)}: " + ", ".join(f"{n.host} ({n.slots})" for n in machine.nodes)))
    if machine.source != "measured":
        rows.append((_("Source"), machine.source))
    return rows


def software_rows(machine: Machine, environment: Mapping[str, str] = os.environ) -> list[tuple[str, str]]:
    """(label, value) of MPI, UCX, network, scheduler and the user's environment."""
    rows = _mpi_rows(machine) + _ucx_rows(machine)
    rows.append(
        (_("Network"), "; ".join(_device(machine, i) for i in range(len(machine.devices))) or _("no device found"))
    )
    scheduler = machine.scheduler
    version = f" {scheduler.version}" if scheduler.version else ""
    rows.append(
        (
            _("Scheduler"),
            f"{scheduler.name}{version}: {translated(scheduler.detail)}" if scheduler.detail else scheduler.name,
        )
    )
    settings = ", ".join(f"{name}={value}" for name, value in machine.environment.items())
    in_files = {**(machine.mpi.settings if machine.mpi else {}), **(machine.ucx.settings if machine.ucx else {})}
    if in_files:
        rows.append((_("Parameter files"), ", ".join(f"{name}={value}" for name, value in in_files.items())))
    rows.append(
        (
            _("Environment"),
            _("{settings} (kept, part of the fingerprint)").format(settings=settings)
            if settings
            else _("no MPI or UCX setting"),
        )
    )
    if machine.root_user and machine.traits.AS_ROOT:
        rows.append((_("User"), _root(machine, environment)))
    return rows


def _root(machine: Machine, environment: Mapping[str, str]) -> str:
    """What lets root start ranks, in our own launches and in the user's lines."""
    variables = machine.traits.AS_ROOT_VARIABLES
    if all(environment.get(name) == "1" for name in variables):
        return _("root: allowed by {variables}").format(variables=joined(variables))
    return _(
        "root: Unisono tells mpirun to allow this in the launches that it measures. Your own command lines "
        "(unisono run, profile, verify ...) need {options} in them, or {variables} in the environment"
    ).format(options=" ".join(machine.traits.AS_ROOT), variables=" ".join(f"{name}=1" for name in variables))


def collective_rows(machine: Machine, environment: Mapping[str, str] = os.environ) -> list[tuple[str, str]]:
    """(label, value) of what our own collectives would see of the machine, in the words of UNISONO_VERBOSE."""
    hosts = [node.host for node in machine.nodes]
    return [
        (_("Domains"), domains.described(machine)),
        (_("Coordinates"), coordinates.described(environment, hosts, machine.mpi)),
    ]


def _rows(machine: Machine) -> list[tuple[str, str]]:
    return [*machine_rows(machine), *software_rows(machine), *collective_rows(machine)]


def _mpi_rows(machine: Machine) -> list[tuple[str, str]]:
    mpi = machine.mpi
    if mpi is None:
        return [("MPI", _("none described"))]
    return [
        ("MPI", f"{mpi.name} {mpi.version}, {mpi.mpirun}"),
        (_("Compiler"), mpi.mpicc or _("no mpicc beside mpirun: the benchmark cannot be built; name one with --mpicc")),
        *mpi.traits.rows(mpi),
    ]


def _ucx_rows(machine: Machine) -> list[tuple[str, str]]:
    ucx = machine.ucx
    if machine.mpi is not None and "ucx" in machine.mpi.components.get("netmod", []):
        return [("UCX", _("built into {mpi}: carries messages between nodes").format(mpi=machine.mpi.name))]
    if ucx is None:
        return [("UCX", _("this MPI has none, or it does not answer"))]
    transports = "; ".join(
        _("{name} on {devices}").format(name=name, devices=", ".join(devices))
        for name, devices in ucx.transports.items()
    )
    return [("UCX", f"{ucx.version}, {ucx.library}"), (_("Transports"), transports or _("not listed"))]


def governor(machine: Machine) -> str:
    if machine.governor:
        slow = (
            ""
            if machine.governor == "performance"
            else _(" (cores that slow down make timings noisy; prefer performance)")
        )
        return machine.governor + slow
    return _("not exposed (virtual machine)") if machine.virtual else _("not exposed")


def _cache(level: str, size: int, shared_by: int) -> str:
    sharing = _("each core") if shared_by == 1 else _("every {shared_by} cores").format(shared_by=shared_by)
    return f"{level} {format_size(size)} {sharing}"


def _gib(size: int) -> str:
    return f"{size / (1 << 30):,.1f} GiB"


def _device(machine: Machine, index: int) -> str:
    device = machine.devices[index]
    speed = f", {device.gbps:g} Gb/s" if device.gbps else ""
    numa = f", NUMA {device.numa}" if device.numa is not None else ""
    return f"{device.name} ({device.kind}{speed}{numa}, {device.state})"


def parameter_rows(machine: Machine) -> list[tuple[str, str, bool, str]]:
    """(name, scope, available, what to know or why not and what would make it available), in catalogue order."""
    from unisono.parameters import catalogue
    from unisono.parameters.availability import availability

    rows: list[tuple[str, str, bool, str]] = []
    for name, parameter in catalogue.load(machine.family).items():
        here = availability(name, machine)
        if here.available:
            text = translated(parameter.meaning)
            if here.reason:
                text += _(" Here: {reason}.").format(reason=translated(here.reason))
        else:
            text = _("{reason}.").format(reason=_as_sentence(here.reason))
            if here.remedy:
                text += _(" To make it available: {remedy}.").format(remedy=translated(here.remedy))
        rows.append((name, parameter.scope, here.available, text))
    return rows


def _as_sentence(text: str) -> str:
    """Beginning with a capital letter, where it stays English."""
    said = translated(text)
    return said if said != text else text[:1].upper() + text[1:]


def print_doctor(machine: Machine, console: Console) -> None:
    """The page in colour, as wide as the console."""
    from rich.table import Table
    from rich.text import Text

    facts = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    facts.add_column(style="bold", no_wrap=True)
    facts.add_column(overflow="fold")
    for label, value in _rows(machine):
        facts.add_row(label, Text(value))
    console.print(facts)
    console.print()
    console.print(Text(topology_text(machine)), no_wrap=True, overflow="ignore", crop=False)
    console.print()
    _print_parameters(parameter_rows(machine), console)


def _print_parameters(rows: list[tuple[str, str, bool, str]], console: Console) -> None:
    """A table; where it would leave its sentences too narrow a column, each parameter with its sentence below it."""
    from rich.padding import Padding
    from rich.table import Table
    from rich.text import Text

    def here(available: bool) -> Text:
        return Text(_("yes"), style="green") if available else Text(_("no"), style="yellow")

    if console.width < _TABLE_WIDTH:
        console.print(Text(_("Parameters, their scope, and whether they can be varied here"), style="bold"))
        for name, scope, available, text in rows:
            console.print(Text.assemble((name, "bold"), f"  {scope}  ", here(available)))
            console.print(Padding(Text(text), (0, 0, 0, 4)))
        return
    table = Table(title=_("Parameters"), title_justify="left", header_style="bold")
    table.add_column(_("parameter"), no_wrap=True)
    table.add_column(_("scope"), no_wrap=True)
    table.add_column(_("here"), no_wrap=True)
    table.add_column(_("what it does, or why it cannot be tuned here and what would help"), overflow="fold")
    for name, scope, available, text in rows:
        table.add_row(name, scope, here(available), Text(text))
    console.print(table)


def doctor_json(machine: Machine) -> dict[str, Any]:
    """The machine (readable by inventory.describe.load, also as --machine FILE) and each parameter's availability."""
    from unisono.machine.fingerprint import fingerprint
    from unisono.parameters import catalogue
    from unisono.parameters.availability import availability, available_values

    parameters = {}
    for name, parameter in catalogue.load(machine.family).items():
        here = availability(name, machine)
        parameters[name] = {
            "scope": parameter.scope,
            "kind": parameter.kind,
            "meaning": parameter.meaning,
            "source": parameter.source,
            "available": here.available,
            "reason": here.reason,
            "remedy": here.remedy,
            "values": available_values(name, machine, None),
        }
    return {
        "machine": machine.model_dump(mode="json"),
        "fingerprint": fingerprint(machine),
        "collectives": {label.lower(): value for label, value in collective_rows(machine)},
        "parameters": parameters,
    }
