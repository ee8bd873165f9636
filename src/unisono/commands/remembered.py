"""The MPI that a study or a tuning was measured with, where the user names none."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from unisono import mpi as families
from unisono.commands.userline import mpirun_of
from unisono.core.asking import ask
from unisono.core.errors import UserError
from unisono.core.language import N_
from unisono.inventory.mpi import find_mpirun
from unisono.machine.description import Machine, Mpi, mpi_name
from unisono.mpi.launchers import BARE, step
from unisono.tuning.contents import MpiPart, Tuning


def launcher(given: str | None, kept: Mpi | MpiPart | None) -> str | None:
    """For inventory.describe: the launcher given (--mpirun), else $UNISONO_MPIRUN, else the one that is kept, where it
    is still there. None: as for anybody who names none."""
    if given is not None or os.environ.get("UNISONO_MPIRUN") or kept is None:
        return given
    return kept.mpirun if shutil.which(kept.mpirun) else None


def compiler(given: str | None, mpirun: str | None, kept: Mpi | MpiPart | None) -> str | None:
    """The compiler wrapper given (--mpicc), else the one kept with this launcher, where it is still there."""
    if given is not None or kept is None or mpirun != kept.mpirun or kept.mpicc is None:
        return given
    return kept.mpicc if shutil.which(kept.mpicc) else None


def started(machine: Machine, launcher: Sequence[str]) -> Machine:
    """The machine with launches begun by these words (srun --mpi=pmix) in place of its mpirun, if there are any. Raises
    UserError where there is no job to start ranks in."""
    if not launcher or machine.mpi is None:
        return machine
    step.require_job(os.environ)
    asked = ask(["scontrol", "show", "config"])
    update = {"launcher": list(launcher), "launcher_binds": not asked.ok or step.binds(asked.out)}
    return machine.model_copy(update={"mpi": machine.mpi.model_copy(update=update)})


def words_for_it(kept: Mpi | MpiPart | None) -> list[str]:
    """["--mpirun", PATH] where a command line would not find this MPI by itself, and it is here."""
    if kept is None or shutil.which(kept.mpirun) is None:
        return []
    try:
        found = find_mpirun()
    except UserError:
        return ["--mpirun", kept.mpirun]
    return [] if _same(found, kept.mpirun) else ["--mpirun", kept.mpirun]


@dataclass(frozen=True, slots=True)
class Line:
    """A user's command line."""

    words: list[str]
    mpirun: str | None
    """The launcher whose MPI is meant; None for srun and the like, with nothing known."""
    notes: tuple[str, ...] = ()


def started_by(tuning: Tuning, words: Sequence[str], given: str | None = None) -> Line:
    """A user's line with the launcher it means: the one given (--mpirun); the line's own, where that is a path or a
    name of one MPI alone (mpirun.mpich); else the one that the tuning was measured with, unless the program belongs to
    the one on PATH, or nobody can tell. Raises UserError for a given one that cannot be run."""
    own = mpirun_of(list(words))
    if given is not None:
        return started_by_given(words, given)
    kept = launcher(None, tuning.mpi) if tuning.mpi is not None else None
    if own is None:
        return Line(list(words), kept)
    if own not in BARE or tuning.mpi is None or kept is None:
        return Line(list(words), own)
    here = shutil.which(own)
    if here is not None and (_same(here, kept) or not _belongs(words, here, tuning.mpi)):
        return Line(list(words), own)
    note = N_("{name} stands for {path}, because the tuning was measured with it ({mpi})")
    if here is not None:
        note = N_(
            "{name} stands for {path}, because the tuning was measured with it ({mpi}); the first one on PATH, "
            "{here}, is not used"
        )
    measured = f"{mpi_name(tuning.mpi.family)} {tuning.mpi.version}"
    return Line([kept, *words[1:]], kept, (note.format(name=own, path=kept, mpi=measured, here=here),))


def started_by_given(words: Sequence[str], given: str) -> Line:
    """A user's line with the launcher given (--mpirun) for its own. Raises UserError for one that cannot be run."""
    path = find_mpirun(given)
    return Line([path, *words[1:]] if mpirun_of(list(words)) else list(words), path)


def _belongs(words: Sequence[str], here: str, kept: MpiPart) -> bool:
    """Whether the line's program is known to use the MPI that is kept, rather than the one on PATH."""
    from unisono.cmdline.preload import launcher_of
    from unisono.profile.diagnose import library_of, program_of

    library = library_of(program_of(words, launcher_of(words)))
    if library is None or not families.known(kept.family) or library[0] != families.family(kept.family).LIBRARY:
        return False
    theirs, ours = (_depth(library[1], mpirun) for mpirun in (here, kept.mpirun))
    return ours >= theirs


def _depth(library: Path, mpirun: str) -> int:
    """How much of a library's path is the installation of an MPI; 0: it lies elsewhere."""
    prefix = Path(mpirun).resolve().parent.parent
    return len(prefix.parts) if library.is_relative_to(prefix) else 0


def _same(a: str, b: str) -> bool:
    return Path(a).resolve() == Path(b).resolve()
