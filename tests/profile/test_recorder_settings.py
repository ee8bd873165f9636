"""Phases, filters, what is switched on and off, what the recorder says of itself."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.profile.interception import BINNED, Toolchain, amounts, compiled, run, toolchain
from unisono.profile.rawfile import Part

pytestmark = [pytest.mark.mpi, pytest.mark.beside]


@pytest.fixture(scope="module")
def tools() -> Toolchain:
    """MPICH starts in a fifth of the time; all this has nothing to do with the MPI."""
    return toolchain("mpich" if shutil.which("mpicc.mpich") else "openmpi5")


@pytest.fixture(scope="module")
def program(tools: Toolchain, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compiled(tools, tmp_path_factory.mktemp("program"), "phases.c")


def recorded(tools: Toolchain, folder: Path, program: Path, **variables: str) -> Part:
    env = {f"UNISONO_PROFILE_{name}": value for name, value in variables.items()}
    ran = run(tools, folder, program, ranks=0, env=env)
    assert ran.status == 0, ran.error
    (part,) = ran.whole()
    return part


def test_phases_and_switches(tools: Toolchain, program: Path, tmp_path: Path) -> None:
    part = recorded(tools, tmp_path, program)
    phases = {int(cell["size_min"]): part.phases[cell["phase"]] for cell in part.cells if cell["size_min"] < 9}
    assert phases == {2: "", 4: "", 5: "solve", 6: "inner", 7: "solve", 8: ""}


def test_sixteen_sizes_are_exact(tools: Toolchain, program: Path, tmp_path: Path) -> None:
    part = recorded(tools, tmp_path, program)
    (looped,) = (cell for cell in part.cells if cell["size_min"] != cell["size_max"])
    assert [int(looped[name]) for name in ("size_min", "size_max", "size_sum", "calls")] == [25, 28, 106, 4]
    exact = amounts([part])
    assert [exact[0, "MPI_Allreduce", 1, size] for size in range(9, 25)] == [(1, size, size) for size in range(9, 25)]
    assert exact[0, "MPI_Allreduce", 1, BINNED] == (4, 106, 106)


def test_filter(tools: Toolchain, program: Path, tmp_path: Path) -> None:
    filters = tmp_path / "filter"
    filters.write_text("# nothing but barriers\nexclude MPI_*\n\ninclude MPI_Barrier\n")
    part = recorded(tools, tmp_path, program, FILTER=str(filters))
    assert len(part.cells) == 0


def test_not_from_the_start(tools: Toolchain, program: Path, tmp_path: Path) -> None:
    part = recorded(tools, tmp_path, program, START="off")
    assert (0, "MPI_Allreduce", 1, 2) not in amounts([part])
    assert amounts([part])[0, "MPI_Allreduce", 1, 4] == (1, 4, 4)


def test_full_tables_are_counted(tools: Toolchain, program: Path, tmp_path: Path) -> None:
    part = recorded(tools, tmp_path, program, MEMORY=str(64 << 10))
    assert part.number("memory") <= 64 << 10
    assert part.number("dropped") == 0
    assert part.number("calls") == sum(int(cell["calls"]) for cell in part.cells)


@pytest.mark.parametrize("depth", ["0", "2", "16"])
def test_depth(tools: Toolchain, program: Path, tmp_path: Path, depth: str) -> None:
    part = recorded(tools, tmp_path, program, DEPTH=depth)
    lengths = part.starts[1:] - part.starts[:-1]
    assert lengths.max() <= int(depth)
    assert (lengths.max() >= 2) == (depth != "0")
    assert part.number("depth") == int(depth)


def test_waiting_apart(tools: Toolchain, program: Path, tmp_path: Path) -> None:
    part = recorded(tools, tmp_path, program, SPLIT_WAITING="1")
    assert part.about["split_waiting"] is True
    cells = part.cells[[part.functions[f] == "MPI_Allreduce" for f in part.cells["function"]]]
    assert len(cells) > 0
    assert ((cells["waiting"] >= 0) & (cells["waiting"] <= cells["time"])).all()
    assert (recorded(tools, tmp_path, program).cells["waiting"] == -1).all()


def test_what_it_says_of_itself(tools: Toolchain, program: Path, tmp_path: Path) -> None:
    part = recorded(tools, tmp_path, program)
    assert (part.rank, part.ranks, part.number("node"), part.number("threads")) == (0, 1, 0, 1)
    assert part.text("exe") == str(program)
    assert part.text("mpi").startswith(("Open MPI v5", "MPICH Version"))
    assert any(path == str(program) for path, _, _ in part.modules)
    assert any(path == str(tools.library) for path, _, _ in part.modules)
    assert 0 < part.number("memory") <= 33 << 20
    assert 0 < part.number("overhead_ns") < 100_000
    for cell in part.cells:
        assert cell["time_min"] * cell["calls"] <= cell["time"] <= cell["time_max"] * cell["calls"]


def test_bad_values_are_said_and_not_taken(tools: Toolchain, program: Path, tmp_path: Path) -> None:
    env = {"UNISONO_PROFILE_DEPTH": "many", "UNISONO_PROFILE_FILTER": str(tmp_path / "absent")}
    ran = run(tools, tmp_path, program, ranks=0, env=env)
    assert ran.status == 0
    assert "unisono: UNISONO_PROFILE_DEPTH: many is no value for it" in ran.error
    assert "UNISONO_PROFILE_FILTER" in ran.error
    assert ran.whole()[0].number("depth") == 8
