"""Another tool that takes MPI's calls sees them all, before our library or behind it, and ours serves and records."""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path

import pytest

from tests.profile.interception import Ran, Toolchain, amounts, compiled, run, toolchain
from unisono.core.vocabulary import DISPATCHED, WITH_REQUEST

pytestmark = [pytest.mark.mpi, pytest.mark.beside]
PROGRAMS = Path(__file__).parent / "programs"
SERVE = {"UNISONO_COLLECTIVES": "on", "UNISONO_VERBOSE": "1", "UNISONO_PATIENCE": "0"}


@pytest.fixture(scope="module", params=["openmpi5", "openmpi4", "mpich"])
def tools(request: pytest.FixtureRequest) -> Toolchain:
    return toolchain(request.param)


@pytest.fixture(scope="module")
def built(tools: Toolchain, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """`tool`, a library; `watched`, a program, `linked`, which has the tool in itself."""
    folder = tmp_path_factory.mktemp(tools.name)
    compiled(tools, folder, str(PROGRAMS / "tool.c"), "-O2", "-shared", "-fPIC", name="tool")
    compiled(tools, folder, str(PROGRAMS / "watched.c"))
    compiled(tools, folder, str(PROGRAMS / "watched.c"), name="linked", after=[str(PROGRAMS / "tool.c")])
    return folder


def _saw(said: str) -> dict[str, int]:
    return {name: int(calls) for name, calls in re.findall(r"^tool: (\w+) (\d+)$", said, re.MULTILINE)}


def _served(said: str, collective: str) -> int:
    rows = re.findall(rf"unisono: +{collective} +(?:any|[\d.]+) +unisono/\S+ +(\d+)$", said, re.MULTILINE)
    return sum(map(int, rows))


def _watched(ran: Ran, controls: int) -> None:
    assert ran.status == 0 and "right" in ran.out.split(), ran.out + ran.error
    saw = _saw(ran.out)
    assert saw == {"allreduce": 20, "bcast": 12, "send": 4, "dup": 2, "pcontrol": 4, "init": 2}
    assert _served(ran.error, "allreduce") == 10 and _served(ran.error, "bcast") == 4
    calls: dict[str, int] = defaultdict(int)
    for key, amount in amounts(ran.whole()).items():
        calls[key[1]] += amount[0]
    assert (calls["MPI_Allreduce"], calls["MPI_Bcast"], calls["MPI_Send"], calls["MPI_Comm_dup"]) == (20, 12, 4, 2)
    assert [phase for part in ran.whole()[:1] for phase in part.phases[1:]] == ["solve"] * controls


def _named(ran: Ran, tool: Path, place: str) -> None:
    """One line says that nothing was recorded or served, whose fault it is, and the order that helps."""
    said = [line for line in ran.error.splitlines() if line.startswith("unisono: ")]
    assert ran.status == 0 and "right" in ran.out.split(), ran.out + ran.error
    assert len(said) == 1 and f"MPI_Init is taken by {tool}" in said[0] and f"libunisono.so {place} it" in said[0]


def test_behind_us(tools: Toolchain, built: Path, tmp_path: Path) -> None:
    preload = {"LD_PRELOAD": f"{tools.library}:{built / 'tool'}"}
    _watched(run(tools, tmp_path, built / "watched", ranks=2, env=SERVE | preload), controls=1)


def test_before_us(tools: Toolchain, built: Path, tmp_path: Path) -> None:
    preload = {"LD_PRELOAD": f"{built / 'tool'}:{tools.library}"}
    _watched(run(tools, tmp_path, built / "watched", ranks=2, env=SERVE | preload), controls=0)


def test_on_one_rank_alone(tmp_path: Path) -> None:
    """Who has a tool and who has none choose alike, also where the program goes past every tool."""
    tools = toolchain("openmpi4")
    compiled(tools, tmp_path, str(PROGRAMS / "watched.c"))
    compiled(tools, tmp_path, str(PROGRAMS / "watched.c"), name="linked", after=[str(PROGRAMS / "tool.c")])
    script = tmp_path / "one"
    choose = f'[ "$OMPI_COMM_WORLD_RANK" = 1 ] && exec {tmp_path}/linked x\n'
    script.write_text(f"#!/bin/sh\n{choose}exec {tmp_path}/watched x\n")
    script.chmod(0o755)
    ran = run(tools, tmp_path, script, ranks=2, env=SERVE | {"TOOL_ALONE": "1"}, record=False)
    assert ran.status == 0 and "right" in ran.out.split(), ran.out + ran.error
    assert _saw(ran.out) == {"allreduce": 10, "bcast": 6, "send": 0, "dup": 1, "pcontrol": 2, "init": 1}
    assert _served(ran.error, "allreduce") == 13


def test_a_tool_that_passes_us_by_is_named(tmp_path: Path) -> None:
    tools = toolchain("openmpi4")
    options = ("-O2", "-shared", "-fPIC", '-DASIDE="libmpi.so.40"')
    tool = compiled(tools, tmp_path, str(PROGRAMS / "tool.c"), *options, name="aside.so", after=["-ldl"])
    program = compiled(tools, tmp_path, str(PROGRAMS / "watched.c"))
    preload = {"LD_PRELOAD": f"{tool}:{tools.library}"}
    ran = run(tools, tmp_path, program, ranks=2, env=SERVE | preload, record=False)
    _named(ran, tool, "before")
    assert _saw(ran.out)["allreduce"] == 20


def test_a_tool_that_goes_on_to_the_next(tmp_path: Path) -> None:
    """By dlsym(RTLD_NEXT), not by PMPI: before us it works, behind us it cannot, which is said."""
    tools = toolchain("openmpi4")
    tool = compiled(
        tools, tmp_path, str(PROGRAMS / "tool.c"), "-DNEXT", "-shared", "-fPIC", name="n.so", after=["-ldl"]
    )
    program = compiled(tools, tmp_path, str(PROGRAMS / "watched.c"))
    ran = run(tools, tmp_path, program, ranks=2, env=SERVE | {"LD_PRELOAD": f"{tool}:{tools.library}"})
    assert ran.status == 0 and "right" in ran.out.split() and _served(ran.error, "bcast") == 4, ran.out + ran.error
    assert _saw(ran.out)["allreduce"] == 20
    calls = [(key[1], amount[0]) for key, amount in amounts(ran.whole()).items()]
    assert sum(count for name, count in calls if name == "MPI_Allreduce") == 20
    ran = run(tools, tmp_path, program, ranks=2, env=SERVE | {"LD_PRELOAD": f"{tools.library}:{tool}"}, record=False)
    _named(ran, tool, "behind")
    assert _saw(ran.out)["allreduce"] == 20


EZTRACE = Path("/usr/lib/x86_64-linux-gnu/libeztrace-openmpi.so")


@pytest.mark.skipif(not EZTRACE.exists(), reason="EZTrace is not installed (apt-get install eztrace)")
def test_eztrace(tmp_path: Path) -> None:
    """A real tool: it writes a trace in Score-P's format, OTF2."""
    tools = toolchain("openmpi4")
    program = compiled(tools, tmp_path, str(PROGRAMS / "watched.c"))
    env = SERVE | {"EZTRACE_TRACE": "openmpi", "EZTRACE_TRACE_DIR": str(tmp_path / "trace")}
    ran = run(tools, tmp_path, program, ranks=2, env=env | {"LD_PRELOAD": f"{EZTRACE}:{tools.library}"}, record=False)
    assert ran.status == 0 and "right" in ran.out.split() and _served(ran.error, "allreduce") == 10, ran.out + ran.error
    assert b"MPI_Allreduce" in b"".join(path.read_bytes() for path in (tmp_path / "trace").rglob("*.def"))
    ran = run(tools, tmp_path, program, ranks=2, env=env | {"LD_PRELOAD": f"{tools.library}:{EZTRACE}"}, record=False)
    _named(ran, EZTRACE, "behind")


@pytest.mark.parametrize("before", [True, False], ids=["before", "behind"])
def test_fortran(before: bool, tmp_path: Path) -> None:
    tools = toolchain("openmpi4")
    options = ["-DBINDING=2", "-ffree-line-length-none", "-fallow-argument-mismatch"]
    program = compiled(tools, tmp_path, str(PROGRAMS / "served.F90"), *options)
    tool = compiled(tools, tmp_path, str(PROGRAMS / "tool.c"), "-O2", "-shared", "-fPIC", name="tool.so")
    both = [str(tool), str(tools.library)]
    preload = {"LD_PRELOAD": ":".join(both if before else reversed(both))}
    preload["UNISONO_FORCE"] = (
        "gather=unisono/cells,scatter=unisono/inline,gatherv=unisono/pull,scatterv=unisono/cells,"
        "reduce_scatter=unisono/cells,reduce_scatter_block=unisono/pull,scan=unisono/cells,exscan=unisono/inline,"
        "alltoallw=unisono/cells,neighbor_allgather=unisono/pull,neighbor_allgatherv=unisono/cells,"
        "neighbor_alltoall=unisono/cells,neighbor_alltoallv=unisono/pull,neighbor_alltoallw=unisono/cells"
    )
    ran = run(tools, tmp_path, program, ranks=3, env=SERVE | preload)
    assert ran.status == 0 and "right" in ran.out.split(), ran.out + ran.error
    saw = _saw(ran.out)["allreduce"]
    recorded = sum(amount[0] for key, amount in amounts(ran.whole()).items() if key[1] == "MPI_Allreduce")
    assert saw == recorded >= 15 and _served(ran.error, "allreduce") > 0
    for collective in sorted({*DISPATCHED} - {"allreduce", *WITH_REQUEST}):
        assert _served(ran.error, collective) > 0, collective
