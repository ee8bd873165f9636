"""The C tests, under the address and undefined-behaviour sanitizers, also of the whole program on two ranks."""

from __future__ import annotations

import shlex
import subprocess
from pathlib import Path

import pytest

from tests.measure.conftest import bench_command
from unisono.library.native import native_source, tool
from unisono.machine.description import Machine


@pytest.mark.mpi
@pytest.mark.beside
@pytest.mark.timeout(900)  # a Xeon of 2019 compiles all of it for more than five minutes while other tests run
def test_native_tests_with_sanitizers(embedded: Machine, tmp_path: Path) -> None:
    assert embedded.mpi is not None and embedded.mpi.mpicc is not None
    mpirun = shlex.join(bench_command(embedded, 2).argv[:-1])
    options = ["-DUNISONO_WERROR=ON", "-DUNISONO_SANITIZE=ON", "-DUNISONO_TESTS=ON", f"-DUNISONO_MPIRUN={mpirun}"]
    compiler = [f"-DCMAKE_C_COMPILER={embedded.mpi.mpicc}", f"-DCMAKE_MAKE_PROGRAM={tool('ninja')}"]
    build = str(tmp_path)
    _run([tool("cmake"), "-G", "Ninja", *compiler, *options, "-S", str(native_source()), "-B", build])
    _run([tool("cmake"), "--build", build])
    said = _run([tool("ctest"), "--test-dir", build, "--output-on-failure", "--no-tests=error", "-j2"])
    assert "every_collective" in said


def _run(argv: list[str]) -> str:
    done = subprocess.run(argv, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=800, check=False)
    assert done.returncode == 0, done.stdout[-8000:]
    return done.stdout
