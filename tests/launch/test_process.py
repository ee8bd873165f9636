from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.launch.conftest import Installed
from unisono.cmdline.command import command
from unisono.core.errors import LaunchError
from unisono.core.vocabulary import Setting
from unisono.launch import tree
from unisono.launch.failure import stumbled
from unisono.launch.process import Process, run
from unisono.machine.description import Machine

PATIENCE = 30.0


def _gone(process: Process) -> bool:
    return not tree.members(process.pid, process.launch_id)


def test_lines_go_in_and_out() -> None:
    with Process(["cat"], {}) as process:
        process.write_line("one")
        process.write_line("two, with ümlaut")
        assert process.read_line(PATIENCE) == "one"
        assert process.read_line(PATIENCE) == "two, with ümlaut"
        process.close_input()
        assert process.wait(PATIENCE) == 0
    assert _gone(process)


def test_a_long_line_arrives_whole() -> None:
    with Process([sys.executable, "-c", "print('x' * 3_000_000); print('end')"], {}) as process:
        assert len(process.read_line(PATIENCE)) == 3_000_000
        assert process.read_line(PATIENCE) == "end"


STUMBLES = """
echo once >> "$1"
test $(wc -l < "$1") -gt "$2" && { echo started; exit 0; }
printf "The PMIx server's listener thread failed to start. We cannot\\ncontinue.\\n" >&2
exit 213
"""


def test_a_launcher_that_stumbles_before_it_began_is_asked_again(tmp_path: Path) -> None:
    count = tmp_path / "count"
    done = run(["sh", "-c", STUMBLES, "sh", str(count), "2"], {}, PATIENCE)
    assert (done.exit_code, done.stdout) == (0, "started\n")
    assert len(count.read_text().split()) == 3


def test_a_launcher_that_never_starts_is_given_up(tmp_path: Path) -> None:
    count = tmp_path / "count"
    done = run(["sh", "-c", STUMBLES, "sh", str(count), "99"], {}, PATIENCE)
    assert done.exit_code == 213
    assert len(count.read_text().split()) == 3


def test_a_launcher_that_declined_and_stays_is_not_waited_for() -> None:
    said = 'echo "An error occurred in MPI_Init" >&2; sleep 600'
    with Process(["sh", "-c", said], {}) as process, pytest.raises(LaunchError) as error:
        process.read_line(600, declined=0.3)
    assert error.value.status == "refused"


def test_a_program_that_fails_is_not_run_again(tmp_path: Path) -> None:
    count = tmp_path / "count"
    done = run(["sh", "-c", 'echo once >> "$1"; exit 4', "sh", str(count)], {}, PATIENCE)
    assert done.exit_code == 4
    assert count.read_text() == "once\n"


def test_the_environment_is_added() -> None:
    done = run(["sh", "-c", "echo $UNISONO_TEST $HOME"], {"UNISONO_TEST": "here"}, PATIENCE)
    assert done.stdout.split() == ["here", os.environ["HOME"]]


def test_output_without_a_last_newline_is_a_line() -> None:
    with Process(["printf", "a\\nb"], {}) as process:
        assert [process.read_line(PATIENCE), process.read_line(PATIENCE)] == ["a", "b"]
        with pytest.raises(LaunchError) as error:
            process.read_line(PATIENCE)
    assert error.value.status == "crashed"


def test_the_end_is_explained_when_a_line_was_awaited() -> None:
    with Process(["sh", "-c", "echo no input file >&2; exit 4"], {}) as process, pytest.raises(LaunchError) as error:
        process.read_line(PATIENCE)
    assert error.value.reason == "mpirun ended with exit status 4: no input file"


def test_writing_to_an_ended_launch_is_explained() -> None:
    with Process(["sh", "-c", "kill -SEGV $$"], {}) as process, pytest.raises(LaunchError) as error:
        while True:
            process.write_line("x" * 1000)
            time.sleep(0.01)
    assert error.value.reason == "mpirun was ended by SIGSEGV"


