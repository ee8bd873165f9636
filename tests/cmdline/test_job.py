from __future__ import annotations

import shlex
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.launch.machines import machine
from unisono.cmdline.job import describe_job, nodes_of
from unisono.core.errors import UserError
from unisono.machine.description import Node
from unisono.mpi.launchers.mpirun.job import expand_numbers, parse_hostfile

HERE = machine(2, 2, 4)  # 16 cores


@pytest.mark.parametrize(
    ("line", "ranks", "nodes", "ppn"),
    [
        ("mpirun -n 4 a", 4, 1, 4),
        ("mpirun -np 4 a : -np 2 b", 6, 1, 6),
        ("mpirun a", 16, 1, 16),
        ("mpirun -n 40 --oversubscribe a", 40, 1, 40),
        ("mpirun -n 4 --host n0:2,n1:2 a", 4, 2, 2),
        ("mpirun --host n0:2,n1:2 a", 4, 2, 2),
        ("mpirun -n 3 --host n0:2,n1:2 a", 3, 2, 2),
        ("mpirun -n 2 --host n0:2,n1:2 a", 2, 1, 2),
        ("mpirun -n 2 --host n0:2,n1:2 --map-by node a", 2, 2, 1),
        ("mpirun -n 2 --host n0:2,n1:2 --bynode a", 2, 2, 1),
        ("mpirun --host n0,n1,n0 a", 3, 2, 2),
        ("mpirun -H n0 -H n1 a", 2, 2, 1),
        ("mpirun -n 32 --host n0:*,n1:* a", 32, 2, 16),
        ("mpirun -n 8 --host n0:16,n1:16 --map-by ppr:4:node a", 8, 2, 4),
        ("mpirun -n 8 --host n0:16,n1:16 --map-by ppr:2:package --rank-by fill a", 8, 2, 4),
        ("mpirun -n 8 --host n0:16,n1:16 --map-by ppr:1:numa a", 8, 2, 4),
        ("mpirun --host n0:16,n1:16 --map-by ppr:1:l3cache a", 8, 2, 4),
        ("mpirun -N 3 --host n0:4,n1:4 a", 6, 2, 3),
        ("mpirun -npernode 3 --host n0:4,n1:4 a", 6, 2, 3),
        ("mpirun --pernode --host n0:4,n1:4 a", 2, 2, 1),
        ("mpirun --npersocket 2 --host n0:16,n1:16 a", 8, 2, 4),
        ("mpirun -n 8 --host n0:16,n1:16 --map-by pe-list=0,8,1,9:ordered a", 8, 2, 4),
        ("srun -n 8 -N 2 a", 8, 2, 4),
        ("srun -N 2 --ntasks-per-node=3 a", 6, 2, 3),
        ("srun -n 8 --ntasks-per-node 4 a", 8, 2, 4),
        ("srun a", 1, 1, 1),
    ],
)
def test_ranks_and_nodes(line: str, ranks: int, nodes: int, ppn: int) -> None:
    job = describe_job(shlex.split(line), HERE, {})
    assert (job.ranks, job.nodes, job.ppn) == (ranks, nodes, ppn)


def test_the_documents_command_line(tmp_path: Path) -> None:
    hosts = tmp_path / "hostlist.txt"
    hosts.write_text("".join(f"inst-{i} slots=36\n" for i in range(8)))
    line = f"mpirun -n 256 --hostfile {hosts} --bind-to core --map-by ppr:16:package --rank-by fill -x A=b ft.D.x"
    job = describe_job(shlex.split(line), machine(2, 1, 18), {})
    assert (job.ranks, job.nodes, job.ppn, job.even) == (256, 8, 32, True)
    assert job.hosts[7] == "inst-7"


def test_hosts_chosen_out_of_a_host_file_have_its_slots(tmp_path: Path) -> None:
    hosts = tmp_path / "hosts"
    hosts.write_text("a slots=4\nb slots=4\n")
    job = describe_job(["mpirun", "--hostfile", str(hosts), "--host", "b:2", "x"], HERE, {})
    assert (job.ranks, job.hosts) == (2, ("b",))


