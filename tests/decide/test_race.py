"""The race on machines that never were: what it gives up, what it never does, and how well and cheaply it decides."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
import pytest

from tests.decide import synthetic
from tests.decide.synthetic import SIZES, Bench, Landscape, Noise, flat, random_landscape, scaled, study
from unisono.core.vocabulary import CALL_SCOPE, DEFAULT, Case, Sample, Setting, launch_part
from unisono.decide.contenders import expected_improvement
from unisono.decide.decide import decide
from unisono.decide.decision import Decision
from unisono.decide.race import RaceConfig, RaceState, first_sizes, survivors
from unisono.study.data import LaunchRow, Refusal
from unisono.tuning.choosing import choose
from unisono.tuning.plans import Plan

CASES = (Case("allreduce", 1, 8), Case("alltoall", 1, 8))
MATRIX = synthetic.settings(3, 1, 5, pmls=1)
QUIET = Noise(launch=0.02, sample=0.005, drift=0.03)


def config(matrix: list[Setting] = MATRIX, cases: tuple[Case, ...] = CASES) -> RaceConfig:
    return RaceConfig(dict.fromkeys(cases, matrix), dict.fromkeys(cases, SIZES))


@dataclass(frozen=True)
class Run:
    samples: list[Sample]
    state: RaceState
    rounds: int
    launches: int
    asked: int
    """How many (case, size, setting) were measured, over all launches."""


def run(landscape: Landscape, race: RaceConfig, noise: Noise = QUIET, seed: int = 0, most: int = 15) -> Run:
    """As the search does: measure what is wanted until nothing is in doubt."""
    bench = Bench(landscape, noise, seed)
    samples: list[Sample] = []
    for rounds in range(most):
        state = survivors(samples, race)
        if state.settled:
            break
        for (nodes, ppn), launches in state.launches.items():
            for launch in launches:
                samples += bench.launch(rounds + 1, state.items(launch, nodes, ppn))
    return Run(samples, state, rounds, bench.launches, bench.samples)


def true_gain(landscape: Landscape, plan: Plan, case: Case) -> float:
    total = 0.0
    for size in SIZES:
        rule = next(
            r
            for r in plan.rules
            if r.collective == case.collective and r.first <= size and (r.last is None or size <= r.last)
        )
        total += math.log(landscape(case, size, DEFAULT) / landscape(case, size, plan.launch | rule.call))
    return total / len(SIZES)


def picked(landscape: Landscape, decision: Decision) -> list[float]:
    """True mean log gain of what is chosen: for all collectives together, and for each alone."""
    joint = choose(decision.plans)
    return [
        float(np.mean([true_gain(landscape, joint, case) for case in CASES])),
        *(true_gain(landscape, choose(decision.plans, {case.collective: 1.0}), case) for case in CASES),
    ]


def test_it_begins_with_everything_on_few_sizes() -> None:
    state = survivors([], config())
    assert not state.settled
    assert state.launches == {(1, 8): tuple(sorted({launch_part(s) for s in MATRIX}))}
    for case in CASES:
        assert list(state.wanted[case]) == first_sizes(SIZES)
        assert all(set(settings) == set(MATRIX) for settings in state.wanted[case].values())
    assert len(first_sizes(SIZES)) < len(SIZES) / 3 + 1
    assert (first_sizes(SIZES)[0], first_sizes(SIZES)[-1]) == (SIZES[0], SIZES[-1])


def test_few_sizes_are_all_measured() -> None:
    assert first_sizes([0]) == [0]
    assert first_sizes([8, 64]) == [8, 64]
    assert first_sizes([8, 64, 512]) == [8, 64, 512]


def test_what_could_be_best_between_sizes_far_apart_is_looked_for() -> None:
    """On timings of another machine (docs/published-timings.md) an algorithm was best at two sizes in between alone."""
    coarse = [8**power for power in range(1, 10)]
    assert first_sizes(coarse) == coarse
    fourfold = first_sizes([4**power for power in range(1, 17)])
    assert all(b <= 32 * a for a, b in pairwise(fourfold))
    assert len(fourfold) < 12
    doublings = [2**power for power in range(3, 24)]
    assert len(first_sizes(doublings)) == 6


def test_what_is_far_behind_goes_after_one_launch() -> None:
    """Each component and launch setting 1.6x slower than the default, everywhere: one launch each is enough."""
    slow = {s: 1.6 for s in MATRIX if s}
    result = run(scaled(slow), config())
    counts = {launch: len({s.launch for s in result.samples if launch_part(s.setting) == launch}) for launch in
              {launch_part(s) for s in MATRIX}}  # fmt: skip
    assert all(count == 1 for launch, count in counts.items() if launch)
    assert result.rounds <= 3
    assert result.asked < 1.7 * len(MATRIX) * len(first_sizes(SIZES)) * len(CASES)


def test_it_never_drops_the_default() -> None:
    """Even when everything beats it by far."""
    landscape = scaled({s: 0.3 for s in MATRIX if s})
    race = config()
    bench = Bench(landscape, QUIET, 1)
    samples: list[Sample] = []
    for rounds in range(6):
        state = survivors(samples, race)
        for launch in state.launches.get((1, 8), ()):
            samples += bench.launch(rounds + 1, state.items(launch, 1, 8))
        for case, sizes in state.wanted.items():
            assert DEFAULT in state.launches[case.nodes, case.ppn]
            assert all(DEFAULT in settings for settings in sizes.values())


def test_ties_are_not_chased() -> None:
    """Nothing differs: after at most `ties_after` launches it is over, and the default is kept."""
    for seed in range(4):
        result = run(flat, config(), Noise(launch=0.03, sample=0.01, drift=0.05), seed)
        assert result.state.settled
        assert max(s.round for s in result.samples) <= config().ties_after + 1
        decision = decide(result.samples, method="race")
        assert decision.plans[0].launch == DEFAULT
        assert not any(rule.call for rule in decision.plans[0].rules)


def test_sizes_are_added_where_the_best_choice_changes() -> None:
    """Ring is better from 16 KiB up; the sizes around are measured, those far from it are not."""
    ring = Setting({"coll": "tuned", "algorithm": "ring"})
    landscape = scaled({ring: {size: 0.6 if size >= 16384 else 1.7 for size in SIZES}})
    result = run(landscape, config([DEFAULT, ring]))
    sizes = sorted({s.size for s in result.samples})
    assert {8192, 16384} <= set(sizes)
    assert len(sizes) < len(SIZES) - 5
    (low, high) = (
        r for r in decide(result.samples, method="race").plans[0].rules if r.collective == CASES[0].collective
    )
    assert (low.call, high.call) == (DEFAULT, ring)
    assert 8192 < high.first <= 16384


RING = Setting({"coll": "tuned", "algorithm": "ring"})


def lone(end: int, beside: float = 1.7, sizes: tuple[int, ...] = SIZES[:8]) -> tuple[Landscape, RaceConfig]:
    """Ring is far better at this one of the ends, far worse at all the others of the study, and `beside` at a size
    that the study has not."""
    factors = dict.fromkeys(sizes, 1.7) | {end: 0.6}

    def seconds(case: Case, size: int, setting: Setting) -> float:
        return flat(case, size, setting) * (factors.get(size, beside) if setting == RING else 1.0)

    return seconds, RaceConfig({CASES[0]: [DEFAULT, RING]}, {CASES[0]: sizes})


@pytest.mark.parametrize(("end", "between"), [(SIZES[7], 768), (SIZES[0], 12)], ids=["last", "first"])
@pytest.mark.parametrize("seed", range(3))
def test_a_winner_at_an_end_alone_is_followed_up_beside_it(end: int, between: int, seed: int) -> None:
    landscape, race = lone(end, beside=0.6)
    result = run(landscape, race, seed=seed)
    assert result.state.settled
    extra = [s for s in result.samples if s.size not in race.sizes[CASES[0]]]
    assert {s.size for s in extra} == {between}, "one size, at half a step"
    assert {s.setting for s in extra} == {DEFAULT, RING}
    assert len({s.launch for s in extra if s.setting == RING}) > 1
    (rule,) = [r for r in decide(result.samples, method="race").plans[0].rules if r.call == RING]
    assert {between, end} == set(rule.sizes)
    without = [s for s in result.samples if s.size != between]
    assert not any(r.call for r in decide(without, method="race").plans[0].rules), "two sizes are needed there"


def test_a_winner_at_an_end_that_stays_alone_is_followed_up_once() -> None:
    landscape, race = lone(SIZES[7], beside=1.7)
    result = run(landscape, race)
    assert result.state.settled
    assert {s.size for s in result.samples} - set(race.sizes[CASES[0]]) == {768}
    assert not any(r.call for r in decide(result.samples, method="race").plans[0].rules)


def test_a_winner_at_an_end_is_not_followed_up_before_it_is_certain() -> None:
    """One launch says nothing of noise; and with much noise a few do not."""
    landscape, race = lone(SIZES[7])
    for launches, noise in ((1, QUIET), (2, Noise(launch=0.02, sample=0.3))):
        samples = study(landscape, [RING], cases=CASES[:1], sizes=SIZES[:8], launches=launches, noise=noise)
        assert set(survivors(samples, race).wanted.get(CASES[0], {})) <= set(SIZES[:8])
    samples = study(landscape, [RING], cases=CASES[:1], sizes=SIZES[:8], launches=4, noise=QUIET)
    assert set(survivors(samples, race).wanted[CASES[0]]) - set(SIZES[:8]) == {768}


def test_a_size_beside_a_lone_winner_that_brought_nothing_is_not_asked_for_again() -> None:
    landscape, race = lone(SIZES[7])
    samples = study(landscape, [RING], cases=CASES[:1], sizes=SIZES[:8], launches=10, noise=QUIET)
    assert not survivors(samples, race).settled
    assert survivors(samples, replace(race, asked={(CASES[0], 768)})).settled


@pytest.mark.parametrize(
    ("sizes", "found"),
    [((4, 8), set()), ((8, 16), {12}), ((1000, 1001), set()), ((8, 1024), {96}), ((8, 16, 24, 32), {28})],
)
def test_where_there_is_room_beside_a_lone_winner(sizes: tuple[int, ...], found: set[int]) -> None:
    landscape, race = lone(sizes[-1], sizes=sizes)
    samples = study(landscape, [RING], cases=CASES[:1], sizes=sizes, launches=10, noise=QUIET)
    assert set(survivors(samples, race).wanted.get(CASES[0], {})) - set(sizes) == found


def test_nothing_is_followed_up_where_nothing_differs() -> None:
    """Beyond doubt by the decision's own measure: in twenty races of noise at most one size is added."""
    added = 0
    for seed in range(20):
        result = run(flat, config(cases=CASES[:1]), Noise(launch=0.03, sample=0.02, drift=0.05), seed)
        added += len({s.size for s in result.samples} - set(SIZES))
    assert added <= 1


