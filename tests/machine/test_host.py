"""CPU model, governor, memory limits, virtualisation, environment."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.machine import trees
from unisono.inventory.environment import read_environment
from unisono.machine.host import cpu_model, parse_fields, parse_os_release, read_cpu_quota, read_host, read_memory

GIB = 1 << 30


def test_virtual_machine(tmp_path: Path) -> None:
    host = read_host(trees.virtual_machine(tmp_path))
    assert host.cpu_model == "AMD EPYC"
    assert host.governor is None
    assert host.virtual == "KVM virtual machine, docker container"
    assert host.os == "Debian GNU/Linux 12 (bookworm)"
    assert host.memory_bytes == 24684084 * 1024


def test_bare_metal(epyc_nps4: Path) -> None:
    host = read_host(epyc_nps4)
    assert (host.name, host.cpu_model, host.governor) == ("epyc1", "AMD EPYC 9654 96-Core Processor", "performance")
    assert host.virtual is None
    assert host.kernel == "5.14.0-503.el9.x86_64"


def test_a_governor_that_differs_is_said(tmp_path: Path) -> None:
    governor = "sys/devices/system/cpu/cpu{}/cpufreq/scaling_governor"
    trees.write(tmp_path, {"sys/devices/system/cpu/online": "0-1\n", governor.format(0): "performance\n"})
    trees.write(tmp_path, {governor.format(1): "powersave\n"})
    assert read_host(tmp_path).governor == "mixed (performance, powersave)"


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"sys/class/dmi/id/sys_vendor": "QEMU\n"}, "KVM virtual machine"),
        ({"sys/class/dmi/id/sys_vendor": "VMware, Inc.\n"}, "VMware virtual machine"),
        ({"sys/hypervisor/type": "xen\n"}, "xen virtual machine"),
        ({"run/.containerenv": ""}, "virtual machine, podman container"),
        ({"run/systemd/container": "lxc\n"}, "virtual machine, lxc container"),
        ({}, "virtual machine"),
    ],
)
def test_hypervisors(tmp_path: Path, files: dict[str, str], expected: str) -> None:
    trees.write(tmp_path, {"proc/cpuinfo": "flags : fpu hypervisor\n", **files})
    assert read_host(tmp_path).virtual == expected


@pytest.mark.parametrize(
    ("text", "model"),
    [
        ("model name\t: Intel(R)  Xeon(R)   6354\n", "Intel(R) Xeon(R) 6354"),
        ("processor : 0\nCPU implementer\t: 0x41\nCPU part\t: 0xd40\n", "implementer 0x41 part 0xd40"),
        ("cpu\t\t: POWER9, altivec supported\n", "POWER9, altivec supported"),
        ("", "unknown"),
    ],
)
def test_cpu_models(text: str, model: str) -> None:
    assert cpu_model(text) == model


@given(st.text())
def test_parsers_take_anything(text: str) -> None:
    assert cpu_model(text)
    assert isinstance(parse_os_release(text), str)
    assert all(isinstance(key, str) for key in parse_fields(text))


@given(
    st.dictionaries(
        st.from_regex(r"[A-Z_]{1,8}", fullmatch=True), st.from_regex(r"[a-z0-9]([a-z0-9 ]{0,6}[a-z])?", fullmatch=True)
    )
)
def test_fields_read_back(fields: dict[str, str]) -> None:
    text = "\n".join(f'{key}="{value}"' for key, value in fields.items())
    assert parse_fields(text, "=") == fields


def _memory(total: int, available: int) -> dict[str, str]:
    return {"proc/meminfo": f"MemTotal: {total >> 10} kB\nMemAvailable: {available >> 10} kB\n"}


def test_memory_without_cgroups(tmp_path: Path) -> None:
    trees.write(tmp_path, _memory(64 * GIB, 60 * GIB))
    assert read_memory(tmp_path) == (64 * GIB, 60 * GIB)


def test_a_cgroup_v2_limit_and_one_above_it(tmp_path: Path) -> None:
    trees.write(
        tmp_path,
        {
            **_memory(64 * GIB, 60 * GIB),
            "proc/self/cgroup": "0::/slurm/job_1\n",
            "sys/fs/cgroup/cgroup.procs": "",
            "sys/fs/cgroup/slurm/job_1/memory.max": "max\n",
            "sys/fs/cgroup/slurm/memory.max": f"{16 * GIB}\n",
            "sys/fs/cgroup/slurm/memory.current": f"{5 * GIB}\n",
            "sys/fs/cgroup/slurm/memory.stat": f"anon 1\ninactive_file {GIB}\n",
        },
    )
    assert read_memory(tmp_path) == (16 * GIB, 12 * GIB)


def test_a_cgroup_v1_limit(tmp_path: Path) -> None:
    trees.write(
        tmp_path,
        {
            **_memory(64 * GIB, 60 * GIB),
            "proc/self/cgroup": "4:cpuset,memory:/job\n0::/\n",
            "sys/fs/cgroup/unified/cgroup.procs": "",
            "sys/fs/cgroup/memory/job/memory.limit_in_bytes": f"{8 * GIB}\n",
            "sys/fs/cgroup/memory/job/memory.usage_in_bytes": f"{9 * GIB}\n",
        },
    )
    assert read_memory(tmp_path) == (8 * GIB, 0)


def test_the_strictest_cpu_quota_of_a_unified_cgroup(tmp_path: Path) -> None:
    trees.write(
        tmp_path,
        {
            "proc/self/cgroup": "0::/pod/box\n",
            "sys/fs/cgroup/cgroup.controllers": "cpu memory\n",
            "sys/fs/cgroup/pod/cpu.max": "150000 100000\n",
            "sys/fs/cgroup/pod/box/cpu.max": "max 100000\n",
        },
    )
    assert read_cpu_quota(tmp_path) == 1.5


def test_a_cpu_quota_of_the_first_kind_of_cgroup(tmp_path: Path) -> None:
    box = "sys/fs/cgroup/cpu/box"
    trees.write(
        tmp_path,
        {
            "proc/self/cgroup": "4:cpu,cpuacct:/box\n",
            f"{box}/cpu.cfs_quota_us": "400000\n",
            f"{box}/cpu.cfs_period_us": "100000\n",
            "sys/fs/cgroup/cpu/cpu.cfs_quota_us": "-1\n",
        },
    )
    assert read_cpu_quota(tmp_path) == 4.0


def test_no_cpu_quota(tmp_path: Path) -> None:
    assert read_cpu_quota(tmp_path) is None


def test_no_files_no_memory(tmp_path: Path) -> None:
    assert read_memory(tmp_path) == (0, 0)


def test_environment_keeps_what_the_user_set_and_drops_what_the_launcher_set() -> None:
    kept = {
        "UCX_TLS": "self,sm",
        "OMPI_MCA_coll": "^han",
        "MPIR_CVAR_X": "1",
        "I_MPI_FABRICS": "shm",
        "MPI_UCX_TLS": "sm",
    }
    dropped = {
        "OMPI_ALLOW_RUN_AS_ROOT": "1",
        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
        "OMPI_COMM_WORLD_RANK": "0",
        "PMIX_RANK": "0",
        "PMIX_SERVER_URI41": "x",
        "OPAL_PREFIX": "/opt/hpcx",
        # What a virtual cluster sets: its paths are new each time that it is brought up.
        "PRTE_MCA_plm_ssh_agent": "/opt/unisono/agent.sh",
        "OMPI_MCA_plm_rsh_agent": "/opt/unisono/agent.sh",
        "PRTE_MCA_prte_default_hostfile": "/dev/shm/vc/slots",
        "OMPI_MCA_orte_default_hostfile": "/dev/shm/vc/slots",
        "HYDRA_LAUNCHER_EXEC": "/opt/unisono/agent.sh",
        "HYDRA_HOST_FILE": "/dev/shm/vc/ranks",
        "I_MPI_HYDRA_BOOTSTRAP": "ssh",
        "I_MPI_HYDRA_BOOTSTRAP_EXEC": "/opt/unisono/agent.sh",
        "I_MPI_HYDRA_HOST_FILE": "/dev/shm/vc/ranks",
        "PATH": "/usr/bin",
        "HOME": "/root",
    }
    assert read_environment({**dropped, **kept}) == dict(sorted(kept.items()))
