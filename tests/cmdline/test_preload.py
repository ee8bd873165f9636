"""The recorder in the ranks of a user's own command line."""

from __future__ import annotations

import io
import os
import shlex
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from unisono.cmdline.preload import Launcher, launcher_of, with_variables
from unisono.core.errors import UserError
from unisono.mpi.launchers.lines import Line

LIBRARY = Path("/c/libunisono.so")
VARIABLES = {"UNISONO_PROFILE": "/o/run"}


def _added(text: str, kind: str, at: int = 0, env: Mapping[str, str] | None = None) -> Line:
    return with_variables(shlex.split(text), Launcher(kind, at), LIBRARY, VARIABLES, env or {})


@pytest.mark.parametrize(
    ("line", "env", "wanted"),
    [
        ("mpirun -n 2 ./a -x", "", "mpirun -x LD_PRELOAD=/c/libunisono.so -x UNISONO_PROFILE=/o/run -n 2 ./a -x"),
        (
            "mpirun -n 2 ./a",
            "/l/a.so",
            "mpirun -x LD_PRELOAD=/l/a.so:/c/libunisono.so -x UNISONO_PROFILE=/o/run -n 2 ./a",
        ),
        (
            "mpirun -x LD_PRELOAD=/u.so -n 2 ./a LD_PRELOAD=/u.so",
            "/l/a.so",
            "mpirun -x LD_PRELOAD=/u.so:/c/libunisono.so -x UNISONO_PROFILE=/o/run -n 2 ./a LD_PRELOAD=/u.so",
        ),
        (
            "mpirun -x LD_PRELOAD ./a",
            "/l/a.so",
            "mpirun -x LD_PRELOAD=/l/a.so:/c/libunisono.so -x UNISONO_PROFILE=/o/run ./a",
        ),
        (
            "mpirun -n 1 ./a : -x LD_PRELOAD=/u.so -n 3 ./b : -n 1 ./a",
            "",
            "mpirun -x LD_PRELOAD=/c/libunisono.so -x UNISONO_PROFILE=/o/run -n 1 ./a : "
            "-x LD_PRELOAD=/u.so:/c/libunisono.so -x UNISONO_PROFILE=/o/run -n 3 ./b : "
            "-x LD_PRELOAD=/c/libunisono.so -x UNISONO_PROFILE=/o/run -n 1 ./a",
        ),
    ],
)
def test_open_mpi(line: str, env: str, wanted: str) -> None:
    found = _added(line, "openmpi", env={"LD_PRELOAD": env} if env else {})
    assert shlex.join(found.argv) == wanted and found.env == {}


def test_words_before_mpirun_stay() -> None:
    found = _added("env A=1 mpirun -n 2 ./a", "openmpi", 2)
    assert found.argv[:3] == ["env", "A=1", "mpirun"] and found.argv[3] == "-x"


def test_hydra() -> None:
    ours = "-genv UNISONO_PROFILE /o/run"
    for line, wanted in (
        ("mpiexec -n 2 ./a", f"mpiexec -genv LD_PRELOAD /c/libunisono.so {ours} -n 2 ./a"),
        ("mpiexec -genv LD_PRELOAD /u.so ./a", f"mpiexec {ours} -genv LD_PRELOAD /u.so:/c/libunisono.so ./a"),
        (
            "mpiexec -env LD_PRELOAD /u.so ./a",
            f"mpiexec -genv LD_PRELOAD /c/libunisono.so {ours} -env LD_PRELOAD /u.so:/c/libunisono.so ./a",
        ),
    ):
        assert shlex.join(_added(line, "hydra").argv) == wanted


@pytest.mark.parametrize(
    ("line", "env", "wanted"),
    [
        ("srun -n 2 ./a", {}, "srun --export=ALL,{} -n 2 ./a"),
        ("srun -n 2 ./a", {"SLURM_EXPORT_ENV": "HOME"}, "srun --export=HOME,{} -n 2 ./a"),
        ("srun --export=ALL,A=1 -n 2 ./a --export=x", {}, "srun --export=ALL,A=1,{} -n 2 ./a --export=x"),
        ("srun -n 2 --export A,B ./a", {}, "srun --export=A,B,{} -n 2 ./a"),
    ],
)
def test_srun(line: str, env: dict[str, str], wanted: str) -> None:
    ours = "UNISONO_PROFILE=/o/run,LD_PRELOAD=/c/libunisono.so"
    found = _added(line, "srun", env=env).argv
    exported = next(word for word in found if word.startswith("--export="))
    assert sorted(exported.split(",")[-2:]) == sorted(ours.split(","))
    plain = [word.rsplit(",", 2)[0] + ",{}" if word is exported else word for word in found]
    assert shlex.join(plain) == shlex.join(shlex.split(wanted))


