"""A tuning added to a command line: the right plan, a rules file that stays, and everything said that does not fit."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.profile.linked import linked_with
from tests.tuning.samples import machine as example
from tests.tuning.samples import plan, rule, tuned, tuning
from unisono.advise.apply import apply
from unisono.core.errors import UserError
from unisono.export import tuned_rules as rules
from unisono.machine.description import Mpi
from unisono.tuning.contents import Tuning

RING = (rule("allreduce", 0, None, tuned("ring")),)
LINE = ["mpirun", "-n", "4", "./app", "--mca", "not ours"]


def test_the_setting_goes_right_after_mpirun_and_the_program_stays_last(cache: Path) -> None:
    line = apply(tuning(plan(launch={"UCX_TLS": "self,sm"}, rules=RING)), LINE, example(), env={})
    (path,) = cache.iterdir()
    assert line.argv[0] == "mpirun"
    assert line.argv[-3:] == ["./app", "--mca", "not ours"]
    assert line.argv[line.argv.index("coll_tuned_dynamic_rules_filename") + 1] == str(path)
    assert "UCX_TLS=self,sm" in line.argv
    found = rules.read(path.read_text(), str(path))
    assert [comm.size for comm in found.collectives[0].comms] == [0, 4, 5]
    assert "'example'" in path.read_text()


def test_the_rules_file_is_named_by_its_content(cache: Path) -> None:
    ring = tuning(plan(rules=RING))
    first = apply(ring, LINE, example(), env={})
    assert apply(ring, LINE, example(), env={}).argv == first.argv
    assert len(list(cache.iterdir())) == 1
    apply(tuning(plan(rules=(rule("allreduce", 0, None, tuned("segmented_ring")),))), LINE, example(), env={})
    assert len(list(cache.iterdir())) == 2


def test_the_plan_follows_the_weights() -> None:
    made = tuning()
    assert "UCX_RNDV_THRESH=16kb" in apply(made, LINE, example(), {"alltoall": 1.0}, env={}).argv
    assert "UCX_RNDV_THRESH=16kb" not in apply(made, LINE, example(), {"allreduce": 1.0}, env={}).argv


def test_nothing_is_added_where_the_default_is_best(cache: Path) -> None:
    line = apply(tuning(plan()), LINE, example(), env={})
    assert line.argv == LINE
    assert "the default is the best setting" in " ".join(line.notes)
    assert not cache.exists()


def test_algorithms_of_nonblocking_collectives_are_parameters(cache: Path) -> None:
    here = example()
    assert here.mpi is not None
    known = {**here.mpi.algorithms, "ibcast": {"linear": 1, "chain": 3}}
    here = here.model_copy(update={"mpi": here.mpi.model_copy(update={"algorithms": known})})
    chain = (rule("ibcast", 0, None, {"coll": "libnbc", "algorithm": "chain"}),)
    line = apply(tuning(plan(gain={"ibcast": 1.5}, rules=chain)), LINE, here, env={})
    assert line.argv == ["mpirun", "--mca", "coll_libnbc_ibcast_algorithm", "chain", *LINE[1:]]
    assert "the default is the best" not in " ".join(line.notes)
    assert not cache.exists()


def test_algorithms_of_mpich_without_its_tables_are_left_out() -> None:
    its = example().model_copy(update={"mpi": Mpi(family="mpich", version="4.0.2", mpirun="/usr/bin/mpirun")})
    made = tuning(plan(rules=(rule("allreduce", 0, None, {"coll": "mpich", "algorithm": "ring"}),)))
    line = apply(made, LINE, its, env={})
    assert line.argv == LINE
    assert "rules that name algorithms of MPICH are left out: MPICH 4.0.2: no selection tables" in " ".join(line.notes)
    assert "the default is the best" not in " ".join(line.notes)


def test_another_number_of_ranks_gets_the_nearest_plan_and_is_told_so() -> None:
    made = tuning(plan(ppn=2, launch={"UCX_TLS": "self"}), plan(ppn=4, launch={"UCX_TLS": "sm"}))
    line = apply(made, ["mpirun", "-n", "3", "./app"], example(), env={})
    assert "UCX_TLS=sm" in line.argv
    (note,) = [note for note in line.notes if "were not measured" in note]
    assert "1 x 3 ranks were not measured" in note
    assert "1 x 2, 1 x 4)" in note


def test_what_the_user_says_stays() -> None:
    words = ["mpirun", "-n", "4", "-x", "UCX_TLS=tcp", "./app"]
    line = apply(tuning(plan(launch={"UCX_TLS": "self,sm"})), words, example(), env={})
    assert "UCX_TLS=self,sm" not in line.argv
    assert any("UCX_TLS" in note and "kept" in note for note in line.notes)


def test_a_stale_tuning_is_announced() -> None:
    line = apply(tuning(plan(launch={"UCX_TLS": "self"})), LINE, example("5.0.7"), env={})
    assert any(note.startswith("the tuning may not fit this machine: ") and "5.0.7" in note for note in line.notes)


def test_a_cache_that_cannot_be_written_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setattr("unisono.advise.apply.cache_folder", lambda: tmp_path / "file" / "rules")
    with pytest.raises(UserError, match=r"file/rules/.*cannot be written: .*XDG_CACHE_HOME"):
        apply(tuning(plan(rules=RING)), LINE, example(), env={})


def test_a_command_line_that_is_none() -> None:
    with pytest.raises(UserError):
        apply(tuning(), ["./app"], example(), env={})


def test_a_program_of_another_version_or_mpi_than_the_launchers(tmp_path: Path) -> None:
    """Whatever is set, by our library or not: what the launcher's version reads may mean nothing to the program's."""
    here = example()
    assert here.mpi is not None
    linked_with(tmp_path / "own")
    here = here.model_copy(update={"mpi": here.mpi.model_copy(update={"root": str(tmp_path / "own"), "mpicc": None})})
    other = linked_with(tmp_path / "other")
    setting = tuning(plan(launch={"UCX_TLS": "self,sm"}))

    def notes(made: Tuning, program: Path) -> str:
        return " ".join(apply(made, ["mpirun", "-n", "4", str(program)], here, env={}).notes)

    assert f"{other} by itself loads {tmp_path}/other/lib/libmpi.so.40, but this mpirun" in notes(setting, other)
    assert "by itself loads" not in notes(setting, tmp_path / "own" / "app")
    assert "by itself loads" not in notes(tuning(plan()), other), "nothing is set that could be misread"
    with pytest.raises(UserError, match=r"uses libmpich\.so\.12, but the mpirun of this command belongs to libmpi"):
        notes(setting, linked_with(tmp_path / "mpich", "libmpich.so.12"))
