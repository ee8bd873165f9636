"""What identifies a machine: measurements of two machines that differ in any of this must not be mixed."""

from __future__ import annotations

from collections.abc import Mapping

from unisono.core.language import N_
from unisono.machine.description import Machine, Mpi, Ucx, mpi_name


def fingerprint(machine: Machine) -> dict[str, str]:
    """Label -> value, in reading order. What is not known has no entry, so it is never a difference."""
    if not machine.is_described:
        return {"MPI": f"{machine.mpi.family} {machine.mpi.version}"} if machine.mpi else {}
    known = {
        "CPU": machine.cpu_model,
        N_("architecture"): machine.architecture,
        N_("sockets"): str(machine.sockets),
        N_("NUMA nodes per socket"): str(machine.numa_per_socket),
        N_("cores"): str(machine.cores),
        "SMT": str(machine.smt),
        N_("governor"): machine.governor,
        N_("kernel"): machine.kernel,
        "MPI": f"{machine.mpi.family} {machine.mpi.version}" if machine.mpi else None,
        N_("collective components"): ", ".join(machine.mpi.components.get("coll", [])) if machine.mpi else None,
        "UCX": machine.ucx.version if machine.ucx else None,
        N_("environment"): _settings(machine.environment),
        N_("settings in files"): _settings({**_of(machine.mpi), **_of(machine.ucx)}) if machine.mpi else None,
    }
    return {label: value for label, value in known.items() if value}


def _of(part: Mpi | Ucx | None) -> dict[str, str]:
    return part.settings if part else {}


def _settings(values: Mapping[str, str]) -> str:
    return ", ".join(f"{name}={value}" for name, value in sorted(values.items())) or "none"


def shown(label: str, value: str) -> str:
    """A value of a fingerprint for people: the MPI "openmpi 5.0.11" is Open MPI 5.0.11."""
    family, _, version = value.partition(" ")
    return f"{mpi_name(family)} {version}".strip() if label == "MPI" else value


def differences(a: Machine | Mapping[str, str], b: Machine | Mapping[str, str]) -> list[str]:
    """One sentence for each thing that both know and that is not the same; empty: measurements may be mixed."""
    first = fingerprint(a) if isinstance(a, Machine) else a
    second = fingerprint(b) if isinstance(b, Machine) else b
    return [
        N_("{label}: {first} there, {second} here").format(
            label=label, first=shown(label, first[label]), second=shown(label, second[label])
        )
        for label in first
        if label in second and first[label] != second[label]
    ]
