"""What one host is besides its topology: CPU model, governor, kernel, system, virtualisation, memory."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from unisono.core.language import N_
from unisono.machine.files import list_directory, parse_cpu_list, read_int, read_text

_HYPERVISORS = {"kvm-clock": "KVM", "hyperv_clocksource_tsc_page": "Hyper-V", "xen": "Xen", "vmware": "VMware"}
"""A clock source only that hypervisor offers -> its name."""

_VENDORS = {
    "QEMU": "KVM",
    "Amazon EC2": "Amazon EC2",
    "Google": "Google Compute Engine",
    "VMware": "VMware",
    "innotek": "VirtualBox",
    "Xen": "Xen",
    "Microsoft Corporation": "Hyper-V",
}

_UNLIMITED = 1 << 60
"""cgroup v1 writes a number near 2^63 for "no limit"."""


@dataclass(frozen=True)
class Host:
    name: str
    cpu_model: str
    governor: str | None
    kernel: str
    os: str
    virtual: str | None
    memory_bytes: int
    memory_available_bytes: int
    cpu_quota: float | None


def read_host(root: Path) -> Host:
    total, available = read_memory(root)
    return Host(
        name=read_text(root, "proc/sys/kernel/hostname") or "localhost",
        cpu_model=cpu_model(read_text(root, "proc/cpuinfo") or ""),
        governor=read_governor(root),
        kernel=read_text(root, "proc/sys/kernel/osrelease") or "",
        os=parse_os_release(read_text(root, "etc/os-release") or read_text(root, "usr/lib/os-release") or ""),
        virtual=read_virtual(root),
        memory_bytes=total,
        memory_available_bytes=available,
        cpu_quota=read_cpu_quota(root),
    )


def parse_fields(text: str, separator: str = ":") -> dict[str, str]:
    """First value of every "key : value" line, as /proc/cpuinfo, /proc/meminfo and os-release write them."""
    fields: dict[str, str] = {}
    for line in text.splitlines():
        key, found, value = line.partition(separator)
        if found:
            fields.setdefault(key.strip(), value.strip().strip('"'))
    return fields


def cpu_model(cpuinfo: str) -> str:
    """The CPU's name; where the architecture shows none (Arm), its implementer and part number."""
    fields = parse_fields(cpuinfo)
    for key in ("model name", "Model Name", "cpu", "cpu model"):
        if fields.get(key):
            return " ".join(fields[key].split())
    if "CPU part" in fields:
        return f"implementer {fields.get('CPU implementer', '?')} part {fields['CPU part']}"
    return "unknown"


def parse_os_release(text: str) -> str:
    fields = parse_fields(text, "=")
    return fields.get("PRETTY_NAME") or " ".join(fields[k] for k in ("NAME", "VERSION_ID") if k in fields)


def read_governor(root: Path) -> str | None:
    """The frequency governor of the online CPUs, "mixed (a, b)" when they differ, None when not exposed."""
    online = parse_cpu_list(read_text(root, "sys/devices/system/cpu/online") or "0")
    texts = (read_text(root, f"sys/devices/system/cpu/cpu{cpu}/cpufreq/scaling_governor") for cpu in online)
    names = sorted({text for text in texts if text})
    if len(names) > 1:
        return f"mixed ({', '.join(names)})"
    return names[0] if names else None


def read_virtual(root: Path) -> str | None:
    """ "KVM virtual machine", "docker container", both joined by a comma, or None on bare metal."""
    found = []
    flags = parse_fields(read_text(root, "proc/cpuinfo") or "").get("flags", "").split()
    if "hypervisor" in flags:
        name = _hypervisor(root)
        found.append(N_("{name} virtual machine").format(name=name) if name else N_("virtual machine"))
    container = _container(root)
    if container:
        found.append(N_("{container} container").format(container=container))
    return ", ".join(found) or None


