"""Layouts, NUMA policies and their words; what is folded and said."""

from __future__ import annotations

import subprocess

import pytest

from tests.hybrid.conftest import node
from unisono.cmdline.layouts import Layout, chosen_layouts, every_layout
from unisono.core.errors import UserError
from unisono.core.vocabulary import Setting
from unisono.hybrid.lines import binding
from unisono.hybrid.policies import automatic, chosen_policies, words
from unisono.hybrid.variants import LINKS, links_words, variants
from unisono.mpi import mpich, openmpi
from unisono.mpi.launchers import hydra, mpirun, srun


def test_the_documents_layouts_of_a_node_of_16_cores() -> None:
    found, notes = chosen_layouts("flat,4x4,8x2,16x1", 16)
    assert [(layout.threads, layout.processes) for layout in found] == [(1, 16), (4, 4), (8, 2), (16, 1)]
    hybrid = ["4 processes of 4 threads", "2 processes of 8 threads", "1 process of 16 threads"]
    assert [layout.words for layout in found] == ["flat MPI", *hybrid]
    assert not notes


@pytest.mark.parametrize("cores", [1, 2, 6, 16, 192])
def test_all_layouts_fill_the_node(cores: int) -> None:
    found = every_layout(cores)
    assert all(layout.cores == cores for layout in found)
    assert len(found) == sum(cores % n == 0 for n in range(1, cores + 1))
    assert found[0].threads == 1


def test_what_does_not_fit_is_said() -> None:
    found, notes = chosen_layouts("flat,4x4", 2)
    assert found == [Layout(1, 2)]
    assert notes == [
        ("layout 4 processes of 4 threads is not run: it needs 16 cores a node, and only 2 may be used here")
    ]
    with pytest.raises(UserError, match="none of 4x4 fits"):
        chosen_layouts("4x4", 2)


@pytest.mark.parametrize("text", ["", "4", "0x4", "4x", "4x4x4", "flat,", "-1x2", "1e9x1"])
def test_what_is_no_layout_is_refused(text: str) -> None:
    with pytest.raises(UserError, match="layout"):
        chosen_layouts(text, 16)


def test_the_documents_numa_policies() -> None:
    assert automatic(Layout(1, 16)) == "socket-interleave"
    assert automatic(Layout(4, 4)) == automatic(Layout(8, 2)) == "socket-local"
    assert automatic(Layout(16, 1)) == "local"


@pytest.mark.parametrize(
    ("layout", "expected"),
    [
        (Layout(1, 16), ["0-0"] * 4 + ["1-1"] * 4 + ["2-2"] * 4 + ["3-3"] * 4),
        (Layout(4, 4), ["0-0", "1-1", "2-2", "3-3"]),
        (Layout(8, 2), ["0-1", "2-3"]),
    ],
)
def test_every_process_gets_its_own_numa_nodes(layout: Layout, expected: list[str]) -> None:
    """The words are run, with a numactl that says what it was told."""
    machine = node(cores=16, numa=4)
    for rank, domains in enumerate(expected):
        line = words("auto", layout, machine)
        line[2] = line[2].replace("exec numactl", "echo")
        done = subprocess.run(
            [*line, "program"],
            env={"OMPI_COMM_WORLD_LOCAL_RANK": str(rank), "PATH": "/usr/bin:/bin"},
            capture_output=True,
            text=True,
            check=True,
        )
        memory = f"--interleave={domains}" if layout.threads == 1 else "--localalloc"
        assert done.stdout.split() == [f"--cpunodebind={domains}", memory, "program"]


def test_one_numa_node_folds_all_policies() -> None:
    names, notes = chosen_policies("all", node(cores=4, numa=1))
    assert names == ["none"]
    assert "One NUMA node" in notes[0]


def test_unknown_policies_are_refused() -> None:
    with pytest.raises(UserError, match="numa: 'near' is unknown"):
        chosen_policies("near", node(cores=4, numa=2))


def test_binding_in_the_words_of_each_launcher() -> None:
    layout = Layout(8, 2)
    assert binding(mpirun, layout, openmpi) == ["--map-by", "ppr:2:node:PE=8", "--bind-to", "core"]
    assert binding(hydra, layout, mpich) == ["-ppn", "2", "-bind-to", "core:8"]
    assert "--cpus-per-task" in binding(srun, layout, openmpi)


def test_numbers_of_links_are_said_in_words() -> None:
    assert links_words(Setting(dict.fromkeys(LINKS, "1"))) == ["1 link a message"]
    assert links_words(Setting({LINKS[0]: "2"})) == ["UCX_MAX_RNDV_RAILS=2"]


def test_flat_mpi_comes_first_and_only_threads_pack_with_threads() -> None:
    found, notes = variants(
        node(cores=4, numa=1), layouts="all", numa="auto", packing="both", links=["1"], nodes=[1], solver=True
    )
    names = [variant.name for variant in found]
    assert names == [
        "flat MPI",
        "2 processes of 2 threads",
        "2 processes of 2 threads (packed by threads)",
        "1 process of 4 threads",
        "1 process of 4 threads (packed by threads)",
    ]
    assert "Numbers of links are not compared: everything is on one node." in notes
    assert len({variant.setting for variant in found}) == len(found)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"packing": "all"}, "packing: 'all'"),
        ({"links": ["four"]}, "links: 'four'"),
        ({"nodes": [3]}, "nodes: 3 are asked for"),
    ],
)
def test_bad_wishes_are_refused(change: dict[str, object], said: str) -> None:
    wishes: dict[str, object] = {
        "layouts": "all",
        "numa": "auto",
        "packing": "single",
        "links": [],
        "nodes": [1],
        "solver": True,
    }
    with pytest.raises(UserError, match=said):
        variants(node(cores=4, numa=1), **{**wishes, **change})  # type: ignore[arg-type]
