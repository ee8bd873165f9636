"""With MPI_THREAD_MULTIPLE rules serve correctly or do not apply, and the library has no races of its own."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.profile.interception import Ran, Toolchain, compiled, run, toolchain
from unisono.library.native import native_source, tool

pytestmark = [pytest.mark.mpi, pytest.mark.beside]
PROGRAMS = Path(__file__).parent / "programs"
NOT_APPLIED = "tuned/... and libnbc/... do not apply with MPI_THREAD_MULTIPLE"
NIGHTLY = 50


def _race(tools: Toolchain, folder: Path, words: str, rounds: int, ranks: int) -> Ran:
    program = folder / "race"
    if not program.exists():
        compiled(tools, folder, str(PROGRAMS / "race.c"), "-pthread")
    rules = folder / "rules"
    rules.write_text(f"unisono-rules 1\nallreduce * * 0 1000 {words}\n")
    env = {"UNISONO_RULES": str(rules), "UNISONO_VERBOSE": "1", "UNISONO_PATIENCE": "0"}
    ran = run(tools, folder, program, str(rounds), ranks=ranks, env=env, record=False)
    if ran.status == 77:
        pytest.skip("this MPI was built without MPI_THREAD_MULTIPLE")
    assert (ran.status, ran.out.split()) == (0, ["right"]), ran.out + ran.error
    return ran


def test_an_algorithm_of_tuned_does_not_apply(tmp_path: Path) -> None:
    said = _race(toolchain("openmpi4"), tmp_path, "tuned/ring,mpi", 60, 4).error
    assert said.count(NOT_APPLIED) == 1
    assert "tuned/ring " not in said and "  mpi  " in said


@pytest.mark.parametrize("name", ["openmpi4", "mpich"])
def test_several_threads_ask_first(name: str, tmp_path: Path) -> None:
    """What is found out once for all communicators, one of them finds out."""
    tools = toolchain(name)
    program = compiled(tools, tmp_path, str(PROGRAMS / "starts.c"), "-pthread", after=["-ldl"])
    ran = run(tools, tmp_path, program, ranks=2, env={"UNISONO_PATIENCE": "0"}, record=False)
    if ran.status == 77:
        pytest.skip("this MPI was built without MPI_THREAD_MULTIPLE")
    assert (ran.status, ran.out.split()) == (0, ["right"]), ran.out + ran.error


@pytest.mark.nightly
@pytest.mark.timeout(3600)
@pytest.mark.parametrize(
    ("name", "words", "served"),
    [
        ("openmpi4", "tuned/ring,mpi", "mpi"),
        ("openmpi5", "tuned/ring,mpi", "mpi"),
        ("openmpi5", "tuned,mpi", "tuned"),
        ("openmpi5", "basic,mpi", "basic"),
    ],
)
def test_threads_that_make_communicators_while_rules_make_copies(
    name: str, words: str, served: str, tmp_path: Path
) -> None:
    for _ in range(NIGHTLY):
        said = _race(toolchain(name), tmp_path, words, 300, 4).error
        assert f"  {served}  " in said


@pytest.fixture(scope="module")
def sanitized(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """What to preload into a program that is compiled for ThreadSanitizer."""
    runtime = Path(subprocess.check_output(["cc", "-print-file-name=libtsan.so"], text=True).strip())
    if not runtime.is_absolute():
        pytest.skip("this compiler has no ThreadSanitizer")
    build = tmp_path_factory.mktemp("sanitized")
    compiler = f"-DCMAKE_C_COMPILER={toolchain('openmpi4').mpicc}"
    options = [compiler, "-DCMAKE_C_FLAGS=-fsanitize=thread -g", f"-DCMAKE_MAKE_PROGRAM={tool('ninja')}"]
    for argv in (
        [tool("cmake"), "-G", "Ninja", *options, "-S", str(native_source()), "-B", str(build)],
        [tool("cmake"), "--build", str(build), "--target", "unisono"],
    ):
        done = subprocess.run(argv, capture_output=True, text=True, timeout=400, check=False)
        assert done.returncode == 0, done.stdout[-4000:]
    return [runtime.resolve(), build / "intercept" / "libunisono.so"]


@pytest.mark.nightly
@pytest.mark.parametrize("what", ["serving", "recording", "copies", "asking"])
def test_no_data_races_of_ours(what: str, sanitized: list[Path], tmp_path: Path) -> None:
    """Under ThreadSanitizer, which leaves out what an MPI does that was not compiled for it. Open MPI 5 and MPICH do
    not start under it."""
    tools = toolchain("openmpi4")
    env = {
        "LD_PRELOAD": ":".join(map(str, sanitized)),
        "TSAN_OPTIONS": "ignore_noninstrumented_modules=1 exitcode=66",
        "UNISONO_COLLECTIVES": "on",
        "UNISONO_PATIENCE": "0",
    }
    if what == "copies":
        rules = tmp_path / "rules"
        rules.write_text("unisono-rules 1\nallreduce * * 0 1000 tuned/ring,basic,mpi\n")
        env["UNISONO_RULES"] = str(rules)
    if what == "asking":  # nothing is active before the first thread asks
        del env["UNISONO_COLLECTIVES"]
    source = {"copies": "race.c", "asking": "starts.c"}.get(what, "threads.c")
    program = compiled(tools, tmp_path, str(PROGRAMS / source), "-pthread", "-fsanitize=thread", after=["-ldl"])
    ran = run(tools, tmp_path, program, "100", ranks=2, env=env, preload=False, record=what == "recording")
    assert (ran.status, ran.out.split()) == (0, ["right"]), ran.error
