from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from unisono.core.vocabulary import COLLECTIVES, NEIGHBOURHOODS
from unisono.measure.limits import floor
from unisono.measure.protocol import Limits, parse_limits

LIMITS = parse_limits(
    {
        "limits": 1,
        "pairs": [[0, 1, 100.0]],
        "latency_ns": 100.0,
        "flags_ns": 150.0,
        "copy": [
            {"bytes": 4096, "gbps_one": 8.0, "gbps_all": 16.0},
            {"bytes": 65536, "gbps_one": 10.0, "gbps_all": 20.0},
            {"bytes": 1 << 20, "gbps_one": 5.0, "gbps_all": 10.0},
        ],
    }
)
CLUSTER = parse_limits(
    {
        **LIMITS.document,
        "link": {"latency_ns": 2000.0, "bandwidth": [{"bytes": 4096, "gbps_one": 2.0, "gbps_all": 4.0}]},
    }
)
OWN = parse_limits(
    {
        **LIMITS.document,
        "copy": [
            {"bytes": 65536, "gbps_one": 10.0, "gbps_all": 20.0, "gbps_own": 50.0},
            {"bytes": 1 << 20, "gbps_one": 5.0, "gbps_all": 10.0, "gbps_own": 40.0},
            {"bytes": 2 << 20, "gbps_one": 5.0, "gbps_all": 8.0, "gbps_own": 6.0},
        ],
    }
)
MIB = 1 << 20


@pytest.mark.parametrize(
    ("collective", "ppn", "size", "seconds"),
    [
        ("allreduce", 2, 8, 150e-9),  # everybody must hear of everybody
        ("barrier", 4, 0, 150e-9),
        ("bcast", 4, 8, 100e-9),  # somebody must hear of the root
        ("bcast", 2, MIB, MIB / 20e9),  # two cores, half a MiB each
        ("bcast", 9, MIB, 8 * MIB / 20e9),  # nine, 0.9 MiB each
        ("bcast", 9, 9 * MIB, 72 * MIB / 10e9),
        ("allreduce", 2, MIB, 2 * MIB / 10e9),
        ("allreduce", 5, MIB, (1 + 3 / 3 + 4) * MIB / 10e9),  # three contributions are read alone
        ("reduce", 8, 8 * MIB, (1 + 6 / 3) * 8 * MIB / 10e9),
        ("alltoall", 4, MIB, 4 * 3 * MIB / 10e9),
        ("allgather", 2, MIB // 4, 2 * MIB / 4 / 20e9),  # between two measured sizes the better rate
        ("pingpong", 8, 65536, 65536 / 20e9),  # both cores, or more, may copy
        ("gather", 5, MIB, 4 * MIB / 20e9),  # each core 0.8 MiB of it
        ("neighbor_allgather", 2, MIB, 2 * MIB / 10e9),  # to and fro
        ("neighbor_alltoall", 33, MIB, 64 * MIB / 10e9),  # as many blocks as the 32 pairs of a line have
        ("neighbor_allgatherv", 33, MIB, 32 * MIB / 20e9),  # each core 0.97 MiB of blocks half as long
        ("halo26", 5, MIB, 8 * MIB / 10e9),
    ],
)
def test_one_node(collective: str, ppn: int, size: int, seconds: float) -> None:
    assert floor(LIMITS, collective, 1, ppn, size) == pytest.approx(seconds)


@pytest.mark.parametrize(
    ("collective", "ppn", "size", "seconds"),
    [
        ("alltoall", 2, MIB // 2, MIB / 10e9 + MIB / 40e9),  # 1 MiB sent and 1 received a core, half of it from itself
        ("alltoallw", 4, MIB // 4, 3 * MIB / 10e9 + MIB / 40e9),
        ("allgather", 3, MIB // 2, 3 * MIB / 10e9 + 1.5 * MIB / 40e9),  # 0.5 and 1.5 MiB a core
        ("allgatherv", 2, MIB // 2, MIB / 20e9 + MIB / 50e9),  # 0.5 and 1 MiB a core: the better rate
        ("alltoallv", 2, MIB, 2 * MIB / 8e9 + 2 * MIB / 8e9),  # its own cannot take longer than another's
        ("alltoall", 1 << 10, 1 << 10, 1023 * MIB / 10e9 + MIB / 40e9),
        ("gather", 5, MIB, 4 * MIB / 20e9),
    ],
)
def test_a_block_of_its_own_is_copied_too(collective: str, ppn: int, size: int, seconds: float) -> None:
    assert floor(OWN, collective, 1, ppn, size) == pytest.approx(seconds)


@pytest.mark.parametrize(
    ("collective", "size", "seconds"),
    [
        ("allreduce", 8, 2000e-9),  # a message between the nodes
        ("pingpong", 8, 2000e-9),
        ("pingpong", MIB, MIB / 4e9),
        ("allreduce", MIB, 2 * MIB * 3 / 4 / 4e9),
        ("alltoall", MIB, 2 * 2 * 3 * MIB / 4e9),
        ("allgather", MIB, 3 * 2 * MIB / 4e9),
        ("neighbor_alltoall", MIB, MIB / 4e9),  # some message between the nodes
        ("neighbor_alltoallv", MIB, MIB / 2 / 4e9),
        ("neighbor_alltoallw", MIB, MIB / 4e9),
        ("halo26", MIB, MIB / 4e9),
    ],
)
def test_four_nodes_with_two_ranks(collective: str, size: int, seconds: float) -> None:
    assert floor(CLUSTER, collective, 4, 2, size) == pytest.approx(seconds)


@pytest.mark.parametrize("collective", ["pingpong", "halo26", *NEIGHBOURHOODS])
def test_neighbours_may_all_be_on_other_nodes(collective: str) -> None:
    """Such as those of ranks dealt out in turns to three nodes, in a grid of 3 by 2: nothing is copied on a node."""
    assert floor(LIMITS, collective, 3, 2, 64 * MIB) in (None, pytest.approx(100e-9))


def test_no_bound() -> None:
    unavailable = Limits(unavailable="more ranks than CPUs")
    assert floor(unavailable, "allreduce", 1, 8, 8) is None
    assert floor(LIMITS, "allreduce", 1, 1, 8) is None
    assert floor(LIMITS, "allreduce", 1, 2, 0) is None
    assert floor(Limits(), "allreduce", 1, 2, 8) is None


@given(
    st.sampled_from(sorted(COLLECTIVES)),
    st.integers(1, 64),
    st.integers(1, 192),
    st.integers(0, 1 << 32),
    st.booleans(),
)
def test_every_case_has_a_positive_bound_or_none(collective: str, nodes: int, ppn: int, size: int, wide: bool) -> None:
    seconds = floor(CLUSTER if wide else LIMITS, collective, nodes, ppn, size)
    assert seconds is None or seconds > 0


@given(
    st.sampled_from(sorted(set(COLLECTIVES) - {"barrier", "ibarrier"})),
    st.integers(1 << 20, 1 << 30),
    st.integers(2, 64),
)
@example("neighbor_allgatherv", 1 << 20, 33)
def test_more_bytes_than_measured_take_longer_in_proportion(collective: str, size: int, ppn: int) -> None:
    once, twice = floor(LIMITS, collective, 1, ppn, size * 64), floor(LIMITS, collective, 1, ppn, size * 128)
    assert once is not None and twice == pytest.approx(2 * once)
