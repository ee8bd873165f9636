"""`unisono run` over several nodes: the library, its rules and its variables are there on every rank."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tests.cluster.conftest import MakeCluster
from tests.commands.program import PROGRAM
from tests.profile.interception import compiled, toolchain
from tests.tuning.samples import plan, rule, tuning
from unisono.inventory.describe import describe
from unisono.tuning import write

pytestmark = [pytest.mark.cluster, pytest.mark.mpi, pytest.mark.beside]

SOURCE = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    int rank, ranks, one = 1, sum = 0;
    char host[64];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (int i = 0; i < 5; i++)
        MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    int (*applies)(MPI_Comm, const char *, long long, int);
    *(void **)&applies = dlsym(RTLD_DEFAULT, "unisono_applies");
    gethostname(host, sizeof host);
    const char *verbose = getenv("UNISONO_VERBOSE"), *file = getenv("UNISONO_RULES");
    printf("rank %s %s %d %s %s\n", host, sum == ranks ? "right" : "wrong",
           applies != NULL && applies(MPI_COMM_WORLD, "allreduce", 4, 4), verbose != NULL ? verbose : "-",
           file != NULL ? "rules" : "-");
    MPI_Finalize();
    return 0;
}
"""


@pytest.mark.parametrize("name", ["openmpi5", pytest.param("mpich", marks=pytest.mark.nightly)])
def test_ranks_on_other_nodes_use_the_library(name: str, cluster: MakeCluster, tmp_path: Path) -> None:
    tools = toolchain(name)
    (tmp_path / "who.c").write_text(SOURCE)
    program = compiled(tools, tmp_path, str(tmp_path / "who.c"), "-ldl")
    rules = (rule("allreduce", 0, None, {"coll": "unisono", "algorithm": "leader"}),)
    made = tuning(plan(2, 1, {"preload": "unisono"}, {"allreduce": 1.5}, rules))
    write(made, tmp_path / "tuning.toml")
    virtual = cluster(nodes=2)
    mpi = describe(tools.mpirun).mpi
    assert mpi is not None
    hosts = ["--host", "n0:1,n1:1", "--bind-to", "none"]
    if not mpi.traits.MCA:
        agent = virtual.env["PRTE_MCA_plm_ssh_agent"]
        hosts = ["-launcher", "ssh", "-launcher-exec", agent, "-hosts", "n0,n1", "-ppn", "1"]
    line = [tools.mpirun, *hosts, "-n", "2", str(program)]
    done = subprocess.run(
        virtual.wrap([str(PROGRAM), "run", "--tuning", str(tmp_path / "tuning.toml"), "--", *line]),
        env={**os.environ, **virtual.env, "UNISONO_VERBOSE": "1"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    said = sorted(line for line in done.stdout.splitlines() if line.startswith("rank "))
    assert said == [f"rank {host} right 1 1 rules" for host in ("n0", "n1")], done.stdout + done.stderr
    assert "unisono/leader" in done.stderr
