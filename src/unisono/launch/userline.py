"""A user's own mpirun or srun command line, taken apart as far as tuning it needs."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from unisono.errors import UserError
from unisono.language import N_, _

_MPIRUN = ("mpirun", "mpiexec", "orterun", "prterun", "mpirun.openmpi", "mpiexec.openmpi")
_FOREIGN = {
    "hydra": N_("MPICH's launcher"),
    "mpich": N_("MPICH's launcher"),
    "mpirun_rsh": N_("MVAPICH's launcher"),
    "jsrun": N_("LSF's launcher"),
    "aprun": N_("Cray's launcher"),
    "flux": N_("Flux's launcher"),
}

_VALUES = {
    0: """allow-run-as-root bind-to-core bind-to-socket bycore bynode byslot continuous d debug debug-daemons
    debug-daemons-file debug-devel disable-recovery display-allocation display-comm display-comm-finalize
    display-devel-allocation display-devel-map display-diffable-map display-map do-not-launch do-not-resolve
    enable-instant-on-support enable-recovery fwd-mpirun-port get-stack-traces index-argv-by-rank
    leave-session-attached merge-stderr-to-stdout nolocal nooversubscribe noprefix novm output-proctable
    oversubscribe pernode preload-binary q quiet report-bindings report-child-jobs-separately report-state-on-timeout s
    set-cwd-to-session-dir show-progress soft stop-in-app stop-in-init stop-on-exec tag-output timestamp-output tv
    use-hwthread-cpus use-regexp v verbose V version xml""",
    1: """am amca app arch bind-to c cartofile cf cpu-list cpu-set cpus-per-proc cpus-per-rank debugger
    default-hostfile display file forward-signals h help H hnp host hostfile initial-errhandler launch-agent
    machinefile map-by max-restarts max-vm-size n N np npernode npersocket ompi-server output output-directory
    output-filename path personality ppr prefix preload-files pset rank-by rankfile report-events report-pid report-uri
    rf runtime-options spawn-timeout stdin stream-buffering timeout tmpdir tune wd wdir with-ft x xml-file xterm""",
    2: "gmca gomca gpmixmca gprtemca mca omca pmixmca prtemca",
}
_MPIRUN_VALUES = {name: count for count, names in _VALUES.items() for name in names.split()}
"""Option, without its dashes -> how many words follow it: `mpirun --help full` of 4.1.4 and schizo_ompi.c of PRRTE 3,
less the two (dvm, display-topo) that take a word in one and none in the other."""

_SRUN_FLAGS = """
    E H I K O Q V X Z b compress contiguous disable-status exact exclusive get-user-env h help hold immediate
    interactive k kill-on-bad-exit l label multi-prog nice no-allocate no-kill no-requeue overcommit overlap
    oversubscribe preserve-env propagate pty quiet reboot requeue resv-ports s send-libs spread-job u unbuffered
    usage use-min-nodes v verbose version whole""".split()  # noqa: SIM905
"""srun's options that take no value, or only one after an equals sign; every other takes one."""


@dataclass(frozen=True, slots=True)
class Option:
    name: str
    """Without dashes."""
    values: tuple[str, ...]
    words: tuple[str, ...] = field(default=(), compare=False)
    """As they stand in the command line."""

    def __str__(self) -> str:
        dashes = "-" if len(self.name) == 1 else "--"
        return " ".join([dashes + self.name, *self.values])


@dataclass(frozen=True, slots=True)
class Context:
    """One program of the job; several are separated by a colon."""

    start: int
    """Index in the command line of its first word (after the launcher or the colon)."""
    options: tuple[Option, ...]
    program: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class UserLine:
    argv: tuple[str, ...]
    launcher: str
    """"mpirun" (Open MPI's, by whatever name) or "srun"."""
    contexts: tuple[Context, ...]

    def options(self, *names: str) -> Iterator[Option]:
        """All of these names, in order, of every context."""
        for context in self.contexts:
            yield from (option for option in context.options if option.name in names)

    def value(self, *names: str) -> str | None:
        """Of the last of these options; None when none is there."""
        found = [option.values[0] for option in self.options(*names) if option.values]
        return found[-1] if found else None


def parse(argv: Sequence[str]) -> UserLine:
    """Raises UserError for anything but a complete mpirun or srun command line of Open MPI."""
    if not argv:
        raise UserError(_("no command: write the mpirun command line after --"))
    launcher = _launcher(argv[0])
    contexts = []
    start = 1
    while True:
        end = _colon(argv, start) if launcher == "mpirun" else len(argv)
        contexts.append(_context(argv, start, end, launcher))
        if end >= len(argv):
            break
        start = end + 1
    return UserLine(tuple(argv), launcher, tuple(contexts))


def _launcher(word: str) -> str:
    name = Path(word).name
    if name == "srun":
        return "srun"
    found = shutil.which(word)
    real = Path(found).resolve().name if found else name
    for part, whose in _FOREIGN.items():
        if part in name or part in real:
            raise UserError(
                _("{word}: this is {whose}; Unisono can only add a setting to Open MPI's mpirun, or srun").format(
                    word=word, whose=whose
                )
            )
    if name not in _MPIRUN:
        raise UserError(
            _("{word}: not an MPI launcher; begin the command with mpirun, mpiexec or srun").format(word=word)
        )
    return "mpirun"


def _colon(argv: Sequence[str], start: int) -> int:
    try:
        return argv.index(":", start)
    except ValueError:
        return len(argv)


def _context(argv: Sequence[str], start: int, end: int, launcher: str) -> Context:
    options: list[Option] = []
    at = start
    while at < end and argv[at].startswith("-") and argv[at] != "-":
        if argv[at] == "--":
            at += 1
            break
        option, after = (_srun_option if launcher == "srun" else _mpirun_option)(argv, at, end)
        if option.name in ("app", "multi-prog"):
            raise UserError(
                _("{option}: a file of programs cannot be given a setting; write the programs out").format(
                    option=option
                )
            )
        options.append(replace(option, words=tuple(argv[at:after])))
        at = after
    if at >= end:
        raise UserError(_("{argv}: there is no program to start").format(argv=" ".join(argv)))
    return Context(start, tuple(options), tuple(argv[at:end]))


def _mpirun_option(argv: Sequence[str], at: int, end: int) -> tuple[Option, int]:
    name, equals, value = argv[at].lstrip("-").partition("=")
    count = _MPIRUN_VALUES.get(name)
    if count is None:
        raise UserError(_("{argv}: no option of mpirun in Open MPI 4.1 or 5.0").format(argv=argv[at]))
    if equals and count == 1:
        return Option(name, (value,)), at + 1
    if at + count >= end:
        raise UserError(
            _("{argv}: needs {value} after it").format(
                argv=argv[at], value=_("a value") if count == 1 else _("{count} values").format(count=count)
            )
        )
    return Option(name, tuple(argv[at + 1 : at + 1 + count])), at + 1 + count


def _srun_option(argv: Sequence[str], at: int, end: int) -> tuple[Option, int]:
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
