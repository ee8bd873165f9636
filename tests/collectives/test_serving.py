"""Under programs of all kinds the library serves what it can, and nobody notices but the clock."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from tests.profile.interception import Toolchain, amounts, compiled, run, toolchain
from unisono.core.vocabulary import DISPATCHED, WITH_REQUEST

pytestmark = [pytest.mark.mpi, pytest.mark.beside]
PROGRAMS = Path(__file__).parent / "programs"
INCLUDE = Path(__file__).parents[2] / "native" / "include"
ALL = ["openmpi5", "openmpi4", "mpich"]
SERVE = {"UNISONO_COLLECTIVES": "on", "UNISONO_VERBOSE": "1", "UNISONO_PATIENCE": "0"}


@pytest.fixture(scope="module", params=ALL)
def tools(request: pytest.FixtureRequest) -> Toolchain:
    return toolchain(request.param)


NOT_BY_COSTS = {
    "UNISONO_FORCE": "gather=unisono/cells,scatter=unisono/inline,gatherv=unisono/cells,scatterv=unisono/pull,"
    "reduce_scatter=unisono/cells,reduce_scatter_block=unisono/cells,scan=unisono/inline,exscan=unisono/cells,"
    "alltoallw=unisono/cells,neighbor_allgather=unisono/cells,neighbor_allgatherv=unisono/pull,"
    "neighbor_alltoall=unisono/pull,neighbor_alltoallv=unisono/cells,neighbor_alltoallw=unisono/pull"
}
"""Where ranks share CPUs nothing is known of the MPI's own of these, which serve then."""


def _served(said: str) -> dict[tuple[str, str], int]:
    """(collective, implementation) -> calls, as the library lists them at the end."""
    rows = re.findall(r"unisono: +(\w+) +(?:any|[\d.]+) +(\S+) +(\d+)$", said, re.MULTILINE)
    return {(collective, word): int(calls) for collective, word, calls in rows}


def _ours(said: str, collective: str) -> int:
    served = _served(said)
    return sum(calls for (name, word), calls in served.items() if name == collective and word.startswith("unisono/"))


def test_what_mpi_forbids_and_what_we_leave_alone(tools: Toolchain, tmp_path: Path) -> None:
    program = compiled(tools, tmp_path, str(PROGRAMS / "manners.c"))
    ran = run(tools, tmp_path, program, ranks=3, env=SERVE, record=False)
    assert (ran.status, ran.out.split()[-1:]) == (0, ["right"]), ran.out + ran.error
    assert _ours(ran.error, "allreduce") >= 3


def test_communicators_that_come_and_go(tools: Toolchain, tmp_path: Path) -> None:
    program = compiled(tools, tmp_path, str(PROGRAMS / "lives.c"))
    ran = run(tools, tmp_path, program, "3000", ranks=2, env=SERVE, record=False)
    assert ran.status == 0, ran.error
    assert int(ran.out) < 4096, "KiB by which the process grew"
    # From the third call on they are ours: on the world, on 60 that came and went, and on 270 at a time.
    assert _ours(ran.error, "allreduce") == 6 + 60 * 3 + 270 * 3


def test_threads_that_each_have_their_own(tools: Toolchain, tmp_path: Path) -> None:
    program = compiled(tools, tmp_path, str(PROGRAMS / "threads.c"), "-pthread")
    ran = run(tools, tmp_path, program, ranks=2, env=SERVE, record=False)
    if ran.status == 77:
        pytest.skip("this MPI was built without MPI_THREAD_MULTIPLE")
    assert (ran.status, ran.out.split()) == (0, ["right"]), ran.out + ran.error
    assert _ours(ran.error, "allreduce") > 300


def test_a_killed_rank_leaves_no_memory_and_no_hang(tools: Toolchain, tmp_path: Path) -> None:
    program = compiled(tools, tmp_path, str(PROGRAMS / "manners.c"))
    before = set(Path("/dev/shm").glob("unisono*"))
    ran = run(tools, tmp_path, program, "kill", ranks=2, env=SERVE, record=False)
    assert ran.status != 0
    assert set(Path("/dev/shm").glob("unisono*")) <= before


