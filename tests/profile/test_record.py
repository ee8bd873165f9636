"""Runs under the recorder: what is kept of them, and why nothing is."""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.commands.program import unisono
from tests.launch.conftest import Installed, installed
from tests.launch.test_failure import EXPECTED, RECORDED
from tests.profile.linked import linked_with
from tests.profile.raw_samples import cell, part, raw_file
from unisono.cmdline.command import Command
from unisono.cmdline.preload import Launcher
from unisono.core.errors import LaunchError, UserError
from unisono.profile.diagnose import library_of, mismatch, nothing_recorded, other_library, program_of
from unisono.profile.record import Options, Recording, record, run_through
from unisono.profile.recorded import Profile

__all__ = ["installed"]


def test_a_filter_is_read_before_anything_is_run(tmp_path: Path) -> None:
    rules = tmp_path / "app.filter"
    rules.write_text("# what polls\nexclude MPI_Iprobe\n\ninclude MPI_T*  # but not these\n")
    assert Options(filter=rules).variables(tmp_path)["UNISONO_PROFILE_FILTER"] == str(rules)
    rules.write_text("exclude MPI_Iprobe\nMPI_Reduce\n")
    with pytest.raises(UserError, match=r"app\.filter, line 2: 'MPI_Reduce' is no rule"):
        Options(filter=rules).variables(tmp_path)


def test_a_program_of_another_version_of_the_same_mpi_is_named(tmp_path: Path) -> None:
    """Each has a RUNPATH of its own to its libmpi.so.40, as programs of two Open MPIs have."""
    built = [linked_with(tmp_path / version) for version in ("4", "5")]
    said = other_library(built[0], library_of(built[1]))
    assert said is not None
    assert f"{tmp_path}/4/lib/libmpi.so.40, but this mpirun belongs to {tmp_path}/5/lib/libmpi.so.40" in said
    assert other_library(built[0], library_of(built[0])) is None
    assert other_library(None, library_of(built[0])) is None


def test_options() -> None:
    with pytest.raises(UserError, match="--depth"):
        Options(depth=17).variables(Path("/p"))
    with pytest.raises(UserError, match="--filter"):
        Options(filter=Path("/no/filter")).variables(Path("/p"))
    said = Options(3, split_waiting=True, memory=5).variables(Path("/p"))
    assert said == {
        "UNISONO_PROFILE": "/p",
        "UNISONO_PROFILE_DEPTH": "3",
        "UNISONO_PROFILE_SPLIT_WAITING": "1",
        "UNISONO_PROFILE_MEMORY": "5",
    }


# -- what was recorded, and why nothing was --------------------------------------------------------------------------


def _program(folder: Path, body: str, *flags: str, compiler: str = "cc") -> Path:
    source, program = folder / "program.c", folder / "program"
    source.write_text(body)
    found = shutil.which(compiler)
    if found is None:
        pytest.skip(f"{compiler} is not installed")
    libraries = [flag for flag in flags if flag.startswith("-l")]
    options = [flag for flag in flags if flag not in libraries]
    subprocess.run([found, *options, "-o", program, source, *libraries], check=True, timeout=60)
    return program


def test_programs_that_cannot_be_recorded(tmp_path: Path) -> None:
    inside = "int MPI_Init(int *c, char ***v) { (void)c; (void)v; return 0; }\nint PMPI_Init(void) { return 0; }\n"
    main = "int main(int c, char **v) { return MPI_Init(&c, &v); }\n"
    for flags in ((), ("-static",)):
        program = _program(tmp_path, inside + main, *flags)
        assert "is linked statically with its MPI library" in nothing_recorded(program, 0)
    program = _program(tmp_path, "int main(void) { return 0; }\n")
    assert "is no MPI program" in nothing_recorded(program, 0)
    opener = '#include <dlfcn.h>\nint main(void) { return dlopen("libmpi.so", RTLD_NOW) == 0; }\n'
    program = _program(tmp_path, opener, "-ldl")
    assert "opens one at run time" in nothing_recorded(program, 1)
    assert "(exit status 9)" in nothing_recorded(None, 9) and "write mpirun itself" in nothing_recorded(None, 9)
    assert "names no program that exists" in nothing_recorded(None, 9, launched=True)


