"""What fails within the library is no end of the program, and what the program has set up changes nothing within."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.collectives.algorithms import BLOCKING, NAMES, RANKS, forced, parted, places
from tests.profile.interception import compiled, run, toolchain

pytestmark = [pytest.mark.mpi, pytest.mark.beside]
PROGRAMS = Path(__file__).parent / "programs"
COST = "cost node_latency 1.5e-7 node_byte 1.1e-10 fabric_latency 2.5e-06 fabric_byte 1e-10"


@pytest.mark.parametrize("name", ["openmpi4", "mpich"])
def test_a_communicator_that_cannot_be_made(name: str, tmp_path: Path) -> None:
    tools = toolchain(name)
    program = compiled(tools, tmp_path, str(PROGRAMS / "watched.c"))
    broken = compiled(tools, tmp_path, str(PROGRAMS / "no_split.c"), "-shared", "-fPIC", name="no_split.so")
    forced = ",".join(f"{collective}=unisono/cells" for collective in ("allreduce", "bcast"))
    env = {"LD_PRELOAD": f"{tools.library}:{broken}", "UNISONO_FORCE": forced, "UNISONO_VERBOSE": "1"}
    ran = run(tools, tmp_path, program, ranks=2, env=env, record=False)
    assert (ran.status, ran.out.split()) == (0, ["right"]), ran.out + ran.error
    assert re.search(r"allreduce +2000 +mpi +1$", ran.error, re.MULTILINE), ran.error


def test_a_locale_with_a_decimal_comma(tmp_path: Path) -> None:
    if shutil.which("localedef") is None:
        pytest.skip("localedef is not installed")
    made = subprocess.run(["localedef", "-i", "de_DE", "-f", "UTF-8", tmp_path / "de_DE.UTF-8"], check=False)
    if made.returncode != 0:
        pytest.skip("the system has no sources of locales")
    tools = toolchain("openmpi4")
    program = compiled(tools, tmp_path, str(PROGRAMS / "comma.c"))
    rules = tmp_path / "rules"
    rules.write_text(f"unisono-rules 1\n{COST}\nallreduce * * 0 max unisono/cells,mpi\n")
    env = {"UNISONO_RULES": str(rules), "UNISONO_VERBOSE": "1", "LOCPATH": str(tmp_path)}
    ran = run(tools, tmp_path, program, ranks=2, env=env, record=False)
    assert (ran.status, ran.out.split()) == (0, ["right"]), ran.out + ran.error
    assert re.search(r"allreduce +4 +unisono/cells +1$", ran.error, re.MULTILINE), ran.error


@pytest.mark.parametrize("name", ["openmpi4", "mpich"])
def test_a_communicator_that_is_used_while_it_ends_in_fortran(name: str, tmp_path: Path) -> None:
    tools = toolchain(name)
    program = compiled(tools, tmp_path, str(PROGRAMS / "ends.F90"), "-fallow-argument-mismatch")
    ran = run(tools, tmp_path, program, ranks=2, env={"UNISONO_COLLECTIVES": "on"}, record=False)
    assert (ran.status, ran.out.split()) == (0, ["right"]), ran.out + ran.error


@pytest.mark.parametrize(
    ("name", "asked"),
    [
        ("openmpi4", "UNISONO_COLLECTIVES=on"),
        ("openmpi4", "UNISONO_FORCE=allreduce=unisono/cells"),
        ("mpich", "UNISONO_COLLECTIVES=on"),
        pytest.param("mpich", "UNISONO_FORCE=allreduce=unisono/cells", marks=pytest.mark.nightly),
    ],
)
def test_a_rank_without_memory(name: str, asked: str, tmp_path: Path) -> None:
    tools = toolchain(name)
    starve = compiled(tools, tmp_path, str(PROGRAMS / "starve.c"), "-shared", "-fPIC", name="starve.so", after=["-ldl"])
    program = compiled(tools, tmp_path, str(PROGRAMS / "starved.c"), after=[str(starve), f"-Wl,-rpath,{tmp_path}"])
    variable, value = asked.split("=", 1)
    env = {"LD_PRELOAD": f"{tools.library}:{starve}", variable: value, "UNISONO_PATIENCE": "0"}
    ran = run(tools, tmp_path, program, ranks=3, env=env, record=False)
    found = re.fullmatch(r"right, refused (\d+)\s*", ran.out)
    assert ran.status == 0 and found, ran.out + ran.error
    assert int(found[1]) > 10


@pytest.mark.parametrize("name", ["openmpi4", "mpich"])
def test_a_rank_without_memory_at_the_start(name: str, tmp_path: Path) -> None:
    """For what is put by: all ranks leave everything to the MPI library."""
    tools = toolchain(name)
    refuse = compiled(
        tools, tmp_path, str(PROGRAMS / "no_scratch.c"), "-shared", "-fPIC", name="no_scratch.so", after=["-ldl"]
    )
    program = compiled(tools, tmp_path, str(PROGRAMS / "lacking.c"))
    env = {"LD_PRELOAD": f"{tools.library}:{refuse}", "UNISONO_COLLECTIVES": "on", "UNISONO_VERBOSE": "1"}
    env |= {"NO_SCRATCH_FROM": "262000", "UCX_MEM_EVENTS": "n"}
    ran = run(tools, tmp_path, program, "allreduce", ranks=2, env=env, record=False)
    said = sorted(re.findall("error|right|wrong|on", ran.out))
    assert (ran.status, said) == (0, ["on", "on", "right", "right"]), ran.out + ran.error
    assert "refused" in ran.error and "unisono/" not in ran.error
    assert ran.error.count("unisono: libunisono: a rank has no memory left for it; all collectives") == 1, ran.error


def test_a_rank_without_memory_for_a_file(tmp_path: Path) -> None:
    """The file is read by one rank, and what it says goes to all."""
    tools = toolchain("openmpi4")
    refuse = compiled(
        tools, tmp_path, str(PROGRAMS / "no_scratch.c"), "-shared", "-fPIC", name="no_scratch.so", after=["-ldl"]
    )
    program = compiled(tools, tmp_path, str(PROGRAMS / "lacking.c"))
    (tmp_path / "torus").write_text("grid 2 torus\n" + "# a remark\n" * 200_000)
    env = {"UNISONO_TOPOLOGY": str(tmp_path / "torus"), "UNISONO_COLLECTIVES": "on"}
    for preload, ours in ((str(tools.library), True), (f"{tools.library}:{refuse}", False)):
        more = {"LD_PRELOAD": preload, "UNISONO_VERBOSE": "1"}
        ran = run(tools, tmp_path, program, "allreduce", ranks=2, env=env | more, record=False)
        assert (ran.status, sorted(ran.out.split())) == (0, ["on", "on", "right", "right"]), ran.out + ran.error
        assert ("unisono/" in ran.error) == ours, ran.error
        assert ("unisono: libunisono: a rank could not set it up" in ran.error) == (not ours), ran.error


@pytest.mark.parametrize("name", ["openmpi4", "mpich"])
@pytest.mark.parametrize(
    ("call", "cells"),
    [
        ("bcast=unisono/cells", "soon"),
        ("allreduce=unisono/flat_doubling", "soon"),
        ("alltoall=unisono/cells", "soon"),
        ("alltoall=unisono/cells", "traded"),
    ],
)
def test_a_rank_without_memory_for_a_call(name: str, call: str, cells: str, tmp_path: Path) -> None:
    """Nobody waits for it: where ranks share memory all hear of it, and where they wait for messages the job ends."""
    tools = toolchain(name)
    refuse = compiled(
        tools, tmp_path, str(PROGRAMS / "no_scratch.c"), "-shared", "-fPIC", name="no_scratch.so", after=["-ldl"]
    )
    program = compiled(tools, tmp_path, str(PROGRAMS / "lacking.c"))
    env = {"LD_PRELOAD": f"{tools.library}:{refuse}", "UNISONO_FORCE": call, "UNISONO_PATIENCE": "0"}
    env["UNISONO_CELLS"] = cells  # two ranks that trade need no queues
    # With memory events UCX takes the place of the mmap() it finds. A message that nobody waits for may be left.
    env |= {"UCX_MEM_EVENTS": "n", "UCX_LOG_LEVEL": "error"}
    if call.startswith("alltoall"):
        env["UNISONO_SHARED_MEMORY"] = "670000"  # the queues of some communicators
    ran = run(tools, tmp_path, program, call.split("=")[0], ranks=2, env=env, record=False)
    assert "refused" in ran.error
    if call.startswith("bcast") or cells == "traded":
        said = sorted(re.findall("error|right|wrong|on", ran.out))  # MPICH puts lines of two ranks into one
        assert (ran.status, said) == (0, ["error", "error", "on", "on"]), ran.out + ran.error
    elif call.startswith("allreduce"):
        assert ran.status != 0 and not ran.out
        assert "unisono: rank 1 has no memory left for allreduce_flat_doubling, and the other ranks" in ran.error
    else:
        assert ran.status != 0 and "right" not in ran.out
        assert "unisono: a rank has no memory left for a collective, and this one waits for its message" in ran.error


@pytest.mark.parametrize("call", ["reduce_scatter=unisono/cells", "gatherv=unisono/cells", "scatterv=unisono/pull", ""])
def test_a_rank_without_memory_for_its_block(call: str, tmp_path: Path) -> None:
    """All ranks hear of it. Where sums are to be reproducible nobody hears, and the program ends after one line."""
    tools = toolchain("openmpi4")
    refuse = compiled(
        tools, tmp_path, str(PROGRAMS / "no_scratch.c"), "-shared", "-fPIC", name="no_scratch.so", after=["-ldl"]
    )
    program = compiled(tools, tmp_path, str(PROGRAMS / "lacking.c"))
    env = {"LD_PRELOAD": f"{tools.library}:{refuse}", "UNISONO_PATIENCE": "0"}
    env |= {"UNISONO_FORCE": call} if call else {"UNISONO_REPRODUCIBLE": "placement"}
    ran = run(tools, tmp_path, program, call.split("=")[0] or "reduce_scatter", ranks=2, env=env, record=False)
    assert "refused" in ran.error
    if call:
        assert (ran.status, sorted(ran.out.split())) == (0, ["error", "error", "on", "on"]), ran.out + ran.error
    else:
        lines = [line for line in ran.error.splitlines() if line.startswith("unisono:")]
        assert ran.status != 0 and not ran.out, ran.out
        assert lines == [
            "unisono: rank 1 has no memory left for a reproducible reduce_scatter, and the other ranks would wait for "
            "it: the program ends here"
        ]


@pytest.mark.nightly
@pytest.mark.timeout(900)
@pytest.mark.parametrize("algorithm", BLOCKING)
def test_a_rank_without_memory_for_any_algorithm(algorithm: str, tmp_path: Path) -> None:
    """Where it has to have some, all ranks of a node hear of it, or the program ends after a line; nobody waits."""
    tools = toolchain("openmpi4")
    refuse = compiled(
        tools, tmp_path, str(PROGRAMS / "no_scratch.c"), "-shared", "-fPIC", name="no_scratch.so", after=["-ldl"]
    )
    program = compiled(tools, tmp_path, str(PROGRAMS / "refused.c"))
    served = 0
    for size in ("2000000", "64", "8"):  # some serve short messages alone
        for place, variables in places(tmp_path).items() if not served else ():
            env = {"LD_PRELOAD": f"{tools.library}:{refuse}", "UNISONO_PATIENCE": "0", "UNISONO_VERBOSE": "1"}
            env |= forced(algorithm) | variables
            ran = run(tools, tmp_path, program, parted(algorithm)[0], size, ranks=RANKS, env=env, record=False)
            said = sorted(ran.out.split())
            if ran.status == 0:
                served += f"unisono/{parted(algorithm)[1]} " in ran.error
                assert said in (["on"] * RANKS + ["right"] * RANKS, ["error"] * RANKS + ["on"] * RANKS), place
            else:
                served += 1
                assert "no memory left for" in ran.error and "wrong" not in said, f"{place}: {ran.out}{ran.error}"
    assert served > 0


@pytest.mark.parametrize(
    "algorithm",
    [
        pytest.param(name, marks=() if name == "ialltoall_posted" else pytest.mark.nightly)
        for name in NAMES
        if name not in BLOCKING
    ],
)
def test_a_rank_without_memory_for_nonblocking_calls(algorithm: str, tmp_path: Path) -> None:
    """It takes what was put by at the start; when that is used up, the program ends after one line. Nobody waits."""
    tools = toolchain("openmpi4")
    refuse = compiled(
        tools, tmp_path, str(PROGRAMS / "no_scratch.c"), "-shared", "-fPIC", name="no_scratch.so", after=["-ldl"]
    )
    program = compiled(tools, tmp_path, str(PROGRAMS / "refused.c"))
    env = {"LD_PRELOAD": f"{tools.library}:{refuse}", **forced(algorithm)}
    ran = run(tools, tmp_path, program, parted(algorithm)[0], "64", ranks=RANKS, env=env, record=False)
    assert ran.status != 0 and set(ran.out.split()) <= {"right"}, ran.out  # a scan's first rank waits for nobody
    assert "refused" in ran.error
    lines = [line for line in ran.error.splitlines() if line.startswith("unisono:")]
    assert len(lines) == 1 and "no memory left for a communicator or a nonblocking call" in lines[0], ran.error
