"""The C tests that need no running MPI, compiled for arm64 and run by an emulator.

What differs there: other instructions for waiting and prefetching, unsigned characters, long double in quad precision,
another layout of call frames. (An emulator on x86 keeps x86's order of memory accesses: that order is not tested.)"""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.tally import Tally
from unisono.library.native import native_source, tool

pytestmark = [pytest.mark.nightly, pytest.mark.timeout(1200)]

COMPILER, EMULATOR, MPICC = "aarch64-linux-gnu-gcc", "qemu-aarch64-static", "mpicc.mpich"
SYSTEM = Path("/usr/aarch64-linux-gnu")
PACKAGES = "apt-get install gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user-static libmpich-dev mpich"


def _run(*argv: str, text: str | None = None, status: int | None = 0) -> str:
    done = subprocess.run(
        argv, input=text, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=1000, check=False
    )
    assert status is None or done.returncode == status, done.stdout[-8000:]
    return done.stdout


def _headers() -> str:
    """MPICH's mpi.h is the same on all machines of 64 bits, and its handles are numbers: nothing to link with."""
    (folder,) = re.findall(r"-I(\S*mpich\S*)", _run(MPICC, "-show"))[:1]
    return str(folder)


def _stand_in(folder: Path, headers: str) -> Path:
    """A library in place of MPI's, which names what was called and ends the caller."""
    seen = _run(COMPILER, "-E", f"-I{headers}", "-", text="#include <mpi.h>\n")
    names = sorted(set(re.findall(r"\b(P?MPI_\w+) *\(", seen)))
    assert len(names) > 800
    source = folder / "stand_in.c"
    functions = "".join(f'void {name}(void) {{ perror("stand-in for {name}"); abort(); }}\n' for name in names)
    source.write_text("#include <stdio.h>\n#include <stdlib.h>\n" + functions)
    library = folder / "libstand_in.so"
    _run(COMPILER, "-shared", "-fPIC", "-o", str(library), str(source))
    return library


@pytest.mark.skipif(
    not all(map(shutil.which, (COMPILER, EMULATOR, MPICC))) or not SYSTEM.is_dir(), reason=f"`{PACKAGES}` brings arm64"
)
def test_native_tests_on_arm64(tmp_path: Path, tally: Tally) -> None:
    headers = _headers()
    _run(
        *(tool("cmake"), "-G", "Ninja", f"-DCMAKE_MAKE_PROGRAM={tool('ninja')}", "-DUNISONO_TESTS=ON"),
        # What is sanitized is mostly not optimized: here it is, without a warning (but this one: tests/conftest.py).
        *("-DUNISONO_WERROR=ON", f"-DCMAKE_C_FLAGS=-I{headers} -Wno-error=stringop-overflow"),
        *("-DCMAKE_SYSTEM_NAME=Linux", "-DCMAKE_SYSTEM_PROCESSOR=aarch64", f"-DCMAKE_C_COMPILER={COMPILER}"),
        f"-DCMAKE_C_STANDARD_LIBRARIES={_stand_in(tmp_path, headers)}",
        *(f"-DCMAKE_CROSSCOMPILING_EMULATOR={EMULATOR};-L;{SYSTEM}", "-S", str(native_source()), "-B", str(tmp_path)),
    )
    _run(tool("cmake"), "--build", str(tmp_path))
    said = _run(tool("ctest"), "--test-dir", str(tmp_path), "--timeout", "600", "--output-on-failure", status=None)
    failed = set(re.findall(r"^\s*\d+ - (\w+) \(", said, re.MULTILINE))
    assert not failed, said[-8000:]
    passed = len(re.findall(r"Passed", said))
    tally("native tests on emulated arm64", passed=passed)
    assert passed >= 20
