"""Topology read from trees, and the small formats it is made of."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.machine import trees
from unisono.machine.files import ROOT, format_cpu_list, parse_cpu_list
from unisono.machine.topology import parse_cache_size, read_topology


@given(st.sets(st.integers(0, 4095)))
def test_cpu_lists_read_back(cpus: set[int]) -> None:
    assert parse_cpu_list(format_cpu_list(cpus)) == sorted(cpus)


@given(st.text())
def test_cpu_list_of_anything_is_ascending_numbers(text: str) -> None:
    numbers = parse_cpu_list(text)
    assert numbers == sorted(set(numbers))
    assert all(n >= 0 for n in numbers)


@pytest.mark.parametrize(
    ("text", "cpus"),
    [
        ("", []),
        ("0", [0]),
        ("0-3,8\n", [0, 1, 2, 3, 8]),
        ("0-9:2/5", [0, 1, 5, 6]),
        ("3, 1", [1, 3]),
        ("5-2", []),
        ("0-3:1/0", []),
        ("none,7", [7]),
    ],
)
def test_cpu_list_formats(text: str, cpus: list[int]) -> None:
    assert parse_cpu_list(text) == cpus


@pytest.mark.parametrize(
    ("text", "size"), [("32K", 32768), ("39936K", 40894464), ("36M", 37748736), ("512", 512), ("", None), ("K", None)]
)
def test_cache_sizes(text: str, size: int | None) -> None:
    assert parse_cache_size(text) == size


@given(st.text())
def test_cache_size_of_anything(text: str) -> None:
    size = parse_cache_size(text)
    assert size is None or size >= 0


def test_virtual_machine(tmp_path: Path) -> None:
    topology = read_topology(trees.virtual_machine(tmp_path))
    assert [(c.cpu, c.core, c.numa, c.socket, c.l3) for c in topology.cpus] == [(0, 0, 0, 0, 0), (1, 1, 0, 0, 0)]
    assert (topology.sockets, topology.numa_per_socket, topology.smt) == (1, 1, 1)
    assert [(c.level, c.bytes, c.shared_by) for c in topology.caches] == [
        ("L1d", 32 << 10, 1),
        ("L2", 1 << 20, 1),
        ("L3", 32 << 20, 2),
    ]


def test_epyc_with_four_numa_nodes_per_socket(epyc_nps4: Path) -> None:
    topology = read_topology(epyc_nps4)
    assert (topology.sockets, topology.numa_per_socket, topology.smt) == (2, 4, 1)
    assert [c.numa for c in topology.cpus] == [c // 24 for c in range(192)]
    assert [c.l3 for c in topology.cpus] == [c // 8 for c in range(192)]
    assert topology.caches[-1].shared_by == 8


def test_xeon_with_two_threads_a_core(xeon: Path) -> None:
    topology = read_topology(xeon)
    assert (topology.sockets, topology.numa_per_socket, topology.smt) == (2, 1, 2)
    by_cpu = {c.cpu: c for c in topology.cpus}
    assert by_cpu[0].core == by_cpu[36].core == 0
    assert by_cpu[17].socket == 0
    assert by_cpu[18].socket == 1
    assert [c.shared_by for c in topology.caches] == [1, 1, 18]
    assert topology.caches[-1].bytes == 39 << 20


def test_the_affinity_mask_limits_the_cpus_and_nothing_else(epyc_nps4: Path) -> None:
    topology = read_topology(epyc_nps4, {24, 25, 100, 9999})
    assert [(c.cpu, c.core, c.numa, c.socket, c.l3) for c in topology.cpus] == [
        (24, 24, 1, 0, 3),
        (25, 25, 1, 0, 3),
        (100, 100, 4, 1, 12),
    ]
    assert (topology.sockets, topology.numa_per_socket) == (2, 4)


def test_sockets_dealt_out_in_turn(tmp_path: Path) -> None:
    """Even CPUs on socket 0, odd ones on socket 1, as some firmware numbers them."""
    cpus = range(8)
    layout = trees.Layout(
        core=list(cpus),
        numa=[c % 2 for c in cpus],
        socket=[c % 2 for c in cpus],
        l3=[c % 2 for c in cpus],
        sizes=(32, 512, 8192),
    )
    topology = read_topology(layout.write(tmp_path))
    assert [c.socket for c in topology.cpus] == [0, 1] * 4
    assert [c.core for c in topology.cpus] == list(cpus)
    assert (topology.sockets, topology.numa_per_socket) == (2, 1)


def test_cpus_that_are_offline_do_not_count(tmp_path: Path) -> None:
    core = [0, 1, 0, 1]
    layout = trees.Layout(core=core, numa=[0] * 4, socket=[0] * 4, l3=[0] * 4, sizes=(32, 512, 8192))
    root = trees.write(layout.write(tmp_path), {"sys/devices/system/cpu/online": "0-1\n"})
    topology = read_topology(root)
    assert topology.smt == 1
    assert len(topology.cpus) == 2


def test_an_empty_tree_is_one_core(tmp_path: Path) -> None:
    topology = read_topology(tmp_path)
    assert [(c.cpu, c.core, c.numa, c.socket, c.l3) for c in topology.cpus] == [(0, 0, 0, 0, 0)]
    assert topology.caches == []


def test_without_numa_and_cache_files_a_socket_is_one_domain(tmp_path: Path) -> None:
    files = {"sys/devices/system/cpu/online": "0-3"}
    for cpu in range(4):
        files[f"sys/devices/system/cpu/cpu{cpu}/topology/physical_package_id"] = str(cpu // 2)
    topology = read_topology(trees.write(tmp_path, files))
    assert [c.l3 for c in topology.cpus] == [0, 0, 1, 1]
    assert {c.numa for c in topology.cpus} == {0}
    assert topology.numa_per_socket == 1


@settings(max_examples=25, deadline=None)
@given(
    sockets=st.integers(1, 4),
    numa=st.integers(1, 4),
    caches=st.integers(1, 3),
    cores=st.integers(1, 3),
    smt=st.integers(1, 4),
)
def test_any_regular_machine_reads_back(
    tmp_path_factory: pytest.TempPathFactory, sockets: int, numa: int, caches: int, cores: int, smt: int
) -> None:
    total = sockets * numa * caches * cores
    if total > 24:
        return
    cpus = range(total * smt)
    layout = trees.Layout(
        core=[c % total for c in cpus],
        numa=[c % total // (caches * cores) for c in cpus],
        socket=[c % total // (numa * caches * cores) for c in cpus],
        l3=[c % total // cores for c in cpus],
        sizes=(32, 1024, 16384),
    )
    topology = read_topology(layout.write(tmp_path_factory.mktemp("tree")))
    assert (topology.sockets, topology.numa_per_socket, topology.smt) == (sockets, numa, smt)
    assert [c.l3 for c in topology.cpus] == layout.l3
    assert topology.caches[-1].shared_by == cores


def test_this_machine_has_what_the_kernel_says() -> None:
    topology = read_topology(ROOT)
    assert len(topology.cpus) >= 1
    assert topology.sockets * topology.numa_per_socket >= len({c.numa for c in topology.cpus})
