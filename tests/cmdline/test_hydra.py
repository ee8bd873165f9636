"""MPICH's launcher: ranks counted, words added, the user's own kept."""

from __future__ import annotations

import pytest

from tests.launch.machines import machine as here
from unisono.cmdline.command import command
from unisono.cmdline.job import describe_job, nodes_of
from unisono.cmdline.rewrite import with_setting
from unisono.core.errors import UserError
from unisono.core.vocabulary import CALL_SCOPE, Setting
from unisono.machine.description import Machine, Mpi, Node
from unisono.mpi.launchers.lines import Job

LINE = ["mpirun.mpich", "-n", "4", "-genv", "UCX_TLS", "tcp", "./app", "-n", "x"]


def mpich(nodes: int = 1) -> Machine:
    mpi = Mpi(family="mpich", version="4.0.2", mpirun="/usr/bin/mpirun.mpich", call_scope=list(CALL_SCOPE))
    return here(2, 1, 4, mpi=mpi, nodes=nodes)


@pytest.mark.parametrize(
    ("words", "nodes", "job"),
    [
        (["-n", "4", "./a"], 1, (4, 1, 4)),
        (["-np", "2", "./a", ":", "-n", "1", "./b"], 1, (3, 1, 3)),
        (["-n", "8", "-ppn", "4", "-hosts", "a,b,c", "./a"], 1, (8, 2, 4)),
        (["-genv", "A", "1", "-genvall", "-n", "2", "./a", "-n", "x"], 1, (2, 1, 2)),
        (["-n", "6", "-hosts", "a:3,b:3", "./a"], 1, (6, 2, 3)),
    ],
)
def test_how_many_ranks_it_starts(words: list[str], nodes: int, job: tuple[int, int, int]) -> None:
    found = describe_job(["mpirun", *words], mpich(nodes))
    assert isinstance(found, Job)
    assert (found.ranks, found.nodes, found.ppn) == job


def test_no_number_of_ranks() -> None:
    with pytest.raises(UserError, match="-n is missing"):
        describe_job(["mpirun", "./app"], mpich())


def test_a_setting_goes_right_after_the_launcher_and_what_is_said_is_kept() -> None:
    setting = Setting({"UCX_TLS": "sm", "UCX_RNDV_THRESH": "16kb", "placement": "block", "preload": "unisono"})
    line = with_setting(LINE, setting, mpich(), env={})
    bound = ["-bind-to", "user:0,1,4,5"]
    assert line.argv == ["mpirun.mpich", "-genv", "UCX_RNDV_THRESH", "16kb", *bound, *LINE[1:]]
    assert any("UCX_TLS" in note for note in line.notes)
    assert not any("placement" in note for note in line.notes)


@pytest.mark.parametrize(
    ("line", "policy", "note"),
    [
        (["-n", "4", "-bind-to", "core", "./app"], "block", "-bind-to core of the command line is kept"),
        (["-genv", "I_MPI_PIN_DOMAIN", "numa", "-n", "4", "./app"], "block", "-genv I_MPI_PIN_DOMAIN numa of the"),
        (["-n", "2", "./app", ":", "-n", "2", "./b"], "block", "left out: the command starts several programs"),
        (["-n", "16", "./app"], "block", "left out: there are more ranks than"),
        (["./app"], "block", "-n is missing"),
        (["-n", "4", "-ppn", "2", "-hosts", "a,b", "./app"], "cyclic:node", "MPICH's launcher has no words for it"),
    ],
)
def test_a_placement_is_left_out_for_a_reason(line: list[str], policy: str, note: str) -> None:
    made = with_setting(["mpirun.mpich", *line], Setting({"placement": policy}), mpich(), env={})
    assert made.argv == ["mpirun.mpich", *line]
    assert [said for said in made.notes if note in said]


def test_srun_is_read_as_sruns_with_any_mpi() -> None:
    line = ["srun", "-n8", "-N", "2", "./app"]
    job = describe_job(line, mpich(2), {})
    assert (job.ranks, job.nodes, job.ppn) == (8, 2, 4)
    made = with_setting(line, Setting({"UCX_TLS": "sm"}), mpich(2), env={})
    assert (made.argv, made.env) == (line, {"UCX_TLS": "sm"})


def test_the_hosts_it_names_are_the_nodes() -> None:
    line = ["mpirun.mpich", "-n", "8", "-ppn", "4", "-hosts", "a,b:2", "./app"]
    assert nodes_of(line, mpich(), {}) == [Node(host="a", slots=4), Node(host="b", slots=2)]
    assert nodes_of(LINE, mpich(), {}) == mpich().nodes


def test_a_launch_of_a_study() -> None:
    setting = Setting({"UCX_RNDV_THRESH": "16kb", "placement": "cyclic"})
    line = command(mpich(), setting, 1, 4, ["./bench"])
    assert line.argv[:3] == ["/usr/bin/mpirun.mpich", "-n", "4"]
    assert line.argv[-4:] == ["-genv", "UCX_RNDV_THRESH", "16kb", "./bench"]
    assert line.argv[line.argv.index("-bind-to") + 1].startswith("user:")
    assert "--mca" not in line.argv


def test_what_mpich_has_no_word_for() -> None:
    with pytest.raises(UserError, match="which MPICH does not have"):
        command(mpich(), Setting({"pml": "ucx"}), 1, 4, ["./bench"])
