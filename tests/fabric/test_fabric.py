"""Pairings, the file, the tree, and what other programs are given."""

from __future__ import annotations

import math
import shlex
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.fabric.made_up import Ails, made_up
from unisono.core.errors import UserError
from unisono.fabric.findings import findings
from unisono.fabric.handed import drain_lines, reframe
from unisono.fabric.measured import load, save
from unisono.fabric.rounds import rounds
from unisono.fabric.tree import tree
from unisono.report import figures_fabric
from unisono.report.fabric import write_fabric_report


@settings(max_examples=30)
@given(st.integers(2, 200))
def test_pairs_are_n_log_n_and_a_node_is_in_one_pair_of_a_round(nodes: int) -> None:
    found = rounds(nodes)
    for pairs in found:
        ends = [node for pair in pairs for node in pair]
        assert len(set(ends)) == len(ends)
        assert all(0 <= a < b < nodes for a, b in pairs)
    every = [pair for pairs in found for pair in pairs]
    assert len(set(every)) == len(every)
    assert len(every) <= nodes * math.ceil(math.log2(nodes)) or nodes <= 8
    assert {node for pair in every for node in pair} == set(range(nodes))
    if nodes <= 8:
        assert len(every) == nodes * (nodes - 1) // 2
    elif nodes > 10:
        assert min(sum(node in pair for pair in every) for node in range(nodes)) >= 3


def test_the_file_is_read_back(tmp_path: Path) -> None:
    fabric = made_up(5, 0)
    assert load(save(fabric, tmp_path / "fabric.json")) == fabric


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('"unisono-fabric"', '"something"'),
        ('"pairs":[[', '"pairs":[[7,1],['),
        ('"compute":[[', '"compute":[[-'),
        ('"nodes":["n0"', '"nodes":["n1"'),
        ('"launches":[{', '"launches":[{"more":1,'),
        ("{", "["),
    ],
)
def test_a_damaged_file_is_one_clear_line(tmp_path: Path, before: str, after: str) -> None:
    path = save(made_up(5, 0), tmp_path / "fabric.json")
    text = path.read_text()
    assert before in text
    path.write_text(text.replace(before, after, 1))
    with pytest.raises(UserError, match="doctor --fabric") as refused:
        load(path)
    assert "\n" not in str(refused.value)


def test_the_tree_has_the_switches_of_many_nodes() -> None:
    fabric = made_up(24, 1, Ails(far=tuple(range(16, 24))), launches=7)
    groups = [set(branch.nodes) for branch in tree(fabric).branches if branch.branches]
    assert set(range(16, 24)) in groups or set(range(16)) in groups


def test_drain_lines_survive_a_shell() -> None:
    fabric = made_up(5, 0, Ails(slower={1: 2.0}, links={(0, 3): 4.0}), launches=8)
    fabric = fabric.model_copy(update={"nodes": ["n0", "n1'; rm -rf $HOME #", "n2", "n3", "n4"]})
    (line,) = drain_lines(fabric, findings(fabric))
    words = shlex.split(line)
    assert words[:4] == ["scontrol", "update", "NodeName=n1'; rm -rf $HOME #", "State=DRAIN"]
    assert words[4].startswith("Reason=unisono: its network carries")


def test_reframe_reads_its_reference() -> None:
    names: dict[str, dict[str, dict[str, tuple[float, float | None, float | None, str]]]] = {}
    exec(reframe(made_up(6, 0)), {}, names)
    for name, (value, low, high, unit) in names["reference"]["*"].items():
        assert value > 0
        assert unit
        assert (low is None) == (high is not None)
        assert -1 < (low if low is not None else -0.1) < 0 < (high if high is not None else 0.1), name


@pytest.mark.parametrize("nodes", [2, 5, 40])
def test_the_page_of_any_fabric(tmp_path: Path, nodes: int) -> None:
    fabric = made_up(nodes, 0, Ails(slower={1: 2.0}))
    fabric = fabric.model_copy(update={"nodes": ["<b>n0", *fabric.nodes[1:]]})
    path = write_fabric_report(fabric, tmp_path / "fabric.html")
    assert path.stat().st_size < 500_000
    page = path.read_text(encoding="utf-8")
    assert "<b>n0" not in page
    assert "&lt;b&gt;n0" in page


def test_the_cells_of_a_matrix_have_one_unit(tmp_path: Path) -> None:
    """1.06 stood beside 948: GB/s and MB/s, and the page named neither."""
    fabric = made_up(4, seed=1, ails=Ails(slower={3: 1.5}))
    fast = [  # around 1.3 GB/s, and 0.9 to the last node
        one.model_copy(update={"alone": [(x, y, a / 12, b / 12) for x, y, a, b in one.alone]})
        for one in fabric.launches
    ]
    fabric = fabric.model_copy(update={"launches": fast})
    drawn = figures_fabric.matrix(fabric, "rate", "alone")
    assert drawn is not None and figures_fabric.unit(fabric, "rate", "alone") == "GB/s"
    cells = [float(text) for row in drawn["data"][0]["text"] for text in row if text]
    assert 0.3 < min(cells) < 1 < max(cells) < 2
    page = write_fabric_report(fabric, tmp_path / "fabric.html").read_text(encoding="utf-8")
    assert "Rate of 1 MiB, GB/s" in page and "Latency one way, us" in page
