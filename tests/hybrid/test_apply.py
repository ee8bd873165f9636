"""unisono run --layout: the words each launcher gets, and what of the user's line gives way."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.hybrid.made import all_of, machine, study
from unisono.core.errors import UserError
from unisono.hybrid.apply import as_it_is, with_layout
from unisono.hybrid.keep import layouts, with_layouts
from unisono.machine.description import Machine, Node
from unisono.tuning import LayoutModel, Tuning

OMP = {"OMP_NUM_THREADS": "2", "OMP_PLACES": "cores", "OMP_PROC_BIND": "close"}
OPENMPI = [
    *("--map-by", "ppr:2:node:PE=2", "--bind-to", "core"),
    *(word for item in OMP.items() for word in ("-x", "=".join(item))),
]


def made(**change: object) -> Tuning:
    flat, two, _ = all_of(machine())
    found = study({flat: 1.0, two: 0.8})
    kept = [
        LayoutModel.model_validate({**layout.model_dump(), **change})
        for layout in layouts(found.decision, found.data, found.program, found.metric)
    ]
    return with_layouts(None, kept, found.data)


def nodes(here: Machine, count: int) -> Machine:
    return here.model_copy(update={"nodes": [Node(host=f"n{i}", slots=4) for i in range(count)]})


@pytest.mark.parametrize(
    ("line", "words", "gives_way"),
    [
        (["mpirun", "-n", "4", "./app", "-n", "7"], [*OPENMPI, "-n", "2", "./app", "-n", "7"], ["-n 4"]),
        (["mpirun", "-n", "{ranks}", "./app", "{threads}", "{x}"], [*OPENMPI, "-n", "2", "./app", "2", "{x}"], []),
        (
            ["mpirun", "--bind-to", "socket", "--mca", "pml", "ob1", "-x", "OMP_NUM_THREADS=9", "-np", "2", "./app"],
            [*OPENMPI, "-n", "2", "--mca", "pml", "ob1", "./app"],
            ["--bind-to socket", "-x OMP_NUM_THREADS=9"],
        ),
        (
            ["mpirun", "--host", "a,b:8", "-n", "5", "./app"],
            [*OPENMPI, "-n", "4", "--host", "a:2,b:8", "./app"],
            ["-n 5"],
        ),
    ],
)
def test_openmpi(line: list[str], words: list[str], gives_way: list[str]) -> None:
    found = with_layout(made(), line, machine(), {})
    assert found.argv == ["mpirun", *words]
    assert found.env == {}
    assert [note.split(" of the")[0] for note in found.notes if "command line" in note] == gives_way


def test_mpich() -> None:
    here = nodes(machine(family="mpich"), 2)
    line = ["mpirun", "-genv", "A", "1", "-ppn", "4", "-n", "8", "-hosts", "n0,n1", "./app", "-ppn"]
    found = with_layout(made(), line, here, {"OMP_NUM_THREADS": "64"})
    exports = [word for name, value in OMP.items() for word in ("-genv", name, value)]
    assert found.argv == [
        *("mpirun", "-ppn", "2", "-bind-to", "core:2", *exports, "-n", "4"),
        *("-genv", "A", "1", "-hosts", "n0:2,n1:2", "./app", "-ppn"),
    ]
    assert "OMP_NUM_THREADS=64 of your environment is replaced by 2" in found.notes
    assert "the layout was measured on 1 nodes, the nearest to 2" in found.notes


def test_srun() -> None:
    line = ["srun", "-N", "2", "-n8", "--cpus-per-task=1", "--exclusive=user", "./app"]
    found = with_layout(made(), line, machine(), {})
    assert found.argv == [
        *("srun", "--ntasks-per-node", "2", "--cpus-per-task", "2", "--cpu-bind=cores", "--ntasks", "4"),
        *("-N", "2", "--exclusive=user", "./app"),
    ]
    assert found.env == OMP


def test_links_and_memory() -> None:
    tuning = made(links={"UCX_MAX_RNDV_RAILS": "1"}, numa="socket-local")
    found = with_layout(tuning, ["mpirun", "-n", "2", "./app"], machine(), {})
    assert "UCX_MAX_RNDV_RAILS=1" in found.argv
    assert any("socket-local memory is left out" in note for note in found.notes)


def test_numactl_stands_before_the_program(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.which", lambda word: f"/usr/bin/{Path(word).name}")
    found = with_layout(made(numa="local"), ["mpirun", "-n", "2", "./app"], machine(4, 2), {})
    assert found.argv[-3:] == ["numactl", "--localalloc", "./app"]


def test_nothing_proven_is_said() -> None:
    found = with_layout(made(proven=False), ["mpirun", "-n", "2", "./app"], machine(), {})
    assert "no layout was proven faster than flat MPI, which is therefore used" in found.notes
    assert "the layout was measured with 'solver 64', not with ./app" in found.notes


def test_the_layout_of_ones_own_program() -> None:
    tuning = made()
    own = tuning.layout[0].model_copy(update={"program": "/elsewhere/app in", "threads": 1, "processes": 4})
    both = tuning.model_copy(update={"layout": (*tuning.layout, own)})
    assert "ppr:4:node:PE=1" in with_layout(both, ["mpirun", "-n", "2", "./app"], machine(), {}).argv
    with pytest.raises(UserError, match=r"it is not clear which of them \./other should use"):
        with_layout(both, ["mpirun", "-n", "2", "./other"], machine(), {})


@pytest.mark.parametrize(
    ("line", "here", "said"),
    [
        (["mpirun", "-n", "2", "./app"], machine(2), "layout 2x2 needs 4 cores a node, n0 has 2"),
        (["mpirun", "-n", "2", "./a", ":", "-n", "1", "./b"], machine(), "starts several programs"),
        (["mpirun", "-n", "2", "./a", ":", "-n", "1", "./b"], machine(family="mpich"), "starts several programs"),
        (["mpirun", "-n", "2"], machine(), "no program"),
        (["mpirun", "-n", "2"], machine(family="mpich"), "no program"),
        (["./app"], machine(), "not an MPI launcher"),
        ([], machine(), "no command"),
    ],
)
def test_what_cannot_be_laid_out(line: list[str], here: Machine, said: str) -> None:
    with pytest.raises(UserError, match=said):
        with_layout(made(), line, here, {})


def test_no_layout_in_the_tuning() -> None:
    with pytest.raises(UserError, match="holds no layout; unisono hybrid finds"):
        with_layout(made().model_copy(update={"layout": ()}), ["mpirun", "-n", "2", "./app"], machine(), {})


def test_what_a_layout_is_compared_with() -> None:
    """The line itself; with fields to be filled in, flat MPI."""
    line = ["mpirun", "-n", "3", "./app"]
    as_is, words = as_it_is(made(), line, machine(), {})
    assert (as_is.argv, as_is.env) == (line, {})
    assert words == "2 processes of 2 threads a node"
    flat, _ = as_it_is(made(), ["mpirun", "-n", "{ranks}", "./app", "{threads}"], machine(), {})
    assert flat.argv[-4:] == ["-n", "4", "./app", "1"]
    assert "OMP_NUM_THREADS=1" in flat.argv
    with pytest.raises(UserError, match="no command"):
        as_it_is(made(), [], machine(), {})
