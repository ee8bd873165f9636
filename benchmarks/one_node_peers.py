"""Who takes part in collectives_one_node.py: command lines of Open MPI, MPICH and Intel MPI, ranks bound alike."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from unisono.cmdline.command import Command, command
from unisono.core.vocabulary import Setting
from unisono.library.native import bench_program
from unisono.library.recorder import recorder
from unisono.machine.description import Machine
from unisono.parameters.spelling import sweep_words
from unisono.study.ours import preloaded

MODEL = "choice"


@dataclass(frozen=True)
class Peer:
    name: str
    line: Command
    peers: bool = False
    """Whether Open MPI's components and algorithms are measured inside its launches."""
    ours: bool = False


def evenly(line: Command) -> Command:
    """As many ranks on every core. Left alone, the system puts three of four on one for a whole launch as it likes, and
    the launch takes up to twice as long, whoever serves it."""
    return replace(line, argv=["core:overload-allowed" if word == "none" else word for word in line.argv])


def unevenly(line: Command, ranks: int, machine: Machine) -> Command:
    """Three of four ranks on the first CPU, the others on the last. The program is the line's last word."""
    first, last = machine.cpus[0].cpu, machine.cpus[-1].cpu
    bind = (
        f'cpu={first}; [ "$OMPI_COMM_WORLD_LOCAL_RANK" -lt {ranks - ranks // 4} ] || cpu={last}; '
        'exec taskset -c $cpu "$0"'
    )
    return replace(line, argv=[*line.argv[:-1], "sh", "-c", bind, line.argv[-1]])


def open_mpi(machine: Machine, ranks: int, *, uneven: bool) -> list[Peer]:
    """Open MPI over both of its ways to send, our library in the ranks."""
    assert machine.mpi is not None
    program, library = bench_program(machine.mpi.mpicc), recorder(machine.mpi.mpicc)
    crowded = ranks > len(machine.cpus)
    found = []
    for name, setting in (("Open MPI ob1", Setting({"pml": "ob1"})), ("Open MPI UCX", Setting({"pml": "ucx"}))):
        words = sweep_words(machine)
        line = command(machine, setting, 1, ranks, [str(program)], oversubscribe=crowded, extra_mca=words)
        line = unevenly(line, ranks, machine) if uneven else evenly(line) if crowded else line
        line = preloaded(line, library, machine)
        found.append(Peer(name, line, peers=True, ours=True))
        chooses = replace(line, env={**line.env, "UNISONO_COLLECTIVES": "on"})
        found.append(Peer(f"{MODEL}, {name}", chooses, ours=True))
    return found


def other(name: str, mpiexec: str, mpich: str, ranks: int, crowded: bool) -> Peer:
    """MPICH or Intel MPI by its hydra launcher; the program is what MPICH's mpicc built."""
    program = bench_program(str(Path(mpich).absolute().with_name("mpicc")))
    env = {}
    if crowded:  # so that ranks that wait let others work
        env = {"MPIR_CVAR_CH4_PROGRESS_THROTTLE": "1", "I_MPI_WAIT_MODE": "1"}
    if name == "Intel MPI":
        prefix = Path(mpiexec).resolve().parents[1]
        env |= {"I_MPI_ROOT": str(prefix), "LD_LIBRARY_PATH": str(prefix / "lib"), "I_MPI_FABRICS": "shm"}
    return Peer(name, Command([mpiexec, "-n", str(ranks), str(program)], env, None, []))
