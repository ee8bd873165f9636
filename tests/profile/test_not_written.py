"""Where the profile cannot be written, the program ends as it would, and the reason is said and no other guessed."""

from __future__ import annotations

import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.launch.conftest import Installed, installed
from unisono.profile.diagnose import nothing_recorded

__all__ = ["installed"]
_SOURCE = """#include <mpi.h>
#include <stdlib.h>
#include <sys/resource.h>
int main(int count, char **words)
{
    MPI_Init(&count, &words);
    MPI_Barrier(MPI_COMM_WORLD);
    const struct rlimit small = {100, RLIM_INFINITY};
    if (count > 1)
        setrlimit(RLIMIT_FSIZE, &small);
    MPI_Finalize();
    return count > 1 ? atoi(words[1]) : 0;
}
"""


@pytest.fixture
def program(installed: Installed, tmp_path: Path) -> str:
    assert installed.machine.mpi is not None and installed.machine.mpi.mpicc is not None
    source = tmp_path / "program.c"
    source.write_text(_SOURCE)
    subprocess.run([installed.machine.mpi.mpicc, "-o", tmp_path / "program", source], check=True, timeout=60)
    return str(tmp_path / "program")


def _profiled(folder: Path, argv: list[str], before: str = "true") -> subprocess.CompletedProcess[str]:
    """`before`: what a shell does first, in mounts of its own."""
    ours = [sys.executable, "-m", "unisono.cli", "profile", "-o", str(folder / "a.profile"), "--", *argv]
    script = f"{before} && {shlex.join(ours)}"
    words = ["unshare", "-m", "sh", "-c", script] if before != "true" else ["sh", "-c", script]
    return subprocess.run(words, capture_output=True, text=True, timeout=120)


@pytest.mark.mpi
@pytest.mark.beside
def test_a_full_disk(installed: Installed, program: str, tmp_path: Path) -> None:
    tried = shutil.which("unshare")
    if tried is None or subprocess.run([tried, "-m", "true"], capture_output=True, check=False).returncode:
        pytest.skip("mounts of one's own (unshare -m) are not to be had here")
    full = tmp_path / "full"
    full.mkdir()
    line = installed.argv("-n", "2", program)
    for argv in (line, ["sh", "-c", shlex.join(line)]):
        done = _profiled(full, argv, f"mount -t tmpfs -o size=4k tmpfs {full}")
        assert done.returncode == 2, done.stderr
        assert f"the disk of {full} is full; make room there" in done.stderr
        assert "_exit" not in done.stderr and "could be recorded" not in done.stderr


@pytest.mark.mpi
@pytest.mark.beside
@pytest.mark.parametrize("status", [0, 5])
def test_a_limit_on_the_size_of_files(installed: Installed, program: str, tmp_path: Path, status: int) -> None:
    done = _profiled(tmp_path, installed.argv("-n", "2", program, str(status)))
    assert done.returncode == (status or 2), done.stderr  # and by no SIGXFSZ
    assert "larger than files may be in the ranks (ulimit -f)" in done.stderr


@pytest.mark.parametrize(
    ("why", "said"),
    [
        ("no space left for the profile", r"the disk of /scratch/me is full"),
        ("no space left for the profile within the quota", r"your quota for /scratch/me is used up"),
        ("no such directory to write the profile to", r"/scratch/me does not exist on the node of rank 0"),
        ("no permission to write the profile", r"could not write to /scratch/me: no permission"),
    ],
)
def test_each_reason(why: str, said: str) -> None:
    for status in (0, 1):
        wrote = f"hello\nunisono: /scratch/me/.recording-k2/run.raw: {why}\n"
        assert said in nothing_recorded(Path("/bin/true"), status, True, wrote)
