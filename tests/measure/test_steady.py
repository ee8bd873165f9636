"""Measuring only while the machine is in its usual state: on made-up machines whose states are known."""

from __future__ import annotations

from collections.abc import Callable

from hypothesis import given
from hypothesis import strategies as st

from unisono.measure.steady import Steady


class World:
    """Time passes only by sleeping, probing and measuring; `state` says how fast the machine is at a time."""

    def __init__(self, state: Callable[[float], float | None]) -> None:
        self.now = 0.0
        self.state = state

    def sleep(self, seconds: float) -> None:
        self.now += seconds

    def probe(self) -> float | None:
        self.now += 0.002
        return self.state(self.now)

    def measure(self) -> tuple[float, float]:
        began = self.now
        self.now += 0.2
        return began, self.now

    def steady(self, patience: float = 45.0) -> Steady:
        return Steady(patience=patience, clock=lambda: self.now, sleep=self.sleep)


def test_a_machine_that_stands_still_costs_one_probe_a_measurement() -> None:
    world = World(lambda now: 50.0)
    steady = world.steady()
    steady.measured("key", world.probe, world.measure)
    began = world.now
    for _ in range(100):
        steady.measured("key", world.probe, world.measure)
    assert world.now - began < 100 * 0.203
    assert steady.waited == 0
    assert steady.sentence() is None


def test_nothing_is_kept_from_a_slow_time_that_ends() -> None:
    def slow(now: float) -> bool:
        return now % 12 > 8  # a third of the time

    world = World(lambda now: 250.0 if slow(now) else 50.0)
    steady = world.steady()
    for _ in range(200):
        (began, ended), state = steady.measured("key", world.probe, world.measure)
        assert state == 50.0
        assert not slow(began)
        assert not slow(ended)
    assert steady.unsteady == 0
    assert "went into waiting" in (steady.sentence() or "")
    assert "itself moved" not in (steady.sentence() or "")


def test_a_change_that_stays_becomes_the_usual_state() -> None:
    world = World(lambda now: 50.0 if now < 60 else 250.0)
    steady = world.steady(patience=5.0)
    states = [steady.measured("key", world.probe, world.measure)[1] for _ in range(1500)]
    assert states[0] == 50.0
    assert states[-1] == 250.0
    assert steady.unsteady > 0
    assert steady.usual("key") == 250.0
    said = steady.sentence() or ""
    assert "The usual state itself moved, between 50 and 250 ns" in said
    assert "no measurement was kept" not in said


def test_each_placement_has_its_own_usual_state() -> None:
    near, far = World(lambda now: 50.0), World(lambda now: 300.0)
    steady = near.steady()
    for _ in range(5):
        assert steady.measured("near", near.probe, near.measure)[1] == 50.0
        assert steady.measured("far", far.probe, far.measure)[1] == 300.0
    assert steady.unsteady == 0


def test_where_no_state_is_known_everything_is_measured_at_once() -> None:
    world = World(lambda now: None)
    steady = world.steady()
    for _ in range(10):
        assert steady.measured("key", world.probe, world.measure)[1] is None
    assert steady.waited == 0


@given(st.lists(st.tuples(st.floats(0.1, 60), st.sampled_from([20.0, 50.0, 250.0, 1000.0])), min_size=1, max_size=30))
def test_waiting_is_bounded_whatever_the_machine_does(phases: list[tuple[float, float]]) -> None:
    total = sum(length for length, _ in phases)

    def state(now: float) -> float:
        at = now % total
        for length, value in phases:
            if at < length:
                return value
            at -= length
        return phases[-1][1]

    world = World(state)
    steady = world.steady(patience=10.0)
    for _ in range(60):
        before = world.now
        steady.measured("key", world.probe, world.measure)
        assert world.now - before < 10 + 5  # patience, getting acquainted, one measurement
    assert steady.waited <= max(2 * 10.0, world.now - steady.waited) + 10 + 1
