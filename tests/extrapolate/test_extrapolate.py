"""Predictions on machines whose truth is known: times that follow a model, or do not."""

from __future__ import annotations

import math
import random
from collections.abc import Iterable
from dataclasses import replace

import pytest

from unisono.core.interval import Interval
from unisono.core.vocabulary import DEFAULT, Case, Setting
from unisono.decide.decision import Estimate
from unisono.extrapolate.fit import ASSUMED_OWN, FLOOR, Point, fit, point_of
from unisono.extrapolate.pick import SURE, deciding, pick
from unisono.extrapolate.terms import CHAIN, HALVES, RING, TREE, Growth, known, total_of

SIZES = tuple(4**n for n in range(2, 13))
DOUBLING = Setting({"coll": "tuned", "algorithm": "recursive_doubling"})
AROUND = Setting({"coll": "tuned", "algorithm": "ring"})
ODD = Setting({"coll": "tuned", "algorithm": "of_no_known_name"})
START, BYTE = 2e-6, 1e-10
MANY = [2, 4, 8, 16, 32]
"""Numbers of nodes that tell how well models predict; two or three tell little."""


def truth(growth: Growth, size: int, nodes: int, ppn: int = 2, collective: str = "allreduce") -> float:
    """Seconds on a machine that is exactly as the model has it."""
    ranks = nodes * ppn
    return 1e-6 + START * growth.starts_of(collective, ranks) + BYTE * growth.bytes_of(collective, size, ranks)


def points(
    growth: Growth, counts: Iterable[int], noise: float = 0.0, seed: int = 1, factor: float = 1.0
) -> list[Point]:
    lots = random.Random(seed)
    return [
        Point(nodes, 2, size, factor * truth(growth, size, nodes) * math.exp(lots.gauss(0.0, noise)))
        for nodes in counts
        for size in SIZES
    ]


def machine(counts: Iterable[int], noise: float = 0.0, seed: int = 1) -> dict[Setting, list[Point]]:
    counts = list(counts)
    return {
        DEFAULT: points(HALVES, counts, noise, seed, 1.3),
        DOUBLING: points(TREE, counts, noise, seed + 1),
        AROUND: points(RING, counts, noise, seed + 2),
        ODD: points(RING, counts, noise, seed + 3, 1.7),
    }


def test_a_machine_that_follows_the_model_is_predicted() -> None:
    models = fit("allreduce", machine([2, 4, 8]))
    assert models[ODD].growth.starts == "ranks", "chosen by what predicts, where no name tells"
    for setting, growth in ((DOUBLING, TREE), (AROUND, RING)):
        for nodes in (3, 64, 1024):
            for size in SIZES:
                forecast = models[setting].forecast(size, nodes, 2)
                if forecast is None:
                    continue  # messages of a size that no count had
                low, high = forecast.interval()
                assert low <= truth(growth, size, nodes) <= high
                if nodes == 64:
                    assert forecast.seconds == pytest.approx(truth(growth, size, nodes), rel=0.05)


def test_the_order_of_two_algorithms_turns_where_it_does_in_truth() -> None:
    models = fit("allreduce", {DEFAULT: points(TREE, MANY, factor=2.0), **_without_default(MANY)})
    for size in (SIZES[1], SIZES[-1]):
        found = pick(models, Case("allreduce", 64, 2), size)
        assert found is not None
        fastest = min((DOUBLING, AROUND), key=lambda s: truth(TREE if s == DOUBLING else RING, size, 64))
        assert found.setting == fastest
        assert found.gain.low > 1
        assert found.is_sure


def _without_default(counts: list[int]) -> dict[Setting, list[Point]]:
    return {DOUBLING: points(TREE, counts), AROUND: points(RING, counts)}


