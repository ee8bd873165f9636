"""Launches that were killed with driver and guard leave shared memory and mpirun's folder, which are found again."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from tests.launch.conftest import Installed
from unisono.launch import left, tree
from unisono.launch.process import Process

SHARED = Path("/dev/shm")
PATIENCE = 60.0


@pytest.fixture(autouse=True)
def notes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "unisono" / "launches"


def test_a_launch_is_noted_while_it_runs(notes: Path) -> None:
    with Process(["sleep", "600"], {}) as process:
        assert [path.stem for path in notes.iterdir()] == [process.launch_id]
        assert left.clear() == {}
        assert tree.members(process.pid, process.launch_id)
    assert list(notes.iterdir()) == []


def test_notes_that_say_nothing_of_this_machine(notes: Path) -> None:
    """A launch of another host stays noted; one from before the last boot has left nothing."""
    left.write("0", time.time(), 1, 1)
    text = (notes / "0.json").read_text()
    for name, place in (("elsewhere", '"place": ["another'), ("damaged", '"place": 3, "was": ["')):
        (notes / f"{name}.json").write_text(text.replace('"place": ["', place))
    boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    (notes / "before.json").write_text(text.replace(boot, "another"))
    assert left.clear() == {}
    assert sorted(path.stem for path in notes.iterdir()) == ["0", "damaged", "elsewhere"]


def test_nowhere_to_keep_notes(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    with Process(["true"], {}) as process:
        assert process.wait(PATIENCE) == 0
    assert left.clear() == {}


# -- real launches -------------------------------------------------------------------------------------------------


DRIVER = (
    "import sys; from unisono.launch.process import Process\n"
    "p = Process(sys.argv[2:], {})\n"
    "for _ in range(2): p.read_line(60)\n"
    "if sys.argv[1] == 'measures': p.note_segments()\n"
    "print(p.pid, p.launch_id, p._guard.pid, flush=True)\n"
    "p.read_rest(600) if sys.argv[1] == 'runs' else p.read_line(600)\n"
)


def _without_watchers(argv: Sequence[str], driver_that: str) -> tuple[int, str]:
    """mpirun's pid and the launch's name, the driver and its guard having been killed; the ranks go on. The driver
    "knows" of no shared memory, "measures" and has noted it once the ranks have begun, or "runs" a program to its end,
    and notes it meanwhile."""
    words = [sys.executable, "-c", DRIVER, driver_that, *argv]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as driver:
        assert driver.stdout is not None
        root, launch_id, guard = driver.stdout.readline().split()
        while driver_that == "runs" and not left._read(left.path_of(launch_id)).segments:
            time.sleep(0.02)
        os.kill(int(guard), signal.SIGKILL)
        driver.kill()
    while tree.start(int(guard)):  # a signal takes its time, and while the guard lives the launch is its
        time.sleep(0.02)
    return int(root), launch_id


def _kill_all(root: int, launch_id: str) -> None:
    """At once: mpirun cleans up after a rank that dies before it."""
    for number in (signal.SIGSTOP, signal.SIGKILL):
        for pid in tree.members(root, launch_id):
            os.kill(pid, number)
    while tree.members(root, launch_id):
        time.sleep(0.02)


@pytest.fixture
def killed(installed: Installed) -> Iterator[tuple[int, str]]:
    root, launch_id = _without_watchers(installed.argv("-n", "2", installed.program, "hang"), "knows")
    yield root, launch_id
    tree.end(root, launch_id, 0.0)


@pytest.mark.mpi
@pytest.mark.beside
def test_what_is_left_when_all_are_killed_is_removed(
    installed: Installed, killed: tuple[int, str], notes: Path
) -> None:
    """By `unisono doctor`, which names it; nobody had noted the segments, so their names tell whose they are."""
    root, launch_id = killed
    _kill_all(root, launch_id)
    families = tree.job_family(os.uname().nodename, root)
    mine = [path for path in SHARED.glob("*_segment.*") if tree.family_of(path) in families]
    assert len(mine) == 2
    kept = [folder for folder in tree.folders(root) if folder.exists()]
    assert len(kept) == 1, "where an mpirun of the same pid would stumble over it"
    other = mine[0].with_name(mine[0].name.replace(mine[0].name.split(".")[-2], "00000000"))
    other.touch()
    try:
        words = [str(Path(sys.executable).with_name("unisono")), "doctor", "--mpirun", installed.mpirun]
        done = subprocess.run(words, capture_output=True, text=True, timeout=120, check=False)
        assert done.returncode == 0, done.stderr
        for path in (*mine, *kept):
            assert f"Removed {path} (" in done.stderr
            assert not path.exists()
        assert other.exists()
    finally:
        other.unlink()
    assert list(notes.iterdir()) == []


@pytest.mark.mpi
@pytest.mark.nightly
@pytest.mark.parametrize("driver_that", ["measures", "runs"])
def test_what_mpich_leaves_is_removed(driver_that: str, notes: Path, tmp_path: Path) -> None:
    """MPICH 5 keeps the name of what its ranks share while they run, and draws it: only the note tells whose it is."""
    mpirun = Path(sys.prefix) / "mpich5" / "bin" / "mpirun"
    if not mpirun.exists():
        pytest.skip(f"{mpirun} is not installed")
    source, program = Path(__file__).with_name("program.c"), tmp_path / "program"
    subprocess.run([mpirun.with_name("mpicc"), "-o", program, source], check=True, timeout=120)
    before = set(SHARED.glob("mpich_shm_*"))
    root, launch_id = _without_watchers([str(mpirun), "-n", "2", str(program), "hang"], driver_that)
    _kill_all(root, launch_id)
    (mine,) = set(SHARED.glob("mpich_shm_*")) - before
    other = mine.with_name("mpich_shm_0_0")
    other.touch()
    try:
        words = [str(Path(sys.executable).with_name("unisono")), "doctor", "--mpirun", str(mpirun)]
        done = subprocess.run(words, capture_output=True, text=True, timeout=120, check=False)
        assert done.returncode == 0, done.stderr
        assert f"Removed {mine} (" in done.stderr
        assert not mine.exists() and other.exists()
    finally:
        other.unlink()
    assert list(notes.iterdir()) == []


@pytest.mark.mpi
@pytest.mark.beside
def test_a_launch_that_is_killed_leaves_no_folder(installed: Installed) -> None:
    """mpirun is stopped, so it cannot clean up after itself, and ends only when it is killed."""
    with Process(installed.argv("-n", "2", installed.program, "hang"), {}) as process:
        process.read_line(PATIENCE)
        assert any(folder.exists() for folder in tree.folders(process.pid))
        os.kill(process.pid, signal.SIGSTOP)
    assert not any(folder.exists() for folder in tree.folders(process.pid))


def test_a_folder_that_may_be_another_mpirun_s_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One from before the launch; one of a process that has the pid now; a link."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    with subprocess.Popen(["sleep", "600"]) as process:
        folder = tmp_path / f"ompi.{process.pid}"
        assert folder in tree.folders(process.pid)
        folder.mkdir()
        (folder / "socket").write_text("12345")
        assert tree.end(process.pid, "none", 0.0) == {}
        process.kill()
    assert tree.end(process.pid, "none", time.time() + 60) == {}
    folder.rename(tmp_path / "elsewhere")
    folder.symlink_to("elsewhere")
    assert tree.end(process.pid, "none", 0.0) == {}
    assert (tmp_path / "elsewhere" / "socket").exists()
    folder.unlink()
    (tmp_path / "elsewhere").rename(folder)
    assert tree.end(process.pid, "none", 0.0) == {folder: 5}
    assert not folder.exists()


def test_a_job_of_a_small_number_is_known_by_its_segments(tmp_path: Path) -> None:
    """One of sixteen jobs has a name with fewer digits."""
    for name, family in (
        ("vader_segment.vm.0.96b0001.1", 0x96B),
        ("sm_segment.a.b.c.0.fab00001.0", 0xFAB0),
        ("vader_segment.vm.0.10001.0", 1),
        ("sm_segment.vm.0.zz.1", -1),
        ("unisono", -1),
    ):
        assert tree.family_of(tmp_path / name) == family


@pytest.mark.parametrize(
    "words",
    [
        ("tune", "--resume", "--mpirun", "/nonexistent/mpirun"),
        ("hybrid", "--resume", "--mpirun", "/nonexistent/mpirun"),
        ("optimize", "--resume", "--", "/nonexistent/mpirun", "-n", "2", "program"),
    ],
    ids=lambda words: words[0],
)
def test_every_command_that_goes_on_looks_for_it_first(words: tuple[str, ...], notes: Path, tmp_path: Path) -> None:
    left.write("one", time.time(), 0, 0)
    noted = json.loads(left.path_of("one").read_text())
    left.path_of("one").write_text(json.dumps(noted | {"root": 0, "watchers": []}))  # whose driver and guard are gone
    command = [str(Path(sys.executable).with_name("unisono")), words[0], "-o", str(tmp_path / "out"), *words[1:]]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert "/nonexistent/mpirun" in done.stderr
    assert done.returncode == 2
    assert not left.path_of("one").exists()


@pytest.mark.mpi
@pytest.mark.beside
def test_ranks_that_outlived_driver_and_guard_are_ended(killed: tuple[int, str]) -> None:
    root, launch_id = killed
    made = tree.segments(root, launch_id)
    assert made
    left.clear()
    assert not tree.members(root, launch_id)
    assert not any(path.exists() for path in made)
