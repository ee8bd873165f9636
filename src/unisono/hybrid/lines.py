"""The command line of a variant: threads bound to cores by the launcher, memory placed by numactl."""

from __future__ import annotations

import re
from collections.abc import Sequence

from unisono.cmdline.command import Command, command
from unisono.cmdline.layouts import Layout
from unisono.core.errors import UserError
from unisono.core.language import _
from unisono.hybrid import policies
from unisono.hybrid.variants import Variant
from unisono.machine.description import Machine
from unisono.mpi.family import Family
from unisono.mpi.launchers import may_start_ranks
from unisono.mpi.launchers.launcher import Launcher
from unisono.parameters.spelling import require_mpi

_FIELDS = ("ranks", "threads", "processes", "nodes")
_FIELD = re.compile(r"\{(\w*)\}")


def binding(launcher: Launcher, layout: Layout, mpi: Family) -> list[str]:
    """Options that give each of a layout's processes its threads' cores, next to one another."""
    return launcher.layout(layout.processes, layout.threads, mpi.threads_binding(layout.threads))


def threads_environment(layout: Layout) -> dict[str, str]:
    """OpenMP 5.2, 21.1: how many threads, and that they stay where they begin."""
    return {"OMP_NUM_THREADS": str(layout.threads), "OMP_PLACES": "cores", "OMP_PROC_BIND": "close"}


def line(machine: Machine, variant: Variant, program: Sequence[str]) -> Command:
    """mpirun for a program (its words, without a launcher). Raises UserError as cmdline.command does."""
    layout = variant.layout
    placed = [*policies.words(variant.numa, layout, machine), *program]
    made = command(machine, variant.links, variant.nodes, layout.processes, placed)
    mpi, variables = require_mpi(machine), threads_environment(layout)
    argv = [
        made.argv[0],
        *binding(mpi.starter, layout, mpi.traits),
        *mpi.starter.exports(variables),
        *made.argv[1:],
    ]
    env = {**made.env, **variables} if mpi.starter.HANDS_ON else made.env
    return Command(argv, env, made.placement, made.notes)


def own_line(machine: Machine, variant: Variant, words: Sequence[str]) -> Command:
    """A user's command with {ranks}, {threads}, {processes} (of a node) and {nodes} put in. A command that names no
    launcher gets ours. Raises UserError for an unknown field."""
    unknown = next((match[0] for word in words for match in _FIELD.finditer(word) if match[1] not in _FIELDS), None)
    if unknown is not None:
        raise UserError(
            _("{unknown}: write {{ranks}}, {{threads}}, {{processes}} or {{nodes}}").format(unknown=unknown)
        )
    filled = fill(words, variant.nodes, variant.layout)
    if not any(may_start_ranks(word) for word in filled):
        return line(machine, variant, filled)
    if not any("{" in word for word in words):
        raise UserError(
            _(
                "the command starts its ranks itself: leave {launcher} and its options out, because Unisono starts the "
                "ranks, or write {{ranks}} for their number (and {{threads}} if the program needs it)"
            ).format(launcher=next(word for word in filled if may_start_ranks(word)))
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
