"""Trees of /sys, /proc and /etc to read: one recorded on a real virtual machine, others put together from public facts.

`recorded/firecracker-2cpu.json` was copied from a 2-CPU virtual machine. The two-socket machines are not recordings:
their numbering and caches follow AMD's and Intel's descriptions of the processors and what Linux shows for them
(EPYC 9654: dies of 8 cores with 32 MiB L3, four NUMA nodes a socket with NPS4; Xeon Gold 6354: 18 cores, 39 MiB L3,
hardware threads of core n are CPUs n and n + 36).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from unisono.machine.files import format_cpu_list

RECORDED = Path(__file__).with_name("recorded")


def recorded(name: str) -> str:
    return (RECORDED / name).read_text(encoding="utf-8")


def write(root: Path, files: Mapping[str, str]) -> Path:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return root


def virtual_machine(root: Path) -> Path:
    return write(root, json.loads(recorded("firecracker-2cpu.json")))


@dataclass
class Layout:
    """CPU -> core, NUMA node, socket and L3, and the sizes of the caches in KiB."""

    core: list[int]
    numa: list[int]
    socket: list[int]
    l3: list[int]
    sizes: tuple[int, int, int]
    files: dict[str, str] = field(default_factory=dict)

    def write(self, root: Path) -> Path:
        cpus = range(len(self.core))
        files = {"sys/devices/system/cpu/online": f"0-{len(self.core) - 1}\n", **self.files}
        for cpu in cpus:
            at = f"sys/devices/system/cpu/cpu{cpu}"
            siblings = format_cpu_list(c for c in cpus if self.core[c] == self.core[cpu])
            sharing = format_cpu_list(c for c in cpus if self.l3[c] == self.l3[cpu])
            files[f"{at}/topology/physical_package_id"] = f"{self.socket[cpu]}\n"
            files[f"{at}/topology/core_cpus_list"] = f"{siblings}\n"
            l1, l2, l3 = self.sizes
            rows = (("1", "Data", l1, siblings), ("1", "Instruction", 32, siblings))
            for index, (level, kind, size, cpu_list) in enumerate(
                (*rows, ("2", "Unified", l2, siblings), ("3", "Unified", l3, sharing))
            ):
                cache = f"{at}/cache/index{index}"
                files[f"{cache}/level"] = f"{level}\n"
                files[f"{cache}/type"] = f"{kind}\n"
                files[f"{cache}/size"] = f"{size}K\n"
                files[f"{cache}/shared_cpu_list"] = f"{cpu_list}\n"
        for node in sorted(set(self.numa)):
            files[f"sys/devices/system/node/node{node}/cpulist"] = (
                format_cpu_list(c for c in cpus if self.numa[c] == node) + "\n"
            )
        return write(root, files)


def epyc(root: Path) -> Path:
    """2 x 96 cores with NPS4, SMT off, performance governor, bare metal."""
    cpus = range(192)
    files = {
        "proc/cpuinfo": "processor\t: 0\nmodel name\t: AMD EPYC 9654 96-Core Processor\nflags\t\t: fpu vme svm avx2\n",
        "proc/meminfo": "MemTotal:       2377123456 kB\nMemFree: 2300000000 kB\nMemAvailable:   2350000000 kB\n",
        "proc/sys/kernel/hostname": "epyc1\n",
        "proc/sys/kernel/osrelease": "5.14.0-503.el9.x86_64\n",
        "etc/os-release": 'NAME="Oracle Linux Server"\nVERSION_ID="9.5"\nPRETTY_NAME="Oracle Linux Server 9.5"\n',
        **{f"sys/devices/system/cpu/cpu{c}/cpufreq/scaling_governor": "performance\n" for c in cpus},
    }
    return Layout(
        core=list(cpus),
        numa=[c // 24 for c in cpus],
        socket=[c // 96 for c in cpus],
        l3=[c // 8 for c in cpus],
        sizes=(32, 1024, 32768),
        files=files,
    ).write(root)


def xeon(root: Path) -> Path:
    """2 x 18 cores with two threads each, one RoCE port and an idle one, an Ethernet interface, a veth."""
    cpus = range(72)
    port = "sys/class/infiniband/mlx5_2/ports/1"
    idle = "sys/class/infiniband/mlx5_0/ports/1"
    files = {
        "proc/cpuinfo": "model name\t: Intel(R) Xeon(R) Gold 6354 CPU @ 3.00GHz\nflags\t\t: fpu vmx avx512f\n",
        "proc/meminfo": "MemTotal:       527000000 kB\nMemAvailable:   510000000 kB\n",
        "proc/sys/kernel/hostname": "xeon1\n",
        "proc/sys/kernel/osrelease": "5.4.17-2136.el8uek.x86_64\n",
        "etc/os-release": 'PRETTY_NAME="Oracle Linux Server 8.10"\n',
        f"{port}/link_layer": "Ethernet\n",
        f"{port}/rate": "100 Gb/sec (2X HDR)\n",
        f"{port}/state": "4: ACTIVE\n",
        "sys/class/infiniband/mlx5_2/device/numa_node": "1\n",
        f"{idle}/link_layer": "InfiniBand\n",
        f"{idle}/rate": "40 Gb/sec (4X QDR)\n",
        f"{idle}/state": "1: DOWN\n",
        "sys/class/infiniband/mlx5_0/device/numa_node": "-1\n",
        "sys/class/net/ens300/type": "1\n",
        "sys/class/net/ens300/speed": "50000\n",
        "sys/class/net/ens300/operstate": "up\n",
        "sys/class/net/ens300/device/numa_node": "0\n",
        "sys/class/net/veth12/type": "1\n",
        "sys/class/net/veth12/speed": "10000\n",
        "sys/class/net/lo/type": "772\n",
        **{f"sys/devices/system/cpu/cpu{c}/cpufreq/scaling_governor": "powersave\n" for c in cpus},
    }
    return Layout(
        core=[c % 36 for c in cpus],
        numa=[c % 36 // 18 for c in cpus],
        socket=[c % 36 // 18 for c in cpus],
        l3=[c % 36 // 18 for c in cpus],
        sizes=(48, 1280, 39936),
        files=files,
    ).write(root)
