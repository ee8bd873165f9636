"""Nonblocking collectives of one node: right however a program waits for them, and without another rank's help."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from tests.launch.launched import launched
from tests.profile.interception import Ran, Toolchain, amounts, compiled, run, toolchain
from unisono.core.vocabulary import NEIGHBOURHOODS, NONBLOCKING, blocking

pytestmark = [pytest.mark.mpi, pytest.mark.beside]
MPIS = [
    "openmpi5",
    "openmpi4",
    "mpich",
    *(pytest.param(name, marks=pytest.mark.nightly) for name in ("mpich5", "intel")),
]
PROGRAMS = Path(__file__).parent / "programs"
FORCE = {"UNISONO_FORCE": ",".join(f"{name}=unisono/posted" for name in NONBLOCKING), "UNISONO_VERBOSE": "1"}


@pytest.fixture(scope="module", params=MPIS)
def tools(request: pytest.FixtureRequest) -> Toolchain:
    return toolchain(request.param)


@pytest.fixture(scope="module")
def program(tools: Toolchain, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compiled(tools, tmp_path_factory.mktemp(tools.name), str(PROGRAMS / "nonblocking.c"), after=["-ldl"])


def calls_of(said: str, collective: str) -> dict[str, int]:
    """Implementation -> calls of rank 0."""
    rows = re.findall(rf"unisono: +{collective} +(?:any|[\d.]+) +(\S+) +(\d+)$", said, re.MULTILINE)
    served: dict[str, int] = {}
    for word, calls in rows:
        served[word] = served.get(word, 0) + int(calls)
    return served


@pytest.mark.parametrize("ranks", [2, pytest.param(5, marks=pytest.mark.nightly)])
def test_right_however_many_are_under_way(tools: Toolchain, program: Path, ranks: int, tmp_path: Path) -> None:
    if ranks > 2 and tools.name.startswith(("mpich", "intel")):
        ranks = 3  # whose ranks do not give their CPUs away
    ran = run(tools, tmp_path, program, ranks=ranks, env=FORCE, record=False)
    assert (ran.status, ran.out.split()) == (0, ["right"]), ran.out + ran.error
    served = calls_of(ran.error, "iallreduce")
    assert served["unisono/posted"] > 500 and served["mpi"] > 100, "some find no room, and are the MPI's on all ranks"
    assert calls_of(ran.error, "ibcast") == {"unisono/posted": 20}


def test_nobody_needs_another_rank_in_mpi(tools: Toolchain, program: Path, tmp_path: Path) -> None:
    ran = run(tools, tmp_path, program, "alone", "flag", ranks=2, env=FORCE, record=False)
    assert (ran.status, ran.out.split()) == (0, ["right"]), ran.out + ran.error
    assert calls_of(ran.error, "iallreduce") == {"unisono/posted": 5}


VECTORS = ("iallgatherv", "ialltoallv", "igatherv", "ireduce_scatter", "iscatterv")
"""Those with a length for each rank."""


@pytest.mark.parametrize("ranks", [2, 4, pytest.param(8, marks=pytest.mark.nightly)])
def test_blocks_of_lengths_of_their_own(tools: Toolchain, ranks: int, tmp_path: Path) -> None:
    """Short and long ones, on communicators with a private one and without."""
    if ranks > 2 and tools.name.startswith(("mpich", "intel")):
        ranks = 3  # whose ranks do not give their CPUs away
    program = compiled(tools, tmp_path, str(PROGRAMS / "later_blocks.c"))
    rules = tmp_path / "rules"
    rules.write_text("\n".join(("unisono-rules 1", *(f"{name} * * 0 max unisono/posted" for name in VECTORS), "")))
    env = {"UNISONO_RULES": str(rules), "UNISONO_VERBOSE": "1", "UNISONO_PATIENCE": "0"}
    ran = run(tools, tmp_path, program, "1200", ranks=ranks, env=env, record=False)
    assert (ran.status, ran.out.split()) == (0, ["right"]), ran.out + ran.error
    for name in VECTORS:
        assert calls_of(ran.error, name)["unisono/posted"] > 50, f"{name}: not the long ones of an iallgatherv"


NEAR = tuple(f"i{name}" for name in NEIGHBOURHOODS)


@pytest.mark.parametrize("form", ["nonblocking", "persistent"])
@pytest.mark.parametrize("ranks", [2, 4, pytest.param(8, marks=pytest.mark.nightly)])
def test_neighbours(tools: Toolchain, ranks: int, form: str, tmp_path: Path) -> None:
    """On grids and graphs, of which all ranks know who is whose neighbour or hear it when memory is offered.

    MPICH's own persistent ones end the program at a start: there all are ours."""
    if not tools.name.startswith("openmpi"):
        form = "ours" if form == "persistent" else form
        ranks = min(ranks, 3)  # whose ranks do not give their CPUs away
    program = compiled(tools, tmp_path, str(PROGRAMS / "later_near.c"))
    near = ((NEAR, "posted"), (NEIGHBOURHOODS, "cells"))
    lines = (f"{name} * * 0 max unisono/{how}" for names, how in near for name in names)
    rules = tmp_path / "rules"
    rules.write_text("\n".join(("unisono-rules 1", *lines, "")))
    env = {"UNISONO_RULES": str(rules), "UNISONO_VERBOSE": "1", "UNISONO_PATIENCE": "0"}
    ran = run(tools, tmp_path, program, "400", form, ranks=ranks, env=env, record=False)
    _right(ran)
    for name in NEAR:
        served = calls_of(ran.error, name if form == "nonblocking" else f"{blocking(name)}_init")
        assert served["unisono/posted"] >= 10, f"{name}: on all but tori that are two ranks wide"
        if form == "ours":
            assert served.keys() == {"unisono/posted"}, name
        elif name.startswith("ineighbor_allgather"):
            assert served["mpi"] >= 20, f"{name}: on those tori"


