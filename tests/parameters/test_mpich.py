"""What the catalogue says of MPICH, asked of MPICH: its variables exist and take the value of the environment."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from unisono.core.version import at_least
from unisono.inventory.mpi import describe_mpi
from unisono.parameters import catalogue

PROGRAM = r"""
#include <mpi.h>
#include <stdio.h>
#include <string.h>
int main(int argc, char **argv)
{
    int number, provided;
    MPI_Init(&argc, &argv);
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    MPI_T_cvar_get_num(&number);
    for (int i = 0; i < number; i++) {
        char name[256], about[4096], text[4096] = "";
        int name_length = sizeof name, about_length = sizeof about, verbosity, bind, scope, count, value = 0;
        MPI_Datatype type;
        MPI_T_enum values;
        MPI_T_cvar_handle handle;
        MPI_T_cvar_get_info(i, name, &name_length, &verbosity, &type, &values, about, &about_length, &bind, &scope);
        for (int k = 1; k < argc; k++) {
            if (strcmp(name, argv[k]) != 0)
                continue;
            MPI_T_cvar_handle_alloc(i, NULL, &handle, &count);
            if (type == MPI_CHAR)
                MPI_T_cvar_read(handle, text);
            else
                MPI_T_cvar_read(handle, &value);
            printf("%s %s%d\n", name, text, value);
        }
    }
    MPI_T_finalize();
    MPI_Finalize();
    return 0;
}
"""
WHERE = {
    "mpich": ("/usr/bin/mpiexec.mpich", "/usr/bin/mpicc.mpich"),
    "mpich5": (f"{sys.prefix}/mpich5/bin/mpiexec", f"{sys.prefix}/mpich5/bin/mpicc"),
}


@pytest.mark.mpi
@pytest.mark.beside
@pytest.mark.parametrize("which", WHERE)
def test_every_variable_exists_and_takes_its_values(which: str, tmp_path: Path) -> None:
    mpirun, mpicc = WHERE[which]
    if not (shutil.which(mpirun) and shutil.which(mpicc)):
        pytest.skip(f"{mpirun} is not installed")
    mpi = describe_mpi(mpirun, mpicc)
    assert "ucx" in mpi.components["netmod"], "Debian's and the package of PyPI are both built with it"
    (tmp_path / "cvars.c").write_text(PROGRAM)
    subprocess.run([mpicc, "-o", "cvars", "cvars.c"], cwd=tmp_path, check=True, timeout=60)
    found = [p for p in catalogue.load("mpich").values() if p.name.startswith("MPIR_CVAR_")]
    here = [p for p in found if all(at_least(mpi.version, n.partition(">=")[2]) for n in p.needs)]
    assert here
    names = [p.name for p in found]

    def said(values: dict[str, str]) -> dict[str, str]:
        argv = [mpirun, "-n", "1", str(tmp_path / "cvars"), *names]
        done = subprocess.run(
            argv, env={**os.environ, **values}, capture_output=True, text=True, timeout=60, check=True
        )
        return {name: value for name, _, value in (line.partition(" ") for line in done.stdout.splitlines())}

    usual = said({})
    assert set(usual) == {p.name for p in here}
    for p in here:
        if p.takes == "integer" and p.default is not None:
            assert usual[p.name] == p.default, p.name
    for place in (0, -1):
        asked = {p.name: p.values[place] for p in here}
        for name, value in said(asked).items():
            assert value == asked[name] or not asked[name].isdigit(), name
    assert (
        len({said({"MPIR_CVAR_DEVICE_COLLECTIVES": word})["MPIR_CVAR_DEVICE_COLLECTIVES"] for word in ("all", "none")})
        == 2
    )
