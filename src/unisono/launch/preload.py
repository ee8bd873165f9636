"""Our library and its variables on a user's own command line, in the words of whatever starts the ranks there.

The variables are for the ranks alone: LD_PRELOAD in the environment of mpirun, srun or a shell would put the library,
and with it the MPI library, into those programs too. Whoever adds the library to a line that has it already adds only
the variables.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from unisono import mpi as families
from unisono.asking import ask
from unisono.errors import UserError
from unisono.language import N_, _
from unisono.launch.userline import parse
from unisono.machine.model import Mpi
from unisono.machine.mpi import parse_version
from unisono.mpi.found import beside

PRELOAD = "LD_PRELOAD"
_LAUNCHERS = ("mpirun", "mpiexec", "orterun", "prterun", "srun")
_ENV_LIST = "OMPI_MCA_mca_base_env_list"


@dataclass(frozen=True, slots=True)
class Launcher:
    """What starts the ranks in a command line."""

    kind: str
    """"openmpi", "hydra" (MPICH, Intel MPI, MVAPICH), "srun", "program" (the program itself, as a single rank) or
    "script" (mpirun is somewhere in a script)."""
    at: int
    """Its index in the command line."""
    path: str = ""
    """Of mpirun; "" for the last three."""


def launcher_for(mpi: Mpi) -> Launcher:
    """Of a command line that begins with this MPI's launcher."""
    return Launcher("hydra" if mpi.is_hydra else "openmpi", 0, mpi.mpirun)


def launcher_of(argv: Sequence[str]) -> Launcher:
    """Finds mpirun or srun, also behind others (time, env, timeout ...). Raises UserError when there is no command, or
    when it cannot be found."""
    if not argv:
        raise UserError(_("no command: write the mpirun command line after --"))
    for at, word in enumerate(argv):
        name = Path(word).name
        if name.partition(".")[0] not in _LAUNCHERS:
            continue
        found = shutil.which(word)
        if found is None:
            raise UserError(_("{word}: not a program that can be run").format(word=word))
        if name == "srun":
            return Launcher("srun", at)
        answer = ask([found, "--version"])
        family, *_version = parse_version(answer.out + answer.error)
        if family == "mvapich" or (families.known(family) and families.family(family).LAUNCHER == "hydra"):
            return Launcher("hydra", at, found)
        # By the name mpirun.openmpi (Debian) Open MPI 4 calls itself OpenRTE.
        if family in ("openmpi", "spectrum") or "(OpenRTE)" in answer.out:
            return Launcher("openmpi", at, found)
        said = (answer.error or answer.out).strip().splitlines() or ["nothing"]
        raise UserError(
            _("{found} --version: not the launcher of an MPI we know (it said: {said})").format(
                found=found, said=said[0]
            )
        )
    found = shutil.which(argv[0])
    if found is None:
        raise UserError(_("{argv}: not a program that can be run").format(argv=argv[0]))
    with Path(found).open("rb") as file:
        return Launcher("program" if file.read(4) == b"\x7fELF" and not _is_shell(found) else "script", 0)


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
    if not launcher.path:
        return None
    _name, dot, ending = Path(launcher.path).name.partition(".")
    endings = [f".{ending}"] if dot and ending != "hydra" else []
    endings += [".mpich"] if launcher.kind == "hydra" else []
    return next((found for end in [*endings, ""] if (found := beside(launcher.path, f"mpicc{end}"))), None)


@dataclass(frozen=True, slots=True)
class Line:
    argv: list[str]
    env: dict[str, str]
    """To be added to the environment."""
    notes: list[str]


def with_variables(
    argv: Sequence[str], launcher: Launcher, library: Path, variables: Mapping[str, str], env: Mapping[str, str]
) -> Line:
    """`argv` with `library` preloaded into the ranks and `variables` set for them. What the user preloads stays, before
    ours. `env` is the environment the line runs in. Raises UserError for a line that cannot be understood."""
    if launcher.kind == "openmpi":
        return _openmpi(argv, launcher.at, str(library), variables, env)
    if launcher.kind == "hydra":
        return _hydra(argv, launcher.at, str(library), variables, env)
    preload = _joined(env.get(PRELOAD), str(library))
    if launcher.kind == "srun":
        return _srun(argv, launcher.at, {PRELOAD: preload, **variables}, env)
    if launcher.kind == "program":
        note = N_("there is no mpirun in the command: the program is run as it is, as one rank")
        return Line(list(argv), {PRELOAD: preload, **variables}, [note])
    return _script(argv, preload, variables, env)