def test_what_a_step_costs_is_seen_at_each_size() -> None:
    """A chain's ranks each pass on a piece: no one cost of a step holds for short and long messages."""
    chain, piece = Setting({"algorithm": "chain"}), 1 << 16

    def seconds(size: int, ranks: int) -> float:
        return (ranks - 1) * (START + BYTE * 8 * min(size, piece)) + BYTE * size

    measured = [Point(nodes, 1, size, seconds(size, nodes)) for nodes in (4, 8) for size in SIZES]
    models = fit("bcast", {DEFAULT: measured, chain: measured})
    for size in SIZES:
        forecast = models[chain].forecast(size, 32, 1)
        assert forecast is not None
        assert forecast.seconds == pytest.approx(seconds(size, 32), rel=0.12)


def test_a_jump_is_not_a_law() -> None:
    """Messages leave the first switch between the two counts: a tree is slower there, and still a tree."""
    jump = [replace(point, seconds=point.seconds * (1.6 if point.nodes == 8 else 1)) for point in points(TREE, [4, 8])]
    models = fit("allreduce", {DEFAULT: points(TREE, [4, 8]), DOUBLING: jump})
    assert models[DOUBLING].growth == TREE
    for size in SIZES:
        forecast = models[DOUBLING].forecast(size, 64, 2)
        assert forecast is not None
        assert forecast.seconds == pytest.approx(1.6 * truth(TREE, size, 64), rel=0.15)


def tabled(above: dict[int, float], counts: Iterable[int] = (4, 8)) -> dict[Setting, list[Point]]:
    """Three algorithms, and a default that at each count takes `above` times the best of them."""
    measured = {
        Setting({"coll": "tuned", "algorithm": name}): [
            Point(nodes, 2, size, factor * truth(growth, size, nodes)) for nodes in counts for size in SIZES
        ]
        for name, growth, factor in (("binomial", TREE, 1.0), ("pairwise", RING, 1.0), ("rabenseifner", HALVES, 1.2))
    }
    best = {
        (point.nodes, point.size): min(others[n].seconds for others in measured.values())
        for n, point in enumerate(next(iter(measured.values())))
    }
    default = [Point(nodes, 2, size, above[nodes] * seconds) for (nodes, size), seconds in best.items()]
    return {DEFAULT: default, **measured}


def test_the_default_is_one_of_the_algorithms_or_that_much_above_the_best() -> None:
    for above, least in (({4: 1.6, 8: 1.5}, 1.2), ({4: 1.0, 8: 1.0}, 1.0)):
        models = fit("allreduce", tabled(above))
        later = {setting: [p for p in points if p.nodes == 16] for setting, points in tabled({16: 1.0}, [16]).items()}
        for n, size in enumerate(SIZES):
            found = pick(models, Case("allreduce", 16, 2), size)
            assert found is not None
            assert found.gain.mid >= least
            if least > 1:
                assert found.setting != DEFAULT
            best = min(points[n].seconds for points in later.values())
            assert later[found.setting][n].seconds <= 1.05 * best, "of a default that is the best nothing is lost"


@pytest.mark.parametrize("slower", [1.1, 1.3])
def test_the_luckiest_of_a_dozen_seldom_replaces_a_better_default(slower: float) -> None:
    noise, losses = 0.1, []
    others = [Setting({"coll": "tuned", "algorithm": f"tree_{n}"}) for n in range(12)]
    for seed in range(3):
        lots = random.Random(100 + seed)
        measured = {
            setting: [
                replace(point, seconds=factor * point.seconds * math.exp(lots.gauss(0.0, noise)), noise=noise)
                for point in points(TREE, [2, 4])
            ]
            for setting, factor in ((DEFAULT, 1.0), *((other, slower) for other in others))
        }
        models = fit("allreduce", measured)
        found = [pick(models, Case("allreduce", 8, 2), size) for size in SIZES[::2]]
        losses += [0.0 if one is None or one.setting == DEFAULT else math.log(slower) for one in found]
    assert len(losses) == 18
    assert sum(losses) / len(losses) < 0.03


def test_intervals_hold_what_they_say() -> None:
    inside = []
    for seed in range(4):
        models = fit("allreduce", machine([2, 4, 8], noise=0.1, seed=10 * seed))
        for setting, growth in ((DOUBLING, TREE), (AROUND, RING)):
            for size in SIZES[3:]:
                if forecast := models[setting].forecast(size, 32, 2):
                    low, high = forecast.interval()
                    inside.append(low <= truth(growth, size, 32) <= high)
    assert len(inside) > 40
    assert sum(inside) / len(inside) >= 0.9


