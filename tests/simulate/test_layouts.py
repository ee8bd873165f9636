"""Nakajima's machines: their numbers, and the skeleton of the solver under SimGrid."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from unisono.cmdline.layouts import Layout
from unisono.core.errors import LaunchError, UserError
from unisono.simulate.clusters import Cluster
from unisono.simulate.files import cluster as read_cluster
from unisono.simulate.layouts import Case, Step, argv, machine_words, read, simulate
from unisono.simulate.nakajima2009 import SPEED_UPS, said
from unisono.simulate.platforms import Number
from unisono.simulate.programs import unavailable

reason = unavailable()
simulated = pytest.mark.skipif(reason is not None, reason=f"SimGrid: {reason}")

T2K, XT4 = read_cluster("t2k"), read_cluster("xt4")
FLAT, HB4, HB8, HB16 = Layout(1, 16), Layout(4, 4), Layout(8, 2), Layout(16, 1)


def test_numbers_say_where_they_are_from() -> None:
    for cluster in (T2K, XT4):
        assert all(number.source for number in cluster.numbers.values())
    assert {name for name, number in T2K.numbers.items() if number.fitted} == {
        "cache", "message", "message_bonded", "stripe", "loop_across", "barrier_node",
        "efficiency 4x4", "efficiency 8x2", "efficiency 16x1",
    }  # fmt: skip
    assert not T2K.link.assumed and not T2K.link.fitted and T2K.link.value == 1.25e9


def test_what_the_document_says() -> None:
    assert {one.speed_up for one in SPEED_UPS if one.cores == 1024} == {
        882, 1017, 899, 837, 997, 919, 965, 888, 1110,
    }  # fmt: skip
    hb8 = said("t2k", "8x2", 1024, None, True)
    assert hb8 is not None and hb8.speed_up == 899 and not hb8.fitted
    hb4 = said("t2k", "4x4", 1024, None, True), said("t2k", "4x4", 1024, None, False)
    assert hb4[0] is hb4[1] is not None
    assert said("t2k", "4x4", 1024, 1, False) is None


def test_shapes_of_machines(tmp_path: Path) -> None:
    assert T2K.nodes(1024) == 64 and XT4.nodes(1024) == 256
    assert [XT4.extents(nodes) for nodes in (1, 8, 16, 32, 256)] == [
        (1, 1, 1), (2, 2, 2), (4, 2, 2), (4, 4, 2), (8, 8, 4),
    ]  # fmt: skip
    XT4.platform(16).write(tmp_path, 4)
    assert 'topo_parameters="4,2,2"' in (tmp_path / "platform.xml").read_text()
    assert len((tmp_path / "hosts").read_text().split()) == 64
    with pytest.raises(UserError, match="multiple"):
        T2K.nodes(24)
    with pytest.raises(UserError, match="power of two"):
        XT4.nodes(24)


def test_a_process_has_its_share_of_a_socket() -> None:
    flat, hb16 = machine_words(T2K, Case(FLAT, 32, 4)), machine_words(T2K, Case(HB16, 32, 1))
    assert flat["bandwidth"] == pytest.approx(T2K.memory.value / 4)
    assert hb16["bandwidth"] == pytest.approx(T2K.memory.value * 4 * T2K.efficiency["16x1"].value)
    assert hb16["loop"] == T2K.loop_across.value > flat["loop"] == T2K.region.value
    assert hb16["barrier"] == T2K.barrier_node.value > flat["barrier"]
    assert machine_words(T2K, Case(HB8, 32, 4))["barrier"] == 2 * T2K.barrier.value
    assert flat["message"] == T2K.message_bonded.value > hb16["message"] == T2K.message.value


@pytest.mark.parametrize(
    ("case", "sentence"),
    [
        (Case(Layout(2, 4), 32, 4), "4 processes of 2 threads takes 8 cores a node; T2K's have 16"),
        (Case(FLAT, 32, 5), "--links 5: T2K has 4"),
        (Case(FLAT, 1024, 4, size=10), "too few for 1024 processes"),
    ],
)
def test_what_cannot_be_simulated(tmp_path: Path, case: Case, sentence: str) -> None:
    with pytest.raises(UserError, match=sentence):
        argv(T2K, case, tmp_path, tmp_path / "skeleton")


def test_what_the_skeleton_prints() -> None:
    step = read("noise\n@ 0.5 1e9 0.3 0.1 0.05 0.05\n")
    assert step == Step(0.5, 1e9, 0.3, 0.1, 0.05, 0.05) and step.gflops == 2.0
    with pytest.raises(LaunchError, match="nothing"):
        read("\n")


def _alone(cluster: Cluster) -> Cluster:
    """Where communication costs nothing and a byte is a byte."""
    nothing, wide = Number(0, "test"), Number(1e15, "test")
    names = (
        "cache",
        "latency",
        "hop",
        "message",
        "message_bonded",
        "stripe",
        "node_latency",
        "pack",
        "barrier_node",
        "region",
        "barrier",
    )
    numbers: dict[str, Any] = {**dict.fromkeys(names, nothing), "node_bandwidth": wide, "link": wide}
    return replace(cluster, **numbers)


@simulated
def test_computing_takes_the_time_of_the_byte_model() -> None:
    """152 b + 656 bytes and 36 b + 90 operations a node, and the vectors again for each of ten colours."""
    size, step = 24, simulate(_alone(T2K), Case(HB16, 32, 4, size=24))
    blocks = (3 * size - 2) ** 3 - size**3
    between = 2 * (3 * size - 2) ** 2  # of the two processes: product only
    assert step.operations == pytest.approx(36 * blocks - 18 * between + 90 * size**3)
    traffic = 152 * blocks - 76 * between + (656 + 2 * 9 * 24) * size**3
    bandwidth = T2K.memory.value * 4 * T2K.efficiency["16x1"].value
    assert step.seconds == pytest.approx(traffic / 2 / bandwidth, rel=1e-3)


@simulated
def test_adapters_send_one_message_after_the_other() -> None:
    """Two nodes of sixteen: an allreduce has a round between them, in which each adapter has sixteen messages."""
    step = simulate(T2K, Case(FLAT, 32, 1, kind="allreduce5"))
    inside = 4 * T2K.node_latency.value
    assert step.seconds == pytest.approx(16 * T2K.message.value + T2K.latency.value + inside, rel=0.1)


@simulated
def test_few_processes_with_many_messages_each_have_the_advantage() -> None:
    """As much of the mesh on each core as the document has on 1,024, on 128 cores."""
    case = Case(FLAT, 128, 4, size=72)
    flat, one_link = simulate(T2K, case).gflops, simulate(T2K, replace(case, links=1)).gflops
    hb4 = simulate(T2K, replace(case, layout=HB4)).gflops
    assert hb4 > one_link > flat


@simulated
def test_the_order_of_the_hybrid_models_on_1024_cores() -> None:
    """And packing by one thread, which the document found about 10 % faster with 8 and 16 threads."""
    hb8, hb16 = (simulate(T2K, Case(layout, 1024, 4)).gflops for layout in (HB8, HB16))
    threads8, threads16 = (simulate(T2K, Case(layout, 1024, 4, threaded=True)).gflops for layout in (HB8, HB16))
    assert hb8 > hb16
    assert 1.05 < hb8 / threads8 < 1.15
    assert 1.05 < hb16 / threads16 < 1.15
