"""A setting added to a user's own command line: our words go right after the launcher, theirs stay and win."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

from unisono.language import N_
from unisono.launch.command import Command, launch_scope_words, overridden
from unisono.launch.job import Job, job_of
from unisono.launch.placement import Placement, place
from unisono.launch.userline import UserLine, parse
from unisono.machine.model import Machine, Node
from unisono.model import Setting
from unisono.parameters.spelling import LaunchWords, require_mpi

PLACING = (
    *("map-by", "rank-by", "bind-to", "ppr", "npernode", "npersocket", "pernode", "N", "rankfile", "rf"),
    *("cpu-list", "cpu-set", "cpus-per-rank", "cpus-per-proc", "bynode", "byslot", "bycore", "bind-to-core"),
    *("bind-to-socket", "use-hwthread-cpus", "oversubscribe"),
)
"""Options by which a user places ranks: with any of them the line keeps its own placement."""
_MCA = ("mca", "gmca", "omca", "gomca")
_FILES = ("tune", "am", "amca")


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
    environment = os.environ if env is None else env
    line = parse(argv)
    wanted = launch_scope_words(setting, machine)
    wanted = LaunchWords({**(extra_mca or {}), **wanted.mca}, dict(wanted.env))
    notes = [
        *_other_mpi(line, machine),
        *(N_("{option} is not looked into").format(option=option) for option in line.options(*_FILES)),
    ]
    if line.launcher == "srun":
        return _srun(line, setting, wanted, environment, notes)
    mca, variables = _not_said_already(line, wanted, notes)
    notes += overridden(environment, mca, variables)
    placement, placing = _placement(line, setting, machine, environment, notes)
    ours = [*placing, *(word for name, value in mca.items() for word in ("--mca", name, value))]
    exports = [word for name, value in variables.items() for word in ("-x", f"{name}={value}")]
    words: list[str] = []
    at = 0
    for number, context in enumerate(line.contexts):
        # MCA parameters and placement are the whole job's; Open MPI 4 exports variables program by program.
        words += [*argv[at : context.start], *(ours if number == 0 else []), *exports]
        at = context.start
    return Command([*words, *argv[at:]], {}, placement, notes)


def _not_said_already(line: UserLine, wanted: LaunchWords, notes: list[str]) -> tuple[dict[str, str], dict[str, str]]:
    """What the command line does not say itself: both versions refuse an MCA parameter given twice."""
    said_mca = {option.values[0]: option for option in line.options(*_MCA)}
    said_env = {option.values[0].partition("=")[0]: option for option in line.options("x")}
    for said, ours in ((said_mca, wanted.mca), (said_env, wanted.env)):
        for name in said.keys() & ours.keys():
            if said[name].values[-1] not in (ours[name], f"{name}={ours[name]}"):
                notes.append(
                    N_("{said} of the command line is kept; the setting has {name}={ours}").format(
                        said=said[name], name=name, ours=ours[name]
                    )
                )
    return (
        {name: value for name, value in wanted.mca.items() if name not in said_mca},
        {name: value for name, value in wanted.env.items() if name not in said_env},
    )


def _placement(
    line: UserLine, setting: Setting, machine: Machine, env: Mapping[str, str], notes: list[str]
) -> tuple[Placement | None, list[str]]:
    policy = setting.get("placement")
    if policy is None:
        return None, []
    own = next(line.options(*PLACING), None)
    if own is not None:
        notes.append(
            N_("{own} of the command line is kept; the setting has placement={policy}").format(own=own, policy=policy)
        )
        return None, []
    job = job_of(line, machine, env)
    reason = _unplaceable(line, job, machine)
    if reason is None:
        there = machine.model_copy(update={"nodes": [Node(host=host, slots=job.ppn) for host in job.hosts]})
        placement = place(there, job.nodes, job.ppn, policy)
        if not placement.smt_siblings:
            return placement, placement.arguments(require_mpi(machine), job.hosts)
        reason = N_("there are more ranks than cores")
    notes.append(N_("placement={policy} is left out: {reason}").format(policy=policy, reason=reason))
    return None, []


def _unplaceable(line: UserLine, job: Job, machine: Machine) -> str | None:
    if len(line.contexts) > 1:
        return N_("the command starts several programs")
    if not job.even:
        return N_("{ranks} ranks do not fill {nodes} nodes evenly").format(ranks=job.ranks, nodes=job.nodes)
    if job.ppn > len(machine.cpus):
        return N_("there are more ranks than CPUs")
    return None


def _srun(line: UserLine, setting: Setting, wanted: LaunchWords, env: Mapping[str, str], notes: list[str]) -> Command:
    additions = {**{f"OMPI_MCA_{name}": value for name, value in wanted.mca.items()}, **wanted.env}
    notes += overridden(env, wanted.mca, wanted.env)
    if "placement" in setting:
        notes.append(
            N_("placement={placement} is left out: srun places the ranks (see its --distribution)").format(
                placement=setting["placement"]
            )
        )
    exported = line.value("export")
    if exported is not None and "ALL" not in exported.split(","):
        notes.append(
            N_("--export={exported} keeps variables from the ranks: add {additions} to it").format(
                exported=exported, additions=",".join(additions) or "ALL"
            )
        )
    return Command(list(line.argv), additions, None, notes)


def _other_mpi(line: UserLine, machine: Machine) -> list[str]:
    """A note when the line starts another MPI than the one the words are spelled for."""
    ours = require_mpi(machine)
    found = shutil.which(line.argv[0])
    theirs = None if line.launcher == "srun" or found is None else Path(found)
    if theirs is None or theirs.parent.resolve() == Path(ours.mpirun).parent.resolve():
        return []
    return [
        N_("{argv} is {theirs}, not the MPI this was made for (Open MPI {version}, {mpirun})").format(
            argv=line.argv[0], theirs=theirs, version=ours.version, mpirun=ours.mpirun
        )
    ]
