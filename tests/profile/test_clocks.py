"""Clocks of nodes, compared by the messages between them."""

from __future__ import annotations

from pathlib import Path
from random import Random

import numpy as np
import pytest

from tests.profile.test_messages import Message, _parts
from unisono.profile.clocks import Clocks, compared
from unisono.profile.messages import waited
from unisono.profile.rawfile import RECEIVE, SEND

AHEAD = (0.0, 7e12, -3e11)
"""Nanoseconds: nodes were booted at other times."""
DRIFTS = (0.0, 8e-5, -2e-4)


def clock(node: int, time: float) -> float:
    return time + AHEAD[node] + DRIFTS[node] * time


def messages(seed: int, ways: tuple[tuple[int, int], ...]) -> Clocks:
    """Of random messages over a minute, 2 to 500 us on their way."""
    chance = Random(seed)
    sent, ended, sources, targets = [], [], [], []
    for _ in range(2000):
        source, target = chance.choice(ways)
        time = chance.uniform(0, 60e9)
        sources.append(source)
        targets.append(target)
        sent.append(clock(source, time))
        ended.append(clock(target, time + 2e3 + chance.expovariate(1 / 1e5)))
    return compared(*(np.asarray(column).astype(np.int64) for column in (sources, targets, sent, ended)))


@pytest.mark.parametrize("seed", range(5))
def test_the_truth_lies_within_and_is_known_well(seed: int) -> None:
    times = np.linspace(1e9, 59e9, 50)
    found = messages(seed, ((0, 1), (1, 0), (1, 2), (2, 1), (0, 2)))
    for a, b, well in ((0, 1, 150e3), (1, 0, 150e3), (2, 1, 150e3), (0, 2, 300e3)):
        low, high = found.ahead(a, b, np.asarray([clock(a, time) for time in times]))
        truth = np.asarray([clock(b, time) - clock(a, time) for time in times])
        assert np.all((low <= truth + 2) & (truth <= high + 2)), (a, b)
        assert np.median(high - low) < 2 * well, (a, b)


def test_what_cannot_be_compared_is_not_told() -> None:
    low, high = messages(1, ((0, 1), (1, 2), (2, 0))).ahead(0, 1, np.asarray([1e9]))
    assert np.isnan(low) and np.isnan(high)  # one way alone bounds one side alone
    # A clock that was set by an hour in between: before and after contradict each other.
    column = [
        np.asarray(values, np.int64) for values in ([0, 1] * 2, [1, 0] * 2, [0, 20, 100, 4e12], [10, 30, 4e12, 90])
    ]
    assert np.isnan(compared(*column).ahead(0, 1, np.asarray([50.0]))[0])


def test_late_senders_on_other_nodes_are_paired(tmp_path: Path) -> None:
    """A ping-pong of two nodes, of which one answers 300 us late each time; 10 us on the way."""
    ahead, late, way = 5_000_000_000, 300_000, 10_000
    first: list[Message] = []
    second: list[Message] = []
    for step in range(50):
        begin = 1_000_000 * (step + 1)
        arrives = begin + way
        answer = arrives + late
        first.append((begin, begin, begin + 500, 7, 0, 1, 1, SEND))
        first.append((begin + 600, begin + 600, answer + way, 7, 1, 1, 2, RECEIVE))
        second.append((ahead + begin, ahead + begin, ahead + arrives, 7, 0, 0, 1, RECEIVE))
        second.append((ahead + answer, ahead + answer, ahead + answer + 500, 7, 1, 0, 2, SEND))
    waiting = sum(end - begin for _, begin, end, *_rest in first[1::2])
    found = waited(_parts(tmp_path / "run.raw", [first, second], [0, 1], time=waiting))
    truth = 50 * (late + way - 600) / 1e9
    assert found.nodes == 2 and 5e-6 <= found.unsure <= 30e-6
    assert found.rows[0][1] == pytest.approx(truth, abs=50 * found.unsure)
    assert found.waits[0]["peer"].tolist() == [1] and not found.waits[0]["receiver"][0]
    # The same with messages so slow that the clocks are known to no better than what is waited: nothing is claimed.
    for at in range(1, 100, 2):
        posted, begin, end, *rest = first[at]
        first[at] = (posted, begin, end + 600_000, *rest)  # type: ignore[assignment]
    waiting += 50 * 600_000
    vague = waited(_parts(tmp_path / "vague.raw", [first, second], [0, 1], time=waiting))
    assert vague.unsure > 200e-6 and np.isnan(vague.rows[0][1])
