"""Ranking, reasons, and when no conclusion is drawn: from made-up launches."""

from __future__ import annotations

import io
import random
from dataclasses import replace
from typing import Any

import pytest
from rich.console import Console

from tests.hybrid.conftest import node
from unisono.cmdline.layouts import Layout
from unisono.core.vocabulary import Setting
from unisono.hybrid.decide import Decision, decide
from unisono.hybrid.effects import of_links, of_packing
from unisono.hybrid.run import Result, order
from unisono.hybrid.show import ranking
from unisono.hybrid.variants import Variant, variants
from unisono.report.figures_hybrid import scaling
from unisono.report.hybrid import content
from unisono.report.page import render
from unisono.study.data import StudyData

MACHINE = node(cores=4, numa=1)


def all_variants(packing: str = "single") -> list[Variant]:
    return variants(MACHINE, layouts="all", numa="auto", packing=packing, links=[], nodes=[1], solver=True)[0]


def answer(seconds: float, triad: float = 20.0, pack: float = 0.0, iterations: int = 100) -> dict[str, Any]:
    parts = {part: [(seconds - pack) / 5, 0.0] for part in ("product", "forward", "backward", "dots", "vectors")}
    parts |= {"halo_pack": [pack, pack], "halo_exchange": [0.0, 0.0], "allreduce": [0.0, 0.0]}
    return {
        "seconds": seconds, "gflops": 10 / seconds, "iterations": iterations, "triad_before": triad * 0.9,
        "triad_after": triad, "parts_seconds": parts,
    }  # fmt: skip


def launches(times: dict[Variant, float], rounds: int = 6, noise: float = 0.01, **more: Any) -> list[Result]:
    draw = random.Random(3)
    found = []
    for round in range(rounds):
        for variant in order(list(times), round):
            seconds = times[variant] * (1 + draw.gauss(0, noise))
            found.append(Result(round, variant, seconds, "", answer(seconds, **more)))
    return found


def test_the_faster_layout_wins_and_the_reason_is_told() -> None:
    flat, two, four = all_variants()
    results = launches({flat: 1.0, two: 0.8, four: 1.2})
    for index, result in enumerate(results):
        if result.variant == four and result.seconds is not None:
            results[index] = Result(result.round, four, result.seconds, "", answer(result.seconds, pack=0.3))
    found = decide(results, [flat, two, four], 0.95)
    assert found is not None
    assert found.concluded
    assert [rank.variant for rank in found.ranks] == [two, flat, four]
    assert found.ranks[0].gain.low > 1.2
    assert "2 processes of 2 threads is the fastest: 1.25 times" in found.conclusion
    assert "packing the halo +3" in found.ranks[2].why
    assert found.ranks[0].speedup == pytest.approx(4 * 1.25, rel=0.05)


def test_equal_layouts_are_not_told_apart() -> None:
    flat, two, _ = all_variants()
    found = decide(launches({flat: 1.0, two: 1.0}, noise=0.05), [flat, two], 0.95)
    assert found is not None
    assert "nothing is proven faster" in found.conclusion
    assert "shows no difference from" in found.ranks[1].why
    assert found.reasons(1) == [f"{found.ranks[1].why}."]


def with_triads(results: list[Result], triads: list[float]) -> list[Result]:
    """The same launches, each round's with its bandwidth."""
    return [replace(r, answer=answer(r.seconds or 1, triad=triads[r.round])) for r in results]


def test_a_machine_that_never_held_still_gives_no_conclusion() -> None:
    flat, two, _ = all_variants()
    results = with_triads(launches({flat: 1.0, two: 0.5}), [10, 15, 20, 30, 45, 46])
    found = decide(results, [flat, two], 0.95)
    assert found is not None
    assert not found.concluded
    assert found.conclusion.startswith(
        "No conclusion: the machine's memory bandwidth was within a factor of 1.25 in 2 of 6 rounds only; 3 are needed."
    )
    assert len(found.used(results)) == len(results)
    assert all(rank.launches == 6 for rank in found.ranks)


def test_rounds_with_another_bandwidth_are_left_out() -> None:
    """Whatever was measured in them: here that two is the slower."""
    flat, two, _ = all_variants()
    good, bad = launches({flat: 1.0, two: 0.5}, rounds=4), launches({flat: 1.0, two: 9.0}, rounds=6)
    results = with_triads([*good, *(r for r in bad if r.round > 3)], [20, 21, 19, 20, 40, 10])
    found = decide(results, [flat, two], 0.95)
    assert found is not None
    assert found.rounds.steady == (0, 1, 2, 3)
    assert found.ranks[0].variant == two
    assert found.ranks[0].launches == 4
    assert "2 of 6 rounds were discarded" in found.conclusion
    assert {r.round for r in found.used(results)} == {0, 1, 2, 3}