def test_only_the_end_of_stderr_is_kept() -> None:
    code = "import sys; sys.stderr.write('a' * 100_000 + 'b' * 60_000)"
    done = run([sys.executable, "-c", code], {}, PATIENCE)
    assert len(done.stderr) == 64 * 1024
    assert done.stderr.endswith("b" * 60_000)


def test_what_cannot_be_started_is_refused(tmp_path: Path) -> None:
    with pytest.raises(LaunchError) as error:
        Process([str(tmp_path / "missing")], {})
    assert error.value.status == "refused"
    assert "No such file or directory" in error.value.reason


def test_a_hang_is_killed_with_all_that_left_the_group() -> None:
    """A child in a session of its own, orphaned, deaf to SIGTERM: only the marker in its environment tells."""
    inner = "import os,signal,time; signal.signal(signal.SIGTERM, signal.SIG_IGN); os.setsid(); time.sleep(600)"
    outer = f"import subprocess,sys; subprocess.Popen([sys.executable, '-c', {inner!r}]); print('started', flush=True)"
    with Process(["sh", "-c", f'{sys.executable} -c "$0"; sleep 600', outer], {}) as process:
        assert process.read_line(PATIENCE) == "started"
        deadline = time.monotonic() + PATIENCE
        while len(tree.members(process.pid, process.launch_id)) != 3:  # sh, its sleep, and the child
            assert time.monotonic() < deadline
            time.sleep(0.02)
        with pytest.raises(LaunchError) as error:
            process.read_line(0.5)
    assert error.value.status == "hung"
    assert error.value.reason == "no answer within 0.5 s, killed with all its processes"
    assert _gone(process)


def test_a_child_without_the_marker_is_found_through_its_parent() -> None:
    """And is remembered when the parent dies first."""
    with Process(["sh", "-c", "env -i sleep 600 & echo $!; wait"], {}) as process:
        child = int(process.read_line(PATIENCE))
        assert tree.members(process.pid, process.launch_id) == {process.pid, child}
    assert _gone(process)
    assert not Path(f"/proc/{child}").exists() or "Z" in Path(f"/proc/{child}/stat").read_text().split()[2]


def test_waiting_ends_at_the_deadline() -> None:
    with Process(["sleep", "600"], {}) as process, pytest.raises(LaunchError, match="hung"):
        process.wait(0.3)
    assert _gone(process)


def test_other_launches_are_left_alone() -> None:
    with Process(["sleep", "600"], {}) as other:
        with Process(["sleep", "600"], {}):
            pass
        assert tree.members(other.pid, other.launch_id) == {other.pid}


def test_a_killed_driver_leaves_nothing(tmp_path: Path) -> None:
    _kill_driver(["sh", "-c", "trap '' TERM; echo started; while :; do sleep 600; done"], tmp_path)


def _kill_driver(argv: list[str], tmp_path: Path) -> None:
    """Kill -9 of a driver that waits for an answer; its launch must be gone soon after."""
    code = (
        "import sys; from unisono.launch.process import Process\n"
        "p = Process(sys.argv[1:], {})\n"
        "print(p.read_line(60), p.pid, p.launch_id, flush=True)\n"
        "p.read_line(600)\n"
    )
    driver = subprocess.Popen([sys.executable, "-c", code, *argv], stdout=subprocess.PIPE, text=True, cwd=tmp_path)
    assert driver.stdout is not None
    *_, root, launch_id = driver.stdout.readline().split()
    assert tree.members(int(root), launch_id)
    os.kill(driver.pid, signal.SIGKILL)
    driver.wait()
    driver.stdout.close()
    deadline = time.monotonic() + PATIENCE
    while tree.members(int(root), launch_id):
        assert time.monotonic() < deadline, "the launch outlived its driver"
        time.sleep(0.1)


# -- real launches -------------------------------------------------------------------------------------------------


@pytest.mark.mpi
@pytest.mark.beside
def test_rank_0_is_talked_to(installed: Installed) -> None:
    with Process(installed.argv("-n", "2", installed.program, "echo"), {}) as process:
        assert {process.read_line(PATIENCE).split()[0] for _ in range(2)} == {"where"}
        for word in ("measure", "again"):
            process.write_line(word)
            assert process.read_line(PATIENCE) == f"heard {word}"
        process.write_line("quit")  # Open MPI 5.0.11 never passes the end of its input on to rank 0
        assert process.wait(PATIENCE) == 0
    assert _gone(process)