PLACES: tuple[dict[str, str], ...] = (
    {},
    {"UNISONO_FAKE_NODES": "2"},
    {"UNISONO_FAKE_NODES": "1"},
    {"UNISONO_FAKE_NUMA": "2"},
)


@pytest.mark.parametrize(
    ("name", "places"),
    [
        ("openmpi4", PLACES[:2]),
        pytest.param("openmpi4", PLACES[2:], marks=pytest.mark.nightly),
        pytest.param("mpich", PLACES, marks=pytest.mark.nightly),
    ],
    ids=["openmpi4", "openmpi4-elsewhere", "mpich"],
)
def test_operands_are_aligned_as_their_types_are(name: str, places: tuple[dict[str, str], ...], tmp_path: Path) -> None:
    tools = toolchain(name)
    program = compiled(tools, tmp_path, str(PROGRAMS / "aligned.c"), "-Wno-psabi", f"-I{INCLUDE}", after=["-ldl"])
    for made in places:
        ran = run(tools, tmp_path, program, ranks=4, env={"UNISONO_COLLECTIVES": "on"} | made, record=False)
        word, tried = ran.out.split()[-2:]
        assert (ran.status, word) == (0, "right"), ran.out + ran.error
        assert int(tried) >= 25, "algorithms"


@pytest.mark.parametrize("binding", [1, 2, 3], ids=["mpif.h", "mpi", "mpi_f08"])
@pytest.mark.parametrize("name", ["openmpi4", "mpich"])
def test_fortran(name: str, binding: int, tmp_path: Path) -> None:
    tools = toolchain(name)
    options = [f"-DBINDING={binding}", "-ffree-line-length-none", "-fallow-argument-mismatch"]
    program = compiled(tools, tmp_path, str(PROGRAMS / "served.F90"), *options)
    ran = run(tools, tmp_path, program, ranks=3, env=SERVE | NOT_BY_COSTS)
    assert (ran.status, ran.out.split()) == (0, ["right"]), ran.out + ran.error
    calls = amounts(ran.whole())
    for collective in sorted({*DISPATCHED} - {*WITH_REQUEST}):
        assert _ours(ran.error, collective) > 0, collective
        name = f"MPI_{collective.capitalize()}"
        assert sum(amount[0] for key, amount in calls.items() if key[:2] == (0, name)) >= 5, "calls that are recorded"


def test_rules_say_who_serves(tmp_path: Path) -> None:
    tools = toolchain("openmpi5")
    rules = tmp_path / "rules"
    rules.write_text("unisono-rules 1\nallreduce 1 2 0 max tuned/ring,mpi\nbarrier * * 0 max mpi\n")
    program = compiled(tools, tmp_path, str(PROGRAMS / "lives.c"))
    env = {"UNISONO_RULES": str(rules), "UNISONO_VERBOSE": "1", "UNISONO_PATIENCE": "0"}
    ran = run(tools, tmp_path, program, "10", ranks=2, env=env, record=False)
    assert ran.status == 0, ran.error
    assert ("allreduce", "tuned/ring") in _served(ran.error)
    ran = run(tools, tmp_path, program, "10", ranks=2, env=env | {"UNISONO_COLLECTIVES": "off"}, record=False)
    assert set(_served(ran.error)) == {("allreduce", "mpi")}
    rules.write_text("unisono-rules 1\nallreduce 1 2 0 max\n")
    ran = run(tools, tmp_path, program, "10", ranks=2, env=env, record=False)
    assert ran.status == 0
    said = [line for line in ran.error.splitlines() if str(rules) in line]
    assert len(said) == 1 and f"{rules}:2: " in said[0]


