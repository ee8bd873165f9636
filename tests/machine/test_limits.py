"""What is said of limits the launcher does not heed."""

from __future__ import annotations

from tests.tuning.samples import machine
from unisono.machine.limits import outside_sentence, over_quota, quota_sentence
from unisono.parameters.doctor import machine_rows


def test_a_quota_is_said_with_what_to_do() -> None:
    here = machine(cpus=8).model_copy(update={"cpu_quota": 2.5})
    said = quota_sentence(here)
    assert said is not None
    assert "the time of 2.5 CPUs on 8 CPUs" in said
    assert "--ppn 2" in said
    assert dict(machine_rows(here))["CPU quota"] == said


def test_a_quota_of_all_cpus_is_no_limit() -> None:
    assert quota_sentence(machine(cpus=4).model_copy(update={"cpu_quota": 4.0})) is None
    assert quota_sentence(machine(cpus=4)) is None


def test_more_ranks_than_the_quota_are_too_many() -> None:
    here = machine(cpus=4).model_copy(update={"cpu_quota": 2.5})
    assert [over_quota(here, ppn) for ppn in (2, 3, 4)] == [False, True, True]
    assert not over_quota(machine(cpus=4), 4)
    assert "CPU quota" not in dict(machine_rows(machine(cpus=4)))


def test_ranks_outside_the_affinity_mask_name_the_variable_of_this_mpi() -> None:
    five = outside_sentence(machine("5.0.11", cpus=2), [0, 1, 2, 3])
    assert five is not None
    assert five.startswith(
        "this process may only use CPUs 0-1 (taskset, numactl), but mpirun ignores that and also uses CPU 2-3"
    )
    assert five.endswith("PRTE_MCA_hwloc_default_cpu_list=0-1")
    four = outside_sentence(machine("4.1.4", cpus=2), [3])
    assert four is not None
    assert four.endswith("OMPI_MCA_hwloc_base_cpu_list=0-1")


def test_no_variable_of_another_mpi_is_named() -> None:
    here = machine(cpus=2)
    assert here.mpi is not None
    other = here.model_copy(update={"mpi": here.mpi.model_copy(update={"family": "mpich", "version": "5.0.2"})})
    said = outside_sentence(other, [3])
    assert said is not None and said.endswith("start without such a limit") and "MCA" not in said


def test_ranks_inside_the_mask_need_no_advice() -> None:
    assert outside_sentence(machine(cpus=4), [0, 3]) is None
