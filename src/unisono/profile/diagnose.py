"""Why a run recorded nothing: what kind of program it was."""

from __future__ import annotations

import mmap
import re
import shutil
from collections.abc import Sequence
from pathlib import Path

from unisono.cmdline.preload import Launcher
from unisono.core.asking import ask
from unisono.core.errors import UserError
from unisono.core.language import N_, _, translated
from unisono.core.reading import open_regular
from unisono.inventory.mpi import mpirun_of_library
from unisono.launch.failure import refusal

_LIBRARY = re.compile(r"^\s*(libmpi[\w.+-]*\.so[\w.]*|libmpich[\w.+-]*\.so[\w.]*)\s+=>", re.MULTILINE)
_MAIN_LIBRARY = re.compile(r"^\s*(libmpi(?:ch)?\.so\.(\d+)[\w.]*)\s+=>\s*(\S+)", re.MULTILINE)
"""Its number tells families apart: 12 is MPICH and all that keep to its ABI, 40 is Open MPI 4 and 5."""


def program_of(argv: Sequence[str], launcher: Launcher) -> Path | None:
    """The file that is the (first) program of a command line; None where it cannot be told."""
    if launcher.is_script:
        return None
    found = launcher.words.program(argv[launcher.at :]) if launcher.words is not None else shutil.which(argv[0])
    return Path(found) if found else None


Library = tuple[str, Path]
"""The number and the file of an MPI's main library."""


def library_of(program: Path | None) -> Library | None:
    """The MPI library that a program, or a library of ours, would load by itself; None where that is not known."""
    found = _MAIN_LIBRARY.search(ask(["ldd", str(program)]).out) if program is not None else None
    return None if found is None else (found[2], Path(found[3]).resolve())


def mpirun_of(program: Path | None) -> str | None:
    """The launcher of the MPI that a program was linked with; None where that cannot be told."""
    library = library_of(program)
    return None if library is None else mpirun_of_library(*library)


def mismatch(program: Path | None, ours: Library | None) -> str | None:
    """A sentence where the program was linked with another MPI than the launcher's, whose library is `ours`; None where
    all is well or nothing is known."""
    theirs = library_of(program)
    if theirs is None or ours is None or theirs[0] == ours[0]:
        return None
    return _("{program} uses {theirs}, but the mpirun of this command belongs to {ours}: start it with its own").format(
        program=program, theirs=theirs[1].name, ours=ours[1].name
    )


def other_library(program: Path | None, ours: Library | None) -> str | None:
    """A sentence where the program by itself loads another file of the same MPI library than `ours`, the launcher's:
    its ranks use theirs (a RUNPATH of its own), unless mpirun sets their LD_LIBRARY_PATH. None where all is well."""
    theirs = library_of(program)
    if theirs is None or ours is None or theirs[0] != ours[0] or theirs[1] == ours[1]:
        return None
    return N_(
        "{program} by itself loads {theirs}, but this mpirun belongs to {ours}; which of them its ranks use depends "
        "on whether mpirun sets their LD_LIBRARY_PATH: start it with its own mpirun"
    ).format(program=program, theirs=theirs[1], ours=ours[1])


_NOT_WRITTEN = re.compile(r"unisono: (/[^\n]*)/\.recording-[^/\n]*/[^/\n]*\.raw: ([^\n]*)")
"""What the recorder says where it cannot write (native/intercept/output.c): the directory that was asked for, why."""


def _not_written(said: str) -> str | None:
    """One sentence, where the recorder said that it could not write what it had."""
    found = _NOT_WRITTEN.search(said)
    if found is None:
        return None
    where, why = found.groups()
    if "no space left" in why:
        text = _("nothing was recorded: the disk of {path} is full; make room there, or name another place with -o")
        if "quota" in why:
            text = _("nothing was recorded: your quota for {path} is used up; make room, or name another place with -o")
    elif "ulimit" in why:
        text = _(
            "nothing was recorded: the profile is larger than files may be in the ranks (ulimit -f); raise that limit"
        )
    elif "no such directory" in why:
        text = _(
            "nothing was recorded: {path} does not exist on the node of rank 0; name a directory with -o that "
            "all nodes share"
        )
    else:
        text = _("nothing was recorded: the ranks could not write to {path}: {why}")
    return text.format(path=where, why=why)