@pytest.mark.parametrize(
    ("env", "nodes", "ppn"),
    [
        ({"SLURM_JOB_ID": "1", "SLURM_TASKS_PER_NODE": "4(x3)"}, 3, 4),
        ({"SLURM_JOB_ID": "1", "SLURM_JOB_CPUS_PER_NODE": "16,8"}, 2, 16),
        ({"PBS_NODEFILE": "HOSTS"}, 2, 2),
        ({"LSB_DJOB_HOSTFILE": "HOSTS"}, 2, 2),
        ({"PRTE_MCA_prte_default_hostfile": "HOSTS"}, 2, 2),
        ({"PRTE_MCA_prte_default_hostfile": "HOSTS", "SLURM_JOB_ID": "1", "SLURM_TASKS_PER_NODE": "4(x3)"}, 3, 4),
        ({"HYDRA_HOST_FILE": "HOSTS"}, 1, 16),  # MPICH's
    ],
    ids=str,
)
def test_the_schedulers_job_or_a_default_host_file_gives_hosts(
    tmp_path: Path, env: dict[str, str], nodes: int, ppn: int
) -> None:
    hosts = tmp_path / "hosts"
    hosts.write_text("a\na\nb\nb\n")
    env = {name: value.replace("HOSTS", str(hosts)) for name, value in env.items()}
    job = describe_job(["mpirun", "x"], HERE, env)
    assert (job.nodes, job.ppn) == (nodes, ppn)


def test_srun_inside_a_job() -> None:
    job = describe_job(["srun", "x"], HERE, {"SLURM_NNODES": "4", "SLURM_NTASKS": "8"})
    assert (job.ranks, job.nodes, job.ppn, job.hosts) == (8, 4, 2, ())


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("mpirun -n two x", "-n two: 'two' is not a number"),
        ("mpirun -n 0 x", "'0' is not a number of at least 1"),
        ("mpirun --host a:b x", "--host a:b"),
        ("mpirun --host a,,b x", "write host names"),
        ("mpirun --host +e x", "write host names"),
        ("mpirun --hostfile /nowhere/hosts x", "cannot be read"),
        ("mpirun --map-by ppr:2:rack x", "rack"),
        ("mpirun --map-by pe-list=a:ordered x", "pe-list=a"),
    ],
)
def test_what_cannot_be_counted_is_said(line: str, message: str) -> None:
    with pytest.raises(UserError) as error:
        describe_job(shlex.split(line), HERE, {})
    assert message in str(error.value)


def test_a_host_file_in_all_its_forms() -> None:
    text = "# nodes\na slots=4 max_slots=8\n\nuser@b slots = 2 # two\nc\nd:3\ne\ne\n"
    assert parse_hostfile(text) == {"a": 4, "b": 2, "c": None, "d": 3, "e": 2}


@given(st.text())
def test_any_host_file_is_read_or_refused(text: str) -> None:
    try:
        hosts = parse_hostfile(text)
    except UserError as error:
        assert "host file, line" in str(error)
    else:
        assert all(hosts)


def test_the_nodes_of_a_users_line(tmp_path: Path) -> None:
    hosts = tmp_path / "hosts"
    hosts.write_text("a slots=4\nb slots=4\n")
    for words in (["--host", "a:4,b:4"], ["--hostfile", str(hosts)]):
        assert nodes_of(["mpirun", *words, "-n", "2", "x"], HERE, {}) == [
            Node(host="a", slots=4),
            Node(host="b", slots=4),
        ]
    for line in ("mpirun -n 2 x", "srun -w a,b x", "mpirun --host a:b x", "./own"):
        assert nodes_of(line.split(), HERE, {}) == HERE.nodes


@given(st.lists(st.tuples(st.integers(0, 500), st.integers(0, 9)), min_size=1))
def test_number_lists(ranges: list[tuple[int, int]]) -> None:
    text = ",".join(f"{first}-{first + more}" if more else str(first) for first, more in ranges)
    assert expand_numbers(text) == [first + i for first, more in ranges for i in range(more + 1)]
