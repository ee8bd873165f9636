"""The command line of one launch."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from unisono.language import N_
from unisono.launch.base import base_words
from unisono.launch.placement import Placement, place
from unisono.machine.model import Machine
from unisono.model import Setting
from unisono.mpi import family, openmpi
from unisono.parameters.spelling import LaunchWords, component_words, launch_words, require_mpi


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
    """mpirun with the launch-scope part of a setting for `nodes` x `ppn` ranks of `program`.

    `extra_mca` goes with it whatever the setting; the setting's own words win over it. Raises UserError as `place`
    and parameters.spelling.launch_words do.
    """
    mpi = require_mpi(machine)
    placement = place(machine, nodes, ppn, setting.get("placement"), oversubscribe=oversubscribe)
    words = launch_scope_words(setting, machine)
    mca = {**(extra_mca or {}), **words.mca}
    base = base_words(machine, placement, mca)
    if mpi.is_hydra:
        return _hydra(machine, placement, words.env, program)
    argv = [
        mpi.mpirun,
        *base.options,
        *("-n", str(nodes * ppn)),
        *_hosts(machine, placement),
        *placement.arguments(mpi, [node.host for node in machine.nodes[:nodes]]),
    ]
    for name, value in {**base.mca, **mca}.items():
        argv += ["--mca", name, value]
    for name, value in words.env.items():
        argv += ["-x", f"{name}={value}"]
    return Command(
        [*argv, *program], {}, placement, [*base.notes, *overridden(machine.environment, words.mca, words.env)]
    )


def _hydra(machine: Machine, placement: Placement, env: Mapping[str, str], program: Sequence[str]) -> Command:
    """The same for the launcher of MPICH and Intel MPI."""
    mpi = require_mpi(machine)
    hosts = [node.host for node in machine.nodes[: placement.nodes]]
    elsewhere = len(machine.nodes) > 1 or hosts[0] not in ("localhost", machine.name)
    argv = [mpi.mpirun, "-n", str(placement.nodes * placement.ppn)]
    argv += family(mpi.family).hosts(hosts, placement.ppn) if elsewhere else []
    argv += placement.arguments(mpi, hosts)
    argv += [word for name, value in env.items() for word in ("-genv", name, value)]
    return Command([*argv, *program], {}, placement, overridden(machine.environment, {}, env))


def launch_scope_words(setting: Setting, machine: Machine) -> LaunchWords:
    """All a setting says about a whole launch, placement excluded. A `coll` in it is meant for the launch, also where
    this MPI could switch it inside one."""
    words = launch_words(setting, machine)
    mpi = require_mpi(machine)
    if "coll" in setting and "coll" in mpi.call_scope:
        words.mca.update(component_words(setting["coll"], mpi))
    return words


def overridden(environment: Mapping[str, str], mca: Mapping[str, str], env: Mapping[str, str]) -> list[str]:
    """Notes on what the user's environment says otherwise and the setting replaces for this launch."""
    names = {**{f"OMPI_MCA_{name}": value for name, value in mca.items()}, **env}
    return [
        N_("{name}={environment} of your environment is replaced by the setting's {value} in this launch").format(
            name=name, environment=environment[name], value=value
        )
        for name, value in names.items()
        if environment.get(name, value) != value
    ]


def _hosts(machine: Machine, placement: Placement) -> list[str]:
    """--host, left out where mpirun starts on this machine anyway.

    Open MPI gives a machine a slot a core unless told otherwise, so hosts are also named when SMT siblings are used.
    """
    hosts = [node.host for node in machine.nodes[: placement.nodes]]
    if len(machine.nodes) == 1 and hosts[0] in ("localhost", machine.name):
        if not placement.smt_siblings or placement.policy is None:
            return []
        hosts = ["localhost"]
    return openmpi.hosts(hosts, placement.ppn)
