"""Lines for Slurm: sourced by a real shell, and a TaskProlog's output taken as slurmd takes it."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.export.test_module import NAMES, NASTY, VALUES, a_launcher
from tests.tuning.samples import machine
from unisono.core.errors import UserError
from unisono.export.slurm_script import read_prolog, read_snippet, write_prolog, write_snippet
from unisono.parameters.spelling import require_mpi

MPI = require_mpi(machine())


def as_slurmd_takes_it(output: str) -> dict[str, str]:
    """The variables of a task: `export NAME=VALUE` to the end of a line; other lines are for other things."""
    pairs = (line.removeprefix("export ").partition("=") for line in output.split("\n") if line.startswith("export "))
    return {name: value for name, _, value in pairs}


def sourced(text: str, folder: Path, env: dict[str, str]) -> tuple[dict[str, str], str]:
    """The variables after sourcing the snippet, and what it said."""
    path = folder / "snippet.sh"
    path.write_text(text)
    done = subprocess.run(
        ["/bin/sh", "-u", "-e", "-c", '. "$0"; env -0', str(path)], env=env, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    return dict(item.split("=", 1) for item in done.stdout.split("\0") if "=" in item), done.stderr


@given(values=st.dictionaries(NAMES, VALUES), comments=st.lists(VALUES, max_size=2))
def test_both_files_are_read_back(values: dict[str, str], comments: list[str]) -> None:
    assert read_snippet(write_snippet(values, MPI, comments, ["/a b"]), "f") == values
    assert read_prolog(write_prolog(values, comments), "f") == values


def test_a_prolog_gives_every_task_exactly_these_values(tmp_path: Path) -> None:
    path = tmp_path / "prolog.sh"
    path.write_text(write_prolog(NASTY, ["it's $(touch hacked)"]))
    done = subprocess.run(["sh", path], capture_output=True, text=True, check=True)
    assert as_slurmd_takes_it(done.stdout) == NASTY
    with pytest.raises(UserError, match=r"f: line 1: .*does not print one export"):
        read_prolog("printf '%s\\n' something\n", "f")


def test_a_batch_script_gets_it_for_the_measured_mpi_alone(tmp_path: Path) -> None:
    rules = tmp_path / "rules it's"
    rules.write_text("")
    text = write_snippet(NASTY, MPI, ["it's"], [str(rules)])
    same = {"PATH": a_launcher(tmp_path / "same", "mpirun (Open MPI) 5.0.11")}
    found, said = sourced(text, tmp_path, same)
    assert {name: found[name] for name in NASTY} == NASTY
    assert "SLURM_EXPORT_ENV" not in found and not said
    other = {"PATH": a_launcher(tmp_path / "other", "mpirun (Open MPI) 4.1.4")}
    found, said = sourced(text, tmp_path, other)
    assert not NASTY.keys() & found.keys()
    assert said == "unisono: this tuning is of Open MPI 5.0.11: nothing is set for 4.1.4\n"
    rules.unlink()
    found, said = sourced(text, tmp_path, same)
    assert not NASTY.keys() & found.keys()
    assert "cannot be read: nothing is set" in said


@pytest.mark.parametrize(
    ("before", "after"), [("ALL", "ALL"), ("ALL,X=1", "ALL,X=1"), ("NONE", "A,B"), ("X", "X,A,B"), ("NIL", "A,B")]
)
def test_srun_hands_it_over_whatever_the_job_was_submitted_with(before: str, after: str, tmp_path: Path) -> None:
    text = write_snippet({"A": "1", "B": "2"}, MPI, [], [])
    path = a_launcher(tmp_path / "bin", "mpirun (Open MPI) 5.0.11")
    found, _ = sourced(text, tmp_path, {"PATH": path, "SLURM_EXPORT_ENV": before})
    assert found["SLURM_EXPORT_ENV"] == after


def test_where_there_is_no_launcher_the_users_word_is_taken(tmp_path: Path) -> None:
    for name in ("sed", "head", "env"):
        (tmp_path / name).symlink_to(shutil.which(name) or name)
    found, _ = sourced(write_snippet({"A": "1"}, MPI, [], []), tmp_path, {"PATH": str(tmp_path)})
    assert found["A"] == "1"
