"""The command line of one launch."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from unisono.cmdline.base import base_words
from unisono.cmdline.placement import Placement, place
from unisono.core.vocabulary import Setting
from unisono.machine.description import Machine
from unisono.mpi.family import Family
from unisono.mpi.launchers import step
from unisono.mpi.launchers.lines import environment_of, overridden
from unisono.parameters.spelling import LaunchWords, component_words, launch_words, require_mpi, variables_of


@dataclass(frozen=True, slots=True)
class Command:
    argv: list[str]
    env: dict[str, str]
    """To be added to the environment."""
    placement: Placement | None
    """None: by the user's own words."""
    notes: list[str]
    """What was added or kept, with its reason; one sentence each."""

    @property
    def shell(self) -> str:
        """One line a person can paste."""
        return " ".join([*(f"{name}={shlex.quote(value)}" for name, value in self.env.items()), shlex.join(self.argv)])


def command(
    machine: Machine,
    setting: Setting,
    nodes: int,
    ppn: int,
    program: Sequence[str],
    *,
    oversubscribe: bool = False,
    extra_mca: Mapping[str, str] | None = None,
) -> Command:
    """mpirun, or srun where the machine says so, with the launch-scope part of a setting for `nodes` x `ppn` ranks of
    `program`.

    `extra_mca` goes with it whatever the setting: MCA parameters, or variables of the environment; the setting's own
    words win over it. Raises UserError as `place` and parameters.spelling.launch_words do.
    """
    mpi = require_mpi(machine)
    placement = place(machine, nodes, ppn, setting.get("placement"), oversubscribe=oversubscribe)
    words = launch_scope_words(setting, machine)
    variables = variables_of(extra_mca or {})
    mca = {name: value for name, value in {**(extra_mca or {}), **words.mca}.items() if name not in variables}
    base = base_words(machine, placement, mca)
    hosts = [node.host for node in machine.nodes[:nodes]]
    notes = [*base.notes, *overridden(machine.environment, words.mca, words.env)]
    if mpi.launcher:
        env = environment_of({**base.mca, **mca}, {**variables, **words.env})
        return Command([*mpi.launcher, *step.options(placement, hosts), *program], env, placement, notes)
    launcher = mpi.traits.LAUNCHER
    argv = [
        mpi.mpirun,
        *base.options,
        *launcher.ranks(nodes * ppn),
        *_hosts(machine, placement, mpi.traits),
        *placement.arguments(mpi, hosts),
        *launcher.parameters({**base.mca, **mca}),
        *launcher.exports({**variables, **words.env}),
    ]
    return Command([*argv, *program], {}, placement, notes)


def launch_scope_words(setting: Setting, machine: Machine) -> LaunchWords:
    """All a setting says about a whole launch, placement excluded. A `coll` in it is meant for the launch, also where
    this MPI could switch it inside one."""
    words = launch_words(setting, machine)
    mpi = require_mpi(machine)
    if "coll" in setting and "coll" in mpi.call_scope and mpi.traits.MCA:
        words.mca.update(component_words(setting["coll"], mpi))
    return words


def _hosts(machine: Machine, placement: Placement, mpi: Family) -> list[str]:
    """Left out where the launcher starts on this machine anyway."""
    hosts = [node.host for node in machine.nodes[: placement.nodes]]
    if len(machine.nodes) == 1 and hosts[0] in ("localhost", machine.name):
        if not (mpi.SLOT_A_CORE and placement.smt_siblings and placement.policy is not None):
            return []
        hosts = ["localhost"]
    return mpi.hosts(hosts, placement.ppn)
