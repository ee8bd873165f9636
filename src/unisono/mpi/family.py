"""What every module that knows an MPI has to say."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from unisono.mpi.found import Found
from unisono.mpi.launchers.launcher import Launcher
from unisono.mpi.places import Placed


class Installation(Protocol):
    """What families are told of one of their installations: machine.description.Mpi."""

    @property
    def name(self) -> str: ...

    @property
    def version(self) -> str: ...

    @property
    def components(self) -> Mapping[str, list[str]]: ...

    @property
    def algorithms(self) -> Mapping[str, Mapping[str, int]]: ...

    @property
    def call_scope(self) -> Sequence[str]: ...


class Parameter(Protocol):
    """One that an installation lists itself."""

    name: str
    framework: str
    component: str
    value: str
    help: str


@dataclass(frozen=True, slots=True)
class Place:
    """Where a launch is made."""

    has_fast_network: bool
    """InfiniBand, RoCE or another RDMA port that is up."""
    oversubscribed: bool
    """There are more ranks than CPUs."""


class Family(Protocol):
    """A module that knows one MPI."""

    FAMILY: str
    """As files call it (machine.description.Mpi.family)."""
    NAME: str
    """For people."""
    BANNERS: tuple[re.Pattern[str], ...]
    """What its launcher says when asked for its version, with the version as the one group."""
    LAUNCHER: Launcher
    """What starts its ranks."""
    AS_ROOT: tuple[str, ...]
    """Options without which its launcher starts nothing for root."""
    AS_ROOT_VARIABLES: tuple[str, ...]
    """Variables that say the same where all of them are set to 1."""
    SLOT_A_CORE: bool
    """Whether its launcher gives a machine a slot a core unless told otherwise, so that hosts are also named where SMT
    siblings are used."""
    BINDS_TO: Literal["nothing", "shares", "cores"]
    """What its launcher binds ranks to by itself: each to its share of a node's cores, or to a core (with more than two
    ranks to a larger object)."""
    MAPPERS: tuple[str, ...]
    """Begin the names of variables by which its launcher maps and binds otherwise."""
    HOST_FILES: tuple[str, ...]
    """Variables that name its hosts where neither the command line nor a scheduler does."""
    CATALOGUE: tuple[str, ...]
    """Files of parameters/ that describe what can be varied in it."""
    MCA: bool
    """Whether it is built of components (pml, btl, coll) that MCA parameters choose and set, and coll/tuned among them
    reads a file of rules."""
    SELECTION_FILES: bool
    """Whether it reads files that select an algorithm by communicator and message size."""
    PRESET_FILE: bool
    """Whether it reads a file that names an algorithm of its own by number of ranks and message size."""
    SHOWN_BY: Literal["verbosity", "tripwires", "start"]
    """What shows that it took a setting: what components print when told to, whether a call ends for which its files
    have no answer, or what it prints at its start."""
    ALGORITHMS_OF: str | None
    """The value of `coll` in a rule that names an algorithm of this MPI itself."""
    NONBLOCKING_OF: str | None
    """The same for a nonblocking collective."""
    PERSISTENT_OF: str | None
    """The same for a persistent collective."""
    PERSISTENT_FROM: str
    """The first version whose persistent collectives can be used."""
    LIBRARY: str
    """Number of its main library: libmpi.so.40."""
    VERSION_IN_LUA: str
    VERSION_IN_TCL: str
    VERSION_IN_SED: str
    """A pattern for the version in what the launcher says: for Lua, for Tcl, and a basic regular expression of the
    whole line for sed."""

    def cpu_list(self, version: str) -> str | None:
        """The variable that keeps its launcher to some CPUs, as it does not heed the affinity mask that it was started
        with; None where there is none."""

    def describe(self, launcher: str, version: str, mpicc: str | None) -> Found:
        """The installation of a launcher that gave this version; `mpicc` as the user gave it. Raises UserError where
        it does not answer."""

    def rows(self, mpi: Installation) -> list[tuple[str, str]]:
        """(label, value): what doctor's page says of an installation, beside its version and compiler."""

    def prefers(self, version: str) -> bool:
        """Whether a copy of a communicator can prefer a component."""

    def lists_for_ranks(self, version: str) -> bool:
        """Whether its parameter file may list variables that all ranks get (mca_base_env_list), beside what a user's
        own line sets."""

    def sweep_words(self, mpi: Installation) -> dict[str, str]:
        """MCA parameters that a launch needs in which algorithms are switched."""

    def forcing(self, collective: str, algorithm: str) -> dict[str, str]:
        """Variables of its environment, and of its MPI_T, that give one of its own algorithms to all calls of a
        collective for as long as they hold; empty where it has no such."""

    def parameters(self, mpirun: str) -> Mapping[str, Parameter] | None:
        """Name -> parameter: all that an installation lists itself, beyond the catalogue; None where it lists none."""

    def library_directory(self, mpirun: str) -> str | None:
        """Where an installation itself says that its libraries are."""

    def compiler_environment(self, mpicc: str) -> dict[str, str]:
        """What its compiler wrapper needs to find its installation; nothing for another MPI's."""

    def for_every_launch(
        self, version: str, components: Mapping[str, list[str]], place: Place
    ) -> list[tuple[str, str, str]]:
        """MCA parameters that every launch gets, the default setting included: name, value and the reason."""

    def placed(self, placement: Placed, version: str, hosts: Sequence[str]) -> list[str]:
        """Options of the launcher for a placement; `hosts` names the nodes, in case ranks have to be placed one by one.
        Raises UserError where this version has no words for it."""

    def hosts(self, names: Sequence[str], ppn: int) -> list[str]:
        """Options of the launcher that start `ppn` ranks on each of these hosts, in their order."""

    def threads_binding(self, threads: int) -> list[str]:
        """Options of the launcher that give each rank its own `threads` cores, next to one another."""