def test_wrong_results_leave_the_race() -> None:
    han = Setting({"coll": "han"})
    samples = study(scaled({han: 0.5}), [han], cases=CASES, sizes=first_sizes(SIZES), launches=1, wrong=[han])
    state = survivors(samples, config([DEFAULT, han, Setting({"coll": "basic"})]))
    assert not any(han in row for sizes in state.wanted.values() for row in sizes.values())


def test_cases_not_measured_yet_are_wanted() -> None:
    samples = study(flat, MATRIX, cases=CASES[:1], sizes=first_sizes(SIZES), launches=1)
    state = survivors(samples, config())
    assert list(state.wanted) == [CASES[1]]
    assert state.doubts == (f"alltoall, 1 x 8 ranks: {len(MATRIX)} settings not measured yet",)


def test_a_round_that_was_interrupted_is_completed() -> None:
    """What was not reached is wanted, with the default beside it; what failed is not."""
    ob1, ucx, cm, ring = Setting({"pml": "ob1"}), Setting({"pml": "ucx"}), Setting({"pml": "cm"}), MATRIX[2]
    race = config([DEFAULT, ob1, ucx, cm, ring], CASES[:1])
    samples = study(flat, [ob1], cases=CASES[:1], sizes=first_sizes(SIZES), launches=1)
    failures = [LaunchRow(90, cm, 1, 8, 1, "refused", "no", 1.0, "mpirun", False),
                LaunchRow(91, ucx, 1, 8, 1, "interrupted", "", 1.0, "mpirun", False)]  # fmt: skip
    refusals = [Refusal(1, "allreduce", 8, ring, "unsupported")]
    state = survivors(samples, race, failures, refusals)
    assert {s for row in state.wanted[CASES[0]].values() for s in row} == {DEFAULT, ucx}
    assert state.doubts == ("allreduce, 1 x 8 ranks: 1 setting not measured yet",)
    assert not any(cm in parts for parts in state.launches.values())


