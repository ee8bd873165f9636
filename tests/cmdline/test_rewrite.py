from __future__ import annotations

import shlex
from collections.abc import Mapping

import pytest

from tests.launch.conftest import Installed
from tests.launch.machines import machine, open_mpi
from unisono.cmdline.command import Command
from unisono.cmdline.rewrite import with_setting
from unisono.core.vocabulary import Setting
from unisono.launch.process import run
from unisono.machine.description import Machine

FOUR = machine(2, 1, 4, mpi=open_mpi("4.1.4"))
FIVE = machine(2, 1, 4, mpi=open_mpi("5.0.11"))
UCX = {"UCX_RNDV_THRESH": "16kb"}


@pytest.fixture(autouse=True)
def _nothing_installed(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lines of made-up machines are not compared with the MPI that happens to be here."""
    if "installed" not in request.fixturenames:
        monkeypatch.setenv("PATH", "/nowhere")


def _rewritten(
    line: str,
    setting: Mapping[str, str],
    here: Machine = FOUR,
    extra_mca: Mapping[str, str] | None = None,
    env: Mapping[str, str] | None = None,
) -> Command:
    return with_setting(shlex.split(line), Setting(setting), here, extra_mca, env or {})


def test_words_go_right_after_the_launcher() -> None:
    made = _rewritten("mpirun -n 4 ./a -n 9", {**UCX, "coll_hcoll_enable": "0", "placement": "block"})
    assert made.shell == (
        "mpirun --bind-to core --map-by ppr:2:socket --rank-by core --mca coll_hcoll_enable 0 "
        "-x UCX_RNDV_THRESH=16kb -n 4 ./a -n 9"
    )
    assert made.notes == []


def test_the_default_setting_changes_nothing() -> None:
    made = _rewritten("mpirun -n 4 ./a", {})
    assert (made.shell, made.env, made.notes) == ("mpirun -n 4 ./a", {}, [])


def test_the_documents_cyclic_placement_over_nodes() -> None:
    made = _rewritten("mpirun --host n0:4,n1:4 ./a", {"placement": "cyclic"}, FIVE)
    assert made.shell == "mpirun --bind-to core --map-by pe-list=0,4,1,5:ordered --host n0:4,n1:4 ./a"
    assert made.placement is not None
    assert [rank.node_index for rank in made.placement.ranks] == [0] * 4 + [1] * 4


def test_what_the_line_says_itself_wins() -> None:
    made = _rewritten(
        "mpirun --mca pml ob1 -x UCX_RNDV_THRESH=auto --map-by core -n 4 ./a",
        {**UCX, "pml": "cm", "placement": "cyclic", "coll_tuned_priority": "60"},
    )
    assert made.argv[:4] == ["mpirun", "--mca", "coll_tuned_priority", "60"]
    assert made.argv[4:] == shlex.split("--mca pml ob1 -x UCX_RNDV_THRESH=auto --map-by core -n 4 ./a")
    assert sorted(made.notes) == [
        "--map-by core of the command line is kept; the setting has placement=cyclic",
        "--mca pml ob1 of the command line is kept; the setting has pml=cm",
        "-x UCX_RNDV_THRESH=auto of the command line is kept; the setting has UCX_RNDV_THRESH=16kb",
    ]


def test_the_same_said_twice_needs_no_note() -> None:
    made = _rewritten("mpirun --mca pml ob1 -x UCX_RNDV_THRESH=16kb -n 4 ./a", {**UCX, "pml": "ob1"})
    assert made.shell == "mpirun --mca pml ob1 -x UCX_RNDV_THRESH=16kb -n 4 ./a"
    assert made.notes == []


def test_several_programs_all_get_the_variables() -> None:
    """MCA parameters of the first count for all; Open MPI 4 exports variables program by program."""
    made = _rewritten("mpirun -n 1 ./a : -n 2 ./b", {**UCX, "pml": "ob1", "placement": "block"})
    assert made.shell == ("mpirun --mca pml ob1 -x UCX_RNDV_THRESH=16kb -n 1 ./a : -x UCX_RNDV_THRESH=16kb -n 2 ./b")
    assert made.notes == ["placement=block is left out: the command starts several programs"]


def test_the_environment_is_replaced_with_a_note() -> None:
    made = _rewritten("mpirun -n 4 ./a", {"pml": "ob1"}, env={"OMPI_MCA_pml": "cm"})
    assert made.argv[:4] == ["mpirun", "--mca", "pml", "ob1"]
    assert made.notes == ["OMPI_MCA_pml=cm of your environment is replaced by the setting's ob1 in this launch"]


def test_extra_parameters_come_along_and_the_setting_wins_over_them() -> None:
    made = _rewritten("mpirun -n 4 ./a", {"pml": "ob1"}, extra_mca={"pml": "cm", "coll_tuned_use_dynamic_rules": "1"})
    assert made.shell == "mpirun --mca pml ob1 --mca coll_tuned_use_dynamic_rules 1 -n 4 ./a"


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("mpirun -n 3 --host a:2,b:2 ./a", "3 ranks do not fill 2 nodes evenly"),
        ("mpirun -n 9 ./a", "there are more ranks than CPUs"),
    ],
)
def test_a_placement_that_cannot_be_is_left_out(line: str, reason: str) -> None:
    made = _rewritten(line, {"placement": "block"})
    assert (made.shell, made.notes) == (line, [f"placement=block is left out: {reason}"])


def test_srun_gets_the_words_through_the_environment() -> None:
    made = _rewritten("srun -n 4 --export=NONE ./a", {**UCX, "pml": "ob1", "placement": "cyclic"})
    assert made.argv == shlex.split("srun -n 4 --export=NONE ./a")
    assert made.env == {"OMPI_MCA_pml": "ob1", "UCX_RNDV_THRESH": "16kb"}
    assert made.shell == "OMPI_MCA_pml=ob1 UCX_RNDV_THRESH=16kb srun -n 4 --export=NONE ./a"
    assert made.notes == [
        "placement=cyclic is left out: srun places the ranks (see its --distribution)",
        "--export=NONE keeps variables from the ranks: add OMPI_MCA_pml,UCX_RNDV_THRESH to it",
    ]


def test_files_of_parameters_are_mentioned() -> None:
    assert _rewritten("mpirun --tune my.conf -n 4 ./a", UCX).notes == [
        "the file that --tune my.conf names is not read: a setting in it may act as well"
    ]


@pytest.mark.mpi
@pytest.mark.beside
def test_another_mpirun_is_noticed(installed: Installed) -> None:
    made = with_setting([installed.mpirun, "-n", "1", "a"], Setting(), FOUR, None, {})
    assert made.notes == [
        f"{installed.mpirun} is {installed.mpirun}, but the tuning was made for another MPI (Open MPI 4.1.4, mpirun)"
    ]


@pytest.mark.mpi
@pytest.mark.beside
def test_rewritten_lines_run_and_take_effect(installed: Installed) -> None:
    show = ["sh", "-c", "echo $OMPI_MCA_pml $UCX_RNDV_THRESH"]
    line = installed.argv("-n", "1", *show, ":", "-n", "1", *show)
    made = with_setting(line, Setting({"pml": "ob1", **UCX}), installed.machine, None, {})
    done = run(made.argv, made.env, 60)
    assert done.stdout.splitlines() == ["ob1 16kb", "ob1 16kb"], done.stderr
