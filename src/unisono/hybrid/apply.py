"""A layout put into a user's own command line: `unisono run --layout`.

What the line says of how many ranks and threads there are and where they go is replaced, each time with a note: that is
what was asked for. Everything else in it stays.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

from unisono.cmdline.command import Command
from unisono.cmdline.job import Place, launcher_in
from unisono.cmdline.layouts import Layout
from unisono.core.errors import UserError
from unisono.core.language import N_, _
from unisono.core.vocabulary import Setting
from unisono.hybrid import policies
from unisono.hybrid.lines import binding, fill, threads_environment
from unisono.machine.description import Machine
from unisono.mpi.launchers.launcher import Launcher
from unisono.tuning.contents import LayoutModel, Tuning

_COUNTS = ("n", "np", "ntasks")


def chosen(tuning: Tuning, program: Sequence[str], nodes: int) -> tuple[LayoutModel, list[str]]:
    """The layout for a program on so many nodes, with notes where it was measured otherwise.

    Of layouts measured with several programs, that of this one (by the name of its file). Raises UserError when there
    is none, or none can be chosen.
    """
    if not tuning.layout:
        raise UserError(
            _("{name}: holds no layout; unisono hybrid finds the fastest and puts it into the tuning").format(
                name=tuning.name
            )
        )
    own = [layout for layout in tuning.layout if _name(layout.program.split()[0]) == _name(program[0])]
    measured = list(dict.fromkeys(layout.program for layout in own or tuning.layout))
    if len(measured) > 1:
        raise UserError(
            _(
                "{name}: holds layouts that were measured with {repr}, and it is not clear which of them "
                "{program} should use; keep one of them, or measure with unisono hybrid -- {program} ..."
            ).format(name=tuning.name, repr=" and with ".join(map(repr, measured)), program=program[0])
        )
    best = min(own or tuning.layout, key=lambda layout: (abs(layout.nodes - nodes), layout.nodes))
    notes = []
    if not own:
        notes.append(
            N_("the layout was measured with {program!r}, not with {program2}").format(
                program=best.program, program2=program[0]
            )
        )
    if best.nodes != nodes:
        notes.append(
            N_("the layout was measured on {nodes} nodes, the nearest to {nodes2}").format(
                nodes=best.nodes, nodes2=nodes
            )
        )
    if not best.proven:
        notes.append(
            N_("no layout was proven faster than {reference}, which is therefore used").format(reference=best.reference)
        )
    if best.packing == "threads":
        notes.append(
            N_("the layout was measured with all threads packing the halo; tell your program to do the same, if it can")
        )
    return best, notes


def _name(word: str) -> str:
    return Path(word).name


def with_layout(tuning: Tuning, argv: Sequence[str], machine: Machine, env: Mapping[str, str]) -> Command:
    """`argv` (mpirun ... or srun ...) in the tuning's layout for its program and its number of nodes.

    {ranks}, {threads}, {processes} and {nodes} are filled in. Raises UserError where the tuning has no layout for it, a
    node has too few cores, or the command line cannot be understood.
    """
    launcher, options, program, nodes = _taken_apart(argv, machine, env)
    layout, notes = chosen(tuning, program, nodes)
    here = layout.shape
    if here.cores > machine.cores:
        raise UserError(
            _(
                "layout {name} needs {cores} cores a node, {name2} has {cores2}: measure layouts here "
                "with unisono hybrid"
            ).format(name=here.name, cores=here.cores, name2=machine.name, cores2=machine.cores)
        )
    ranks = nodes * layout.processes
    environment = {**threads_environment(here), **layout.links}
    kept = _kept(options, launcher, here, ranks, environment, notes)
    notes += [
        N_("{name}={env} of your environment is replaced by {value}").format(name=name, env=env[name], value=value)
        for name, value in environment.items()
        if env.get(name, value) != value
    ]
    placed = _placed(layout, here, machine, notes)
    words = [
        *binding(launcher, here, machine.traits),
        *launcher.exports(environment),
        *launcher.ranks(ranks),
    ]
    filled = fill([*kept, *placed, *program], nodes, here)
    added = environment if launcher.HANDS_ON else {}
    return Command([argv[0], *words, *filled], added, None, notes)


def as_it_is(tuning: Tuning, argv: Sequence[str], machine: Machine, env: Mapping[str, str]) -> tuple[Command, str]:
    """What a layout is compared with, and the layout's words: the line itself; where it has {ranks} or another field to
    be filled in, flat MPI. Raises UserError as with_layout does."""
    _, _, program, nodes = _taken_apart(argv, machine, env)
    layout, _ = chosen(tuning, program, nodes)
    if list(argv) == fill(argv, nodes, layout.shape):
        return Command(list(argv), {}, None, []), layout.words
    one_a_core = {"threads": 1, "processes": machine.cores, "numa": "none", "links": Setting(), "proven": True}
    flat = tuning.model_copy(update={"layout": (layout.model_copy(update=one_a_core),)})
    return with_layout(flat, argv, machine, env), layout.words


def _taken_apart(
    argv: Sequence[str], machine: Machine, env: Mapping[str, str]
) -> tuple[Launcher, list[list[str]], list[str], int]:
    """Its launcher, options, program and number of nodes of a command line."""
    launcher = launcher_in(argv, machine)
    options, program = launcher.taken_apart(argv)
    bare = [argv[0], *_without_fields(options), *program]
    return launcher, options, program, launcher.nodes(bare, Place(machine, env))


def _option(words: Sequence[str]) -> str:
    """Its name without dashes and value; srun's -n4 is n."""
    name = words[0].lstrip("-").partition("=")[0]
    return name[0] if not words[0].startswith("--") and re.fullmatch(r"[nNcm]\d+", name) else name


