"""srun of Slurm, which starts the ranks of any MPI and hands its own environment on to them."""

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
    Option,
    Owner,
    UserLine,
    Wanted,
    context,
    counted,
    entries_without,
    environment_of,
    joined,
    one_program,
    overridden,
)

KIND = "srun"
PLACING: tuple[str, ...] = (*("n", "ntasks", "ntasks-per-node", "c", "cpus-per-task", "cpu-bind", "m", "distribution"),)
SETTING: tuple[str, ...] = ()
HOSTS: tuple[str, ...] = ()
HANDS_ON = True
WAITS = True
_EXPORT = "SLURM_EXPORT_ENV"

_SRUN_FLAGS = """
    E H I K O Q V X Z b compress contiguous disable-status exact exclusive get-user-env h help hold immediate
    interactive k kill-on-bad-exit l label multi-prog nice no-allocate no-kill no-requeue overcommit overlap
    oversubscribe preserve-env propagate pty quiet reboot requeue resv-ports s send-libs spread-job u unbuffered
    usage use-min-nodes v verbose version whole""".split()  # noqa: SIM905
"""srun's options that take no value, or only one after an equals sign; every other takes one."""


def is_it(word: str) -> bool:
    return Path(word).name == KIND


def parse(argv: Sequence[str]) -> UserLine:
    """Raises UserError for anything but a complete command line."""
    return UserLine(tuple(argv), (context(argv, 1, len(argv), _option),))


def _option(argv: Sequence[str], at: int, end: int) -> tuple[Option, int]:
    word = argv[at]
    if word.startswith("--"):
        name, equals, value = word[2:].partition("=")
    else:  # -n4 and -n 4 are the same; -ul is -u -l
        name, value = word[1], word[2:]
        equals = value
    if name in _SRUN_FLAGS:
        return Option(name, (value,) if equals and word.startswith("--") else ()), at + 1
    if equals:
        return Option(name, (value,)), at + 1
    if at + 1 >= end:
        raise UserError(_("{word}: needs a value after it").format(word=word))
    return Option(name, (argv[at + 1],)), at + 2


def compilers(name: str) -> list[str]:
    return []


def parameters(mca: Mapping[str, str]) -> list[str]:
    return []


def exports(variables: Mapping[str, str]) -> list[str]:
    """None: it hands its own environment on."""
    return []


def ranks(count: int) -> list[str]:
    return ["--ntasks", str(count)]


def layout(processes: int, threads: int, binding: Sequence[str]) -> list[str]:
    return ["--ntasks-per-node", str(processes), "--cpus-per-task", str(threads), "--cpu-bind=cores"]


def taken_apart(argv: Sequence[str]) -> tuple[list[list[str]], list[str]]:
    return one_program(parse(argv))


def program(argv: Sequence[str]) -> str | None:
    try:
        return shutil.which(parse(argv).contexts[0].program[0])
    except UserError:
        return None


def sought(argv: Sequence[str]) -> list[str]:
    """None: it looks on the nodes of the step."""
    return []


def interface(argv: Sequence[str], env: Mapping[str, str]) -> str | None:
    try:
        return parse(argv).value("mpi") or env.get("SLURM_MPI_TYPE")
    except UserError:
        return None


def job(argv: Sequence[str], here: Here) -> Job:
    line, env = parse(argv), here.environment
    nodes_text = line.value("N", "nodes")
    nodes = counted(nodes_text.partition("-")[0], "--nodes") if nodes_text is not None else None
    ranks_text = line.value("n", "ntasks")
    ranks = counted(ranks_text, "--ntasks") if ranks_text is not None else None
    each_text = line.value("ntasks-per-node")
    each = counted(each_text, "--ntasks-per-node") if each_text is not None else None
    if nodes is None and "SLURM_NNODES" in env:
        nodes = counted(env["SLURM_NNODES"], "SLURM_NNODES")
    if ranks is None and each is None and "SLURM_NTASKS" in env:
        ranks = counted(env["SLURM_NTASKS"], "SLURM_NTASKS")
    if nodes is None:
        nodes = -(-ranks // each) if ranks is not None and each is not None else 1
    if ranks is None:
        ranks = nodes * (each or 1)
    nodes = min(nodes, ranks)
    return Job(ranks, nodes, -(-ranks // nodes), ())


def nodes(argv: Sequence[str], here: Here) -> int:
    return job(argv, here).nodes


def named(argv: Sequence[str], here: Here) -> list[tuple[str, int]]:
    """None: it alone knows them."""
    return []


def added(argv: Sequence[str], wanted: Wanted, here: Here, mpi: Owner) -> Line:
    """Through the environment."""
    line = parse(argv)
    additions = environment_of(wanted.mca, wanted.variables)
    notes = overridden(here.environment, wanted.mca, wanted.variables)
    if wanted.placing is not None:
        notes.append(
            N_("placement={placement} is left out: srun places the ranks (see its --distribution)").format(
                placement=wanted.placing.policy
            )
        )
    exported = line.value("export")
    if exported is not None and "ALL" not in exported.split(","):
        notes.append(
            N_("--export={exported} keeps variables from the ranks: add {additions} to it").format(
                exported=exported, additions=",".join(additions) or "ALL"
            )
        )
    return Line(list(line.argv), additions, notes)


def preloaded(argv: Sequence[str], at: int, library: str, variables: Mapping[str, str], env: Mapping[str, str]) -> Line:
    """--export, which sets variables in the tasks alone. srun splits its value at commas."""
    exports = {PRELOAD: joined(env.get(PRELOAD), library), **variables}
    line = parse(argv[at:])
    strange = next((value for value in exports.values() if "," in value), None)
    if strange is not None:
        raise UserError(
            _("{strange}: srun cannot pass on a value with a comma; choose an output without one").format(
                strange=strange
            )
        )
    own = line.value("export")
    base = (own if own is not None else env.get(_EXPORT, "ALL")).split(",")
    theirs = next((entry.partition("=")[2] for entry in base if entry.startswith(f"{PRELOAD}=")), None)
    exports = {**exports, PRELOAD: joined(theirs, exports[PRELOAD])}
    kept = [entry for entry in base if entry.partition("=")[0] not in exports]
    if kept[:1] in (["NONE"], ["NIL"]):
        raise UserError(
            _(
                "--export={words} does not pass on the variables that Unisono sets for the ranks; replace NONE or "
                "NIL by the names of your variables"
            ).format(words=",".join(base))
        )
    words = list(line.argv[: len(line.argv) - len(line.contexts[0].program)])
    for option in line.options("export"):
        together = f"--export={option.values[0]}"
        where = words.index(together) if together in words else words.index("--export")
        del words[where : where + (1 if together in words else 2)]
    value = ",".join([*kept, *("=".join(item) for item in exports.items())])
    return Line([*argv[:at], words[0], f"--export={value}", *words[1:], *line.contexts[0].program], {}, [])


def left_out(library: str, prefix: str, env: Mapping[str, str], files: Mapping[str, str]) -> dict[str, tuple[str, str]]:
    listed = env.get(_EXPORT, "")
    kept = ",".join(entries_without(listed.split(","), library, prefix))
    return {} if kept == listed else {_EXPORT: (_EXPORT, kept)}


def inherited(variables: Mapping[str, str], env: Mapping[str, str]) -> dict[str, str]:
    listed = (f"{name}={value}" for name, value in variables.items())
    return {_EXPORT: ",".join([env.get(_EXPORT, "ALL"), *listed])}