def test_what_served_short_blocks_serves_no_long_ones_behind_gaps(tools: Toolchain, tmp_path: Path) -> None:
    """Long blocks with gaps are the MPI library's, of which nothing may be remembered for those without."""
    program = compiled(tools, tmp_path, str(PROGRAMS / "after_gaps.c"))
    rules = tmp_path / "rules"
    lines = [
        f"{collective} * * {sizes} unisono/{how},mpi\n"
        for collective in ("bcast", "allgather", "alltoall", "gather", "scatter")
        for sizes, how in (("0 64", "inline"), ("65 max", "cells"))
    ]
    rules.write_text("".join(["unisono-rules 1\n", *lines]))
    ran = run(tools, tmp_path, program, ranks=2, env={"UNISONO_RULES": str(rules)}, record=False)
    # (MPICH's launcher may put one rank's line into another's.)
    assert (ran.status, "".join(ran.out.split())) == (0, "right" * 2), ran.out + ran.error


def test_the_level_of_threads_stays_what_the_program_has(tmp_path: Path) -> None:
    """Open MPI 5 takes the level that control variables are opened with for the whole process."""
    tools = toolchain("openmpi5")
    program = compiled(tools, tmp_path, str(PROGRAMS / "level.c"))
    ran = run(tools, tmp_path, program, ranks=2, env={"UNISONO_FORCE": "allreduce=tuned"}, record=False)
    assert (ran.status, ran.out.split()) == (0, ["kept"] * 2), ran.out + ran.error


@pytest.mark.parametrize("domains", [{}, {"UNISONO_FAKE_NUMA": "4/2"}], ids=["undivided", "domains"])
def test_ranks_that_share_cpus_meet_in_shared_memory(domains: dict[str, str], tmp_path: Path) -> None:
    """Nothing is tried there, so the models choose: whoever waits for a message waits for its sender to get a CPU, and
    in domains for one rank after another."""
    tools, ranks, mine = toolchain("openmpi5"), 8, os.sched_getaffinity(0)
    program = compiled(tools, tmp_path, str(PROGRAMS / "sizes.c"))
    env = {"UNISONO_COLLECTIVES": "on", "UNISONO_VERBOSE": "1", **domains}
    os.sched_setaffinity(0, sorted(mine)[:2])  # whatever there is: ranks have the launcher's
    try:
        ran = run(tools, tmp_path, program, ranks=ranks, env=env, record=False)
    finally:
        os.sched_setaffinity(0, mine)
    assert (ran.status, ran.out.count("right")) == (0, ranks), ran.out + ran.error
    lines = re.findall(r"unisono: +(bcast|allreduce) +(?:\d+\.\.)?(\d+) +(\S+) +\d+$", ran.error, re.MULTILINE)
    served = {(collective, how) for collective, _, how in lines}
    assert "unisono: ranks share CPUs: to wait for one another takes them" in ran.error
    assert ("allreduce", "unisono/inline") in served
    assert not any("flat" in how or how in ("mpi", "unisono/domains") for _, how in served), served
    slower = re.search(r"to read another rank's memory takes (\S+) times as long as a copy", ran.error)
    if slower is not None and float(slower[1]) >= 3:
        # Then slices copy less, which decides where copies take longer than waits do.
        assert ("allreduce", "2097152", "unisono/pull") not in lines, ran.error


def test_a_way_through_shared_memory_that_there_is_not_is_named(tmp_path: Path) -> None:
    tools = toolchain("openmpi5")
    program = compiled(tools, tmp_path, str(PROGRAMS / "sizes.c"))
    env = {"UNISONO_COLLECTIVES": "on", "UNISONO_CELLS": "tradde"}
    ran = run(tools, tmp_path, program, ranks=2, env=env, record=False)
    assert (ran.status, ran.out.count("right")) == (0, 2), ran.out + ran.error
    known = "soon, late, past, owned, traded and fetched"
    assert ran.error.count(f"UNISONO_CELLS: tradde is none of {known}") == 1, ran.error


