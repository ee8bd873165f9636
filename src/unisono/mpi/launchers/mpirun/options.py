"""A user's own line of Open MPI's mpirun, taken apart as far as tuning it needs."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

from unisono.core.errors import UserError
from unisono.core.language import N_, _
from unisono.core.names import close_names
from unisono.mpi.launchers.lines import Option, UserLine, context

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
_RANKS = ("n", "np", "c")
_MPIRUN_VALUES = {name: count for count, names in _VALUES.items() for name in names.split()}
"""Option, without its dashes -> how many words follow it: `mpirun --help full` of 4.1.4 and schizo_ompi.c of PRRTE 3,
less the two (dvm, display-topo) that take a word in one and none in the other."""


def parse(argv: Sequence[str]) -> UserLine:
    """Raises UserError for anything but a complete command line of Open MPI's mpirun."""
    if not argv:
        raise UserError(_("no command: write the mpirun command line after --"))
    _require_ours(argv[0])
    contexts = []
    start = 1
    while True:
        end = _colon(argv, start)
        contexts.append(context(argv, start, end, _option))
        if end >= len(argv):
            break
        start = end + 1
    return UserLine(tuple(argv), tuple(contexts))


def _require_ours(word: str) -> None:
    name = Path(word).name
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


def _colon(argv: Sequence[str], start: int) -> int:
    try:
        return argv.index(":", start)
    except ValueError:
        return len(argv)


def _option(argv: Sequence[str], at: int, end: int) -> tuple[Option, int]:
    name, equals, value = argv[at].lstrip("-").partition("=")
    count = _MPIRUN_VALUES.get(name)
    if count is None:
        if near := close_names(name, _MPIRUN_VALUES):
            meant = ("--" if len(near[0]) > 1 else "-") + near[0]
            raise UserError(
                _("{argv}: no option of mpirun in Open MPI 4.1 or 5.0; did you mean {near}?").format(
                    argv=argv[at], near=meant
                )
            )
        raise UserError(_("{argv}: no option of mpirun in Open MPI 4.1 or 5.0").format(argv=argv[at]))
    if name in _RANKS and not equals and at + 1 < end and "/" in argv[at + 1]:  # the program took the number's place
        raise UserError(
            _("{option} {word}: write the number of ranks after {option}, as in {option} 2").format(
                option=argv[at], word=argv[at + 1]
            )
        )
    if equals and count == 1:
        return Option(name, (value,)), at + 1
    if at + count >= end:
        raise UserError(
            _("{argv}: needs {value} after it").format(
                argv=argv[at], value=_("a value") if count == 1 else _("{count} values").format(count=count)
            )
        )
    return Option(name, tuple(argv[at + 1 : at + 1 + count])), at + 1 + count
