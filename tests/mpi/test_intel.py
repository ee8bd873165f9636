"""What is known of Intel MPI, asked of Intel MPI itself: its compiler, its binding, its presets."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.launch.machines import machine
from unisono.cmdline.command import command
from unisono.core.vocabulary import Setting
from unisono.export.handed import Handed
from unisono.export.intel_check import items
from unisono.inventory.mpi import describe_mpi
from unisono.machine.description import Machine, Mpi
from unisono.mpi import FAMILIES, intel
from unisono.parameters import catalogue
from unisono.parameters.doctor import software_rows
from unisono.parameters.folding import fold

PROGRAM = """
#include <mpi.h>
int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Finalize();
}
"""


@pytest.fixture(scope="module")
def real() -> Mpi:
    launcher = Path(sys.prefix) / "intel" / "bin" / "mpirun"
    if not launcher.exists():
        pytest.skip("impi-rt is not in an environment beside this Python")
    mpi = describe_mpi(str(launcher))
    if mpi.mpicc is None:
        pytest.skip("impi-devel is not in an environment beside this Python")
    return mpi


def described(nodes: int = 1) -> Machine:
    return machine(nodes=nodes, mpi=Mpi(family="intel", version="2021.18.1", mpirun="mpiexec"))


def test_it_is_told_in_its_own_words() -> None:
    line = command(described(2), Setting({"placement": "block", "I_MPI_ADJUST_BCAST": "3"}), 2, 2, ["./a"])
    assert line.argv == [
        *("mpiexec", "-n", "4", "-genv", "I_MPI_JOB_RESPECT_PROCESS_PLACEMENT", "off", "-hosts", "n0,n1", "-ppn", "2"),
        *("-genv", "I_MPI_PIN_DOMAIN", "[0x1,0x10]", "-genv", "I_MPI_ADJUST_BCAST", "3", "./a"),
    ]
    assert intel.binding([[0], [5, 4]]) == ["-genv", "I_MPI_PIN_DOMAIN", "[0x1,0x30]"]


def test_a_preset_is_measured_for_its_own_collective_alone() -> None:
    setting = Setting({"I_MPI_ADJUST_BCAST": "3"})
    assert fold([setting], described(), 1, 4, "bcast")[0] == [setting]
    settings, said = fold([setting], described(), 1, 4, "allreduce")
    assert (settings, said) == (
        [Setting()],
        ["I_MPI_ADJUST_BCAST has no effect on allreduce: left out there."],
    )


def test_every_family_has_its_own_name_and_catalogue() -> None:
    assert len({one.FAMILY for one in FAMILIES}) == len({one.NAME for one in FAMILIES}) == len(FAMILIES)
    assert all(catalogue.load(one.FAMILY) for one in FAMILIES)


def test_the_real_one_binds_and_knows_the_presets(real: Mpi, tmp_path: Path) -> None:
    """In one launch: each rank is on the CPU that it was given, all presets of the catalogue are known, no more."""
    source = tmp_path / "a.c"
    source.write_text(PROGRAM)
    assert real.mpicc is not None
    env = {**os.environ, **intel.compiler_environment(real.mpicc)}
    subprocess.run([real.mpicc, str(source), "-o", str(tmp_path / "a")], check=True, env=env, timeout=120)
    presets = {name: p.values for name, p in catalogue.load("intel").items() if name.startswith("I_MPI_ADJUST_")}
    cpus = sorted(os.sched_getaffinity(0))[:2]
    if len(cpus) < 2:
        pytest.skip("needs two CPUs")
    words = ["-genv", "I_MPI_DEBUG", "5", *intel.binding([[cpus[1]], [cpus[0]]])]
    for name, values in presets.items():
        tried = [*values, str(len(values) + 1)]
        words += ["-genv", name, ";".join(f"{each}:{8 * int(each)}" for each in tried)]
    argv = [real.mpirun, "-n", "2", *words, str(tmp_path / "a")]
    said = subprocess.run(argv, capture_output=True, text=True, check=True, timeout=120).stdout
    assert re.findall(r"startup\(\): \d+ +\d+ +\S+ +\{(\d+)\}", said) == [str(cpus[1]), str(cpus[0])]
    unknown = {f"I_MPI_ADJUST_{name}={value}" for name, value in re.findall(r"Incorrect \w+: (\w+)=(\S+),", said)}
    if real.version == "2021.18.1":
        assert unknown == {f"{name}={len(values) + 1}" for name, values in presets.items()}


SAID = """[0] MPI startup(): Incorrect algorithm: ALLREDUCE=99, will be ignored
[0] MPI startup(): Incorrect adjust value: BCAST=8:abc, will be ignored
[0] MPI startup(): I_MPI_ADJUST_ALLREDUCE=1:0-8;99:9-16
[0] MPI startup(): I_MPI_ADJUST_BCAST=8:abc
[0] MPI startup(): I_MPI_ADJUST_REDUCE=3
[0] MPI startup(): I_MPI_FABRICS=ofi
"""


def test_what_it_says_of_its_variables_is_believed() -> None:
    env = {
        "I_MPI_ADJUST_ALLREDUCE": "1:0-8;99:9-16",
        "I_MPI_ADJUST_BCAST": "8:abc",
        "I_MPI_ADJUST_REDUCE": "3",
        "I_MPI_FABRICS": "shm",
        "I_MPI_NONE": "1",
        "FI_PROVIDER": "tcp",
    }
    seen = {item.what: (item.found, item.taken) for item in items(Handed(env=env), SAID)}
    assert seen == {
        "I_MPI_ADJUST_ALLREDUCE": ("Incorrect algorithm: 99", False),
        "I_MPI_ADJUST_BCAST": ("Incorrect adjust value: 8:abc", False),
        "I_MPI_ADJUST_REDUCE": ("3", True),
        "I_MPI_FABRICS": ("ofi", False),
        "I_MPI_NONE": ("unknown", False),
        "FI_PROVIDER": ("cannot be seen", None),
    }


def test_doctor_says_nothing_of_a_permission_that_only_open_mpis_launcher_wants() -> None:
    as_root = {"root_user": True}
    assert "User" not in dict(software_rows(described().model_copy(update=as_root)))
    ours = machine().model_copy(update=as_root)
    allowed = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    said = dict(software_rows(ours, {"OMPI_ALLOW_RUN_AS_ROOT": "1"}))["User"]
    assert "Your own command lines" in said
    assert "--allow-run-as-root in them, or OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1" in said
    assert dict(software_rows(ours, allowed))["User"] == f"root: allowed by {' and '.join(allowed)}"