def test_memory_is_attached_where_there_is_xpmem_and_else_it_is_said(tmp_path: Path) -> None:
    tools = toolchain("openmpi5")
    program = compiled(tools, tmp_path, str(PROGRAMS / "sizes.c"))
    env = SERVE | {"UNISONO_XPMEM": "1", "UNISONO_FORCE": "bcast=unisono/pull,allreduce=unisono/pull"}
    ran = run(tools, tmp_path, program, ranks=3, env=env, record=False)
    assert (ran.status, ran.out.count("right")) == (0, 3), ran.out + ran.error
    if not Path("/dev/xpmem").exists():
        said = "unisono: UNISONO_XPMEM: there is no /dev/xpmem; other ranks' memory is read by system calls\n"
        assert ran.error.count(said) == 1, ran.error
    assert ("is attached (XPMEM)" in ran.error) == ("unisono: UNISONO_XPMEM:" not in ran.error)
    ran = run(tools, tmp_path, program, ranks=2, env=SERVE | {"UNISONO_XPMEM": "yes"}, record=False)
    assert (ran.status, ran.out.count("right")) == (0, 2), ran.out + ran.error
    assert ran.error.count("UNISONO_XPMEM: yes is neither 0 nor 1; other ranks' memory is read by system calls") == 1


@pytest.mark.parametrize("said", [{}, {"UNISONO_XPMEM": "0"}], ids=["unset", "forbidden"])
def test_memory_of_every_kind_may_change_between_calls(said: dict[str, str], tools: Toolchain, tmp_path: Path) -> None:
    """It is attached where the MPI does so, and nothing that is no longer true is kept; no word where it is not."""
    program = compiled(tools, tmp_path, str(PROGRAMS / "kinds.c"))
    env = SERVE | said | {"UNISONO_FORCE": "bcast=unisono/pull,allreduce=unisono/pull"}
    ran = run(tools, tmp_path, program, ranks=3, env=env, record=False)
    assert (ran.status, ran.out.count("right")) == (0, 3), ran.out + ran.error
    assert "UNISONO_XPMEM" not in ran.error
    if said or not Path("/dev/xpmem").exists():
        assert "is attached (XPMEM)" not in ran.error


def test_an_algorithm_of_the_mpi_serves_no_operation_whose_order_it_changes(tmp_path: Path) -> None:
    """Open MPI's coll/tuned, told to take one of these, does not ask whether an operation of the program commutes."""
    tools = toolchain("openmpi5")
    named = {"reduce": "binary", "allreduce": "ring", "reduce_scatter": "ring"}
    rules = tmp_path / "rules"
    rules.write_text("unisono-rules 1\n" + "".join(f"{one} * * 0 max tuned/{name}\n" for one, name in named.items()))
    program = compiled(tools, tmp_path, str(PROGRAMS / "keeps_order.c"))
    env = {"UNISONO_RULES": str(rules), "UNISONO_VERBOSE": "1", "UNISONO_PATIENCE": "0"}
    ran = run(tools, tmp_path, program, ranks=3, env=env, record=False)
    assert (ran.status, ran.out.split()) == (0, ["right"]), ran.out + ran.error
    served = _served(ran.error)
    assert all(served[one, f"tuned/{name}"] > 0 and served[one, "mpi"] > 0 for one, name in named.items()), served


@pytest.mark.parametrize(
    ("forced", "served"), [("", "0 0 1 0 0 1 1 1 0"), ("allreduce=unisono/cells", "0 0 1 1 1 1 1 1 1")]
)
def test_the_library_rests(tools: Toolchain, forced: str, served: str, tmp_path: Path) -> None:
    """A benchmark times the MPI library as if ours were not there; rules and variables are not put aside by it."""
    program = compiled(tools, tmp_path, str(PROGRAMS / "rests.c"), after=["-ldl"])
    env = {"UNISONO_PATIENCE": "0"} | ({"UNISONO_FORCE": forced} if forced else {})
    ran = run(tools, tmp_path, program, ranks=4, env=env, record=False)
    assert (ran.status, ran.out.strip()) == (0, served), ran.out + ran.error
