"""The steps of algorithms: that they do what their collective does, and what they put on links."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unisono.core.vocabulary import DEFAULT, Setting
from unisono.extrapolate.contention import Contention, Ranks, Steps, steps_of
from unisono.extrapolate.fit import Point, fit
from unisono.extrapolate.terms import TREE

from .test_extrapolate import BYTE, DOUBLING, START

KNOWN = [
    ("allreduce", "recursive_doubling"), ("allreduce", "leader_multiplying"), ("allreduce", "rabenseifner"),
    ("allreduce", "leader_dividing"), ("allgather", "recursive_doubling"), ("allgather", "far"),
    ("allgather", "bruck"), ("allgather", "leader_multiplying"), ("bcast", "binary"), ("alltoall", "pairwise"),
    ("reduce_scatter", "recursive_halving"), ("reduce_scatter_block", "near"), ("reduce_scatter", "lanes_dividing"),
    ("allreduce", "leader_bine"), ("allgather", "leader_bine"), ("reduce_scatter_block", "lanes_bine"),
    ("bcast", "circulant"), ("reduce", "circulant"),
]  # fmt: skip


def known(collective: str, algorithm: str) -> Steps:
    found = steps_of(collective, algorithm)
    assert found is not None
    return found


@pytest.mark.parametrize(("collective", "algorithm"), KNOWN)
@given(ranks=st.integers(2, 70))
def test_nobody_gets_two_messages_of_one_kind_at_once(collective: str, algorithm: str, ranks: int) -> None:
    for receivers, share in known(collective, algorithm)(ranks):
        assert 0 < share <= 1
        for there in receivers:
            got = there[there >= 0]
            assert len(there) == ranks and len(set(got.tolist())) == len(got)
            assert got.max(initial=0) < ranks
            assert (got != np.flatnonzero(there >= 0)).all(), "nobody sends to itself"


@pytest.mark.parametrize(("collective", "algorithm"), KNOWN)
@pytest.mark.parametrize("ranks", [4, 16, 64])
def test_everybody_hears_of_everybody(collective: str, algorithm: str, ranks: int) -> None:
    """Of the root in a bcast, and the root in a reduce. Of powers of four, which recursive multiplying divides."""
    heard = np.eye(ranks, dtype=bool)
    for receivers, _share in known(collective, algorithm)(ranks):
        before = heard.copy()
        for there in receivers:
            senders = np.flatnonzero(there >= 0)
            heard[there[senders]] |= before[senders]
    assert {"bcast": heard[:, 0], "reduce": heard[0]}.get(collective, heard).all()


@pytest.mark.parametrize(
    ("collective", "algorithm", "all_bytes"),
    [("allgather", "recursive_doubling", 15 / 16), ("allgather", "far", 15 / 16), ("allgather", "bruck", 15 / 16),
     ("allgather", "leader_multiplying", 15 / 16), ("allreduce", "rabenseifner", 2 * 15 / 16),
     ("allreduce", "leader_dividing", 2 * 15 / 16), ("alltoall", "pairwise", 15 / 16),
     ("reduce_scatter", "recursive_halving", 15 / 16),
     ("reduce_scatter", "near", 15 / 16), ("reduce_scatter", "lanes_dividing", 15 / 16),
     ("reduce_scatter", "lanes_bine", 15 / 16), ("allgather", "leader_bine", 15 / 16),
     ("allreduce", "leader_bine", 2 * 15 / 16),
     ("allreduce", "recursive_doubling", 4), ("allreduce", "leader_multiplying", 6)],
)  # fmt: skip
def test_a_rank_sends_what_the_papers_say(collective: str, algorithm: str, all_bytes: float) -> None:
    sent = sum(share * len(receivers) for receivers, share in known(collective, algorithm)(16))
    assert sent == pytest.approx(all_bytes)


@dataclass(frozen=True)
class Halves:
    """A network of two halves of 8 nodes with one slow link between them."""

    by_byte: float

    def longer(self, nodes: int, senders: Ranks, receivers: Ranks) -> float:
        return self.by_byte * float(np.sum(senders // 8 != receivers // 8))


def test_ranks_of_a_node_send_each_or_one_for_all() -> None:
    network = Halves(1.0)
    flat, ours = (
        Contention(network, "allreduce", Setting({"coll": coll, "algorithm": name})).seconds(1, 16, 4)
        for coll, name in (("tuned", "recursive_doubling"), ("unisono", "leader"))
    )
    assert (flat, ours) == (4 * 16.0, 16.0)
    assert Contention(network, "allreduce", DEFAULT).seconds(1, 16, 4) == 0, "its steps are not known"
    assert Contention(network, "allreduce", DOUBLING).seconds(1, 1, 4) == 0


@dataclass(frozen=True)
class Counting:
    """Asked once for each step."""

    def longer(self, nodes: int, senders: Ranks, receivers: Ranks) -> float:
        return 1.0


def test_an_alltoall_has_the_same_bytes_between_nodes_whoever_sends_them() -> None:
    """And is counted in few steps on however many ranks: 64 on each of 16,384 nodes."""
    flat, ours = (
        Contention(Counting(), "alltoall", Setting({"coll": coll, "algorithm": name})).seconds(8, 1 << 14, 64)
        for coll, name in (("tuned", "pairwise"), ("unisono", "lanes"))
    )
    assert flat == ours == pytest.approx(64 * 8 * 64 * ((1 << 14) - 1))


def test_what_is_measured_within_a_half_is_predicted_beyond_it() -> None:
    """Links between the halves take 16 times what the law of the algorithm says; nothing measured has met them."""
    network = Halves(BYTE)

    def took(size: int, nodes: int) -> float:
        alone = 1e-6 + START * TREE.starts_of("allreduce", nodes) + BYTE * TREE.bytes_of("allreduce", size, nodes)
        return alone + Contention(network, "allreduce", DOUBLING).seconds(size, nodes, 1)

    sizes = (8, 1 << 10, 1 << 16, 1 << 20)
    points = [Point(nodes, 1, size, took(size, nodes)) for nodes in (2, 4, 8) for size in sizes]
    with_it, without = (
        fit("allreduce", {DOUBLING: points}, network=one)[DOUBLING].forecast(1 << 20, 16, 1) for one in (network, None)
    )
    assert with_it is not None and without is not None
    assert with_it.seconds == pytest.approx(took(1 << 20, 16), rel=0.02)
    assert without.seconds < 0.4 * took(1 << 20, 16)


def test_a_link_that_is_full_in_the_model_alone_leaves_the_times_measured() -> None:
    """Said to be a thousand times slower than it is: of the time measured, some is left for the law."""
    points = [Point(nodes, 1, size, 1e-6 * size) for nodes in (4, 16) for size in (8, 1024)]
    forecast = fit("allreduce", {DOUBLING: points}, network=Halves(1.0))[DOUBLING].forecast(1024, 16, 1)
    assert forecast is not None
    assert 0 < forecast.seconds < float("inf")