def test_groups_of_ranks_race_separately() -> None:
    cases = (Case("allreduce", 1, 2), Case("allreduce", 1, 8))
    race = config([DEFAULT, Setting({"pml": "ob1"})], cases)
    samples = study(flat, race.settings[cases[0]], cases=cases[:1], sizes=first_sizes(SIZES), launches=6)
    state = survivors(samples, race)
    assert list(state.launches) == [(1, 8)]


@pytest.mark.parametrize("scope", [CALL_SCOPE, ()], ids=["in one launch", "a launch each"])
def test_every_wanted_setting_has_its_launch(scope: tuple[str, ...]) -> None:
    race = RaceConfig(dict.fromkeys(CASES, MATRIX), dict.fromkeys(CASES, SIZES), scope=scope)
    samples = study(random_landscape(3, MATRIX), MATRIX, cases=CASES, sizes=first_sizes(SIZES), launches=2, scope=scope)
    state = survivors(samples, race)
    wanted = {(case, size, s) for case, sizes in state.wanted.items() for size, row in sizes.items() for s in row}
    given = {
        (case, size, s)
        for launch in state.launches[1, 8]
        for case, size, row in state.items(launch, 1, 8, scope)
        for s in row
    }
    assert given == wanted


def test_it_is_deterministic() -> None:
    samples = study(random_landscape(1, MATRIX), MATRIX, cases=CASES, sizes=first_sizes(SIZES), launches=2)
    assert survivors(samples, config()) == survivors(list(reversed(samples)), config())


