"""Where a site gives our library to all jobs, launches of the MPI as it is have it left out, under real launchers."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.commands.program import unisono
from tests.launch.conftest import Installed, installed
from tests.launch.launched import launched
from tests.launch.machines import machine, open_mpi
from unisono.cmdline.command import command
from unisono.cmdline.left_out import leave_out, notes
from unisono.commands import as_it_is
from unisono.core.vocabulary import DEFAULT, Setting
from unisono.inventory.describe import describe
from unisono.machine.description import Machine
from unisono.study.config import parse_study
from unisono.study.matrix import expand

__all__ = ["installed"]
_ENV_LIST = "OMPI_MCA_mca_base_env_list"
_FILES = "OMPI_MCA_mca_base_param_files"
_WATCHED = ("LD_PRELOAD", "UNISONO_RULES", "UNISONO_VERBOSE", "SITE", "UCX_TLS")


@pytest.fixture
def library(tmp_path: Path) -> Path:
    """Of the name, for what is preloaded has to be a library."""
    source = tmp_path / "nothing.c"
    source.write_text("int unisono_nothing;\n")
    where = tmp_path / "site" / "libunisono.so"
    where.parent.mkdir()
    subprocess.run(["cc", "-shared", "-fPIC", "-o", where, source], check=True, timeout=60)
    return where


@pytest.fixture
def environment(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """What is set by `leave_out` goes when the test ends, too."""
    for name in (_ENV_LIST, _FILES, "LD_PRELOAD", "SLURM_EXPORT_ENV"):
        monkeypatch.setenv(name, "")
        monkeypatch.delenv(name)
    monkeypatch.setattr(as_it_is, "_before", {})
    return monkeypatch


def _listed(library: Path) -> str:
    return f"SITE=yes;LD_PRELOAD={library};UNISONO_RULES={library.parent}/serving.conf"


def _ranks_get(here: Machine, setting: Setting = DEFAULT) -> dict[str, str]:
    """What our launch of a setting gives its ranks, of what matters."""
    line = command(here, setting, 1, 1, ["env"])
    done = launched(line.argv, env={**os.environ, **line.env}, timeout=120)
    assert done.returncode == 0, done.stderr
    pairs = (text.partition("=") for text in done.stdout.splitlines())
    return {name: value for name, _, value in pairs if name in _WATCHED}


def _by_file(environment: pytest.MonkeyPatch, folder: Path, text: str) -> None:
    (folder / "site.conf").write_text(f"mca_base_env_list = {text}\n")
    environment.setenv(_FILES, str(folder / "site.conf"))


def _by_home(environment: pytest.MonkeyPatch, folder: Path, text: str) -> None:
    (folder / ".openmpi").mkdir()
    (folder / ".openmpi" / "mca-params.conf").write_text(f"mca_base_env_list = {text}\n")
    environment.setenv("HOME", str(folder))


def _by_environment(environment: pytest.MonkeyPatch, folder: Path, text: str) -> None:
    environment.setenv(_ENV_LIST, text)


Giving = Callable[[pytest.MonkeyPatch, Path, str], None]


@pytest.mark.mpi
@pytest.mark.beside
@pytest.mark.parametrize("give", [_by_file, _by_home, _by_environment])
def test_open_mpi(
    installed: Installed, library: Path, tmp_path: Path, environment: pytest.MonkeyPatch, give: Giving
) -> None:
    give(environment, tmp_path, _listed(library))
    here = describe(installed.mpirun)
    assert _ranks_get(here)["LD_PRELOAD"] == str(library)  # as any user's job
    (said,) = leave_out(here)
    assert said.startswith(_ENV_LIST if give is _by_environment else "mca_base_env_list")
    assert "into every rank; Unisono removes it from launches" in said
    assert _ranks_get(here) == {"SITE": "yes"}


@pytest.mark.mpi
@pytest.mark.beside
def test_a_list_of_nothing_else_is_none_for_a_launch_with_variables_of_its_own(
    installed: Installed, library: Path, tmp_path: Path, environment: pytest.MonkeyPatch
) -> None:
    environment.setenv(_ENV_LIST, f"LD_PRELOAD={library};UNISONO_VERBOSE=1")
    here = describe(installed.mpirun)
    leave_out(here)
    assert _ranks_get(here, Setting({"UCX_TLS": "self,sm"})) == {"UCX_TLS": "self,sm"}


@pytest.mark.mpi
@pytest.mark.beside
def test_mpich_by_environment(library: Path, environment: pytest.MonkeyPatch) -> None:
    mpirun = shutil.which("mpirun.mpich")
    if mpirun is None:
        pytest.skip("mpirun.mpich is not here: apt-get install mpich libmpich-dev")
    other = library.with_name("libother.so")
    shutil.copy(library, other)
    environment.setenv("LD_PRELOAD", f"{other}:{library}")
    here = describe(mpirun)
    assert _ranks_get(here)["LD_PRELOAD"] == f"{other}:{library}"
    (said,) = leave_out(here)
    assert said.startswith("LD_PRELOAD puts our library into every rank")
    assert _ranks_get(here) == {"LD_PRELOAD": str(other)}


@pytest.mark.mpi
@pytest.mark.beside
def test_several_mpis_in_turn_are_each_shown_the_environment_that_was(
    installed: Installed, library: Path, tmp_path: Path, environment: pytest.MonkeyPatch
) -> None:
    _by_file(environment, tmp_path, _listed(library))
    first, again = as_it_is.described(installed.mpirun), as_it_is.described(installed.mpirun)
    assert notes(first) == notes(again) != [] and first.environment == again.environment
    assert _ranks_get(again) == {"SITE": "yes"}


@pytest.mark.mpi
@pytest.mark.beside
def test_a_program_as_it_is_and_profiled(installed: Installed, library: Path, tmp_path: Path) -> None:
    assert installed.machine.mpi is not None and installed.machine.mpi.mpicc is not None
    source = tmp_path / "program.c"
    source.write_text(
        "#include <mpi.h>\n#include <stdio.h>\n#include <stdlib.h>\n"
        '#define SAID(name) (getenv(name) ? getenv(name) : "-")\n'
        'int main(void)\n{\n    printf("%s %s %s\\n", SAID("SITE"), SAID("LD_PRELOAD"), SAID("UNISONO_RULES"));\n'
        "    MPI_Init(NULL, NULL);\n    return MPI_Finalize();\n}\n"
    )
    program = tmp_path / "program"
    subprocess.run([installed.machine.mpi.mpicc, "-o", program, source], check=True, timeout=60)
    (tmp_path / "site.conf").write_text(f"mca_base_env_list = {_listed(library)}\n")
    # mpirun of Open MPI 4 takes no -x, by which the recorder comes, beside a file's list: there it is the job's script.
    five = installed.version.startswith("5")
    site = {_FILES: str(tmp_path / "site.conf")} if five else {_ENV_LIST: _listed(library).removeprefix("SITE=yes;")}
    line = installed.argv("-n", "1", str(program))
    done = unisono("profile", "--as-is", "1", "-o", tmp_path / "a.profile", "--", *line, env=site)
    assert done.returncode == 0, done.stderr
    as_is, recorded = (said.split() for said in done.stdout.splitlines())
    assert as_is == ["yes" if five else "-", "-", "-"]
    assert recorded[1].endswith("/libunisono.so") and recorded[1] != str(library) and recorded[2] == "-"
    assert "puts our library into every rank; Unisono removes it from launches" in done.stderr


def test_a_study_says_what_was_left_out() -> None:
    here = machine(mpi=open_mpi("5.0.11", settings={"mca_base_env_list": "LD_PRELOAD=/s/libunisono.so"}))
    study = parse_study('[study]\nname = "s"\n[cases]\ncollectives = ["bcast"]\nnodes = [1]\nppn = [2]\n', "s.toml")
    assert set(notes(here)) <= set(expand(study, here).notes) and notes(here)


def test_of_slurm_and_what_is_nobodys_business() -> None:
    site = {
        "SLURM_EXPORT_ENV": "ALL,UNISONO_RULES=/s/r.conf,LD_PRELOAD=/u/a.so:/s/libunisono.so",
        "LD_PRELOAD": "/u/libunisonority.so",
        _ENV_LIST: "LD_PRELOAD=/u/a.so:/u/b.so;UNISONO_VERBOSE=1",
    }
    here = machine(
        mpi=open_mpi("5.0.11", settings={"mca_base_env_list": "LD_PRELOAD=/s/libunisono.so"}), environment=site
    )
    changed = dict(site)
    (said,) = leave_out(here, changed)
    assert said.startswith("SLURM_EXPORT_ENV ")
    assert changed == {**site, "SLURM_EXPORT_ENV": "ALL,LD_PRELOAD=/u/a.so"}
    assert leave_out(machine(mpi=open_mpi("5.0.11")), changed) == []
