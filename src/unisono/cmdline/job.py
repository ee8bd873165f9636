"""How many ranks a user's command line starts, and on how many nodes."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from unisono.cmdline.slots import cores, domains
from unisono.core.errors import UserError
from unisono.core.language import _
from unisono.inventory.hosts import slurm_slots
from unisono.machine.description import Machine, Node
from unisono.mpi.launchers import of_a_scheduler
from unisono.mpi.launchers.launcher import Launcher
from unisono.mpi.launchers.lines import Job
from unisono.parameters.spelling import require_mpi


@dataclass(frozen=True, slots=True)
class Place:
    """A machine as launchers find it (mpi.launchers.lines.Here)."""

    machine: Machine
    environment: Mapping[str, str]
    """It tells of the scheduler's job."""

    @property
    def nodes(self) -> list[tuple[str, int]]:
        return [(node.host, node.slots) for node in self.machine.nodes]

    @property
    def cores(self) -> int:
        return self.machine.cores

    @property
    def cpus(self) -> int:
        return len(self.machine.cpus)

    @property
    def host_files(self) -> tuple[str, ...]:
        return self.machine.traits.HOST_FILES if self.machine.mpi is not None else ()

    def domains(self, level: str) -> int:
        return len(domains(cores(self.machine), level))

    def slots_of_job(self) -> list[int]:
        return slurm_slots(self.environment)


def launcher_in(argv: Sequence[str], machine: Machine) -> Launcher:
    """Whose words a command line that begins with its launcher is written in. Raises UserError where there is none."""
    if not argv:
        raise UserError(_("no command: write the mpirun command line after --"))
    return of_a_scheduler(argv[0]) or require_mpi(machine).traits.LAUNCHER


def describe_job(argv: Sequence[str], machine: Machine, env: Mapping[str, str] | None = None) -> Job:
    """What `argv` (mpirun ... or srun ...) would start. `env` (default os.environ) tells of the scheduler's job.

    Raises UserError where the command line does not say.
    """
    return launcher_in(argv, machine).job(argv, Place(machine, os.environ if env is None else env))


def nodes_of(argv: Sequence[str], machine: Machine, env: Mapping[str, str] | None = None) -> list[Node]:
    """The nodes that `argv` names (--host, a host file), else those the machine has. A launcher that names none, srun,
    and a line that cannot be understood leave the machine's."""
    try:
        place = Place(machine, os.environ if env is None else env)
        found = launcher_in(argv, machine).named(argv, place)
    except UserError:
        return machine.nodes
    return [Node(host=host, slots=slots) for host, slots in found] or machine.nodes
