"""Limits on the CPUs this process may use that the launcher of an MPI does not heed, said so that people can act."""

from __future__ import annotations

from collections.abc import Iterable

from unisono.core.language import _
from unisono.machine.description import Machine
from unisono.machine.files import format_cpu_list


def over_quota(machine: Machine, ppn: int) -> bool:
    """Whether that many ranks of a node together may not run all the time, although each has a CPU of its own."""
    return machine.cpu_quota is not None and ppn > machine.cpu_quota


def quota_sentence(machine: Machine) -> str | None:
    """What a CPU quota below the number of CPUs means; None when there is no such quota."""
    if machine.cpu_quota is None or machine.cpu_quota >= len(machine.cpus):
        return None
    whole = int(machine.cpu_quota)
    advice = _("study at most {whole} (--ppn {whole})").format(whole=whole) if whole >= 2 else _("ask for more")
    return _(
        "a container or batch system allows the time of {cpu_quota:g} CPUs on {count} CPUs; it stops ranks "
        "beyond that again and again, which distorts timings; {advice}"
    ).format(cpu_quota=machine.cpu_quota, count=len(machine.cpus), advice=advice)


def outside_sentence(machine: Machine, used: Iterable[int]) -> str | None:
    """What to do when ranks use CPUs that are not among ours; None when they do not.

    mpirun of Open MPI 4.1 and 5.0 binds ranks over the whole node whatever the affinity mask it was started with.
    """
    ours = [cpu.cpu for cpu in machine.cpus]
    outside = set(used) - set(ours)
    if not outside or machine.mpi is None:
        return None
    words = {"outside": format_cpu_list(outside), "listed": format_cpu_list(ours)}
    variable = machine.mpi.traits.cpu_list(machine.mpi.version)
    if variable is None:
        return _(
            "this process may only use CPUs {listed} (taskset, numactl), but the launcher ignores that and also "
            "uses CPU {outside}; start without such a limit"
        ).format(**words)
    return _(
        "this process may only use CPUs {listed} (taskset, numactl), but mpirun ignores that and also uses CPU "
        "{outside}; start without such a limit, or also set {variable}={listed}"
    ).format(**words, variable=variable)