def _joined(theirs: str | None, ours: str) -> str:
    if not theirs:
        return ours
    return theirs if ours in re.split("[: ]", theirs) else f"{theirs}:{ours}"


def _openmpi(argv: Sequence[str], at: int, library: str, variables: Mapping[str, str], env: Mapping[str, str]) -> Line:
    """-x in each of the programs: Open MPI 4 exports program by program. It may not be given twice."""
    line = parse(argv[at:])
    words = list(argv[:at])
    begin = 0
    for number, context in enumerate(line.contexts):
        end = line.contexts[number + 1].start - 1 if number + 1 < len(line.contexts) else len(line.argv)
        options = list(line.argv[context.start : end - len(context.program)])
        preload = _joined(env.get(PRELOAD), library)
        for option in context.options:
            name, equals, value = option.values[0].partition("=") if option.name == "x" else ("", "", "")
            if name == PRELOAD:
                preload = _joined(value if equals else env.get(PRELOAD), library)
                where = options.index(option.values[0])
                del options[where - 1 : where + 1]
            elif name in variables:
                raise UserError(
                    _("-x {values}: this is what Unisono sets itself here; leave it out").format(
                        values=option.values[0]
                    )
                )
        exports = [word for item in {PRELOAD: preload, **variables}.items() for word in ("-x", "=".join(item))]
        words += [*line.argv[begin : context.start], *exports, *options, *context.program]
        begin = end
    return Line(words, {}, [])


def _hydra(argv: Sequence[str], at: int, library: str, variables: Mapping[str, str], env: Mapping[str, str]) -> Line:
    """-genv right after the launcher: for all programs. The user's own -genv or -env of LD_PRELOAD gets ours added."""
    words = list(argv)
    preload = _joined(env.get(PRELOAD), library)
    is_said = False
    for i in range(at + 1, len(words) - 2):
        if words[i].lstrip("-") in ("genv", "env") and words[i + 1] == PRELOAD:
            words[i + 2] = _joined(words[i + 2], library)
            is_said |= words[i].lstrip("-") == "genv"
    exports = {**({} if is_said else {PRELOAD: preload}), **variables}
    ours = [word for name, value in exports.items() for word in ("-genv", name, value)]
    return Line([*words[: at + 1], *ours, *words[at + 1 :]], {}, [])


def _srun(argv: Sequence[str], at: int, exports: Mapping[str, str], env: Mapping[str, str]) -> Line:
    """--export, which sets variables in the tasks alone. srun splits its value at commas."""
    line = parse(argv[at:])
    strange = next((value for value in exports.values() if "," in value), None)
    if strange is not None:
        raise UserError(
            _("{strange}: srun cannot pass on a value with a comma; choose an output without one").format(
                strange=strange
            )
        )
    own = line.value("export")
    base = (own if own is not None else env.get("SLURM_EXPORT_ENV", "ALL")).split(",")
    theirs = next((entry.partition("=")[2] for entry in base if entry.startswith(f"{PRELOAD}=")), None)
    exports = {**exports, PRELOAD: _joined(theirs, exports[PRELOAD])}
    kept = [entry for entry in base if entry.partition("=")[0] not in exports]
    if kept[:1] in (["NONE"], ["NIL"]):
        raise UserError(
            _("--export={words} keeps what records from the ranks: name variables instead").format(words=",".join(base))
        )
    words = list(line.argv[: len(line.argv) - len(line.contexts[0].program)])
    for option in line.options("export"):
        together = f"--export={option.values[0]}"
        where = words.index(together) if together in words else words.index("--export")
        del words[where : where + (1 if together in words else 2)]
    value = ",".join([*kept, *("=".join(item) for item in exports.items())])
    return Line([*argv[:at], words[0], f"--export={value}", *words[1:], *line.contexts[0].program], {}, [])


def _script(argv: Sequence[str], preload: str, variables: Mapping[str, str], env: Mapping[str, str]) -> Line:
    """Through what Open MPI and srun read from their environment."""
    exports = {PRELOAD: preload, **variables}
    theirs = env.get(_ENV_LIST)
    listed = ";".join([*([theirs] if theirs else []), *(f"{name}={value}" for name, value in exports.items())])
    slurm = ",".join([env.get("SLURM_EXPORT_ENV", "ALL"), *(f"{name}={value}" for name, value in exports.items())])
    note = N_(
        "no mpirun or srun is a word of the command: those of Open MPI and Slurm that it starts "
        "are reached through their environment, others are not"
    )
    return Line(list(argv), {_ENV_LIST: listed, "SLURM_EXPORT_ENV": slurm}, [note])