@pytest.mark.parametrize("case", ["no-program", "too-many-ranks", "root"])
def test_what_the_launcher_refused_is_said(case: str) -> None:
    """In place of what the program may have done: it never began."""
    for path in RECORDED.glob(f"*/{case}.*"):
        said = nothing_recorded(Path("/bin/true"), 1, launched=True, said=path.read_text())
        assert said == f"nothing was recorded: {EXPECTED[case][1]}"


@pytest.mark.mpi
@pytest.mark.beside
def test_more_ranks_than_slots(installed: Installed, tmp_path: Path) -> None:
    line = [installed.mpirun, "--allow-run-as-root", "-n", "4096", "hostname"]
    done = unisono("profile", "-o", tmp_path / "app.profile", "--", *line)
    assert done.returncode not in (0, 2), "the launcher's own"
    assert "not enough slots available" in done.stderr, "the launcher's words reach the user"
    last = done.stderr.splitlines()[-1].lstrip("\0")  # with which Open MPI 5 ends its words
    assert last.startswith("unisono: nothing was recorded: not enough slots: 4096 ranks were asked for; ask for fewer")
    assert "or let ranks share CPUs (--oversubscribe, of unisono tune or of your own mpirun)" in last


def test_the_program_of_a_command_line(tmp_path: Path) -> None:
    sleep = Path(shutil.which("sleep") or "")
    assert program_of(["mpirun", "-n", "2", "sleep", "5"], Launcher("openmpi", 0)) == sleep
    assert program_of(["time", "mpiexec", "-n", "2", "sleep", "5"], Launcher("hydra", 1)) == sleep
    by = ["-launcher", "sh", "--bootstrap-exec", "/bin/false"]  # programs, too: what reaches other nodes
    assert program_of(["mpiexec", *by, "-n", "2", "sleep", "5"], Launcher("hydra", 0)) == sleep
    assert program_of(["sleep", "5"], Launcher("program", 0)) == sleep
    assert program_of(["./job"], Launcher("script", 0)) is None
    assert program_of(["mpirun", "-n", "2", "/no/such"], Launcher("openmpi", 0)) is None


def test_a_program_of_another_mpi(tmp_path: Path) -> None:
    """Libraries of the name of MPICH's and Open MPI's, and programs that are linked with them."""
    built = {name: linked_with(tmp_path / name, name) for name in ("libmpi.so.40", "libmpich.so.12", "libmpi.so.12")}
    ours = library_of(built["libmpi.so.40"])
    assert mismatch(built["libmpi.so.40"], ours) is None and mismatch(None, ours) is None
    assert "uses libmpich.so.12, but" in str(mismatch(built["libmpich.so.12"], ours))
    assert mismatch(built["libmpich.so.12"], library_of(built["libmpi.so.12"])) is None


