"""srun without PMIx and Open MPI 5."""

from __future__ import annotations

import shutil

import pytest

from tests.launch.conftest import Installed, installed
from unisono.commands.singletons import refuse_singletons
from unisono.core.errors import UserError

__all__ = ["installed"]

pytestmark = [pytest.mark.mpi, pytest.mark.beside]


def test_ranks_that_would_not_find_each_other_are_refused(installed: Installed) -> None:
    five = installed.version.startswith("5")
    for words, env in (
        (["srun", "--mpi=pmi2", "-n", "2", installed.program], {}),
        (["srun", "-n", "2", installed.program], {"SLURM_MPI_TYPE": "none"}),
        (["srun", "--mpi", "pmi2", "-n", "2", installed.program, "--mpi=pmix"], {}),
    ):
        if five:
            with pytest.raises(UserError, match=r"starts an Open MPI 5 program as many programs of one rank"):
                refuse_singletons(words, env)
        else:
            refuse_singletons(words, env)  # it may have been built with PMI-2
    for words in (
        ["srun", "--mpi=pmix", "-n", "2", installed.program],
        ["srun", "-n", "2", installed.program],
        ["srun", "--mpi=pmi2", "-n", "2", shutil.which("true") or "true"],
        [installed.mpirun, "-n", "2", installed.program],
    ):
        refuse_singletons(words, {})