def _without_fields(options: Sequence[Sequence[str]]) -> list[str]:
    return [word for words in options if not any("{" in word for word in words) for word in words]


def _kept(
    options: Sequence[list[str]],
    launcher: Launcher,
    layout: Layout,
    ranks: int,
    environment: Mapping[str, str],
    notes: list[str],
) -> list[str]:
    """The line's own options without those the layout replaces."""
    found: list[str] = []
    for words in options:
        name = _option(words)
        variable = words[1].partition("=")[0] if name in launcher.SETTING else ""
        if name in launcher.PLACING:
            if name not in _COUNTS or not words[-1].endswith(("{ranks}", str(ranks))):
                said = N_("{words} of the command line is not used, because the layout starts {ranks} ranks")
                if ranks == 1:
                    said = N_("{words} of the command line is not used, because the layout starts 1 rank")
                notes.append(said.format(words=" ".join(words), ranks=ranks))
        elif variable in environment:
            notes.append(
                N_("{words} of the command line is replaced by {environment}").format(
                    words=" ".join(words), environment=environment[variable]
                )
            )
        elif name in launcher.HOSTS and len(words) == 2:
            found += [words[0], ",".join(_slots(host, layout.processes) for host in words[1].split(","))]
        else:
            found += words
    return found


def _slots(host: str, processes: int) -> str:
    """A host with as many slots as the layout needs: Open MPI starts no more, and counts one where none is given."""
    name, _, slots = host.partition(":")
    return host if re.fullmatch("[0-9]{1,9}", slots) and int(slots) >= processes else f"{name}:{processes}"


def _placed(layout: LayoutModel, here: Layout, machine: Machine, notes: list[str]) -> list[str]:
    """numactl's words, where the layout has a policy and it means something here."""
    if layout.numa == "none":
        return []
    if policies.numa_nodes(machine) < 2:
        notes.append(N_("{numa} memory is left out: this machine has one NUMA node").format(numa=layout.numa))
        return []
    if shutil.which("numactl") is None:
        notes.append(N_("{numa} memory is left out: numactl is not installed").format(numa=layout.numa))
        return []
    return policies.words(layout.numa, here, machine)