def _rules(folder: Path) -> dict[str, str]:
    rules = folder / "rules"
    rules.write_text("unisono-rules 1\niallreduce * * 0 max unisono/posted\n")
    return {"UNISONO_RULES": str(rules), "UNISONO_VERBOSE": "1"}


@pytest.mark.parametrize("ranks", [2, pytest.param(5, marks=pytest.mark.nightly)])
@pytest.mark.parametrize(("patience", "calls", "least"), [("0", 500, 1800), ("1", 6000, 11000)])
def test_where_all_calls_are_nonblocking(
    tools: Toolchain, program: Path, patience: str, calls: int, least: int, ranks: int, tmp_path: Path
) -> None:
    """On copies of the world, on which ranks never have to meet, and on others."""
    if ranks > 2 and tools.name.startswith(("mpich", "intel")):
        ranks = 3  # whose ranks do not give their CPUs away
    env = {**_rules(tmp_path), "UNISONO_PATIENCE": patience}
    ran = run(tools, tmp_path, program, "only", str(calls), ranks=ranks, env=env, record=False)
    assert (ran.status, ran.out.split()) == (0, ["right"]), ran.out + ran.error
    served = calls_of(ran.error, "iallreduce")
    assert served["unisono/posted"] >= least, "of six communicators, each from when all ranks have memory"
    assert sum(served.values()) == 6 * (200 + calls) + sum(k % 20 for k in range(60)), (
        "each call is counted, ours or not"
    )


@pytest.mark.parametrize("rank", ["0", "1"])
def test_a_rank_that_can_open_no_file_leaves_all_to_the_mpi(
    tools: Toolchain, program: Path, rank: str, tmp_path: Path
) -> None:
    env = {**_rules(tmp_path), "UNISONO_PATIENCE": "0"}
    ran = run(tools, tmp_path, program, "only", "100", rank, ranks=2, env=env, record=False)
    assert ran.status == 0 and "right" in ran.out.split(), ran.out + ran.error  # UCX complains of it, too
    assert "unisono/posted" not in ran.error


