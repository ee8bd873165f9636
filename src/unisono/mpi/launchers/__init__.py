"""What starts ranks: a module or a folder for each launcher, in one list."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from unisono.core.errors import UserError
from unisono.core.language import _
from unisono.mpi.launchers import hydra, mpirun, srun
from unisono.mpi.launchers.launcher import Launcher
from unisono.mpi.launchers.lines import UserLine
from unisono.mpi.launchers.mpirun import options

LAUNCHERS: tuple[Launcher, ...] = (mpirun, hydra, srun)

BARE = ("mpirun", "mpiexec")
"""Names that say nothing of which MPI is meant."""
_OF_AN_MPI = (*BARE, "orterun", "prterun")
_OF_A_SCHEDULER = (srun.KIND,)
_UNKNOWN = ("aprun",)
"""Start ranks, and are not understood."""


def launcher(kind: str) -> Launcher:
    """Raises KeyError for a kind that there is not."""
    return {one.KIND: one for one in LAUNCHERS}[kind]


def is_of_an_mpi(name: str) -> bool:
    """Whether a program of this name may be an MPI's launcher: mpirun, mpiexec.hydra, mpirun-mpich-mp."""
    return name.split(".")[0].split("-")[0] in _OF_AN_MPI


def is_an_mpis(word: str) -> bool:
    """The same of a word in a command line, where a name with a dash may be any program."""
    return Path(word).name.partition(".")[0] in _OF_AN_MPI


def of_a_scheduler(word: str) -> Launcher | None:
    """The scheduler's own launcher, which starts the ranks of any MPI."""
    return srun if srun.is_it(word) else None


def starts_ranks(word: str) -> bool:
    """Whether a word of a command line is a launcher."""
    return Path(word).name.partition(".")[0] in (*_OF_AN_MPI, *_OF_A_SCHEDULER)


def may_start_ranks(word: str) -> bool:
    """The same, of those too that are not understood."""
    return starts_ranks(word) or Path(word).name.partition(".")[0] in _UNKNOWN


def parse(argv: Sequence[str]) -> UserLine:
    """A line of Open MPI's mpirun, or of srun. Raises UserError for any other."""
    if not argv:
        raise UserError(_("no command: write the mpirun command line after --"))
    return srun.parse(argv) if srun.is_it(argv[0]) else options.parse(argv)