def test_more_iterations_are_a_reason() -> None:
    flat, two, _ = all_variants()
    results = launches({two: 1.0}) + [
        Result(r.round, flat, r.seconds, "", answer(r.seconds or 0, iterations=126)) for r in launches({flat: 1.3})
    ]
    found = decide(results, [flat, two], 0.95)
    assert found is not None
    assert "26% more iterations" in found.ranks[1].why


def test_a_users_program_has_no_parts_and_no_bandwidth() -> None:
    flat, two, _ = all_variants()
    results = [Result(r.round, r.variant, r.seconds, "", {}) for r in launches({flat: 1.0, two: 0.7})]
    found = decide(results, [flat, two], 0.95)
    assert found is not None
    assert found.rounds.unrest is None
    assert found.concluded
    longer = f"{found.ranks[1].seconds / found.ranks[0].seconds - 1:.0%}"
    assert found.ranks[1].why == f"flat MPI takes {longer} longer than 2 processes of 2 threads"
    assert "GFLOPS" not in _shown(found)


def _shown(found: Decision) -> str:
    """In a terminal."""
    console = Console(width=120, file=io.StringIO())
    with console.capture() as said:
        console.print(ranking(found))
    return said.get()


def test_the_ranking_says_what_the_solver_counts() -> None:
    flat, two, _ = all_variants()
    found = decide(launches({flat: 1.0, two: 0.7}), [flat, two], 0.95)
    assert found is not None
    best = found.ranks[0].gain
    assert f"{best.mid:.2f} ({best.low:.2f} to {best.high:.2f})" in _shown(found)
    assert "GFLOPS" in _shown(found)


def test_speed_up_is_over_flat_mpi_on_fewest_cores() -> None:
    """As Nakajima (2009) has it: flat MPI there is its number of cores, whatever the reference of the gains is."""
    few, full, hybrid = (Variant(1, Layout(*s), "none", "single", Setting()) for s in ((1, 2), (1, 4), (4, 1)))
    found = decide(launches({few: 2.0, full: 1.1, hybrid: 1.0}), [few, full, hybrid], 0.95)
    assert found is not None
    assert found.base == few
    by_name = {rank.name: rank for rank in found.ranks}
    assert by_name["flat MPI using 2 cores"].speedup == 2.0
    assert by_name["flat MPI using 4 cores"].speedup == pytest.approx(4 / 1.1, rel=0.05)
    assert found.reference_on(1).name == "flat MPI using 4 cores"
    figures, keys = scaling(found)
    assert [name for name, _ in figures] == ["Speed-up", "GFLOPS"]
    assert [key["name"] for key in keys] == ["flat MPI", "1 process of 4 threads", "ideal"]
    curve = next(line for line in figures[0][1]["data"] if line["name"] == "flat MPI")
    assert curve["x"] == [2, 4]
    assert curve["y"][0] == 2.0


def test_one_thread_packs_faster() -> None:
    flat, single, threads, *_ = all_variants("both")
    results = launches({flat: 1.0, single: 1.0, threads: 1.1})
    found = decide(results, [flat, single, threads], 0.95)
    assert found is not None
    (effect,) = of_packing(found, results, 0.95)
    assert effect.variant == single
    assert effect.gain.low > 1.05
    assert of_links(found, results, 0.95) == []


def test_nothing_measured_is_no_decision() -> None:
    assert decide([], all_variants(), 0.95) is None


def test_the_page_shows_every_layout_and_its_parts() -> None:
    variants_ = all_variants("both")
    results = launches({variant: 1.0 + 0.1 * i for i, variant in enumerate(variants_)}, pack=0.1)
    found = decide(results, variants_, 0.95)
    assert found is not None
    study = StudyData(
        id="x", name="<solver>", created="2026-01-01T00:00:00+00:00", method="hybrid", margin=0.03, confidence=0.95,
        weights={}, machine=MACHINE, samples=(), launches=(), limits={},
    )  # fmt: skip
    values = content(study, found, results)
    assert values["scaling"] == []
    assert [row["name"] for row in values["packing"]["rows"]] == ["2 processes of 2 threads", "1 process of 4 threads"]
    assert values["links"] is None
    assert [row["name"] for row in values["rows"]] == [rank.variant.name for rank in found.ranks]
    bars = values["parts"]["data"]
    assert sum(bar["x"][-1] for bar in bars) == pytest.approx(found.ranks[0].seconds, rel=0.02)
    assert len(values["drift"]["data"]) == len(variants_) == len(values["drift_keys"])
    page = render("hybrid.html.j2", values)
    assert "&lt;solver&gt;" in page
    assert found.ranks[0].variant.name in page
