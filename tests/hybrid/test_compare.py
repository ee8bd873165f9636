"""Two machines' hybrid studies against each other, by layout and number of cores."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.hybrid.made import all_of, machine, study
from tests.hybrid.test_decide import answer
from unisono.core.errors import UserError
from unisono.hybrid.compare import BEST, compare
from unisono.hybrid.run import Result
from unisono.hybrid.study import HybridStudy
from unisono.report.hybrid_comparison import content
from unisono.report.page import render

SLOW = machine(4, name="t2k")
FAST = machine(4, name="xt4")


def of(here: object, *times: float) -> HybridStudy:
    assert here in (SLOW, FAST)
    variants = all_of(SLOW, "1x1,1x2,1x4,2x2")
    return study(dict(zip(variants, times, strict=True)), SLOW if here is SLOW else FAST)


def test_the_ratio_of_each_layout_on_as_many_cores() -> None:
    found = compare([of(SLOW, 1.0, 2.0, 4.0, 0.9), of(FAST, 0.5, 1.25, 2.0, 0.6)])
    assert (found.reference, found.others) == ("t2k", ("xt4",))
    ratios = {(row.cores, row.model): row.gain.mid for row in found.rows}
    assert ratios[4, "flat MPI"] == pytest.approx(2.0, rel=0.03)
    assert ratios[2, "flat MPI"] == pytest.approx(1.6, rel=0.03)
    assert ratios[1, "flat MPI"] == pytest.approx(2.0, rel=0.03)
    assert ratios[4, "2 threads a process"] == pytest.approx(1.5, rel=0.03)
    assert ratios[4, BEST] == pytest.approx(0.9 / 0.5, rel=0.03)
    best = next(row for row in found.rows if (row.cores, row.model) == (4, BEST))
    assert (best.reference_name, best.name) == ("2 processes of 2 threads", "flat MPI using 4 cores")
    assert "xt4 is 1.5" in found.sentences[0]
    assert "faster in 4 of 4 comparisons" in found.sentences[0]
    assert found.as_dict()["rows"][0]["cores"] == 1


def test_the_page_has_a_curve_for_each_model() -> None:
    studies = [of(SLOW, 1.0, 2.0, 4.0, 0.9), of(FAST, 0.5, 1.25, 2.0, 0.6)]
    values = content(compare(studies), studies)
    assert [line["name"] for line in values["figure"]["data"]] == ["flat MPI", "2 threads a process"]
    assert values["figure"]["data"][0]["x"] == [1, 2, 4]
    page = render("hybrid_comparison.html.j2", values)
    assert "xt4 is 1.5" in page
    assert "What differs" in page


def test_a_restless_study_is_named() -> None:
    quiet = of(SLOW, 1.0, 2.0, 4.0, 0.9)
    results = [Result(r.round, r.variant, r.seconds, "", answer(1.0, triad=10 * 1.5**r.round)) for r in quiet.results]
    restless = replace(quiet.decision, concluded=False)
    found = compare([quiet, HybridStudy(quiet.data, quiet.program, quiet.metric, tuple(results), restless)])
    assert any(
        "too few rounds of this study had a memory bandwidth within a factor of 1.25" in note for note in found.notes
    )


def test_what_did_not_run_the_same_is_not_compared() -> None:
    flat = all_of(SLOW)[0]
    with pytest.raises(UserError, match="did not run the same: 'solver 96'"):
        compare([study({flat: 1.0}), study({flat: 1.0}, program="solver 96")])
    two = all_of(SLOW, "1x2")[0]
    with pytest.raises(UserError, match="no layout on the same number of cores"):
        compare([study({flat: 1.0}, SLOW), study({two: 1.0}, FAST)])
