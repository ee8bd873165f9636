"""Network devices: InfiniBand and RoCE ports with their rate, and Ethernet interfaces."""

from __future__ import annotations

import re
from pathlib import Path

from unisono.machine.description import Device
from unisono.machine.files import list_directory, read_int, read_text

FAST = ("infiniband", "roce", "omnipath", "efa")
"""Kinds a transport with RDMA or kernel bypass can use."""

_RATE = re.compile(r"(\d+(?:\.\d+)?)\s*Gb/sec")


def read_devices(root: Path) -> list[Device]:
    """Ports of /sys/class/infiniband as name:port, then physical or virtual Ethernet interfaces that can carry traffic.

    lo, veth, bridges and the like are left out: they are not network devices of this machine.
    """
    return _rdma(root) + _ethernet(root)


def _rdma(root: Path) -> list[Device]:
    found = []
    base = "sys/class/infiniband"
    for name in list_directory(root, base):
        numa = read_int(root, f"{base}/{name}/device/numa_node")
        for port in list_directory(root, f"{base}/{name}/ports"):
            at = f"{base}/{name}/ports/{port}"
            rate = _RATE.search(read_text(root, f"{at}/rate") or "")
            found.append(
                Device(
                    name=f"{name}:{port}",
                    kind=_rdma_kind(name, read_text(root, f"{at}/link_layer") or "InfiniBand"),
                    state=parse_state(read_text(root, f"{at}/state") or ""),
                    gbps=float(rate[1]) if rate else None,
                    numa=numa if numa is not None and numa >= 0 else None,
                )
            )
    return found


def _rdma_kind(name: str, link_layer: str) -> str:
    if name.startswith("hfi1"):
        return "omnipath"
    if name.startswith(("efa", "rdmap")):
        return "efa"
    return "roce" if link_layer == "Ethernet" else "infiniband"


def parse_state(text: str) -> str:
    """ "4: ACTIVE" -> "up"; anything else by its own word: "down", "init", "armed"."""
    word = text.partition(":")[2].strip().lower() or text.strip().lower()
    return "up" if word == "active" else word or "unknown"


def _ethernet(root: Path) -> list[Device]:
    found = []
    base = "sys/class/net"
    for name in list_directory(root, base):
        # type 1 is Ethernet; one without a device behind it is made by software (veth, bridge, tunnel)
        if read_int(root, f"{base}/{name}/type") != 1 or not (root / base / name / "device").exists():
            continue
        speed = read_int(root, f"{base}/{name}/speed")
        numa = read_int(root, f"{base}/{name}/device/numa_node")
        found.append(
            Device(
                name=name,
                kind="ethernet",
                state=read_text(root, f"{base}/{name}/operstate") or "unknown",
                gbps=speed / 1000 if speed and speed > 0 else None,
                numa=numa if numa is not None and numa >= 0 else None,
            )
        )
    return found