class _Hand(Recording):
    """A recording whose files are written by hand."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._prefix, self._program, self._shown = folder, folder / "run", None, "mpirun ./a"
        self._filter, self.launcher = None, Launcher("openmpi", 0, "mpirun")


def test_files_of_killed_ranks(tmp_path: Path) -> None:
    recording = _Hand(tmp_path)
    with pytest.raises(UserError, match="nothing was recorded"):
        recording.profile(0)
    good = raw_file(part(0, 3, cells=[cell(1)], ended="signal SIGTERM"))
    (tmp_path / "run.rank0.raw").write_bytes(good)
    (tmp_path / "run.rank1.raw").write_bytes(b"")
    (tmp_path / "run.rank10.raw").write_bytes(good[:-20])
    found = recording.profile(143, 2.5)
    assert found.origin.command == "mpirun ./a" and found.origin.profiled == 2.5
    assert any(note.startswith("run.rank1.raw: is empty") for note in found.notes)
    assert any(note.startswith("run.rank10.raw: ends in the middle") for note in found.notes)
    (tmp_path / "run.rank0.raw").unlink()
    with pytest.raises(UserError, match=r"run\.rank1\.raw: is empty"):
        recording.profile(143)
    assert any("/opt/app" not in note and "app has no symbols" in note for note in found.notes)
    (tmp_path / "run.raw").write_bytes(raw_file(*(part(rank, 3) for rank in range(3))))
    assert any("no call of MPI was recorded" in note for note in recording.profile(0).notes)


# -- running it ----------------------------------------------------------------------------------------------------


def test_run_through_passes_signals_and_status_on(tmp_path: Path) -> None:
    script = tmp_path / "run.py"
    script.write_text(
        "import os, signal, sys, time\n"
        "def end(number, frame): os.write(1, b'ended\\n'); sys.exit(7)\n"
        "signal.signal(int(sys.argv[1]), end)\n"
        "os.write(1, b'ready\\n')\n"
        "time.sleep(20)\n"
    )
    outer = (
        "import sys; from unisono.cmdline.command import Command; from unisono.profile.record import run_through\n"
        f"ran = run_through(Command([sys.executable, {str(script)!r}, sys.argv[1]], {{}}, None, []))\n"
        "print(ran.exit_status, ran.signal)"
    )
    for number in (signal.SIGTERM, signal.SIGINT):
        process = subprocess.Popen(
            [sys.executable, "-c", outer, str(int(number))], stdout=subprocess.PIPE, text=True, start_new_session=True
        )
        with process:
            assert process.stdout is not None and process.stdout.readline() == "ready\n"
            process.send_signal(number)
            assert process.stdout.read().split() == ["ended", "7", str(int(number))]
    ignoring = ["sh", "-c", "trap '' HUP INT TERM; exec \"$@\"", "sh", sys.executable, "-c"]
    ignored = (
        "import os; from unisono.cmdline.command import Command; from unisono.profile.record import run_through\n"
        "for number in ('HUP', 'INT', 'TERM'):\n"
        "    line = ['sh', '-c', f'kill -{number} $$ $PPID; exit 7']\n"
        "    ran = run_through(Command(line, {}, None, []))\n"
        "    assert (ran.exit_status, ran.signal) == (7, None), (number, ran)\n"
    )
    assert subprocess.run([*ignoring, ignored], timeout=60, check=False).returncode == 0
    assert run_through(Command(["sh", "-c", "kill -9 $$"], {}, None, [])).exit_status == 137
    before = signal.getsignal(signal.SIGTERM)
    assert run_through(Command(["sh", "-c", "exit 3"], {}, None, [])).signal is None
    assert signal.getsignal(signal.SIGTERM) is before
    with pytest.raises(UserError, match="cannot be started"):
        run_through(Command(["/no/such/program"], {}, None, []))


_SOURCE = """
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>
static char a[8192], b[8192];
__attribute__((noinline)) static void wrapper(int bytes)
{
    MPI_Alltoall(a, bytes, MPI_CHAR, b, bytes, MPI_CHAR, MPI_COMM_WORLD);
    __asm__ volatile("" ::: "memory");
}
__attribute__((noinline)) void transpose_one(void) { wrapper(1024); __asm__ volatile("" ::: "memory"); }
__attribute__((noinline)) void transpose_two(void) { wrapper(512); __asm__ volatile("" ::: "memory"); }
int main(int count, char **words)
{
    if (count > 1 && words[1][0] == 'e')
        return 3;
    MPI_Init(&count, &words);
    for (int i = 0; i < 10; i++) {
        transpose_one();
        transpose_two();
    }
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0 && printf("%d\\n", (int)getpid()) > 0)
        fflush(stdout);
    while (count > 1 && words[1][0] == 'l') {
        MPI_Barrier(MPI_COMM_WORLD);
        usleep(1000);
    }
    MPI_Finalize();
    return 0;
}
"""


@pytest.fixture(scope="session")
def program(installed: Installed, tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("program")
    return str(
        _program(folder, _SOURCE, "-g", "-O2", compiler=str(installed.machine.mpi and installed.machine.mpi.mpicc))
    )


def _alltoalls(profile: Profile) -> dict[tuple[str, ...], tuple[int, int]]:
    """Functions of the path -> calls of all ranks and message size."""
    rows = profile.mpi_rows[profile.mpi_rows["function"] == profile.functions.index("MPI_Alltoall")]
    found: dict[tuple[str, ...], tuple[int, int]] = {}
    for row in rows:
        chain = tuple(frame.function for frame in profile.chain(row["path"]))
        found[chain] = (found.get(chain, (0, 0))[0] + int(row["calls"]), int(row["size"]))
    return found


_CALLS = {("wrapper", "transpose_one", "main"): (20, 1024), ("wrapper", "transpose_two", "main"): (20, 512)}


@pytest.mark.mpi
@pytest.mark.beside
def test_a_program_and_its_two_callers(installed: Installed, program: str, tmp_path: Path) -> None:
    line = Command(installed.argv("-n", "2", program), {}, None, [])
    found = record(line, 60.0, Options(), tmp_path / "out", installed.machine)
    assert _alltoalls(found) == _CALLS
    assert found.origin.machine["MPI"].startswith("openmpi") and found.origin.profiled > 0
    assert program in found.origin.command and "LD_PRELOAD" not in found.origin.command
    assert found.ranks == 2 and found.notes == () and list((tmp_path / "out").iterdir()) == []


@pytest.mark.mpi
@pytest.mark.beside
def test_mpirun_in_a_script(installed: Installed, program: str, tmp_path: Path) -> None:
    script = tmp_path / "job.sh"
    script.write_text(f"#!/bin/sh\nexec {shlex.join(installed.argv('-n', '2', program))}\n")
    script.chmod(0o755)
    assert installed.machine.mpi is not None
    line = Command([str(script)], {}, None, [])
    with Recording(line, Options(), tmp_path, mpicc=installed.machine.mpi.mpicc) as recording:
        done = subprocess.run([str(script)], env={**os.environ, **recording.command.env}, check=False, timeout=60)
        assert _alltoalls(recording.profile(done.returncode)) == _CALLS


@pytest.mark.mpi
@pytest.mark.beside
def test_a_program_that_fails_or_hangs(installed: Installed, program: str, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="fails under the recorder"):
        record(Command(installed.argv("-n", "2", program, "early"), {}, None, []), 60.0, Options(), tmp_path)
    with pytest.raises(LaunchError, match="hung"):
        record(Command(installed.argv("-n", "2", program, "loop"), {}, None, []), 2.0, Options(), tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.mpi
@pytest.mark.beside
def test_what_was_recorded_when_a_rank_was_ended(installed: Installed, program: str, tmp_path: Path) -> None:
    """As a batch system does at the time limit. mpirun then ends the other rank, which may find no time to write."""
    line = Command(installed.argv("-n", "2", program, "loop"), {}, None, [])
    with Recording(line, Options(), tmp_path) as recording:
        with subprocess.Popen(recording.command.argv, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
            assert process.stdout is not None
            rank = int(process.stdout.readline())
            time.sleep(0.2)
            os.kill(rank, signal.SIGTERM)
            status = process.wait(timeout=30)
        found = recording.profile(status)
    assert found.origin.ended == "signal SIGTERM" and "MPI_Barrier" in found.functions
    alltoalls = _alltoalls(found)
    assert alltoalls.keys() == _CALLS.keys() and {calls for calls, _ in alltoalls.values()} <= {10, 20}


@pytest.mark.mpi
@pytest.mark.beside
def test_mpich(tmp_path: Path) -> None:
    mpirun = shutil.which("mpirun.mpich")
    if mpirun is None or shutil.which("mpicc.mpich") is None:
        pytest.skip("MPICH of Debian is not installed")
    program = _program(tmp_path, _SOURCE, "-g", "-O2", compiler="mpicc.mpich")
    with Recording(Command([mpirun, "-n", "2", str(program)], {}, None, []), Options(), tmp_path) as recording:
        done = run_through(recording.command)
        assert _alltoalls(recording.profile(done.exit_status)) == _CALLS
    system = shutil.which("mpirun.openmpi")
    if system is not None:
        with pytest.raises(UserError, match="uses libmpich"):
            Recording(Command([system, "-n", "2", str(program)], {}, None, []), Options(), tmp_path)


@pytest.mark.mpi
@pytest.mark.beside
def test_python(installed: Installed, tmp_path: Path) -> None:
    pytest.importorskip("mpi4py", reason="mpi4py is not installed")
    script = tmp_path / "program.py"
    script.write_text(
        "from mpi4py import MPI\n"
        "from unisono.phases import phase\n"
        "def swap(): MPI.COMM_WORLD.Alltoall(bytearray(2), bytearray(2))\n"
        "with phase('outer'):\n"
        "    phase('inner')(swap)()\n"
        "    swap()\n"
        "swap()\n"
    )
    line = Command(installed.argv("-n", "2", sys.executable, str(script)), {}, None, [])
    found = record(line, 60.0, Options(), tmp_path)
    chains = _alltoalls(found)
    (chain,) = chains
    assert chain[-1] == "(python)" and chain[0] in ("mpi4py.MPI.Comm.Alltoall", "(mpi4py)")
    assert chains[chain] == (6, 1)
    rows = found.mpi_rows[found.mpi_rows["function"] == found.functions.index("MPI_Alltoall")]
    assert sorted(found.phases[row["phase"]] for row in rows) == ["", "", "inner", "inner", "outer", "outer"]
