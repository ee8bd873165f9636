from __future__ import annotations

import shlex

import pytest

from tests.launch.conftest import Installed
from tests.launch.machines import machine, open_mpi
from unisono.cmdline.command import command
from unisono.cmdline.placement import check
from unisono.core.errors import UserError
from unisono.core.vocabulary import DEFAULT, Setting
from unisono.launch.process import run


def test_the_default_setting_leaves_everything_to_mpirun() -> None:
    made = command(machine(mpi=open_mpi("4.1.4")), DEFAULT, 1, 2, ["bench"])
    assert made.shell == "mpirun -n 2 bench"
    assert made.notes == []
    assert made.placement is not None
    assert [rank.cpus for rank in made.placement.ranks] == [(), ()]


def test_a_setting_in_the_documents_form() -> None:
    setting = Setting({"placement": "block", "UCX_RNDV_THRESH": "16kb", "coll_hcoll_enable": "0"})
    made = command(machine(2, 1, 18, mpi=open_mpi("4.1.4")), setting, 1, 32, ["IMB-MPI1", "alltoall"])
    assert made.shell == (
        "mpirun -n 32 --bind-to core --map-by ppr:16:socket --rank-by core --mca coll_hcoll_enable 0 "
        "-x UCX_RNDV_THRESH=16kb IMB-MPI1 alltoall"
    )


def test_the_words_of_every_launch_have_a_reason() -> None:
    made = command(machine(root_user=True), DEFAULT, 1, 2, ["bench"])
    assert made.argv == ["mpirun", "--allow-run-as-root", "-n", "2", "--mca", "btl", "^ofi", "bench"]
    assert made.notes == [
        "btl=^ofi in every launch: it adds a second to MPI_Init, and there is no network here that it could use"
    ]


def test_what_the_user_set_is_kept() -> None:
    here = machine(1, 1, 2, environment={"OMPI_MCA_btl": "tcp,self", "OMPI_MCA_mpi_yield_when_idle": "0"})
    made = command(here, DEFAULT, 1, 4, ["bench"], oversubscribe=True)
    assert "--mca" not in made.argv
    assert made.notes == [
        "OMPI_MCA_btl=tcp,self of your environment is kept",
        "OMPI_MCA_mpi_yield_when_idle=0 of your environment is kept",
    ]


def test_what_the_site_wrote_into_a_parameter_file_is_kept() -> None:
    made = command(machine(mpi=open_mpi("5.0.11", settings={"btl": "self,sm"})), DEFAULT, 1, 2, ["bench"])
    assert "--mca" not in made.argv
    assert made.notes == ["btl=self,sm of a parameter file of Open MPI is kept"]


def test_a_setting_replaces_the_environment_and_says_so() -> None:
    here = machine(mpi=open_mpi("4.1.4"), environment={"UCX_RNDV_THRESH": "8kb", "UCX_TLS": "self,sm"})
    made = command(here, Setting({"UCX_RNDV_THRESH": "16kb", "UCX_TLS": "self,sm"}), 1, 2, ["bench"])
    assert made.notes == ["UCX_RNDV_THRESH=8kb of your environment is replaced by the setting's 16kb in this launch"]


def test_the_settings_own_words_win_over_extra_ones() -> None:
    here = machine(mpi=open_mpi("4.1.4"))
    made = command(here, Setting({"pml": "ob1"}), 1, 2, ["bench"], extra_mca={"pml": "cm", "coll_tuned_priority": "40"})
    assert made.argv[3:-1] == ["--mca", "pml", "ob1", "--mca", "coll_tuned_priority", "40"]


def test_a_preferred_component_is_spelled_for_the_launch() -> None:
    made = command(machine(mpi=open_mpi("4.1.4")), Setting({"coll": "tuned"}), 1, 2, ["bench"])
    assert made.argv[3:-1] == ["--mca", "coll_tuned_priority", "100"]


def test_several_nodes_are_named_with_their_ranks() -> None:
    made = command(machine(nodes=3, mpi=open_mpi("4.1.4")), Setting({"placement": "cyclic:node"}), 2, 4, ["bench"])
    assert made.shell == "mpirun -n 8 --host n0:4,n1:4 --bind-to core --map-by ppr:4:node --rank-by node bench"


def test_slots_for_siblings_are_asked_for() -> None:
    made = command(machine(1, 1, 2, smt=2, mpi=open_mpi("5.0.11")), Setting({"placement": "block"}), 1, 4, ["bench"])
    assert made.shell.startswith(
        "mpirun -n 4 --host localhost:4 --bind-to hwthread --map-by pe-list=0,2,1,3:ordered:hwtcpus "
    )


@pytest.mark.parametrize("version", ["4.1.4", "5.0.11"])
def test_mpirun_may_use_siblings_by_itself(version: str) -> None:
    made = command(machine(1, 1, 2, smt=2, mpi=open_mpi(version)), DEFAULT, 1, 4, ["bench"])
    assert made.argv[:4] == ["mpirun", "-n", "4", "--use-hwthread-cpus"]


def test_too_many_ranks_are_refused_unless_allowed() -> None:
    here = machine(1, 1, 2)
    with pytest.raises(UserError, match="ppn 4"):
        command(here, DEFAULT, 1, 4, ["bench"])
    made = command(here, DEFAULT, 1, 4, ["bench"], oversubscribe=True)
    assert "--bind-to none --map-by :OVERSUBSCRIBE" in made.shell
    assert "--mca mpi_yield_when_idle 1" in made.shell


@pytest.mark.mpi
@pytest.mark.beside
@pytest.mark.parametrize(
    "setting",
    [{}, {"placement": "block"}, {"placement": "cyclic", "pml": "ob1"}, {"pml": "ucx", "UCX_RNDV_THRESH": "16kb"}],
    ids=str,
)
def test_command_lines_run(installed: Installed, setting: dict[str, str]) -> None:
    ppn = min(2, installed.machine.cores)
    made = command(installed.machine, Setting(setting), 1, ppn, [installed.program])
    assert shlex.split(made.shell) == made.argv
    done = run(made.argv, made.env, 60)
    assert done.exit_code == 0, done.stderr
    rows = [line.split() for line in done.stdout.splitlines() if line.startswith("where ")]
    where = [{"rank": row[1], "host": row[2], "node": row[3], "cpus": row[4].split(",")} for row in rows]
    assert made.placement is not None
    assert check(made.placement, where) is None


@pytest.mark.mpi
@pytest.mark.beside
def test_more_ranks_than_cpus_run(installed: Installed) -> None:
    ppn = 2 * len(installed.machine.cpus)
    made = command(installed.machine, DEFAULT, 1, ppn, [installed.program], oversubscribe=True)
    done = run(made.argv, made.env, 60)
    assert (done.exit_code, done.stdout.count("where ")) == (0, ppn)
