"""The virtual cluster that lives as long as its maker."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.cluster.conftest import MakeCluster
from unisono.vcluster.cluster import AGENT, VirtualCluster

pytestmark = [pytest.mark.cluster, pytest.mark.beside]

PATIENCE = 30.0


def _on(virtual: VirtualCluster, host: str, command: str) -> str:
    environment = {**os.environ, **virtual.env}
    argv = virtual.wrap([str(AGENT), "-x", host, command])
    done = subprocess.run(argv, env=environment, capture_output=True, text=True, timeout=PATIENCE, check=True)
    return done.stdout.strip()


def alive(virtual_directory: str) -> list[str]:
    """Processes whose command line names the cluster's directory."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = path.read_bytes().split(b"\0")
        except OSError:
            continue
        if virtual_directory.encode() in words:
            found.append(path.parent.name)
    return found


def test_nodes_are_hosts_of_their_own(cluster: MakeCluster) -> None:
    virtual = cluster(nodes=3)
    assert [_on(virtual, host, "hostname") for host in virtual.hosts] == ["n0", "n1", "n2"]
    assert _on(virtual, "n1", "ls /sys/class/net").split() == ["eth0", "lo"]
    assert "10.77.0.2/24" in _on(virtual, "n1", "ip -4 -brief address show eth0")
    _on(virtual, "n0", "touch /dev/shm/mine")
    assert _on(virtual, "n1", "ls /dev/shm") == ""
    assert int(_on(virtual, "n2", "ls /proc | grep -c '^[0-9]'")) < 10


def test_nodes_reach_each_other_by_name(cluster: MakeCluster) -> None:
    virtual = cluster(nodes=2)
    listen = "import socket; s = socket.create_server(('', 7777)); s.accept()[0].sendall(b'heard')"
    call = "import socket; print(socket.create_connection(('n1', 7777), 5).recv(9).decode())"
    _on(virtual, "n1", f'{sys.executable} -c "{listen}" </dev/null >/dev/null 2>&1 & sleep 0.5')
    assert _on(virtual, "n0", f'{sys.executable} -c "{call}"') == "heard"


def test_links_can_be_slowed_down(cluster: MakeCluster) -> None:
    virtual = cluster(nodes=2, shape=("100mbit", "20ms"))
    assert "rate 100Mbit" in _on(virtual, "n0", "tc qdisc show dev eth0")


def test_close_ends_everything(cluster: MakeCluster) -> None:
    virtual = cluster(nodes=2)
    directory = str(virtual.directory)
    _on(virtual, "n1", "sleep 600 </dev/null >/dev/null 2>&1 &")
    assert alive(directory)
    virtual.close()
    assert alive(directory) == []
    assert not virtual.directory.exists()


def test_a_killed_maker_leaves_nothing(cluster: MakeCluster) -> None:
    cluster(nodes=1)  # skips where clusters cannot be made
    code = (
        "import time; from unisono.vcluster.cluster import AGENT, VirtualCluster\n"
        "print(VirtualCluster(2).directory, flush=True); time.sleep(600)\n"
    )
    maker = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert maker.stdout is not None
    directory = maker.stdout.readline().strip()
    assert alive(directory)
    os.kill(maker.pid, signal.SIGKILL)
    maker.wait()
    maker.stdout.close()
    deadline = time.monotonic() + PATIENCE
    while alive(directory):
        assert time.monotonic() < deadline
        time.sleep(0.1)
