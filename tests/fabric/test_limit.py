"""The slowest node of a fabric is the limit of what passes every node."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.fabric.made_up import LATENCY, RATE, Ails, made_up
from tests.tuning.samples import machine
from unisono.core.vocabulary import Case
from unisono.fabric.limit import beside, slowest
from unisono.fabric.measured import save
from unisono.machine.description import Node
from unisono.report.limit import floors, slowest_of
from unisono.study.data import StudyData

AILING = made_up(4, 7, Ails(slower={3: 2.0}, later={2: 50e-6}))
HOSTS = [f"n{i}.cluster" for i in range(4)]


def test_the_slowest_link_and_the_farthest_node_are_found() -> None:
    found = slowest(AILING, HOSTS)
    assert found is not None
    assert found.node == "n3"
    assert found.rate == pytest.approx(RATE / 2, rel=0.15)
    assert found.latency > LATENCY + 40e-6
    sound = slowest(AILING, HOSTS[:2])
    assert sound is not None
    assert sound.rate == pytest.approx(RATE, rel=0.15), "nodes that a case does not use do not bound it"
    assert slowest(AILING, HOSTS[:1]) is None
    assert slowest(AILING, ["n0", "elsewhere"]) is None


def study(fabric: bool) -> StudyData:
    link = {"latency_ns": 5e3, "bandwidth": [{"bytes": 1 << 20, "gbps_one": 0.12, "gbps_all": 0.12}]}
    nodes = [Node(host=host, slots=1) for host in HOSTS]
    on = machine().model_copy(update={"nodes": nodes})
    limits = {(nodes, 1): {"copy": [], "link": link} for nodes in (2, 4)}
    made = StudyData("s", "s", "2026-01-01T00:00:00+00:00", "race", 0.03, 0.95, {}, on, (), (), limits)
    return replace(made, fabric=AILING if fabric else None)


def test_charts_over_nodes_are_bounded_by_the_measured_fabric() -> None:
    large = 1 << 22
    for collective, nodes, factor in (
        ("allreduce", 4, 2.0),
        ("bcast", 4, 2.0),
        ("allreduce", 2, 1.0),
        ("pingpong", 4, 1),
    ):
        case = Case(collective, nodes, 1)
        (plain,) = floors(study(False), case, [large]).values()
        (bound,) = floors(study(True), case, [large]).values()
        assert bound / plain == pytest.approx(factor, rel=0.15), case
    small = Case("barrier", 4, 1)
    assert floors(study(True), small, [0])[0] > floors(study(False), small, [0])[0] + 40e-6
    assert slowest_of(study(False), 4) is None


def test_a_fabric_is_taken_from_beside_the_study(tmp_path: Path) -> None:
    assert beside(tmp_path) is None
    save(AILING, tmp_path / "fabric.json")
    assert beside(tmp_path) == AILING
    (tmp_path / "fabric.json").write_text("{")
    assert beside(tmp_path) is None
