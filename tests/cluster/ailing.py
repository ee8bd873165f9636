"""Nodes of a virtual cluster that ail in one way: a late link, a processor that is half as quick."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from unisono.vcluster.cluster import AGENT, VirtualCluster

_HERE = Path(__file__)


@contextlib.contextmanager
def late(cluster: VirtualCluster, node: str, microseconds: int, rate: str, folder: Path) -> Iterator[None]:
    """The node's link holds every frame for so long, at this rate. `folder`: for the program that does it."""
    program = folder / "late_link"
    subprocess.run(["cc", "-O2", "-o", program, _HERE.with_name("late_link.c")], check=True)
    pid = (cluster.directory / f"{node}.pid").read_text().strip()
    number = int(node[1:])
    shape = f"root tbf rate {rate} burst 64kb latency 20ms"
    lines = (
        f"ip link del v{number}",
        "ip link set near mtu 9000 master br0 up",
        f"ip link set far netns {pid} name eth0",
        f"nsenter -t {pid} -n ip address add 10.77.0.{number + 1}/24 dev eth0",
        f"nsenter -t {pid} -n ip link set eth0 mtu 9000 up",
        f"tc qdisc add dev near {shape}",
        f"nsenter -t {pid} -n tc qdisc add dev eth0 {shape}",
    )
    with _beside(cluster, [str(program), str(microseconds)]):
        for line in lines:
            subprocess.run(cluster.wrap(line.split()), check=True)
        yield


@contextlib.contextmanager
def half_as_quick(cluster: VirtualCluster, node: str) -> Iterator[None]:
    """The benchmark gets half of its processor's time on this node, in turns of half a millisecond."""
    with _beside(cluster, ["sh", str(AGENT), node, sys.executable, str(_HERE)]):
        yield


@contextlib.contextmanager
def _beside(cluster: VirtualCluster, words: list[str]) -> Iterator[None]:
    """On the login host, from when it says that it is ready."""
    line = cluster.wrap(words)
    with subprocess.Popen(line, env={**os.environ, **cluster.env}, stdout=subprocess.PIPE, text=True) as beside:
        try:
            assert beside.stdout is not None
            assert beside.stdout.readline() == "ready\n"
            yield
        finally:
            beside.kill()


def _steal() -> None:
    """On the node, whose few processes are the only ones to be seen there."""
    with contextlib.suppress(PermissionError):  # else it comes late on a busy machine
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    while True:
        found = _benchmarks()
        for _ in range(10):
            for what in (signal.SIGSTOP, signal.SIGCONT):
                for process in found:
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(process, what)
                time.sleep(0.0004)


def _benchmarks() -> list[int]:
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if (process / "comm").read_text() == "unisono-bench\n":
                found.append(int(process.name))
    return found


if __name__ == "__main__":
    _steal()
