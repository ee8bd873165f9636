"""The command line of a variant: threads bound to cores by the launcher, memory placed by numactl."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from unisono.errors import UserError
from unisono.hybrid import policies
from unisono.hybrid.variants import Variant
from unisono.language import _
from unisono.launch.command import Command, command
from unisono.launch.layouts import Layout
from unisono.machine.model import Machine
from unisono.mpi import family, mpich
from unisono.parameters.spelling import require_mpi

_LAUNCHERS = ("mpirun", "mpiexec", "orterun", "prterun", "srun", "aprun")
_FIELDS = ("ranks", "threads", "processes", "nodes")
_FIELD = re.compile(r"\{(\w*)\}")


def binding(launcher: str, layout: Layout, mpi: str = mpich.FAMILY) -> list[str]:
    """Words that give each of a layout's processes its threads' cores, next to one another.

    `launcher`: "openmpi" (4 and 5 alike), "hydra" (that of the MPI `mpi`) or "srun".
    """
    if launcher == "openmpi":
        return ["--map-by", f"ppr:{layout.processes}:node:PE={layout.threads}", "--bind-to", "core"]
    if launcher == "hydra":
        return ["-ppn", str(layout.processes), *family(mpi).threads_binding(layout.threads)]
    if launcher == "srun":
        return [
            *("--ntasks-per-node", str(layout.processes), "--cpus-per-task", str(layout.threads)),
            "--cpu-bind=cores",
        ]
    raise ValueError(launcher)


def threads_environment(layout: Layout) -> dict[str, str]:
    """OpenMP 5.2, 21.1: how many threads, and that they stay where they begin."""
    return {"OMP_NUM_THREADS": str(layout.threads), "OMP_PLACES": "cores", "OMP_PROC_BIND": "close"}


def exports(launcher: str, variables: Mapping[str, str]) -> list[str]:
    """Words that put variables into the environment of the ranks, on other nodes too. srun needs none: it passes its
    own environment on."""
    if launcher == "hydra":
        return [word for name, value in variables.items() for word in ("-genv", name, value)]
    return [word for name, value in variables.items() for word in ("-x", f"{name}={value}")]


def line(machine: Machine, variant: Variant, program: Sequence[str]) -> Command:
    """mpirun for a program (its words, without a launcher). Raises UserError as launch.command does."""
    layout = variant.layout
    placed = [*policies.words(variant.numa, layout, machine), *program]
    made = command(machine, variant.links, variant.nodes, layout.processes, placed)
    launcher = "hydra" if require_mpi(machine).is_hydra else "openmpi"
    argv = [
        made.argv[0],
        *binding(launcher, layout, require_mpi(machine).family),
        *exports(launcher, threads_environment(layout)),
        *made.argv[1:],
    ]
    return Command(argv, made.env, made.placement, made.notes)


def own_line(machine: Machine, variant: Variant, words: Sequence[str]) -> Command:
    """A user's command with {ranks}, {threads}, {processes} (of a node) and {nodes} put in. A command that names no
    launcher gets ours. Raises UserError for an unknown field."""
    unknown = next((match[0] for word in words for match in _FIELD.finditer(word) if match[1] not in _FIELDS), None)
    if unknown is not None:
        raise UserError(
            _("{unknown}: write {{ranks}}, {{threads}}, {{processes}} or {{nodes}}").format(unknown=unknown)
        )
    filled = fill(words, variant.nodes, variant.layout)
    if not any(Path(word).name.partition(".")[0] in _LAUNCHERS for word in filled):
        return line(machine, variant, filled)
    if not any("{" in word for word in words):
        raise UserError(
            _("the command starts its ranks itself: say how many with {ranks}, and {threads} if it needs it")
        )
    return Command(filled, threads_environment(variant.layout), None, [])


def fill(words: Sequence[str], nodes: int, layout: Layout) -> list[str]:
    """{ranks}, {threads}, {processes} (of a node) and {nodes} put in; anything else in braces stays."""
    values = {
        "ranks": nodes * layout.processes,
        "threads": layout.threads,
        "processes": layout.processes,
        "nodes": nodes,
    }
    return [_FIELD.sub(lambda match: str(values.get(match[1], match[0])), word) for word in words]
