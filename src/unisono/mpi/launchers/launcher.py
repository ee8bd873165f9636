"""What every module that knows a launcher has to say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from unisono.mpi.launchers.lines import Here, Job, Line, Owner, Wanted


class Launcher(Protocol):
    """A module that knows one program that starts ranks. A command line begins with the launcher, but for `at`."""

    KIND: str
    """Its name among launchers."""
    PLACING: tuple[str, ...]
    """Options that say how many ranks there are and where they go, without dashes."""
    SETTING: tuple[str, ...]
    """Options that set a variable for the ranks, and name it in their first word."""
    HOSTS: tuple[str, ...]
    """Options that name hosts, with their slots behind a colon."""
    HANDS_ON: bool
    """Whether the ranks get its own environment, on all nodes."""
    WAITS: bool
    """Whether a batch system may start the ranks, also those of its own node: it then may have a launch wait for the
    end of the last one for longer than that takes."""

    def compilers(self, name: str) -> list[str]:
        """What the compiler wrapper of its MPI is called, likeliest first, beside a launcher of this name."""

    def parameters(self, mca: Mapping[str, str]) -> list[str]:
        """Options that set MCA parameters."""

    def exports(self, variables: Mapping[str, str]) -> list[str]:
        """Options that put variables into the environment of the ranks, on other nodes too."""

    def ranks(self, count: int) -> list[str]:
        """Options that say how many ranks there are."""

    def layout(self, processes: int, threads: int, binding: Sequence[str]) -> list[str]:
        """Options that start so many processes a node and give each its threads' cores, next to one another;
        `binding` are the MPI's own (Family.threads_binding)."""

    def taken_apart(self, argv: Sequence[str]) -> tuple[list[list[str]], list[str]]:
        """The options, each with its values, and the program with its words. Raises UserError for a line that starts
        several programs, or none."""

    def program(self, argv: Sequence[str]) -> str | None:
        """The path of the (first) program, as far as that can be told."""

    def sought(self, argv: Sequence[str]) -> list[str]:
        """The programs of a line, as it names them, that are surely looked for on this node, from this directory and
        by this PATH; [] where an option says otherwise, or may."""

    def interface(self, argv: Sequence[str], env: Mapping[str, str]) -> str | None:
        """By which interface its ranks find one another (pmix, pmi2); None where there is no choice, or it cannot be
        told."""

    def job(self, argv: Sequence[str], here: Here) -> Job:
        """What a line starts. Raises UserError where it does not say."""

    def nodes(self, argv: Sequence[str], here: Here) -> int:
        """On how many nodes; all there are where a line may leave that open. Raises UserError as `job` does."""

    def named(self, argv: Sequence[str], here: Here) -> list[tuple[str, int]]:
        """The hosts that a line names, with their slots. Raises UserError for a line that cannot be understood."""

    def added(self, argv: Sequence[str], wanted: Wanted, here: Here, mpi: Owner) -> Line:
        """A line with what is wanted right after the launcher. What it says itself stays and wins, with a note each.
        Raises UserError for a line that cannot be understood."""

    def preloaded(
        self, argv: Sequence[str], at: int, library: str, variables: Mapping[str, str], env: Mapping[str, str]
    ) -> Line:
        """A line whose word number `at` is the launcher, with a library in the ranks and variables set for them. What
        the user preloads stays, before ours. Raises UserError for a line that cannot be understood."""

    def inherited(self, variables: Mapping[str, str], env: Mapping[str, str]) -> dict[str, str]:
        """Variables by which it sets others for its ranks, wherever in a script it is started."""

    def left_out(
        self, library: str, prefix: str, env: Mapping[str, str], files: Mapping[str, str]
    ) -> dict[str, tuple[str, str]]:
        """The same variables, where they, or what `files` set (name -> value), put a library of this name into its
        ranks: name -> (where that is said, the value without it). What is said to the library goes with it: variables
        that begin with `prefix`."""
