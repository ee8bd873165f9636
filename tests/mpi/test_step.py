"""srun in place of an mpirun: what is typed, and command lines. Real jobs: tests/cluster/test_slurm.py."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.launch.machines import machine, open_mpi
from unisono.cmdline.command import command
from unisono.cmdline.preload import launcher_for, with_variables
from unisono.commands.remembered import started
from unisono.core.errors import UserError
from unisono.core.vocabulary import DEFAULT, Setting
from unisono.machine.description import Machine
from unisono.mpi.launchers import step


def two_nodes() -> Machine:
    mpi = open_mpi("4.1.4").model_copy(update={"launcher": ["srun", "--mpi=pmix"]})
    return machine(1, 1, 4, mpi=mpi, nodes=2, root_user=True)


def test_what_is_typed() -> None:
    assert step.parse("srun --mpi=pmix") == ["srun", "--mpi=pmix"]
    assert step.parse("/opt/slurm/bin/srun --mpi=pmix --qos high")[1:] == ["--mpi=pmix", "--qos", "high"]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("mpirun", "begin with srun"),
        ("", "begin with srun"),
        ("srun '", "No closing quotation"),
        ("srun -n4", "-n 4 is an option that a study sets itself"),
        ("srun --nodes=2", "--nodes 2 is an option that a study sets itself"),
        ("srun --cpu-bind=cores --mpi=pmix", "--cpu-bind cores is an option that a study sets itself"),
        ("srun --mpi=pmix ./app", "./app is no option of srun"),
        ("srun --mpi", "there is no program to start|needs a value"),
    ],
)
def test_what_is_refused(text: str, says: str) -> None:
    with pytest.raises(UserError, match=says):
        step.parse(text)


def test_the_default_setting() -> None:
    made = command(two_nodes(), DEFAULT, 2, 4, ["bench"])
    assert made.argv == [
        *("srun", "--mpi=pmix", "--nodes=2", "--nodelist=n0,n1", "--ntasks=8", "--ntasks-per-node=4"),
        *("--export=ALL", "--input=0", "--overlap", "--kill-on-bad-exit=1", "--distribution=block", "bench"),
    ]
    assert made.env == {}


def test_a_setting_goes_through_the_environment() -> None:
    setting = Setting({"coll_hcoll_enable": "0", "UCX_RNDV_THRESH": "16kb"})
    made = command(two_nodes(), setting, 1, 2, ["bench"], extra_mca={"coll_base_verbose": "0"})
    assert made.env == {
        "OMPI_MCA_coll_base_verbose": "0",
        "OMPI_MCA_coll_hcoll_enable": "0",
        "UCX_RNDV_THRESH": "16kb",
    }
    assert not {"--mca", "-x", "--allow-run-as-root"} & set(made.argv)


def test_variables_that_go_with_a_launch_reach_the_ranks() -> None:
    """The files of a tuning that MPICH reads are named by such."""
    files = {"MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE": "/t.json"}
    assert command(two_nodes(), DEFAULT, 1, 2, ["bench"], extra_mca=files).env == files


def test_ranks_are_bound_by_masks() -> None:
    made = command(two_nodes(), Setting({"placement": "block"}), 1, 4, ["bench"])
    assert "--cpu-bind=mask_cpu:0x1,0x2,0x4,0x8" in made.argv
    assert "--distribution=block" in made.argv
    made = command(two_nodes(), Setting({"placement": "cyclic:node"}), 2, 2, ["bench"])
    assert "--distribution=cyclic" in made.argv


def test_more_ranks_than_cpus() -> None:
    made = command(two_nodes(), DEFAULT, 1, 8, ["bench"], oversubscribe=True)
    assert {"--overcommit", "--cpu-bind=none"} <= set(made.argv)
    assert made.env == {"OMPI_MCA_mpi_yield_when_idle": "1"}


def test_our_library_goes_to_the_ranks_alone() -> None:
    here = two_nodes()
    assert here.mpi is not None
    made = command(here, DEFAULT, 1, 2, ["bench"])
    line = with_variables(made.argv, launcher_for(here.mpi), Path("/lib/ours.so"), {"UNISONO_RULES": "/r"}, {})
    exports = [word for word in line.argv if word.startswith("--export=")]
    assert exports == ["--export=ALL,LD_PRELOAD=/lib/ours.so,UNISONO_RULES=/r"]
    assert line.env == {}


def test_it_needs_a_job(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SLURM_JOB_ID", raising=False)
    monkeypatch.delenv("SLURM_JOBID", raising=False)
    plain = machine(mpi=open_mpi("4.1.4"))
    assert started(plain, []) is plain
    with pytest.raises(UserError, match="there is no job here"):
        started(plain, ["srun"])
    assert step.words_of(["srun", "--mpi=pmix", "-n", "4", "./app"], os.environ) == []
    monkeypatch.setenv("SLURM_JOB_ID", "7")
    made = started(plain, ["srun"]).mpi
    assert made is not None
    assert made.launcher == ["srun"]


def test_a_users_line_says_how_ranks_are_started(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SLURM_JOB_ID", "7")
    assert step.words_of(["srun", "--mpi=pmix", "-n", "4", "./app", "--mpi=x"], os.environ) == ["srun", "--mpi=pmix"]
    assert step.words_of(["srun", "-n4", "./app"], os.environ) == ["srun"]
    assert step.words_of(["mpirun", "-n", "4", "./app"], os.environ) == []