def test_what_grows_otherwise_than_before_widens_the_interval() -> None:
    strange = [Point(p.nodes, p.ppn, p.size, p.seconds * (3 if p.nodes == 8 else 1)) for p in points(TREE, [2, 4, 8])]
    usual = fit("allreduce", {DEFAULT: points(TREE, [2, 4, 8]), DOUBLING: points(TREE, [2, 4, 8])})
    models = fit("allreduce", {DEFAULT: points(TREE, [2, 4, 8]), DOUBLING: strange})
    assert models[DOUBLING].by_doubling > 2 * usual[DOUBLING].by_doubling


def test_a_close_call_is_said_to_be_one_and_keeps_the_default() -> None:
    measured = {
        DEFAULT: points(TREE, [2, 4, 8], 0.15, 1),
        DOUBLING: points(TREE, [2, 4, 8], 0.15, 2),
        AROUND: points(TREE, [2, 4, 8], 0.15, 3, 10.0),
    }
    found = pick(fit("allreduce", measured), Case("allreduce", 64, 2), 1024)
    assert found is not None
    assert found.setting == DEFAULT
    assert found.sure < SURE
    assert not found.is_sure
    (launch,) = deciding([found])
    assert launch.sizes == (1024,)
    assert set(launch.settings) == {DEFAULT, DOUBLING}, "the slow one cannot be the best: not worth a launch's time"


def test_nothing_is_to_be_decided_where_all_is_sure() -> None:
    models = fit("allreduce", machine(MANY))
    found = [pick(models, Case("allreduce", 64, 2), size) for size in (SIZES[1], SIZES[2])]
    assert deciding([one for one in found if one is not None and one.is_sure]) == []
    assert all(one is not None and one.is_sure for one in found)


def test_a_single_count_is_trusted_only_with_much_to_gain() -> None:
    def used(factor: float) -> Setting:
        measured = {DEFAULT: points(HALVES, [32], factor=factor), AROUND: points(HALVES, [32])}
        found = pick(fit("allreduce", measured), Case("allreduce", 64, 2), 1 << 12)
        assert found is not None
        return found.setting

    assert used(1.1) == DEFAULT
    assert used(8.0) == AROUND


def test_what_nothing_is_known_of_is_not_predicted() -> None:
    models = fit("allreduce", machine([2, 4, 8]))
    assert models[DOUBLING].forecast(1024, 16, 4) is None, "ranks a node that were not measured"
    assert models[DOUBLING].forecast(1 << 40, 16, 2) is None, "messages far above those measured"
    assert pick({AROUND: models[AROUND]}, Case("allreduce", 16, 2), 1024) is None, "nothing to compare with"
    assert fit("allreduce", {DEFAULT: [Point(2, 2, 8, 1e-6)]}) == {}, "one size tells nothing of a byte"


def test_what_was_measured_comes_back() -> None:
    models = fit("allreduce", machine([2, 4, 8], noise=0.3))
    for point in models[AROUND].points:
        forecast = models[AROUND].forecast(point.size, point.nodes, point.ppn)
        assert forecast is not None
        assert forecast.seconds == pytest.approx(point.seconds)
        assert forecast.spread == FLOOR


@pytest.mark.parametrize(
    ("collective", "algorithm", "growth"),
    [
        ("bcast", "scatter_allgather_ring", RING),
        ("allreduce", "segmented_ring", RING),
        ("allreduce", "recursive_doubling", TREE),
        ("allgather", "recursive_doubling", HALVES),
        ("alltoall", "modified_bruck", TREE),
        ("scatter", "linear_nb", RING),
        ("allreduce", "", HALVES),
    ],
)
def test_growths_that_names_tell(collective: str, algorithm: str, growth: Growth) -> None:
    assert known(collective, algorithm) == growth


