"""A setting added to a user's own command line: our words go right after the launcher, theirs stay and win."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

from unisono.cmdline.command import Command, launch_scope_words
from unisono.cmdline.job import Place, launcher_in
from unisono.cmdline.placement import Placement, place
from unisono.core.language import N_
from unisono.core.vocabulary import Setting
from unisono.machine.description import Machine, Node
from unisono.mpi.launchers.lines import Job, UnplaceableError, Wanted
from unisono.parameters.spelling import require_mpi, variables_of


def with_setting(
    argv: Sequence[str],
    setting: Setting,
    machine: Machine,
    extra_mca: Mapping[str, str] | None = None,
    env: Mapping[str, str] | None = None,
) -> Command:
    """`argv` (mpirun ... or srun ...) with the launch-scope part of a setting, and `extra_mca`, added.

    What the command line says itself is left out of ours, with a note each; what only the environment says (`env`,
    default os.environ) is replaced, with a note. srun gets the words through the environment. Raises UserError for
    command lines of other launchers and those that cannot be understood.
    """
    words = launch_scope_words(setting, machine)
    placing = _Placing(setting["placement"], machine) if "placement" in setting else None
    variables = variables_of(extra_mca or {})
    mca = {name: value for name, value in (extra_mca or {}).items() if name not in variables}
    wanted = Wanted({**mca, **words.mca}, {**variables, **words.env}, placing)
    here = Place(machine, os.environ if env is None else env)
    line = launcher_in(argv, machine).added(argv, wanted, here, require_mpi(machine))
    return Command(line.argv, line.env, placing.placement if placing is not None else None, line.notes)


class _Placing:
    """See mpi.launchers.lines.Placing; it keeps the placement that its words are for."""

    def __init__(self, policy: str, machine: Machine) -> None:
        self.policy = policy
        self.placement: Placement | None = None
        self._machine = machine

    def words(self, job: Job) -> list[str]:
        if not job.even:
            raise UnplaceableError(
                N_("{ranks} ranks do not fill {nodes} nodes evenly").format(ranks=job.ranks, nodes=job.nodes)
            )
        if job.ppn > len(self._machine.cpus):
            raise UnplaceableError(N_("there are more ranks than CPUs"))
        there = self._machine.model_copy(update={"nodes": [Node(host=host, slots=job.ppn) for host in job.hosts]})
        placement = place(there, job.nodes, job.ppn, self.policy)
        if placement.smt_siblings:
            raise UnplaceableError(N_("there are more ranks than cores"))
        self.placement = placement
        return placement.arguments(require_mpi(self._machine), job.hosts)