def nothing_recorded(program: Path | None, exit_status: int, launched: bool = False, said: str = "") -> str:
    """One sentence: why there is no file. `launched`: a launcher of an MPI was given, not a script around it; `said`:
    what was written to stderr, where that is known."""
    if exit_status and (refused := refusal(said)):
        return _("nothing was recorded: {reason}").format(reason=translated(refused.reason))
    if (reason := _not_written(said)) is not None:
        return reason
    if program is None:
        if exit_status and launched:
            return _(
                "nothing was recorded (exit status {status}): the launcher's command line names no program that "
                "exists and can be run; see the launcher's message above"
            ).format(status=exit_status)
        if exit_status:
            return _(
                "nothing was recorded (exit status {status}): the command started no MPI program that could be "
                "recorded; write mpirun itself after --"
            ).format(status=exit_status)
        return _(
            "nothing was recorded: the command started no MPI program that could be recorded; write mpirun "
            "itself after --"
        )
    what = _kind(program)
    if what == "static":
        return _(
            "nothing was recorded: {program} is linked statically with its MPI library, so the recorder cannot "
            "be preloaded; link it with libunisono.so before the MPI library, or with the shared MPI library"
        ).format(program=program)
    if what == "mpi" and exit_status:
        return _(
            "nothing was recorded: {program} ended (exit status {status}) before MPI_Init, or too abruptly to "
            "write anything (_exit, SIGKILL)"
        ).format(program=program, status=exit_status)
    if what == "mpi":
        return _(
            "nothing was recorded: {program} is linked with MPI, but no rank got from MPI_Init to MPI_Finalize; "
            "did it end by _exit, or never call MPI_Init?"
        ).format(program=program)
    if what == "opens":
        if exit_status:
            said = _(
                "nothing was recorded (exit status {status}): {program} is not linked with an MPI library; if it opens "
                "one at run time (dlopen), link it instead, or preload the MPI library too: "
                "-x LD_PRELOAD=/path/to/libmpi.so"
            )
        else:
            said = _(
                "nothing was recorded: {program} is not linked with an MPI library; if it opens one at run time "
                "(dlopen), link it instead, or preload the MPI library too: -x LD_PRELOAD=/path/to/libmpi.so"
            )
    elif exit_status:
        said = _(
            "nothing was recorded (exit status {status}): {program} is no MPI program: neither it nor its libraries "
            "call MPI"
        )
    else:
        said = _("nothing was recorded: {program} is no MPI program: neither it nor its libraries call MPI")
    return said.format(program=program, status=exit_status)


def _kind(program: Path) -> str:
    """ "mpi": linked with a shared MPI library; "static": with it inside; "opens": may load it later; "none"."""
    try:
        with open_regular(program) as file:
            if file.read(4) != b"\x7fELF":
                return "opens"
            with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
                has_mpi = data.find(b"MPI_Init") >= 0 or data.find(b"mpi_init_") >= 0
                opens = data.find(b"dlopen\0") >= 0
    except (OSError, ValueError, UserError):
        return "opens"
    listed = ask(["ldd", str(program)])
    if _LIBRARY.search(listed.out):
        return "mpi"
    if has_mpi and ("PMPI_Init" in _symbols(program) or not listed.ok):
        return "static"
    return "opens" if opens or "libpython" in listed.out or program.resolve().name.startswith("python") else "none"


def _symbols(program: Path) -> str:
    return ask(["nm", "--defined-only", str(program)]).out
