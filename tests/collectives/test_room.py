"""However little memory there is to share, and though no rank may read another: programs run as without the library."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.launch.launched import launched
from tests.profile.interception import Toolchain, compiled, toolchain

pytestmark = [pytest.mark.mpi, pytest.mark.beside]
PROGRAMS = Path(__file__).parent / "programs"
SERVE = {"UNISONO_COLLECTIVES": "on", "UNISONO_VERBOSE": "1", "UNISONO_PATIENCE": "0"}
_ROOT = {
    name: "1" for mpi in ("OMPI", "PRTE") for name in (f"{mpi}_ALLOW_RUN_AS_ROOT", f"{mpi}_ALLOW_RUN_AS_ROOT_CONFIRM")
}
_ABSENT = """d=$(mktemp -d) && mount -t tmpfs tmpfs $d && for f in null zero random urandom tty; do
touch $d/$f && mount --bind /dev/$f $d/$f; done && mkdir $d/pts && mount --bind /dev/pts $d/pts &&
ln -s pts/ptmx $d/ptmx && ln -s /proc/self/fd $d/fd && mount --move $d /dev"""


@pytest.fixture(scope="module", params=["openmpi4", "mpich"])
def tools(request: pytest.FixtureRequest) -> Toolchain:
    return toolchain(request.param)


@pytest.fixture(scope="module")
def program(tools: Toolchain, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compiled(tools, tmp_path_factory.mktemp("room"), str(PROGRAMS / "room.c"), "-rdynamic", after=["-ldl"])


def _in_namespace(script: str) -> list[str]:
    """The start of a command whose mounts are its own, after `script`; skips where that is not to be had."""
    tried = shutil.which("unshare")
    if tried is None or subprocess.run([tried, "-m", "true"], capture_output=True, check=False).returncode:
        pytest.skip("mounts of one's own (unshare -m) are not to be had here")
    return [tried, "-m", "sh", "-c", f'{script} && exec "$@"', "sh"]


def _run(
    tools: Toolchain, program: Path, *words: str, env: dict[str, str] | None = None, script: str = ""
) -> tuple[int, list[str], dict[str, int]]:
    """(status, what it printed, calls by who served them); without the library where `env` is None."""
    variables = {} if env is None else {"LD_PRELOAD": str(tools.library), **env}
    launch = ["sm" if word == "pt2pt" else word for word in tools.launch(2, variables)]  # windows of shared memory
    argv = [*(_in_namespace(script) if script else []), *launch, str(program), *words]
    done = launched(argv, cwd=program.parent, env={**os.environ, **_ROOT}, timeout=600)
    served: dict[str, int] = {}
    for word, calls in re.findall(r"unisono: +\w+ +(?:any|[\d.]+) +(\S+) +(\d+)$", done.stderr, re.MULTILINE):
        who = word.split("/")[0]
        served[who] = served.get(who, 0) + int(calls)
    return done.returncode, done.stdout.split(), served


def test_twenty_communicators_in_little_memory(tools: Toolchain, program: Path) -> None:
    status, said, served = _run(tools, program, "20", env=SERVE, script="mount -t tmpfs -o size=24m tmpfs /dev/shm")
    assert (status, said) == (0, ["right"])
    # Where nothing was tried before, as in a new home, a few more calls are the MPI's.
    assert served["unisono"] >= 400


def test_when_room_ends_calls_are_the_mpis(tools: Toolchain, program: Path) -> None:
    status, said, served = _run(tools, program, "20", env={**SERVE, "UNISONO_SHARED_MEMORY": "300000"})
    assert (status, said) == (0, ["right"])
    assert min(served["unisono"], served["mpi"]) > 0
    status, said, served = _run(tools, program, "5", env={**SERVE, "UNISONO_SHARED_MEMORY": "0"})
    assert (status, said, list(served)) == (0, ["right"], ["mpi"])


@pytest.mark.parametrize("script", ["mount -t tmpfs -o ro tmpfs /dev/shm", _ABSENT], ids=["read-only", "absent"])
def test_no_shared_memory_at_all(tools: Toolchain, program: Path, script: str) -> None:
    if _run(tools, program, "1", script=script)[0]:
        pytest.skip("this MPI does not run without /dev/shm either")
    status, said, served = _run(tools, program, "5", env=SERVE, script=script)
    assert (status, said[-1:], list(served)) == (0, ["right"], ["mpi"])


@pytest.mark.parametrize("files", ["named", "nameless"])
def test_files_without_names_and_with_them(tools: Toolchain, program: Path, files: str) -> None:
    status, said, served = _run(tools, program, "5", files, env=SERVE)
    assert (status, said) == (0, ["right"])
    assert served["unisono"] > 100


def test_no_rank_may_read_another(tools: Toolchain, program: Path) -> None:
    pull = {"UNISONO_FORCE": "bcast=unisono/pull", "UNISONO_VERBOSE": "1"}
    status, said, served = _run(tools, program, "5", "deny", env=pull)
    assert (status, said, list(served)) == (0, ["right"], ["mpi"])
    # Where it may be permitted: tried and taken back at the start (measured too, where ranks have CPUs), and permitted
    # again only when it is used.
    status, said, served = _run(tools, program, "5", "yama", env=pull)
    assert (status, said) == (0, ["permitted", "1", "0", "1", "right"])
    assert served["unisono"] > 0
    status, said, _ = _run(tools, program, "5", "yama", env={"UNISONO_FORCE": "barrier=unisono/flags"})
    assert (status, said) == (0, ["permitted", "1", "0", "0", "right"])


@pytest.mark.nightly
@pytest.mark.parametrize("name", ["openmpi4", "openmpi5", "mpich"])
@pytest.mark.parametrize("size", ["1m", "8m", "24m", "64m"])
@pytest.mark.parametrize("count", ["20", "200", "2000"])
def test_every_size_and_number(name: str, size: str, count: str, tmp_path: Path) -> None:
    tools = toolchain(name)
    program = compiled(tools, tmp_path, str(PROGRAMS / "room.c"), "-rdynamic", after=["-ldl"])
    script = f"mount -t tmpfs -o size={size} tmpfs /dev/shm"
    if _run(tools, program, "1", script=script)[0]:
        pytest.skip(f"this MPI does not run in {size} without the library either")
    for env in (SERVE, {"UNISONO_COLLECTIVES": "on"}):
        status, said, _ = _run(tools, program, count, env=env, script=script)
        assert (status, said[-1:]) == (0, ["right"])
