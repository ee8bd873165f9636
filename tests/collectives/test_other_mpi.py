"""A library preloaded into a program of another MPI: the program runs without it, or ends with a line."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from tests.profile.interception import Ran, Toolchain, compiled, run, toolchain

pytestmark = [pytest.mark.mpi, pytest.mark.beside]
SOURCE = str(Path(__file__).parent / "programs" / "other_mpi.c")
SAID = "this library was built for another"


def _run(own: Toolchain, other: Toolchain, folder: Path, program: Path, *words: str, **variables: str) -> Ran:
    """A program of `own` with the library that was built for `other`, and another library behind it."""
    behind = folder / "libbehind.so"
    empty = ["cc", "-shared", "-fPIC", "-x", "c", "-o", str(behind), "/dev/null"]
    subprocess.run(empty, check=True, timeout=60)
    env = {"LD_PRELOAD": f"{other.library}:{behind}", "UNISONO_COLLECTIVES": "on", **variables}
    return run(own, folder, program, *words, ranks=2, env=env, preload=False, record=False)


@pytest.mark.parametrize(
    ("own", "other"),
    [("openmpi4", "mpich"), ("mpich", "openmpi4"), ("openmpi5", "mpich"), ("openmpi4", "openmpi5")],
)
def test_a_program_runs_without_the_library_of_another_mpi(own: str, other: str, tmp_path: Path) -> None:
    tools = toolchain(own)
    program = compiled(tools, tmp_path, SOURCE)
    ran = _run(tools, toolchain(other), tmp_path, program, "two words")
    assert (ran.status, ran.out) == (0, f"2 ranks, given two words, preloaded {tmp_path / 'libbehind.so'}\n"), ran.error
    assert ran.error.count(SAID) == 1 and "it runs without" in ran.error


def test_it_ends_where_the_library_is_required(tmp_path: Path) -> None:
    tools = toolchain("mpich")
    ran = _run(tools, toolchain("openmpi4"), tmp_path, compiled(tools, tmp_path, SOURCE), UNISONO_REQUIRED="1")
    assert (ran.status, ran.out) == (2, "") and ran.error.count(SAID) == 1


def _abi(tools: Toolchain, folder: Path, *options: str) -> Path:
    """Made by the compiler of the standard's own interface."""
    made = folder / "made"
    argv = [f"{tools.mpicc}_abi", "-fPIC", *options, "-o", str(made), SOURCE]
    subprocess.run(argv, check=True, timeout=120)
    return made


@pytest.mark.nightly
def test_a_program_of_the_standards_interface_runs_without_it(tmp_path: Path) -> None:
    tools = toolchain("mpich5")
    ran = _run(tools, tools, tmp_path, _abi(tools, tmp_path), "a word")
    assert (ran.status, ran.out) == (0, f"2 ranks, given a word, preloaded {tmp_path / 'libbehind.so'}\n"), ran.error
    assert ran.error.count(SAID) == 1 and "libmpi_abi.so" in ran.error


def test_a_program_that_is_given_to_the_loader_runs_without_it(tmp_path: Path) -> None:
    tools = toolchain("openmpi4")
    program = compiled(tools, tmp_path, SOURCE)
    words = [*re.findall(r"interpreter: ([^\]]+)", _said_of(program)), str(program), "two words"]
    ran = _run(tools, toolchain("mpich"), tmp_path, Path(words[0]), *words[1:])
    assert (ran.status, ran.out) == (0, f"2 ranks, given two words, preloaded {tmp_path / 'libbehind.so'}\n"), ran.error


def _said_of(program: Path) -> str:
    return subprocess.run(
        ["readelf", "-l", str(program)], capture_output=True, text=True, check=True, timeout=60
    ).stdout


@pytest.mark.parametrize(("own", "other"), [("openmpi4", "mpich"), ("mpich", "openmpi4")])
def test_a_program_that_loads_another_mpi_later_ends_with_a_line(own: str, other: str, tmp_path: Path) -> None:
    tools = toolchain(own)
    plugin = compiled(tools, tmp_path, SOURCE, "-fPIC", "-shared", "-DPLUGIN", name="plugin.so")
    loader = tmp_path / "loader"
    subprocess.run(["cc", "-DLOADER", "-o", str(loader), SOURCE, "-ldl"], check=True, timeout=60)
    ran = _run(tools, toolchain(other), tmp_path, loader, str(plugin))
    assert (ran.status, ran.out) == (2, ""), ran.error
    assert ran.error.count(SAID) == 1 and "leave it out of LD_PRELOAD" in ran.error
    with_its_own = _run(tools, tools, tmp_path, loader, str(plugin))
    assert with_its_own.status == 0, with_its_own.error


@pytest.mark.nightly
def test_a_program_that_loads_that_interface_later_ends_with_a_line(tmp_path: Path) -> None:
    tools = toolchain("mpich5")
    plugin, loader = _abi(tools, tmp_path, "-shared", "-DPLUGIN"), tmp_path / "loader"
    subprocess.run(["cc", "-DLOADER", "-o", str(loader), SOURCE, "-ldl"], check=True, timeout=60)
    ran = _run(tools, tools, tmp_path, loader, str(plugin))
    assert (ran.status, ran.out) == (2, "")
    assert ran.error.count(SAID) == 1 and "leave it out of LD_PRELOAD" in ran.error
    alone = run(tools, tmp_path, loader, str(plugin), ranks=2, preload=False, record=False)
    assert alone.status == 0, alone.error
