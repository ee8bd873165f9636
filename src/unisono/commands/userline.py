"""The command line a user gives behind --."""

from __future__ import annotations

from unisono.core.errors import UserError
from unisono.core.language import _
from unisono.mpi.launchers import is_an_mpis


def words_of(argv: list[str]) -> list[str]:
    """Without the -- that stands before it. Raises UserError when there is nothing."""
    words = argv[1:] if argv[:1] == ["--"] else list(argv)
    if not words:
        raise UserError(_("write the command to run after --, for example: -- mpirun -n 8 ./app"))
    if words[0].startswith("-"):
        raise UserError(
            _("{option}: this command has no such option (see --help); write the command to run after --").format(
                option=words[0]
            )
        )
    return words


def mpirun_of(words: list[str]) -> str | None:
    """The launcher it starts, whose MPI is the one to speak to; None for srun and the like."""
    return words[0] if is_an_mpis(words[0]) else None


def mpirun_meant(words: list[str]) -> str | None:
    """The same; for srun and the like the launcher of the MPI that the program was linked with, None where that cannot
    be told. Raises UserError where the line starts with nothing that can be run."""
    from unisono.cmdline.preload import launcher_of
    from unisono.profile import diagnose

    return mpirun_of(words) or diagnose.mpirun_of(diagnose.program_of(words, launcher_of(words)))
