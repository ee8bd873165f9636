"""Which rounds are comparable: from a study recorded on a virtual machine with neighbours, and from made-up ones."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.hybrid.made import all_of, machine
from tests.hybrid.test_decide import answer
from unisono.cmdline.command import Command
from unisono.cmdline.layouts import Layout
from unisono.core.vocabulary import Setting
from unisono.hybrid.decide import decide
from unisono.hybrid.run import Result, measure
from unisono.hybrid.steady import bandwidth_of, sort_rounds
from unisono.hybrid.variants import Variant
from unisono.study.store import Store

FLAT, TWO = (Variant(1, Layout(*sides), "none", "single", Setting()) for sides in ((1, 2), (2, 1)))

RECORDED = [
    (0, FLAT, 21.338, 21.61), (0, TWO, 8.736, 42.34), (1, TWO, 10.549, 35.45), (1, FLAT, 12.625, 37.28),
    (2, TWO, 11.191, 31.32), (2, FLAT, 13.734, 34.6), (3, TWO, 10.063, 36.66), (3, FLAT, 12.384, 38.72),
    (4, TWO, 10.411, 36.88), (4, FLAT, 12.91, 36.5), (5, FLAT, 13.869, 34.58),
]  # fmt: skip
"""unisono hybrid --size 64 on 2 cores: round, layout, seconds, GB/s of the triads beside the iterations."""


def recorded(launches: Sequence[tuple[int, Variant, float, float]] = RECORDED) -> list[Result]:
    return [Result(round, variant, s, "", answer(s, triad=triad)) for round, variant, s, triad in launches]


def test_the_recorded_study_concludes_without_its_restless_round() -> None:
    rounds = sort_rounds(recorded())
    assert rounds.restless == (0,)
    assert rounds.drift == pytest.approx(1.14, abs=0.01)
    assert rounds.unrest == pytest.approx(1.90, abs=0.01)
    found = decide(recorded(), [FLAT, TWO], 0.95)
    assert found is not None
    assert (found.concluded, found.ranks[0].variant) == (True, TWO)
    assert found.ranks[0].gain.low > 1.15
    assert "1 of 6 rounds was discarded" in found.conclusion


def test_what_a_launch_had_is_what_was_measured_beside_it() -> None:
    blocks = [
        {"iterations": 10, "triads": [10.0, 30.0]}, {"iterations": 30, "triads": [30.0, 50.0]}, {"iterations": 0},
    ]  # fmt: skip
    assert bandwidth_of({**answer(1.0, triad=99.0), "beside": blocks}) == pytest.approx(40 / (10 / 20 + 30 / 40))
    assert bandwidth_of(answer(1.0, triad=20.0)) == 20.0
    assert bandwidth_of({}) is None


def test_of_as_many_rounds_those_with_more_bandwidth() -> None:
    launches = [(round, v, 1.0, triad) for round, triad in enumerate((20, 30, 21, 31, 60)) for v in (FLAT, TWO)]
    assert sort_rounds(recorded(launches)).steady == (1, 3)
    assert not sort_rounds(recorded(launches)).enough


def test_three_rounds_are_needed_also_where_fewer_were_asked_for() -> None:
    launches = [(round, v, 1.0, 20.0) for round in range(3) for v in (FLAT, TWO)]
    assert sort_rounds(recorded(launches)).enough
    assert not sort_rounds(recorded(launches[:4])).enough
    found = decide(recorded(launches[:4]), (FLAT, TWO), 0.95)
    assert found is not None
    made, more = found.sentences
    assert made == "No conclusion: 2 rounds were made; 3 are needed."
    assert "--resume --rounds 3" in more


@pytest.mark.parametrize(("calm_after", "wanted"), [(0, 3), (2, 5), (99, 9)])
def test_restless_rounds_are_repeated_within_bounds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, calm_after: int, wanted: int
) -> None:
    """Launches are made up: bandwidths differ until a round, then they do not. Asked for are three rounds."""
    compared = all_of(machine(2))

    def launched(store: Any, round: int, variant: Variant, *rest: Any) -> Result:
        triad = 20.0 if round >= calm_after else 1.5**round
        return Result(round, variant, 1.0, "", answer(1.0, triad=triad))

    monkeypatch.setattr("unisono.hybrid.run._launch", launched)
    made: list[Result] = []

    def measured(result: Result, done: int, total: int) -> None:
        made.append(result)
        assert done <= total

    meta = {"margin": 0.03, "confidence": 0.95, "weights": {}, "scope": []}
    with Store.create(tmp_path / "s.db", name="s", config="", method="hybrid", machine=machine(2), meta=meta) as store:
        line = Command(["true"], {}, None, [])
        finished = measure(
            store, compared, lambda variant: line, None, rounds=3, deadline=1, budget=None,
            repeat=lambda results: len(sort_rounds(results).steady) < 3, progress=measured,
        )  # fmt: skip
    assert finished
    assert sorted({r.round for r in made}) == list(range(wanted))
    assert len(made) == wanted * len(compared)


def test_layouts_that_are_all_refused_are_not_asked_for_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    compared = all_of(machine(2))

    def refused(store: Any, round: int, variant: Variant, *rest: Any) -> Result:
        return Result(round, variant, None, "no memory", {}, "refused")

    monkeypatch.setattr("unisono.hybrid.run._launch", refused)
    made: list[Result] = []
    asked: list[int] = []

    def repeat(measured: Any) -> bool:
        asked.append(len(measured))
        return True

    meta = {"margin": 0.03, "confidence": 0.95, "weights": {}, "scope": []}
    with Store.create(tmp_path / "s.db", name="s", config="", method="hybrid", machine=machine(2), meta=meta) as store:
        line = Command(["true"], {}, None, [])
        finished = measure(
            store, compared, lambda variant: line, None, rounds=2, deadline=1, budget=None,
            repeat=repeat, progress=lambda result, done, total: made.append(result),
        )  # fmt: skip
    assert finished and not asked
    assert len(made) == len(compared)