def test_without_room_all_is_the_mpis(tools: Toolchain, program: Path, tmp_path: Path) -> None:
    env = {**_rules(tmp_path), "UNISONO_PATIENCE": "0", "UNISONO_SHARED_MEMORY": "16384"}
    ran = run(tools, tmp_path, program, "only", "100", ranks=2, env=env, record=False)
    assert (ran.status, ran.out.split()) == (0, ["right"]), ran.out + ran.error
    assert "unisono/posted" not in ran.error


def test_they_are_recorded_like_others(tools: Toolchain, program: Path, tmp_path: Path) -> None:
    if tools.name == "mpich5":
        pytest.skip("this MPI's own nonblocking collectives do not come to an end here (5.0.2)")
    plain = run(tools, tmp_path, program, ranks=2)
    served = run(tools, tmp_path, program, ranks=2, env=FORCE)
    assert calls_of(served.error, "iallreduce")["unisono/posted"] > 500
    counted = [
        {key[1:]: amount for key, amount in amounts(ran.whole()).items() if key[1] == "MPI_Iallreduce"}
        for ran in (plain, served)
    ]
    assert counted[0] == counted[1] and counted[0]


@pytest.fixture(scope="module")
def persistent(tools: Toolchain, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp(f"{tools.name}-persistent")
    return compiled(tools, folder, str(PROGRAMS / "persistent.c"), "-Wno-stringop-overflow")


@pytest.fixture(scope="module")
def in_any_order(tools: Toolchain, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp(f"{tools.name}-order")
    return compiled(tools, folder, str(PROGRAMS / "persistent_order.c"), "-Wno-stringop-overflow")


def _right(ran: Ran) -> None:
    if "none" in ran.out:
        pytest.skip("this MPI has no persistent collectives")
    assert (ran.status, ran.out.split()) == (0, ["right"]), ran.out + ran.error


RANKS = [2, pytest.param(3, marks=pytest.mark.nightly)]
KEPT = (
    *("allgather_init", "allreduce_init", "alltoall_init", "barrier_init", "bcast_init", "exscan_init"),
    *("gather_init", "reduce_init", "scan_init"),
)
"""Of those that may be started again, most."""


@pytest.mark.parametrize("ranks", RANKS)
def test_persistent_ones_are_waited_for_like_others(
    tools: Toolchain, persistent: Path, ranks: int, tmp_path: Path
) -> None:
    ran = run(tools, tmp_path, persistent, ranks=ranks, env=FORCE, record=False)
    _right(ran)
    for collective, starts in {"allgather": 80, "bcast": 160, "gather": 80, "scatter": 80}.items():
        served = calls_of(ran.error, f"{collective}_init")
        assert served.keys() == {"unisono/posted"} and served["unisono/posted"] >= starts, collective


@pytest.mark.parametrize("ranks", RANKS)
def test_persistent_ones_are_started_in_any_order(
    tools: Toolchain, in_any_order: Path, ranks: int, tmp_path: Path
) -> None:
    """Until the memory for them has been used several times over; on communicators that are copies of the world, in
    another order, or that have ended."""
    ran = run(tools, tmp_path, in_any_order, "12", "1000", ranks=ranks, env=FORCE, record=False)
    _right(ran)
    for collective in KEPT:
        assert calls_of(ran.error, collective).keys() == {"unisono/posted"}, collective


def test_what_finds_no_room_is_the_mpis_on_all_ranks(tools: Toolchain, in_any_order: Path, tmp_path: Path) -> None:
    if not tools.name.startswith("openmpi"):
        pytest.skip("this MPI's own persistent collectives give wrong results")
    ran = run(tools, tmp_path, in_any_order, "30", "8000", ranks=2, env=FORCE, record=False)
    _right(ran)
    served = {word for collective in KEPT for word in calls_of(ran.error, collective)}
    assert served == {"unisono/posted", "mpi"}


@pytest.fixture(scope="module")
def alone(tools: Toolchain, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compiled(tools, tmp_path_factory.mktemp(f"{tools.name}-alone"), str(PROGRAMS / "persistent_alone.c"))


def test_nobody_needs_another_rank_in_mpi_for_one_that_was_started(
    tools: Toolchain, alone: Path, tmp_path: Path
) -> None:
    ran = run(tools, tmp_path, alone, str(tmp_path / "flag"), ranks=2, env=FORCE, record=False)
    _right(ran)
    assert calls_of(ran.error, "allreduce_init") == {"unisono/posted": 3}


def test_who_waits_for_a_rank_that_has_ended_is_told(tools: Toolchain, alone: Path, tmp_path: Path) -> None:
    if not tools.name.startswith("mpich"):
        pytest.skip("this MPI's own launcher ends the others")
    argv = [*tools.launch(3, {**FORCE, "LD_PRELOAD": str(tools.library)}), str(alone), "exit"]
    done = launched([argv[0], "-disable-auto-cleanup", *argv[1:]], cwd=tmp_path, env=dict(os.environ), timeout=60)
    assert done.stdout.count("told") == 2, done.stdout + done.stderr
    assert len(re.findall(r"^unisono: process \d+ has ended", done.stderr, re.MULTILINE)) == 1


@pytest.mark.parametrize("room", ["0", "16384"])
def test_without_room_persistent_ones_are_the_mpis(
    tools: Toolchain, in_any_order: Path, room: str, tmp_path: Path
) -> None:
    if not tools.name.startswith("openmpi"):
        pytest.skip("this MPI's own persistent collectives give wrong results")
    env = {**FORCE, "UNISONO_SHARED_MEMORY": room}
    ran = run(tools, tmp_path, in_any_order, "2", "1000", "world", ranks=2, env=env, record=False)
    _right(ran)
    assert "unisono/posted" not in ran.error and calls_of(ran.error, "allreduce_init")["mpi"] > 10


def test_persistent_ones_are_recorded_like_others(tools: Toolchain, persistent: Path, tmp_path: Path) -> None:
    """By what starts them."""
    if not tools.name.startswith("openmpi"):
        pytest.skip("this MPI's own persistent collectives do not come to an end")
    plain = run(tools, tmp_path, persistent, "world", ranks=2)
    if "none" in plain.out:
        pytest.skip("this MPI has no persistent collectives")
    served = run(tools, tmp_path, persistent, "world", ranks=2, env=FORCE)
    assert calls_of(served.error, "allreduce_init").keys() == {"unisono/posted"}
    counted = [
        {key[1:]: amount for key, amount in amounts(ran.whole()).items() if "_init" in key[1] or "Start" in key[1]}
        for ran in (plain, served)
    ]
    assert counted[0] == counted[1] and len(counted[0]) > 5


@pytest.mark.parametrize("binding", [1, 2, 3], ids=["mpif.h", "mpi", "mpi_f08"])
@pytest.mark.parametrize(("name", "form"), [("openmpi4", []), ("mpich", []), ("mpich", ["-DPERSISTENT"])])
def test_fortran(name: str, form: list[str], binding: int, tmp_path: Path) -> None:
    """Of these MPIs MPICH alone has persistent collectives in Fortran."""
    tools = toolchain(name)
    options = [f"-DBINDING={binding}", "-ffree-line-length-none", "-fallow-argument-mismatch", *form]
    program = compiled(tools, tmp_path, str(PROGRAMS / "later.F90"), *options)
    ran = run(tools, tmp_path, program, ranks=2, env=FORCE, record=False)
    assert (ran.status, ran.out.split()) == (0, ["right"]), ran.out + ran.error
    assert calls_of(ran.error, "allreduce_init" if form else "iallreduce")["unisono/posted"] == 200


def _ruled(folder: Path, *lines: str) -> dict[str, str]:
    """The variables under which these rules hold, and who serves is told."""
    rules = folder / "rules"
    rules.write_text("\n".join(("unisono-rules 1", *lines, "")))
    return {"UNISONO_RULES": str(rules), "UNISONO_VERBOSE": "1"}


def _of_the_mpi(folder: Path) -> dict[str, str]:
    """Rules that give calls to algorithms of coll/libnbc."""
    return _ruled(
        folder,
        "ibcast * * 0 1000 libnbc/linear",
        "ibcast * * 1001 max libnbc/chain",
        "iallgather * * 4096 max libnbc/recursive_doubling,mpi",
        "ireduce * * 0 max libnbc/nothing,libnbc/binomial",
        "iallreduce * * 0 max libnbc/nothing",
    )


@pytest.mark.parametrize("places", [{}, {"UNISONO_FAKE_NODES": "2,1"}], ids=["one node", "several"])
def test_the_mpis_own_algorithms_by_size(tools: Toolchain, places: dict[str, str], tmp_path: Path) -> None:
    """Of Open MPI, on one node and on several; where they are not there all is the MPI's by itself."""
    program = compiled(tools, tmp_path, str(PROGRAMS / "later_sizes.c"))
    env = _of_the_mpi(tmp_path) | places
    ran = run(tools, tmp_path, program, ranks=3, env=env, record=False)
    assert (ran.status, ran.out.split()) == (0, ["right"]), ran.out + ran.error
    calls = 2 * 3  # of each size, of which there are four
    if tools.name.startswith("openmpi"):
        assert calls_of(ran.error, "ibcast") == {"libnbc/linear": 2 * calls, "libnbc/chain": 2 * calls}
        assert calls_of(ran.error, "iallgather") == {"libnbc/recursive_doubling": 2 * calls, "mpi": 2 * calls}
        assert calls_of(ran.error, "ireduce") == {"libnbc/binomial": 4 * calls}
    else:
        assert not any(word.startswith("libnbc/") for word in calls_of(ran.error, "ibcast"))
        assert "libnbc/chain does not apply to ibcast: this MPI library has no such algorithm for it" in ran.error
    assert calls_of(ran.error, "iallreduce") in ({"mpi": 4 * calls}, {}), "no such algorithm"
    for collective in ("ireduce", "iallreduce"):
        assert f"libnbc/nothing does not apply to {collective}: " in ran.error


def test_the_mpis_own_algorithms_keep_the_order_of_operations_that_do_not_commute(tmp_path: Path) -> None:
    """Open MPI's ring and chain combine in an order of their own, whatever the operation is."""
    tools = toolchain("openmpi5")
    program = compiled(tools, tmp_path, str(PROGRAMS / "later_order.c"))
    rules = _ruled(tmp_path, "iallreduce * * 0 max libnbc/ring", "ireduce * * 0 max libnbc/chain")
    env = {**rules, "UNISONO_FAKE_NODES": "2"}
    ran = run(tools, tmp_path, program, ranks=4, env=env, record=False)
    assert (ran.status, ran.out.split()) == (0, ["right"]), ran.out + ran.error
    assert calls_of(ran.error, "iallreduce") == {"libnbc/ring": 1, "mpi": 1}
    assert calls_of(ran.error, "ireduce") == {"mpi": 1}


def test_the_mpis_own_algorithms_are_left_to_it_where_there_are_threads(tmp_path: Path) -> None:
    """Its parameters are the whole process's."""
    tools = toolchain("openmpi5")
    program = compiled(tools, tmp_path, str(PROGRAMS / "later_sizes.c"))
    ran = run(tools, tmp_path, program, "multiple", ranks=2, env=_of_the_mpi(tmp_path), record=False)
    assert (ran.status, ran.out.split()) == (0, ["right"]), ran.out + ran.error
    assert calls_of(ran.error, "ibcast") in ({"mpi": 4 * 2 * 3}, {})
    assert ran.error.count("libnbc/... do not apply with MPI_THREAD_MULTIPLE") == 1


def test_ours_and_the_mpis_own_side_by_side(tmp_path: Path) -> None:
    tools = toolchain("openmpi5")
    program = compiled(tools, tmp_path, str(PROGRAMS / "later_sizes.c"))
    env = {"UNISONO_FORCE": "ibcast=unisono/posted", **_of_the_mpi(tmp_path)}
    ran = run(tools, tmp_path, program, ranks=2, env=env, record=False)
    assert (ran.status, ran.out.split()) == (0, ["right"]), ran.out + ran.error
    short, sizes, turns, communicators = 3, 4, 3, 2
    calls = communicators * sizes * turns
    served = calls_of(ran.error, "ibcast")
    assert set(served) == {"unisono/posted", "mpi"} and sum(served.values()) == calls
    assert served["unisono/posted"] >= short * turns, "all short ones on the world"
    assert calls_of(ran.error, "ireduce") == {"libnbc/binomial": calls}


def _of_the_mpi_when_made(folder: Path) -> dict[str, str]:
    return _ruled(
        folder,
        "ibcast * * 0 1000 libnbc/linear",
        "ibcast * * 1001 max libnbc/chain",
        "iallgather * * 4096 max libnbc/recursive_doubling,mpi",
        "iallreduce * * 0 40000 unisono/posted,mpi",
        "iallreduce * * 40001 max unisono/posted,libnbc/ring",
        "ireduce * * 0 max libnbc/nothing,libnbc/chain",
        "iscan * * 0 max libnbc/recursive_doubling",
        "iexscan * * 0 max libnbc/nothing",
    )


@pytest.mark.parametrize("places", [{}, {"UNISONO_FAKE_NODES": "2"}], ids=["one node", "several"])
def test_persistent_ones_take_the_mpis_own_algorithms_when_they_are_made(
    places: dict[str, str], tmp_path: Path
) -> None:
    """Of its ring a rank combines a quarter at a time; what does not block afterwards has the MPI's own choice."""
    tools = toolchain("openmpi5")
    program = compiled(tools, tmp_path, str(PROGRAMS / "persistent_chosen.c"))
    ran = run(tools, tmp_path, program, ranks=4, env=_of_the_mpi_when_made(tmp_path) | places, record=False)
    assert (ran.status, ran.out.splitlines()) == (0, ["pieces of 3000 and 6000", "right"]), ran.out + ran.error
    starts = 2 * 3  # of each size, of which there are four, in place and not
    ours = "mpi" if places else "unisono/posted"
    assert calls_of(ran.error, "bcast_init") == {"libnbc/linear": 2 * starts, "libnbc/chain": 2 * starts}
    assert calls_of(ran.error, "allgather_init") == {"libnbc/recursive_doubling": 2 * starts, "mpi": 2 * starts}
    assert calls_of(ran.error, "reduce_init") == {"libnbc/chain": 4 * starts, "mpi": 3}, "one whose order matters"
    assert calls_of(ran.error, "scan_init") == {"libnbc/recursive_doubling": 4 * starts}
    assert calls_of(ran.error, "exscan_init") == {"mpi": 4 * starts}
    allreduce = calls_of(ran.error, "allreduce_init")
    assert allreduce.pop("libnbc/ring") == starts + 3, "the longest, and one with an operation of the program's"
    assert allreduce == ({"mpi": 3 * starts + 3} if places else {ours: 3 * starts, "mpi": 3})
    assert calls_of(ran.error, "iallreduce") == {"mpi": 1}


def test_persistent_ones_are_the_mpis_by_itself_where_there_are_threads(tmp_path: Path) -> None:
    tools = toolchain("openmpi5")
    program = compiled(tools, tmp_path, str(PROGRAMS / "persistent_chosen.c"))
    ran = run(tools, tmp_path, program, "multiple", ranks=4, env=_of_the_mpi_when_made(tmp_path), record=False)
    assert (ran.status, ran.out.splitlines()) == (0, ["pieces of 12000 and 6000", "right"]), ran.out + ran.error
    assert "libnbc/ring " not in ran.error