@pytest.mark.mpi
@pytest.mark.beside
@pytest.mark.parametrize(
    ("words", "status", "reason"),
    [
        (["-n", "2", "./missing"], "refused", "./missing does not exist or is not executable"),
        (["-n", "99", "PROGRAM"], "refused", "not enough slots: 99 ranks were asked for"),
        (["-n", "1", "--mca", "pml", "nothing", "PROGRAM"], "refused", "component nothing of pml|a component of pml"),
        (["-n", "2", "--bind-to", "nothing", "PROGRAM"], "refused", "binding 'nothing' is not known"),
        (["-n", "2", "PROGRAM", "segv"], "crashed", "rank 1 was ended by SIGSEGV"),
        (["-n", "2", "PROGRAM", "exit"], "crashed", "rank 1 ended with exit status 3"),
    ],
    ids=["no program", "slots", "component", "binding", "segv", "exit"],
)
def test_a_failed_launch_says_why(installed: Installed, words: list[str], status: str, reason: str) -> None:
    argv = installed.argv(*(installed.program if word == "PROGRAM" else word for word in words))
    reasons = tuple(reason.split("|"))
    for _ in range(10):
        with Process(argv, {}) as process, pytest.raises(LaunchError) as error:
            while True:
                process.read_line(PATIENCE)
        assert _gone(process)
        # Both versions lose the text of a component now and then; what is left names its framework, or nothing at all.
        lost = "component" in reason and not error.value.reason.startswith(reasons)
        if not lost and not stumbled(process.stderr):
            break
    assert error.value.status == status
    assert error.value.reason.startswith(reasons)


@pytest.mark.mpi
@pytest.mark.beside
@pytest.mark.parametrize("how", ["hang", "stray"])
def test_hanging_ranks_are_killed_at_the_deadline(installed: Installed, how: str) -> None:
    with Process(installed.argv("-n", "2", installed.program, how), {}) as process:
        for _ in range(2):
            process.read_line(PATIENCE)
        assert len(tree.members(process.pid, process.launch_id)) >= 3
        with pytest.raises(LaunchError) as error:
            process.read_line(0.5)
    assert error.value.status == "hung"
    assert _gone(process)


@pytest.mark.mpi
@pytest.mark.beside
def test_a_killed_mpirun_leaves_no_ranks(installed: Installed) -> None:
    with Process(installed.argv("-n", "2", installed.program, "hang"), {}) as process:
        for _ in range(2):
            process.read_line(PATIENCE)
        os.kill(process.pid, signal.SIGKILL)
        with pytest.raises(LaunchError) as error:
            process.read_line(PATIENCE)
    assert error.value.reason.startswith("mpirun was ended by SIGKILL")
    assert _gone(process)


@pytest.mark.mpi
@pytest.mark.beside
def test_a_killed_driver_leaves_no_ranks(installed: Installed, tmp_path: Path) -> None:
    _kill_driver(installed.argv("-n", "2", installed.program, "hang"), tmp_path)


@pytest.mark.mpi
@pytest.mark.beside
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGSEGV])
def test_shared_memory_of_dead_ranks_is_removed(embedded: Machine, bench: Path, how: signal.Signals) -> None:
    """Ranks that crash or are killed leave segments behind; each would hold memory until the next boot."""
    shared = Path("/dev/shm")
    before = set(shared.iterdir())
    line = command(embedded, Setting(), 1, 2, [str(bench)])
    with Process(line.argv, line.env) as process:
        process.read_line(60)
        process.note_segments()
        made = tree.segments(process.pid, process.launch_id)
        for pid in tree.members(process.pid, process.launch_id):
            if Path(f"/proc/{pid}/comm").read_text().strip() == "unisono-bench":
                os.kill(pid, how)
    assert made - before
    assert not {path for path in made - before if path.exists()}