def test_sizes_are_counted_as_everywhere() -> None:
    assert total_of("alltoall", 8, 64) == 512
    assert total_of("allreduce", 8, 64) == 8
    assert total_of("reduce_scatter", 512, 64) == total_of("reduce_scatter_block", 8, 64)
    assert RING.message_of("alltoall", 8, 64) == 8


def replaced(noise: float, said: float) -> float:
    """How often a default that is as fast as all others is replaced, from 2 and 4 nodes that were measured with so much
    noise (log) and say to have so much."""
    found = []
    for seed in range(6):
        settings = [DEFAULT, *(Setting({"coll": "tuned", "algorithm": f"tree_{n}"}) for n in range(5))]
        measured = {
            setting: [replace(point, noise=said) for point in points(TREE, [2, 4], noise, 10 * seed + n)]
            for n, setting in enumerate(settings)
        }
        models = fit("allreduce", measured)
        picks = (pick(models, Case("allreduce", 8, 2), size) for size in SIZES[::3])
        found += [one.setting != DEFAULT for one in picks if one is not None]
    assert len(found) == 24
    return sum(found) / len(found)


def test_two_noisy_counts_keep_a_default_that_is_no_slower() -> None:
    assert replaced(0.3, 0.3) < 0.2 < replaced(0.3, 0.0), "what is not said to be noise looks like a gain"


def test_the_default_may_become_another_algorithm() -> None:
    models = fit("allreduce", machine([2, 4]))
    assert models[DEFAULT].own > 1.2 * models[AROUND].own
    assert models[AROUND].own > 0.2, "one step tells little, however well it fits"
    models = fit("allreduce", machine(MANY))
    assert models[AROUND].own < 0.2
    assert models[AROUND].dof == 8


def test_nodes_that_share_their_cpus_send_one_message_after_another() -> None:
    """On a virtual cluster: a tree has P - 1 messages, an exchange P in each step, whatever waits for whatever."""

    def took(messages: float, size: int) -> float:
        return 20e-6 * messages + 1e-9 * size * messages

    flat = Setting({"coll": "tuned", "algorithm": "basic_linear"})
    messages = {DOUBLING: {2: 2, 4: 8, 8: 24}, flat: {2: 1, 4: 3, 8: 7}}
    measured = {
        setting: [Point(nodes, 1, size, took(of[nodes], size)) for nodes in (2, 4) for size in SIZES]
        for setting, of in messages.items()
    }
    for setting, model in fit("allreduce", measured, shared=True).items():
        forecast = model.forecast(64, 8, 1)
        assert forecast is not None
        assert forecast.seconds == pytest.approx(took(messages[setting][8], 64), rel=0.02)
    alone = fit("allreduce", measured)[DOUBLING].forecast(64, 8, 1)
    assert alone is not None and alone.seconds < 0.8 * took(24, 64)


@pytest.mark.parametrize(
    ("collective", "growth", "messages"),
    [("bcast", TREE, 7), ("bcast", CHAIN, 7), ("bcast", HALVES, 24), ("bcast", RING, 56), ("allreduce", TREE, 24),
     ("allreduce", RING, 56), ("allgather", RING, 56), ("gather", HALVES, 7), ("alltoall", RING, 56)],
)  # fmt: skip
def test_messages_of_all_ranks(collective: str, growth: Growth, messages: int) -> None:
    assert replace(growth, shared=True).starts_of(collective, 8) == messages
    assert replace(growth, shared=True).bytes_of(collective, 1 << 10, 8) > growth.bytes_of(collective, 1 << 10, 8)


def test_the_noise_of_an_estimate_is_kept() -> None:
    case = Case("allreduce", 4, 2)
    one = Estimate(case, 8, DEFAULT, 3, Interval(2e-6, 1e-6, 4e-6), Interval(1, 1, 1), significant=False)
    assert replace(point_of(one), noise=0.0) == Point(4, 2, 8, 2e-6)
    assert point_of(one).noise == pytest.approx(math.log(4) / 4)
    assert point_of(replace(one, time=Interval(2e-6, 2e-6, 2e-6))).noise == 0
    assert point_of(replace(one, time=Interval(2e-6, 0.0, math.inf))).noise == ASSUMED_OWN
