"""mpirun of Open MPI 4.1 and newer, by whatever name."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

from unisono.core.errors import UserError
from unisono.core.language import N_, _
from unisono.mpi.launchers.lines import (
    PRELOAD,
    Here,
    Job,
    Line,
    Owner,
    UnplaceableError,
    UserLine,
    Wanted,
    entries_without,
    joined,
    one_program,
    overridden,
)
from unisono.mpi.launchers.mpirun.job import HOSTFILES, hosts_of, job_of
from unisono.mpi.launchers.mpirun.options import parse
from unisono.mpi.launchers.mpirun.sought import sought_here

KIND = "openmpi"
_PLACED = (
    *("map-by", "rank-by", "bind-to", "ppr", "npernode", "npersocket", "pernode", "N", "rankfile", "rf"),
    *("cpu-list", "cpu-set", "cpus-per-rank", "cpus-per-proc", "bynode", "byslot", "bycore", "bind-to-core"),
    *("bind-to-socket", "use-hwthread-cpus", "oversubscribe"),
)
"""Options by which a user places ranks: with any of them the line keeps its own placement."""
PLACING: tuple[str, ...] = ("n", "np", "c", *_PLACED)
SETTING: tuple[str, ...] = ("x",)
HOSTS: tuple[str, ...] = ("host", "H")
HANDS_ON = False
WAITS = False
_MCA = ("mca", "gmca", "omca", "gomca")
_FILES = ("tune", "am", "amca")
_LIST = "mca_base_env_list"
_ENV_LIST = f"OMPI_MCA_{_LIST}"


def compilers(name: str) -> list[str]:
    """On Debian it ends as the launcher does."""
    _name, dot, ending = name.partition(".")
    return [*([f"mpicc.{ending}"] if dot else []), "mpicc"]


def parameters(mca: Mapping[str, str]) -> list[str]:
    return [word for name, value in mca.items() for word in ("--mca", name, value)]


def exports(variables: Mapping[str, str]) -> list[str]:
    return [word for name, value in variables.items() for word in ("-x", f"{name}={value}")]


def ranks(count: int) -> list[str]:
    return ["-n", str(count)]


def layout(processes: int, threads: int, binding: Sequence[str]) -> list[str]:
    """4 and 5 alike."""
    return ["--map-by", f"ppr:{processes}:node:PE={threads}", "--bind-to", "core"]


def taken_apart(argv: Sequence[str]) -> tuple[list[list[str]], list[str]]:
    return one_program(parse(argv))


def program(argv: Sequence[str]) -> str | None:
    try:
        return shutil.which(parse(argv).contexts[0].program[0])
    except UserError:
        return None


def sought(argv: Sequence[str]) -> list[str]:
    try:
        return sought_here(parse(argv))
    except UserError:
        return []


def interface(argv: Sequence[str], env: Mapping[str, str]) -> str | None:
    return None


def job(argv: Sequence[str], here: Here) -> Job:
    return job_of(parse(argv), here)


def nodes(argv: Sequence[str], here: Here) -> int:
    return job(argv, here).nodes


def named(argv: Sequence[str], here: Here) -> list[tuple[str, int]]:
    line = parse(argv)
    return hosts_of(line, here) if next(line.options(*HOSTS, *HOSTFILES), None) else []


def added(argv: Sequence[str], wanted: Wanted, here: Here, mpi: Owner) -> Line:
    line = parse(argv)
    notes = [
        *_other_mpi(line, mpi),
        *(
            N_("the file that {option} names is not read: a setting in it may act as well").format(option=option)
            for option in line.options(*_FILES)
        ),
    ]
    mca, variables = _not_said_already(line, wanted, notes)
    notes += overridden(here.environment, mca, variables)
    ours = [*_placement(line, wanted, here, notes), *parameters(mca)]
    words: list[str] = []
    at = 0
    for number, context in enumerate(line.contexts):
        # MCA parameters and placement are the whole job's; Open MPI 4 exports variables program by program.
        words += [*argv[at : context.start], *(ours if number == 0 else []), *exports(variables)]
        at = context.start
    return Line([*words, *argv[at:]], {}, notes)


def _not_said_already(line: UserLine, wanted: Wanted, notes: list[str]) -> tuple[dict[str, str], dict[str, str]]:
    """What the command line does not say itself: both versions refuse an MCA parameter given twice."""
    said_mca = {option.values[0]: option for option in line.options(*_MCA)}
    said_env = {option.values[0].partition("=")[0]: option for option in line.options(*SETTING)}
    for said, ours in ((said_mca, wanted.mca), (said_env, wanted.variables)):
        for name in said.keys() & ours.keys():
            if said[name].values[-1] not in (ours[name], f"{name}={ours[name]}"):
                notes.append(
                    N_("{said} of the command line is kept; the setting has {name}={ours}").format(
                        said=said[name], name=name, ours=ours[name]
                    )
                )
    return (
        {name: value for name, value in wanted.mca.items() if name not in said_mca},
        {name: value for name, value in wanted.variables.items() if name not in said_env},
    )


def _placement(line: UserLine, wanted: Wanted, here: Here, notes: list[str]) -> list[str]:
    if wanted.placing is None:
        return []
    policy = wanted.placing.policy
    own = next(line.options(*_PLACED), None)
    if own is not None:
        notes.append(
            N_("{own} of the command line is kept; the setting has placement={policy}").format(own=own, policy=policy)
        )
        return []
    starts = job_of(line, here)
    try:
        if len(line.contexts) > 1:
            raise UnplaceableError(N_("the command starts several programs"))
        return wanted.placing.words(starts)
    except UnplaceableError as reason:
        notes.append(N_("placement={policy} is left out: {reason}").format(policy=policy, reason=reason))
        return []


def _other_mpi(line: UserLine, ours: Owner) -> list[str]:
    """A note when the line starts another MPI than the one the words are spelled for."""
    found = shutil.which(line.argv[0])
    theirs = None if found is None else Path(found)
    if theirs is None or theirs.parent.resolve() == Path(ours.mpirun).parent.resolve():
        return []
    return [
        N_("{argv} is {theirs}, but the tuning was made for another MPI (Open MPI {version}, {mpirun})").format(
            argv=line.argv[0], theirs=theirs, version=ours.version, mpirun=ours.mpirun
        )
    ]


def preloaded(argv: Sequence[str], at: int, library: str, variables: Mapping[str, str], env: Mapping[str, str]) -> Line:
    """-x in each of the programs: Open MPI 4 exports program by program. It may not be given twice."""
    line = parse(argv[at:])
    words = list(argv[:at])
    begin = 0
    for number, context in enumerate(line.contexts):
        end = line.contexts[number + 1].start - 1 if number + 1 < len(line.contexts) else len(line.argv)
        options = list(line.argv[context.start : end - len(context.program)])
        preload = joined(env.get(PRELOAD), library)
        for option in context.options:
            name, equals, value = option.values[0].partition("=") if option.name in SETTING else ("", "", "")
            if name == PRELOAD:
                preload = joined(value if equals else env.get(PRELOAD), library)
                where = options.index(option.values[0])
                del options[where - 1 : where + 1]
            elif name in variables:
                raise UserError(
                    _("-x {values}: this is what Unisono sets itself here; leave it out").format(
                        values=option.values[0]
                    )
                )
        ours = exports({PRELOAD: preload, **variables})
        words += [*line.argv[begin : context.start], *ours, *options, *context.program]
        begin = end
    return Line(words, {}, [])


def inherited(variables: Mapping[str, str], env: Mapping[str, str]) -> dict[str, str]:
    theirs = env.get(_ENV_LIST)
    return {_ENV_LIST: ";".join([*([theirs] if theirs else []), *(f"{n}={value}" for n, value in variables.items())])}


def left_out(library: str, prefix: str, env: Mapping[str, str], files: Mapping[str, str]) -> dict[str, tuple[str, str]]:
    """The environment wins over the parameter file, as long as it says anything, be that nothing."""
    listed, where = (env[_ENV_LIST], _ENV_LIST) if _ENV_LIST in env else (files.get(_LIST, ""), _LIST)
    kept = ";".join(entries_without(listed.split(";"), library, prefix))
    return {} if kept == listed else {_ENV_LIST: (where, kept)}
