"""Memory of a device goes to the MPI untouched, whichever ranks have such; our library never touches it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.profile.interception import Toolchain, compiled, run, toolchain

pytestmark = [pytest.mark.mpi, pytest.mark.beside]
PROGRAMS = Path(__file__).parent / "programs"
SERVE = {"UNISONO_COLLECTIVES": "on", "UNISONO_VERBOSE": "1"}
AGREED = 16
"""The call at which ranks agree first, where no driver was there at the start."""


@pytest.fixture(scope="module", params=["openmpi4", "mpich"])
def tools(request: pytest.FixtureRequest) -> Toolchain:
    return toolchain(request.param)


DRIVERS = {
    "cuda": ("libcuda.so.1", ()),
    "hip5": ("libamdhip64.so.5", ("-DMAJOR=5",)),
    "hip6": ("libamdhip64.so.6", ("-DMAJOR=6",)),
    "level zero": ("libze_loader.so.1", ()),
}


def _run(tools: Toolchain, folder: Path, late: bool, name: str = "cuda") -> dict[str, dict[str, int]]:
    """collective -> implementation -> calls of messages of more than 8 B."""
    file, options = DRIVERS[name]
    source = str(PROGRAMS / f"{file.split('.')[0]}.c")
    shared = ["-shared", "-fPIC", "-O1"]
    aware = compiled(tools, folder, str(PROGRAMS / "aware.c"), *shared, name="aware.so", after=["-ldl"])
    driver = compiled(tools, folder, source, *shared, *options, f"-Wl,-soname,{file}", name=file)
    program = compiled(tools, folder, str(PROGRAMS / "device.c"), after=[str(aware), "-ldl", f"-Wl,-rpath,{folder}"])
    words = ["late", str(driver)] if late else ["start"]
    preload = [tools.library, aware, *([] if late else [driver])]
    env = SERVE | {"LD_PRELOAD": ":".join(map(str, preload))}
    ran = run(tools, folder, program, *words, ranks=2, env=env, record=False)
    assert (ran.status, ran.out.split()) == (0, ["right"]), ran.out + ran.error
    found: dict[str, dict[str, int]] = {}
    for name, word, calls in re.findall(r"unisono: +(\w+) +\d{4} +(\S+) +(\d+)$", ran.error, re.MULTILINE):
        found.setdefault(name, {})[word.split("/")[0]] = int(calls)
    return found


def test_a_device_on_one_rank(tools: Toolchain, tmp_path: Path) -> None:
    assert _run(tools, tmp_path, late=False) == {name: {"mpi": 40} for name in ("allreduce", "alltoall", "bcast")}


@pytest.mark.parametrize("name", sorted(DRIVERS.keys() - {"cuda"}))
def test_other_drivers(name: str, tmp_path: Path) -> None:
    found = _run(toolchain("openmpi4"), tmp_path, late=False, name=name)
    assert found == {collective: {"mpi": 40} for collective in ("allreduce", "alltoall", "bcast")}


def test_a_driver_that_is_loaded_later(tools: Toolchain, tmp_path: Path) -> None:
    served = {"unisono": AGREED - 1, "mpi": 40 - AGREED + 1}
    assert _run(tools, tmp_path, late=True) == dict.fromkeys(("allreduce", "alltoall", "bcast"), served)
