"""Memory of a device goes to the MPI untouched, whichever ranks have such; our library never touches it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.profile.interception import Ran, Toolchain, compiled, run, toolchain
from unisono.core.vocabulary import DISPATCHED, WITH_REQUEST

pytestmark = [pytest.mark.mpi, pytest.mark.beside]
PROGRAMS = Path(__file__).parent / "programs"
COLLECTIVES = sorted({*DISPATCHED} - {"barrier", *WITH_REQUEST})
SERVE = {
    "UNISONO_FORCE": ",".join(f"{name}=unisono/cells" for name in COLLECTIVES),
    "UNISONO_VERBOSE": "1",
    "UNISONO_PATIENCE": "0",
}
AGREED, ROUNDS = 16, 40
"""The call at which ranks agree first, where no driver was there at the start; and how many there are of each."""


@pytest.fixture(scope="module", params=["openmpi4", "mpich"])
def tools(request: pytest.FixtureRequest) -> Toolchain:
    return toolchain(request.param)


DRIVERS = {
    "cuda": ("libcuda.so.1", ()),
    "hip5": ("libamdhip64.so.5", ("-DMAJOR=5",)),
    "hip6": ("libamdhip64.so.6", ("-DMAJOR=6",)),
    "level zero": ("libze_loader.so.1", ()),
}


def _ran(
    tools: Toolchain, folder: Path, late: bool, *collectives: str, name: str = "cuda", last: str = "", **more: str
) -> Ran:
    """`last` is preloaded behind all else."""
    file, options = DRIVERS[name]
    source = str(PROGRAMS / f"{file.split('.')[0]}.c")
    shared = ["-shared", "-fPIC", "-O1"]
    aware = compiled(tools, folder, str(PROGRAMS / "aware.c"), *shared, name="aware.so", after=["-ldl"])
    driver = compiled(tools, folder, source, *shared, *options, f"-Wl,-soname,{file}", name=file)
    program = compiled(tools, folder, str(PROGRAMS / "device.c"), after=[str(aware), "-ldl", f"-Wl,-rpath,{folder}"])
    words = [str(driver) if late else "start", *collectives]
    preload = [tools.library, aware, *([] if late else [driver]), *([last] if last else [])]
    env = SERVE | {"LD_PRELOAD": ":".join(map(str, preload))} | more
    return run(tools, folder, program, *words, ranks=2, env=env, record=False)


def _run(tools: Toolchain, folder: Path, late: bool, name: str = "cuda") -> dict[str, dict[str, int]]:
    """collective -> implementation -> calls of messages of more than a few bytes, or of no size."""
    ran = _ran(tools, folder, late, *COLLECTIVES, name=name)
    assert (ran.status, ran.out.split()) == (0, ["right"]), ran.out + ran.error
    found: dict[str, dict[str, int]] = {}
    for name, word, calls in re.findall(r"unisono: +(\w+) +(?:\d{4}|any) +(\S+) +(\d+)$", ran.error, re.MULTILINE):
        found.setdefault(name, {})[word.split("/")[0]] = int(calls)
    return found


def _all(served: dict[str, int]) -> dict[str, dict[str, int]]:
    return dict.fromkeys(COLLECTIVES, served)


def test_a_device_on_one_rank(tools: Toolchain, tmp_path: Path) -> None:
    assert _run(tools, tmp_path, late=False) == _all({"mpi": ROUNDS})


@pytest.mark.parametrize("name", sorted(DRIVERS.keys() - {"cuda"}))
def test_other_drivers(name: str, tmp_path: Path) -> None:
    assert _run(toolchain("openmpi4"), tmp_path, late=False, name=name) == _all({"mpi": ROUNDS})


def test_a_driver_that_is_loaded_later(tools: Toolchain, tmp_path: Path) -> None:
    """Until ranks agree that there is one, the rank that has it is served with copies."""
    assert _run(tools, tmp_path, late=True) == _all({"unisono": AGREED - 1, "mpi": ROUNDS - AGREED + 1})


def test_a_rank_without_memory_for_a_copy(tmp_path: Path) -> None:
    """The others are in the call, and would wait for it."""
    tools = toolchain("openmpi4")
    source = str(PROGRAMS / "no_scratch.c")
    refuse = compiled(tools, tmp_path, source, "-shared", "-fPIC", name="no_scratch.so", after=["-ldl"])
    ran = _ran(tools, tmp_path, True, "allreduce", last=str(refuse), NUMBERS="300000")
    assert ran.status != 0 and "refused" in ran.error and not ran.out, ran.out + ran.error
    said = (
        "unisono: rank 1 has no memory left for a copy of what is on its device, and the other ranks would wait for it"
    )
    assert ran.error.count(said) == 1


def test_another_thread_takes_memory_from_the_heap_meanwhile(tools: Toolchain, tmp_path: Path) -> None:
    """What is near is known without touching the heap's end, which threads move. UCX is told to leave sbrk alone, as
    the program has one that does what UCX's does, more slowly."""
    program = compiled(tools, tmp_path, str(PROGRAMS / "heap.c"), "-pthread")
    ran = run(tools, tmp_path, program, ranks=2, env=SERVE | {"UCX_MEM_EVENTS": "n"}, record=False)
    assert (ran.status, ran.out.split()) == (0, ["right"]), ran.out + ran.error
    assert re.search(r"unisono: +allreduce .* unisono/cells +\d+$", ran.error, re.MULTILINE), ran.error