def _hypervisor(root: Path) -> str | None:
    vendor = read_text(root, "sys/class/dmi/id/sys_vendor") or ""
    for prefix, name in _VENDORS.items():
        if vendor.startswith(prefix):
            return name
    clocks = read_text(root, "sys/devices/system/clocksource/clocksource0/available_clocksource") or ""
    for clock in clocks.split():
        if clock in _HYPERVISORS:
            return _HYPERVISORS[clock]
    return read_text(root, "sys/hypervisor/type")


def _container(root: Path) -> str | None:
    if (root / ".dockerenv").exists():
        return "docker"
    if (root / "run/.containerenv").exists():
        return "podman"
    if (root / ".singularity.d").exists():
        return "apptainer"
    named = read_text(root, "run/systemd/container")
    return named or None


def read_memory(root: Path) -> tuple[int, int]:
    """(total, available) bytes this process may use: the host's, cut by every memory cgroup it is in."""
    fields = parse_fields(read_text(root, "proc/meminfo") or "")
    total = _kilobytes(fields.get("MemTotal", ""))
    available = _kilobytes(fields.get("MemAvailable", fields.get("MemFree", "")))
    for limit, used in _memory_cgroups(root):
        total = min(total, limit)
        available = min(available, max(0, limit - used))
    return total, available


def _kilobytes(text: str) -> int:
    number = text.split()[0] if text.split() else ""
    return int(number) * 1024 if number.isascii() and number.isdigit() else 0


def read_cpu_quota(root: Path) -> float | None:
    """CPUs' worth of time a second that a cgroup limits this process to (containers, batch systems); None: no limit.

    cpu.max of cgroup v2 holds "quota period", cpu.cfs_quota_us and cpu.cfs_period_us of v1 the two; the strictest of
    the process's own cgroup and all above it holds.
    """
    limits = []
    for directory, unified in _cgroup_directories(root, "cpu"):
        if unified:
            quota, _, period = (read_text(root, f"{directory}/cpu.max") or "max").partition(" ")
        else:
            quota = read_text(root, f"{directory}/cpu.cfs_quota_us") or "-1"
            period = read_text(root, f"{directory}/cpu.cfs_period_us") or ""
        if quota.isdecimal() and period.isdecimal() and int(period):
            limits.append(int(quota) / int(period))
    return min(limits, default=None)


def _memory_cgroups(root: Path) -> list[tuple[int, int]]:
    """(limit, used) of the process's memory cgroup and of every one above it that has a limit.

    Used leaves out the page cache the kernel can drop at once (inactive_file).
    """
    found = []
    for directory, unified in _cgroup_directories(root, "memory"):
        limit_file, used_file, cache_key = _MEMORY_FILES[unified]
        limit = read_int(root, f"{directory}/{limit_file}")
        if limit is None or limit >= _UNLIMITED:
            continue
        used = read_int(root, f"{directory}/{used_file}") or 0
        statistics = parse_fields(read_text(root, f"{directory}/memory.stat") or "", " ")
        cached = statistics.get(cache_key, "0")
        found.append((limit, max(0, used - (int(cached) if cached.isdigit() else 0))))
    return found


_MEMORY_FILES = {
    True: ("memory.max", "memory.current", "inactive_file"),
    False: ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
}
"""Of a unified (v2) or a v1 cgroup: limit, used, and the line of memory.stat to leave out."""


def _cgroup_directories(root: Path, controller: str) -> list[tuple[str, bool]]:
    """(directory, whether it is v2) of the cgroup that controls this process, and of every one above it."""
    mount = "sys/fs/cgroup"
    found = []
    for line in (read_text(root, "proc/self/cgroup") or "").splitlines():
        number, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        unified = number == "0"
        if unified:
            base = mount if list_directory(root, mount) and "unified" not in list_directory(root, mount) else ""
        elif controller in controllers.split(","):
            base = f"{mount}/{controller}"
        else:
            continue
        if base:
            parts = [part for part in path.split("/") if part and part != ".."]
            found += [("/".join([base, *parts[:depth]]), unified) for depth in range(len(parts), -1, -1)]
    return found
