"""Our library and its variables on a user's own command line, in the words of whatever starts the ranks there.

The variables are for the ranks alone: LD_PRELOAD in the environment of mpirun, srun or a shell would put the library,
and with it the MPI library, into those programs too. Whoever adds the library to a line that has it already adds only
the variables.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from unisono import mpi as families
from unisono.core.asking import ask
from unisono.core.errors import UserError
from unisono.core.language import N_, _
from unisono.core.reading import open_regular
from unisono.machine.description import Mpi
from unisono.mpi.found import beside
from unisono.mpi.launchers import LAUNCHERS, of_a_scheduler, starts_ranks
from unisono.mpi.launchers import launcher as known_launcher
from unisono.mpi.launchers.launcher import Launcher as Words
from unisono.mpi.launchers.lines import PRELOAD, Line, joined

_NOWHERE = N_("{word}: not on PATH, and not in this directory")
_PROGRAM = "program"
_SCRIPT = "script"


@dataclass(frozen=True, slots=True)
class Launcher:
    """What starts the ranks in a command line."""

    kind: str
    """Of a launcher (unisono.mpi.launchers), "program" (the program itself, as a single rank) or "script" (mpirun is
    somewhere in a script)."""
    at: int
    """Its index in the command line."""
    path: str = ""
    """Of mpirun; "" for srun and the last two."""

    @property
    def words(self) -> Words | None:
        """How it is spoken to; None where no launcher is seen."""
        return None if self.kind in (_PROGRAM, _SCRIPT) else known_launcher(self.kind)

    @property
    def is_script(self) -> bool:
        return self.kind == _SCRIPT


def launcher_for(mpi: Mpi) -> Launcher:
    """Of a command line that begins with this MPI's launcher."""
    return Launcher(mpi.starter.KIND, 0, "" if mpi.launcher else mpi.mpirun)


def launcher_of(argv: Sequence[str]) -> Launcher:
    """Finds mpirun or srun, also behind others (time, env, timeout ...). Raises UserError when there is no command, or
    when it cannot be found."""
    if not argv:
        raise UserError(_("no command: write the mpirun command line after --"))
    for at, word in enumerate(argv):
        if not starts_ranks(word):
            continue
        found = shutil.which(word)
        if found is None:
            raise _cannot_run(word, _("{word}: not on PATH; load the module of your MPI, or write its whole path"))
        scheduler = of_a_scheduler(word)
        if scheduler is not None:
            return Launcher(scheduler.KIND, at)
        answer = ask([found, "--version"])
        family, *_version = families.recognised(answer.out + answer.error)
        theirs = families.launcher_of(family)
        if theirs is not None:
            return Launcher(theirs.KIND, at, found)
        said = (answer.error or answer.out).strip().splitlines() or ["nothing"]
        raise UserError(
            _("{found} --version: not the launcher of an MPI we know (it said: {said})").format(
                found=found, said=said[0]
            )
        )
    found = shutil.which(argv[0])
    if found is None:
        here = _("{word}: not on PATH, but in this directory: write ./{word}")
        raise _cannot_run(argv[0], here if os.access(argv[0], os.X_OK) else _(_NOWHERE))
    return Launcher(_PROGRAM if _is_binary(Path(found)) and not _is_shell(found) else _SCRIPT, 0)


def not_found(word: str) -> UserError:
    """Of a program that is neither where its path says, nor on PATH or in this directory."""
    return _cannot_run(word, _(_NOWHERE))


def _cannot_run(word: str, without_path: str) -> UserError:
    """`without_path`: what to say of a bare name."""
    if os.sep not in word:
        return UserError(without_path.format(word=word))
    if not os.path.lexists(word):
        return UserError(_("{word}: there is no such program; check the path").format(word=word))
    return UserError(_("{word}: not a program that can be run").format(word=word))


def _is_binary(program: Path) -> bool:
    """Not a script. Raises UserError for what is no file."""
    if not os.access(program, os.R_OK):
        return True  # which only the kernel reads: a script's interpreter could not
    with open_regular(program) as file:
        return file.read(4) == b"\x7fELF"


def _is_shell(program: str) -> bool:
    return Path(program).resolve().name in (
        "bash",
        "sh",
        "dash",
        "zsh",
        "ksh",
        "csh",
        "tcsh",
        "fish",
        "make",
        "busybox",
    )


def compiler_of(launcher: Launcher) -> str | None:
    """The mpicc of the same MPI; None where there is none beside the launcher. On Debian it has the same ending."""
    if not launcher.path or launcher.words is None:
        return None
    names = launcher.words.compilers(Path(launcher.path).name)
    return next((found for name in names if (found := beside(launcher.path, name))), None)


def with_variables(
    argv: Sequence[str], launcher: Launcher, library: Path, variables: Mapping[str, str], env: Mapping[str, str]
) -> Line:
    """`argv` with `library` preloaded into the ranks and `variables` set for them. What the user preloads stays, before
    ours. `env` is the environment the line runs in. Raises UserError for a line that cannot be understood."""
    if launcher.words is not None:
        return launcher.words.preloaded(argv, launcher.at, str(library), variables, env)
    preload = joined(env.get(PRELOAD), str(library))
    if launcher.kind == _PROGRAM:
        note = N_("there is no mpirun in the command, so the program runs as a single rank")
        return Line(list(argv), {PRELOAD: preload, **variables}, [note])
    return _script(argv, preload, variables, env)


def _script(argv: Sequence[str], preload: str, variables: Mapping[str, str], env: Mapping[str, str]) -> Line:
    """Through what Open MPI and srun read from their environment."""
    exports = {PRELOAD: preload, **variables}
    ours = {name: value for one in LAUNCHERS for name, value in one.inherited(exports, env).items()}
    note = N_(
        "the command itself names no mpirun or srun. If it starts Open MPI's mpirun or Slurm's srun inside, the "
        "environment passes the settings on to them; other launchers do not get the settings"
    )
    return Line(list(argv), ours, [note])
