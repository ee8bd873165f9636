"""A user's command line: taken apart, how many ranks it starts, and what it becomes."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from unisono.core.errors import UserError
from unisono.core.language import N_, _
from unisono.core.numbers import whole_number
from unisono.core.vocabulary import RANKS_MOST

PRELOAD = "LD_PRELOAD"


@dataclass(frozen=True, slots=True)
class Option:
    name: str
    """Without dashes."""
    values: tuple[str, ...]
    words: tuple[str, ...] = field(default=(), compare=False)
    """As they stand in the command line."""

    def __str__(self) -> str:
        dashes = "-" if len(self.name) == 1 else "--"
        return " ".join([dashes + self.name, *self.values])


@dataclass(frozen=True, slots=True)
class Context:
    """One program of the job; several are separated by a colon."""

    start: int
    """Index in the command line of its first word (after the launcher or the colon)."""
    options: tuple[Option, ...]
    program: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class UserLine:
    argv: tuple[str, ...]
    contexts: tuple[Context, ...]

    def options(self, *names: str) -> Iterator[Option]:
        """All of these names, in order, of every context."""
        for context in self.contexts:
            yield from (option for option in context.options if option.name in names)

    def value(self, *names: str) -> str | None:
        """Of the last of these options; None when none is there."""
        found = [option.values[0] for option in self.options(*names) if option.values]
        return found[-1] if found else None


@dataclass(frozen=True, slots=True)
class Job:
    ranks: int
    nodes: int
    ppn: int
    """Of the fullest node."""
    hosts: tuple[str, ...]
    """Of the nodes used, in order; empty for srun, which alone knows them."""

    @property
    def even(self) -> bool:
        """Whether all nodes have `ppn` ranks."""
        return self.ranks == self.nodes * self.ppn


class Here(Protocol):
    """What a launcher finds where it is started."""

    @property
    def nodes(self) -> Sequence[tuple[str, int]]:
        """Hosts with their slots."""

    @property
    def cores(self) -> int:
        """Of one node."""

    @property
    def cpus(self) -> int:
        """Hardware threads of one node."""

    @property
    def environment(self) -> Mapping[str, str]: ...

    @property
    def host_files(self) -> Sequence[str]:
        """Variables that name hosts where neither the command line nor a scheduler does."""

    def domains(self, level: str) -> int:
        """How many sockets, NUMA nodes or last-level caches (l3) a node has."""

    def slots_of_job(self) -> Sequence[int]:
        """Of each node of the Slurm job this runs in."""


class Placing(Protocol):
    """A setting's placement, once it is known which ranks a line starts."""

    @property
    def policy(self) -> str: ...

    def words(self, job: Job) -> list[str]:
        """Options of the launcher. Raises UnplaceableError where the placement cannot be had."""


class UnplaceableError(Exception):
    """Its text is the reason."""


class Owner(Protocol):
    """The MPI that words are spelled for."""

    @property
    def name(self) -> str: ...

    @property
    def version(self) -> str: ...

    @property
    def mpirun(self) -> str: ...


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is to be put into a line."""

    mca: Mapping[str, str]
    """MCA parameters."""
    variables: Mapping[str, str]
    """For the ranks' environment."""
    placing: Placing | None


@dataclass(frozen=True, slots=True)
class Line:
    argv: list[str]
    env: dict[str, str]
    """To be added to the environment."""
    notes: list[str]


_ReadOption = Callable[[Sequence[str], int, int], tuple[Option, int]]


def context(argv: Sequence[str], start: int, end: int, read: _ReadOption) -> Context:
    """One program with the options before it; `read` takes one option and says where the next word is. Raises UserError
    where there is no program, or only a file that names some."""
    options: list[Option] = []
    at = start
    while at < end and argv[at].startswith("-") and argv[at] != "-":
        if argv[at] == "--":
            at += 1
            break
        option, after = read(argv, at, end)
        if option.name in ("app", "multi-prog"):
            raise UserError(
                _("{option}: a file of programs cannot be given a setting; write the programs out").format(
                    option=option
                )
            )
        options.append(replace(option, words=tuple(argv[at:after])))
        at = after
    if at >= end:
        raise UserError(_("{argv}: there is no program to start").format(argv=" ".join(argv)))
    return Context(start, tuple(options), tuple(argv[at:end]))


def one_program(line: UserLine) -> tuple[list[list[str]], list[str]]:
    """Its options, each with its values, and the program. Raises UserError for a line that starts several."""
    if len(line.contexts) > 1:
        raise UserError(_("{argv}: starts several programs; a layout is for one").format(argv=" ".join(line.argv)))
    return [list(option.words) for option in line.contexts[0].options], list(line.contexts[0].program)


def joined(theirs: str | None, ours: str) -> str:
    """Libraries to preload: the user's before ours."""
    if not theirs:
        return ours
    return theirs if ours in re.split("[: ]", theirs) else f"{theirs}:{ours}"


def without_library(value: str, library: str) -> str:
    """What is preloaded, without the files of this name."""
    return ":".join(one for one in re.split("[: ]", value) if one and one.rpartition("/")[2] != library)


def entries_without(entries: Sequence[str], library: str, prefix: str) -> list[str]:
    """A list of variables for ranks (NAME=VALUE), without what puts the library into them; and then without what is
    said to it, by variables that begin with `prefix`."""
    pairs = {name: value for name, _equals, value in (one.partition("=") for one in entries)}
    kept = without_library(pairs.get(PRELOAD, ""), library)
    if kept == ":".join(filter(None, re.split("[: ]", pairs.get(PRELOAD, "")))):
        return list(entries)
    rest = [one for one in entries if one.partition("=")[0] != PRELOAD and not one.startswith(prefix)]
    return [*rest, *([f"{PRELOAD}={kept}"] if kept else [])]


def environment_of(mca: Mapping[str, str], variables: Mapping[str, str]) -> dict[str, str]:
    """What a setting's MCA parameters and variables are in the environment."""
    return {**{f"OMPI_MCA_{name}": value for name, value in mca.items()}, **variables}


def overridden(environment: Mapping[str, str], mca: Mapping[str, str], env: Mapping[str, str]) -> list[str]:
    """Notes on what the user's environment says otherwise and the setting replaces for this launch."""
    return [
        N_("{name}={environment} of your environment is replaced by the setting's {value} in this launch").format(
            name=name, environment=environment[name], value=value
        )
        for name, value in environment_of(mca, env).items()
        if environment.get(name, value) != value
    ]


def counted(text: str, where: str, least: int = 1) -> int:
    return whole_number(text, where, least, RANKS_MOST)
