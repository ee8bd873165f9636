"""What ails is named, and nothing else: on made-up fabrics whose noise is that of a loaded machine."""

from __future__ import annotations

import numpy as np
import pytest

from tests.fabric.made_up import Ails, made_up
from unisono.fabric.effects import by_luck
from unisono.fabric.findings import FALSE_ALARMS, Finding, conclusion, findings, launches_wanted, sentence, suspicious
from unisono.fabric.show import lines

SOUND = (3, 4, 5, 9, 24)


def _named(found: list[Finding]) -> set[tuple[str, tuple[int, ...]]]:
    return {(one.kind, one.nodes) for one in found}


def _alarms(each: int, first: int = 0) -> tuple[int, int]:
    tried = [made_up(nodes, first + seed) for nodes in SOUND for seed in range(each)]
    return sum(bool(findings(fabric)) for fabric in tried), len(tried)


def test_sound_fabrics_raise_no_more_false_alarms_than_stated() -> None:
    alarms, tried = _alarms(12)
    assert alarms <= FALSE_ALARMS * tried


@pytest.mark.nightly
def test_sound_fabrics_raise_no_more_false_alarms_than_stated_in_thousands() -> None:
    alarms, tried = _alarms(600, first=1000)
    assert alarms <= FALSE_ALARMS * tried


@pytest.mark.parametrize("nodes", [4, 5, 16])
def test_what_ails_is_named_and_its_size_is_right(nodes: int) -> None:
    """Half the rate, 50 us more, four fifths of the clock: each on a node of its own."""
    ails = Ails(slower={1: 2.0}, later={2: 50e-6}, clock={3: 1.25})
    wanted = {("rate", (1,)), ("latency", (2,)), ("clock", (3,))}
    missed = wrong = 0
    tries = 10
    for seed in range(tries):
        fabric = made_up(nodes, seed, ails, launches=launches_wanted(nodes) + 3)
        found = findings(fabric)
        missed += len(wanted - _named(found))
        wrong += bool(_named(found) - wanted)
        for one in found:
            if one.kind == "rate" and one.nodes == (1,):
                assert one.low <= one.ratio <= one.high
                assert 1.7 < one.ratio < 2.3
                assert one.usual == pytest.approx(120e6, rel=0.2)
    assert missed <= (0.35 if nodes == 4 else 0.2) * 3 * tries
    assert wrong <= 1


def test_the_chance_of_luck_is_that_of_ranks_drawn_anew() -> None:
    always_last = np.array([[0.0, 0.1, 0.2, 1.0]] * 5)
    assert by_luck(always_last, 1.0, free=4, spared=0) == pytest.approx(4**-4)
    assert by_luck(always_last, 1.0, free=4, spared=1) == pytest.approx(4 * (4**-5 + 5 * 4**-4 * 3 / 4))
    assert by_luck(always_last, 0.0, free=4, spared=0) == 1


def test_a_slow_link_is_told_from_its_nodes() -> None:
    found = findings(made_up(8, 1, Ails(links={(2, 5): 3.0}), launches=6))
    assert ("rate", (2, 5)) in _named(found)
    assert all(len(one.nodes) == 2 for one in found)


def test_two_slow_nodes_of_sixteen_are_both_named() -> None:
    found = findings(made_up(16, 2, Ails(slower={3: 2.0, 11: 1.5}), launches=5))
    assert _named(found) == {("rate", (3,)), ("rate", (11,))}


def test_nodes_behind_a_switch_of_their_own_are_far_and_not_slow() -> None:
    for seed in range(5):
        assert findings(made_up(8, seed, Ails(far=(6, 7)), launches=6)) == []


def test_too_few_launches_name_nothing_and_say_so() -> None:
    fabric = made_up(4, 3, Ails(slower={1: 2.0}), launches=2)
    assert findings(fabric) == []
    assert suspicious(fabric)
    assert "only 2 of the 5 launches" in conclusion(fabric, [])


def test_two_nodes_cannot_be_told_apart() -> None:
    fabric = made_up(2, 4)
    assert findings(fabric) == []
    assert "third" in lines(fabric)[0]


@pytest.mark.parametrize("nodes", [2, 3, 5, 12, 40])
def test_the_summary_of_any_fabric(nodes: int) -> None:
    fabric = made_up(nodes, 5, Ails(slower={0: 2.0}, clock={1: 1.5}))
    said = lines(fabric)
    assert said[0] == conclusion(fabric, findings(fabric))
    assert all(f"  {sentence(one, fabric)}" in said for one in findings(fabric))
    assert any("MB/s" in line for line in said)