def test_srun_keeps_what_the_user_preloads_and_refuses_what_cannot_be() -> None:
    found = _added("srun --export=ALL,LD_PRELOAD=/u.so ./a", "srun").argv[1]
    assert found.split(",")[0] == "--export=ALL" and "LD_PRELOAD=/u.so:/c/libunisono.so" in found.split(",")
    with pytest.raises(UserError, match="--export=NONE does not pass on"):
        _added("srun --export=NONE ./a", "srun")
    with pytest.raises(UserError, match="comma"):
        with_variables(["srun", "./a"], Launcher("srun", 0), LIBRARY, {"UNISONO_PROFILE": "/o,p/run"}, {})


def test_scripts_and_lone_programs() -> None:
    script = _added("./job.sh 3", "script", env={"OMPI_MCA_mca_base_env_list": "A=1", "LD_PRELOAD": "/u.so"})
    listed = "A=1;LD_PRELOAD=/u.so:/c/libunisono.so;UNISONO_PROFILE=/o/run"
    assert script.argv == ["./job.sh", "3"] and script.env["OMPI_MCA_mca_base_env_list"] == listed
    assert "LD_PRELOAD" not in script.env and "no mpirun or srun" in script.notes[0]
    alone = _added("./a", "program")
    assert alone.env == {"LD_PRELOAD": str(LIBRARY), **VARIABLES} and "a single rank" in alone.notes[0]


def _fake(folder: Path, name: str, says: str) -> str:
    path = folder / name
    path.write_text(f"#!/bin/sh\necho '{says}'\n")
    path.chmod(0o755)
    return str(path)


def test_a_name_that_is_not_on_the_path_is_answered_with_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path / "nothing"))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "app").write_text("#!/bin/sh\n")
    (tmp_path / "app").chmod(0o755)
    (tmp_path / "data").write_text("1")
    for line, words in (
        (
            ["mpirun", "-n", "2", "./app"],
            r"^mpirun: not on PATH; load the module of your MPI, or write its whole path$",
        ),
        (["app"], r"^app: not on PATH, but in this directory: write \./app$"),
        (["ap"], r"^ap: not on PATH, and not in this directory$"),
        (["./ap"], r"^\./ap: there is no such program; check the path$"),
        (["./data"], r"^\./data: not a program that can be run$"),
        (["/no/mpirun", "./app"], r"^/no/mpirun: there is no such program; check the path$"),
    ):
        with pytest.raises(UserError, match=words):
            launcher_of(line)


def test_which_launcher(tmp_path: Path) -> None:
    open_mpi = _fake(tmp_path, "mpirun", "mpirun (Open MPI) 5.0.6")
    mpich = _fake(tmp_path, "mpiexec.mpich", "HYDRA build details:\n    Version:          4.0.2")
    renamed = _fake(tmp_path, "mpirun.openmpi", "mpirun.openmpi (OpenRTE) 4.1.4")
    other = _fake(tmp_path, "mpiexec", "no idea")
    srun = _fake(tmp_path, "srun", "slurm")
    script = _fake(tmp_path, "job", "")
    assert launcher_of([open_mpi, "./a"]) == Launcher("openmpi", 0, open_mpi)
    assert launcher_of(["nice", "-n", "3", mpich, "./a"]) == Launcher("hydra", 3, mpich)
    assert launcher_of([renamed, "./a"]) == Launcher("openmpi", 0, renamed)
    assert launcher_of([srun, "./a"]) == Launcher("srun", 0)
    assert launcher_of([script, "./a"]) == Launcher("script", 0)
    assert launcher_of(["bash", "-c", "mpirun ./a"]) == Launcher("script", 0)
    assert launcher_of([sys.executable, "a.py"]) == Launcher("program", 0)
    for argv, because in (
        ([], "after --"),
        (["/no/mpirun"], "no such program"),
        (["/no/a"], "no such program"),
        ([other], "idea"),
    ):
        with pytest.raises(UserError, match=because):
            launcher_of(argv)


def test_a_program_that_is_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "program", 0o755)
    with pytest.raises(UserError, match="program: is a pipe, which is not read"):
        launcher_of([str(tmp_path / "program")])


def test_a_program_that_may_be_run_but_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copyfile(sys.executable, tmp_path / "program")
    (tmp_path / "program").chmod(0o111)
    with monkeypatch.context() as of_others:  # root may read all
        of_others.setattr(os, "access", lambda path, mode: mode != os.R_OK)
        for opens in (os, io):
            of_others.setattr(opens, "open", _refused)
        found = launcher_of([str(tmp_path / "program")])
    assert found.kind == "program"


def _refused(*_words: object, **_more: object) -> None:
    raise PermissionError(13, "Permission denied")
