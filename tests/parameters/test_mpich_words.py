"""An algorithm of MPICH in the words of its environment and of its MPI_T."""

from __future__ import annotations

import pytest

from tests.parameters.machines import small
from unisono.cmdline.command import command
from unisono.core.errors import UserError
from unisono.core.vocabulary import CALL_SCOPE, DEFAULT, Case, Setting
from unisono.machine.description import Machine, Mpi
from unisono.parameters.spelling import call_as_launch, call_words
from unisono.study.engine import Item, Task, launch_command

MPICH = Mpi(
    family="mpich",
    version="4.0.2",
    mpirun="/usr/bin/mpiexec.mpich",
    algorithms={"bcast": {"binomial": 1, "smp": 3}, "gather": {"nb": 2}},
    values={
        "MPIR_CVAR_DEVICE_COLLECTIVES": {"all": 0, "none": 1, "percoll": 2},
        "MPIR_CVAR_COLLECTIVE_FALLBACK": {"error": 0, "print": 1, "silent": 2},
    },
    call_scope=list(CALL_SCOPE),
)
BINOMIAL = Setting({"coll": "mpich", "algorithm": "binomial"})


def here() -> Machine:
    return small(mpi=MPICH)


def test_mpi_t_is_told_numbers_while_the_setting_runs() -> None:
    words = call_words(BINOMIAL, "bcast", here())
    assert (words.prefer, words.variables, words.use) == (None, {}, None)
    assert words.held == {
        "MPIR_CVAR_DEVICE_COLLECTIVES": "2",
        "MPIR_CVAR_BCAST_DEVICE_COLLECTIVE": "0",
        "MPIR_CVAR_BCAST_INTRA_ALGORITHM": "1",
        "MPIR_CVAR_COLLECTIVE_FALLBACK": "0",
    }
    by_nodes = call_words(BINOMIAL | {"algorithm": "smp"}, "bcast", here()).held
    assert by_nodes["MPIR_CVAR_COLLECTIVE_FALLBACK"] == "2", "it makes calls that it cannot serve itself"
    assert call_words(DEFAULT, "bcast", here()).held == {}


def test_a_launch_of_its_own_is_told_names_in_its_environment() -> None:
    forced = call_as_launch(BINOMIAL, "bcast", here())
    assert forced["MPIR_CVAR_BCAST_INTRA_ALGORITHM"] == "binomial"
    assert forced["MPIR_CVAR_COLLECTIVE_FALLBACK"] == "error"
    line = command(here(), DEFAULT, 1, 2, ["./app"], extra_mca={**forced, "pml": "ob1"})
    assert "-genv MPIR_CVAR_BCAST_INTRA_ALGORITHM binomial" in " ".join(line.argv)
    assert "ob1" not in line.argv
    task = Task(BINOMIAL, 1, 2, 0, (Item(Case("bcast", 1, 2), 8, (BINOMIAL,)),))
    assert "MPIR_CVAR_BCAST_INTRA_ALGORITHM" in launch_command(here(), task, (), ["./bench"], False).argv


@pytest.mark.parametrize(
    "wrong",
    [{"coll": "mpich", "algorithm": "ring"}, {"coll": "mpich"}, {**BINOMIAL, "segment": "1024"}],
)
def test_what_it_does_not_have_is_refused(wrong: dict[str, str]) -> None:
    with pytest.raises(UserError, match=r"coll=mpich: .* for bcast; it has: binomial, smp"):
        call_words(wrong, "bcast", here())
    with pytest.raises(UserError, match=r"coll=mpich: .* it has: none"):
        call_words(BINOMIAL, "bcast", small())