def test_expected_improvement() -> None:
    assert expected_improvement(0.0, 0.1) == pytest.approx(0.1 / math.sqrt(2 * math.pi))
    assert expected_improvement(5.0, 0.1) == pytest.approx(5.0)
    assert float(expected_improvement(-1.0, 0.1)) < 1e-12
    assert expected_improvement(math.nan, 0.1) == 0
    rng = np.random.default_rng(0)
    assert expected_improvement(-0.05, 0.1) == pytest.approx(
        np.maximum(rng.normal(-0.05, 0.1, 200_000), 0).mean(), rel=0.02
    )


@pytest.mark.parametrize(
    ("noise", "worst"), [(QUIET, 0.02), (Noise(0.04, sample=0.02, drift=0.05, outlier_launches=0.03), 0.04)],
    ids=["quiet", "rough"],
)  # fmt: skip
def test_it_picks_what_measuring_everything_picks_for_a_fraction(noise: Noise, worst: float) -> None:
    """On random landscapes: within 2 % (geometric mean over cases and sizes) of the decision from five launches of
    every combination at every size, each launch of one setting and one case, as the classic method makes them. Cost as
    the wall time of 20 ms a sample and 0.4 s a launch."""
    losses, costs = [], []
    for seed in range(6):
        landscape = random_landscape(seed, MATRIX, strength=0.3)
        result = run(landscape, config(), noise, seed)
        assert result.state.settled
        everything = study(landscape, MATRIX, cases=CASES, noise=noise, seed=seed + 100)
        full = picked(landscape, decide(everything, method="race"))
        raced = picked(landscape, decide(result.samples, method="race"))
        losses += [a - b for a, b in zip(full, raced, strict=True)]
        classic = 5 * len(MATRIX) * len(CASES) * (0.4 + 0.02 * len(SIZES))
        costs.append((0.4 * result.launches + 0.02 * result.asked) / classic)
    assert float(np.mean(losses)) < 0.005
    assert float(np.quantile(losses, 0.85)) < worst
    assert float(np.mean(costs)) < 0.12, costs
