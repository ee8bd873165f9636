"""How the exported files of a format are handed to an MPI, so that a check launches as a user would."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from unisono.cmdline.command import Command, command
from unisono.core.vocabulary import DEFAULT
from unisono.export.words import RULES_FILE
from unisono.machine.description import Machine
from unisono.parameters.spelling import require_mpi
from unisono.tuning.plans import Plan


@dataclass(frozen=True, slots=True)
class Handed:
    """What the files on disk say, as read back from them (a person may have edited them), and how to launch with it."""

    mca: Mapping[str, str] = field(default_factory=dict)
    env: Mapping[str, str] = field(default_factory=dict)
    ucx_file: Mapping[str, str] = field(default_factory=dict)
    """Variables that reach UCX through its file, not the environment."""
    words: Sequence[str] = ()
    """For right after mpirun."""
    environment: Mapping[str, str] = field(default_factory=dict)
    """For mpirun's environment."""
    before: Sequence[str] = ()
    """What the whole command line is started by."""

    @property
    def rules_file(self) -> Path | None:
        return Path(self.mca[RULES_FILE]) if RULES_FILE in self.mca else None

    def launch(
        self,
        machine: Machine,
        plan: Plan,
        program: Sequence[str],
        extra_mca: Mapping[str, str] | None = None,
        *,
        oversubscribe: bool = False,
    ) -> Command:
        """The command line of a program on the plan's ranks; `extra_mca` wins over what the files say.

        Raises UserError when the ranks do not fit this machine and `oversubscribe` is False.
        """
        line = command(machine, DEFAULT, plan.nodes, plan.ppn, program, oversubscribe=oversubscribe)
        own = _without_mca(self.words, extra_mca or {})
        mpirun, rest = line.argv[0], _without_mca(line.argv[1:], mca_of(own))
        if line.placement is not None and _places(own):
            hosts = [node.host for node in machine.nodes[: plan.nodes]]
            rest = _without_run(rest, line.placement.arguments(require_mpi(machine), hosts))
        extra = [word for name, value in (extra_mca or {}).items() for word in ("--mca", name, value)]
        argv = [*self.before, mpirun, *own, *extra, *rest]
        return Command(argv, {**line.env, **self.environment}, line.placement, line.notes)


def mca_of(words: Sequence[str]) -> dict[str, str]:
    return {words[i + 1]: words[i + 2] for i, word in enumerate(words[:-2]) if word == "--mca"}


def exported(words: Sequence[str]) -> dict[str, str]:
    pairs = [words[i + 1].partition("=") for i, word in enumerate(words[:-1]) if word == "-x"]
    return {name: value for name, _, value in pairs}


def _places(words: Sequence[str]) -> bool:
    """Whether there are words besides MCA parameters and variables: those place the ranks."""
    known = 3 * sum(word == "--mca" for word in words) + 2 * sum(word == "-x" for word in words)
    return len(words) > known


def _without_run(words: Sequence[str], run: Sequence[str]) -> list[str]:
    """Without the first place where `run` stands in one piece."""
    for start in range(len(words) - len(run) + 1):
        if run and list(words[start : start + len(run)]) == list(run):
            return [*words[:start], *words[start + len(run) :]]
    return list(words)


def _without_mca(words: Sequence[str], names: Mapping[str, str]) -> list[str]:
    """Without the `--mca NAME VALUE` of some names: both versions refuse a parameter given twice."""
    out: list[str] = []
    position = 0
    while position < len(words):
        if words[position] == "--mca" and words[position + 1 : position + 2] and words[position + 1] in names:
            position += 3
            continue
        out.append(words[position])
        position += 1
    return out
