"""Our library for everybody: what launchers are told, and what real ranks make of it."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.export.test_module import a_launcher
from tests.export.test_serving import COMPOSED, composed
from tests.tuning.samples import machine, plan, rule, tuning
from unisono.cmdline.command import command
from unisono.core.errors import UserError
from unisono.core.vocabulary import Setting
from unisono.export import export, exportable, keyval
from unisono.export.check import Check, check
from unisono.export.formats import library
from unisono.export.probe import probe_program
from unisono.inventory.describe import describe
from unisono.machine.description import Machine

SERVED = plan(
    1,
    2,
    {"preload": "unisono"},
    {"allreduce": 1.5},
    (rule("allreduce", 0, None, {"coll": "unisono", "algorithm": "slices"}, sizes=(8, 1024)),),
)


@pytest.fixture
def built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> bytes:
    """Stands in for the library where it is not to be loaded."""
    made = tmp_path / "made.so"
    made.write_bytes(b"\x7fELF\xff\x00not text")
    monkeypatch.setattr(library, "recorder", lambda mpicc: made)
    return made.read_bytes()


def written(where: Path, here: Machine) -> dict[str, Path]:
    return {path.name: path for path in export(composed(), "library", COMPOSED, here, where)}


def sourced(job: Path, folder: Path, **env: str) -> dict[str, str]:
    """Variables after a job script has sourced it, beside a launcher of the MPI that was measured."""
    path = a_launcher(folder, "mpirun (Open MPI) 5.0.11")
    done = subprocess.run(
        ["/bin/sh", "-u", "-e", "-c", '. "$0"; env -0', str(job)],
        env={"PATH": path, **env},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return dict(item.split("=", 1) for item in done.stdout.split("\0") if "=" in item)


def test_everybody_gets_a_copy_that_depends_on_nobodys_home(built: bytes, tmp_path: Path) -> None:
    where = tmp_path / "opt"
    files = written(where, machine())
    assert files["libunisono.so"].read_bytes() == built
    listed = keyval.read(files["openmpi-mca-params.conf"].read_text(), "f")["mca_base_env_list"].split(";")
    assert listed[:2] == [f"LD_PRELOAD={where}/libunisono.so", f"UNISONO_RULES={where}/unisono-rules.conf"]
    for name in ("openmpi-mca-params.conf", "unisono-job.sh", "unisono-rules.conf"):
        assert str(Path.home() / ".cache") not in files[name].read_text()


def test_open_mpi_4_is_given_no_list_in_its_file(built: bytes, tmp_path: Path) -> None:
    """mpirun of 4.1 ends every line that has an -x where a file has such a list."""
    assert "openmpi-mca-params.conf" not in written(tmp_path / "opt", machine("4.1.4"))


def test_the_ranks_alone_are_given_the_library(built: bytes, tmp_path: Path) -> None:
    where = tmp_path / "opt"
    job, ours = written(where, machine())["unisono-job.sh"], f"{where}/libunisono.so"
    found = sourced(job, tmp_path / "bin")
    assert "LD_PRELOAD" not in found and "UNISONO_RULES" not in found
    assert f"LD_PRELOAD={ours}" in found["OMPI_MCA_mca_base_env_list"].split(";")
    assert f"LD_PRELOAD={ours}" in found["SLURM_EXPORT_ENV"].split(",")
    assert found["SLURM_EXPORT_ENV"].startswith("ALL,")
    theirs = sourced(job, tmp_path / "other", OMPI_MCA_mca_base_env_list="A=1", SLURM_EXPORT_ENV="NONE", LD_PRELOAD="")
    assert theirs["OMPI_MCA_mca_base_env_list"].startswith("A=1;LD_PRELOAD=")
    assert f"LD_PRELOAD={ours}" in theirs["SLURM_EXPORT_ENV"].split(",") and "NONE" not in theirs["SLURM_EXPORT_ENV"]
    (where / "libunisono.so").unlink()
    path = a_launcher(tmp_path / "last", "mpirun (Open MPI) 5.0.11")
    script = ["/bin/sh", "-c", '. "$0"; env', str(job)]
    done = subprocess.run(script, env={"PATH": path}, capture_output=True, text=True, check=True)
    assert "cannot be read: nothing is set" in done.stderr and ours not in done.stdout


def test_a_users_own_library_stays_before_ours(built: bytes, tmp_path: Path) -> None:
    job = written(tmp_path / "opt", machine())["unisono-job.sh"]
    script = job.read_text()
    assert script.count("LD_PRELOAD=${LD_PRELOAD:+$LD_PRELOAD:}") == 4
    found = sourced(job, tmp_path / "bin", LD_PRELOAD="libc.so.6")
    assert f"LD_PRELOAD=libc.so.6:{tmp_path}/opt/libunisono.so" in found["SLURM_EXPORT_ENV"].split(",")


@pytest.mark.parametrize("name", ["a b", "a:b", "a,b", "a;b", "a$b", 'a"b', "a`b"])
def test_a_path_that_no_list_can_hold_is_refused(name: str, built: bytes, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"cannot stand in LD_PRELOAD; choose another"):
        written(tmp_path / name, machine())


def test_formats_without_the_library_name_this_one() -> None:
    document = tuning(SERVED, plan(1, 2, {"pml": "ob1"}, {"allreduce": 1.1}))
    instead, (note,) = exportable(document, SERVED, "openmpi")
    assert instead.launch == Setting({"pml": "ob1"}) and "--format library" in note
    assert exportable(document, SERVED, "library") == (SERVED, [])


@pytest.mark.mpi
@pytest.mark.beside
class TestRealRanks:
    @pytest.fixture(params=["embedded", "system", "mpich"])
    def here(self, request: pytest.FixtureRequest) -> Machine:
        if request.param == "mpich":
            return self.mpich()
        found = request.getfixturevalue(request.param)
        assert isinstance(found, Machine)
        return found

    def mpich(self) -> Machine:
        mpirun, mpicc = shutil.which("mpirun.mpich"), shutil.which("mpicc.mpich")
        if mpirun is None or mpicc is None:
            pytest.skip("no MPICH of the distribution with its mpicc")
        return describe(mpirun, mpicc)

    def checked(self, here: Machine, where: Path) -> Check:
        return check(tuning(SERVED), "library", SERVED, here, where, deadline=30)

    def test_it_serves_as_the_rules_say(self, here: Machine, tmp_path: Path) -> None:
        export(tuning(SERVED), "library", SERVED, here, tmp_path / "opt")
        result = self.checked(here, tmp_path / "opt")
        assert result.taken, result
        assert {item.found for item in result.items if item.what.startswith("allreduce of")} == {"unisono/slices"}
        assert [item.taken for item in result.items][-1] is None  # srun was not asked
        (tmp_path / "opt" / "libunisono.so").unlink()
        with pytest.raises(UserError, match=r"libunisono\.so: is not there; export it again"):
            self.checked(here, tmp_path / "opt")

    def test_files_that_no_longer_name_it_are_not_taken(self, embedded: Machine, tmp_path: Path) -> None:
        where = tmp_path / "opt"
        export(tuning(SERVED), "library", SERVED, embedded, where)
        path = where / "openmpi-mca-params.conf"
        path.write_text("".join(line for line in path.read_text().splitlines(True) if "env_list =" not in line))
        assert not self.checked(embedded, where).taken

    def test_a_users_own_options_are_served_too(self, embedded: Machine, tmp_path: Path) -> None:
        """With the parameter file in place, which is why Open MPI 4.1 gets none."""
        where = tmp_path / "opt"
        export(tuning(SERVED), "library", SERVED, embedded, where)
        line = command(embedded, Setting(), 1, 2, [str(probe_program(embedded)), "call=allreduce:8"])
        ours = {"OMPI_MCA_mca_base_param_files": str(where / "openmpi-mca-params.conf")}
        done = subprocess.run(
            [line.argv[0], "-x", "UNISONO_VERBOSE=1", *line.argv[1:]],
            env={**os.environ, **line.env, **ours},
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert done.returncode == 0, done.stderr
        assert "unisono/slices" in done.stderr
