"""The nodes of a batch job."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.machine import trees
from unisono.inventory.describe import read_machine
from unisono.inventory.hosts import expand_counts, expand_nodelist, job_nodes
from unisono.machine.description import Node


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("n0", ["n0"]),
        ("n[0-2]", ["n0", "n1", "n2"]),
        ("n[1-2,07],login", ["n1", "n2", "n07", "login"]),
        ("r[1-2]n[08-10]", ["r1n08", "r1n09", "r1n10", "r2n08", "r2n09", "r2n10"]),
        ("gpu-[1,3]-a,gpu-4", ["gpu-1-a", "gpu-3-a", "gpu-4"]),
        ("", []),
    ],
)
def test_nodelists(text: str, names: list[str]) -> None:
    assert expand_nodelist(text) == names


@given(st.lists(st.integers(0, 40), min_size=1, max_size=6), st.integers(1, 4))
def test_a_list_of_numbers_reads_back(numbers: list[int], width: int) -> None:
    text = "n[" + ",".join(f"{number:0{width}d}" for number in numbers) + "]"
    assert expand_nodelist(text) == [f"n{number:0{width}d}" for number in numbers]


@given(st.text(max_size=30))
def test_anything(text: str) -> None:
    assert all(expand_nodelist(text))
    assert all(count >= 0 for count in expand_counts(text))
    job_nodes({"SLURM_JOB_NODELIST": text, "SLURM_JOB_CPUS_PER_NODE": text})
    job_nodes({"LSB_MCPU_HOSTS": text})


def test_an_absurd_range_does_not_fill_memory() -> None:
    assert len(expand_nodelist("n[0-99999999999]")) <= 100_001


@pytest.mark.parametrize(
    ("text", "counts"), [("36(x2),18", [36, 36, 18]), ("4", [4]), ("", []), ("4,x", []), ("2(x3)", [2, 2, 2])]
)
def test_counts(text: str, counts: list[int]) -> None:
    assert expand_counts(text) == counts


def test_slurm() -> None:
    environment = {"SLURM_JOB_NODELIST": "n[0-2]", "SLURM_JOB_CPUS_PER_NODE": "36(x2),18"}
    assert job_nodes(environment) == [Node(host="n0", slots=36), Node(host="n1", slots=36), Node(host="n2", slots=18)]
    tasks = {**environment, "SLURM_TASKS_PER_NODE": "4(x2),2"}
    assert [node.slots for node in job_nodes(tasks)] == [4, 4, 2], "what mpirun starts in this job"
    assert [node.slots for node in job_nodes({"SLURM_JOB_NODELIST": "n[0-1]"})] == [1, 1]


def test_pbs_and_lsf(tmp_path: Path) -> None:
    file = tmp_path / "nodes"
    file.write_text("b\nb\na\n", encoding="utf-8")
    assert job_nodes({"PBS_NODEFILE": str(file)}) == [Node(host="b", slots=2), Node(host="a", slots=1)]
    assert job_nodes({"PBS_NODEFILE": str(tmp_path / "none")}) == []
    assert job_nodes({"LSB_MCPU_HOSTS": "a 16 b 8"}) == [Node(host="a", slots=16), Node(host="b", slots=8)]
    assert job_nodes({}) == []


def test_a_machine_inside_a_job_has_its_nodes(tmp_path: Path) -> None:
    root = trees.virtual_machine(tmp_path)
    several = {"SLURM_JOB_ID": "7", "SLURM_JOB_NODELIST": "n[0-3]", "SLURM_JOB_CPUS_PER_NODE": "2(x4)"}
    machine = read_machine(root, several, None, None)
    assert [node.host for node in machine.nodes] == ["n0", "n1", "n2", "n3"]
    assert machine.scheduler.inside_job
    alone = read_machine(root, {**several, "SLURM_JOB_NODELIST": "vm.cluster"}, None, None)
    assert alone.nodes == [Node(host="vm", slots=2)]
    named = read_machine(root, several, None, None, hosts=[Node(host="x", slots=1)])
    assert [node.host for node in named.nodes] == ["x"]
