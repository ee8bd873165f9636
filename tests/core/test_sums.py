"""What is said of reductions that are to be reproducible, and what may be slower because of that."""

from __future__ import annotations

import pytest

from unisono.advise.prove import CaseProof, Proof
from unisono.advise.same_bits import SameBits
from unisono.core import sums
from unisono.core.interval import Interval
from unisono.core.vocabulary import REDUCTIONS, REPRODUCIBLE, Level
from unisono.tuning.show import slower

SLOWER = Interval(0.65, 0.60, 0.70)


def _case(collective: str, gain: Interval = SLOWER) -> CaseProof:
    return CaseProof(collective, 1, 4, gain, 15, ())


def _proof(level: Level | None, *collectives: str, same: bool = True) -> Proof:
    bits = (SameBits(level, 1, 4, collectives, ("default",), same, 1),) if level else ()
    return Proof(0.95, tuple(map(_case, collectives)), (), (), (), bits, level)


@pytest.mark.parametrize("level", REPRODUCIBLE)
def test_what_is_promised_has_a_price_and_is_not_refuted_by_it(level: Level) -> None:
    found = _proof(level, *REDUCTIONS)
    assert found.exit_status == 0
    assert slower(found.cases, level=level) == ""
    said = sums.prices(found.cases, level)
    assert len(said) == len(REDUCTIONS)
    assert said[2] == f"reduce_scatter on 1 x 4 ranks: reproducible ({level}) costs 54 % (43 to 67)"


def test_what_is_not_promised_may_not_be_slower() -> None:
    assert _proof("placement", "reduce_scatter", "scan").exit_status == 1
    assert "launches: scan (1 x 4)." in slower(_proof("placement", "reduce_scatter", "scan").cases, level="placement")
    assert _proof(None, "reduce_scatter").exit_status == 1
    assert "reduce_scatter (1 x 4)" in slower(_proof(None, "reduce_scatter").cases)
    assert sums.prices(_proof(None, "allreduce").cases, None) == []


def test_other_bits_and_wrong_results_are_no_price() -> None:
    assert _proof("ranks", "allreduce", same=False).exit_status == 1
    wrong = CaseProof("allreduce", 1, 4, SLOWER, 15, (), (8,))
    assert sums.prices([wrong], "ranks") == []


def test_reductions_without_the_promise_are_named() -> None:
    names = ("allreduce", "bcast", "scan", "iallreduce", "exscan", "scan")
    said = sums.not_covered(names, "placement")
    assert said.endswith("results: scan, iallreduce, exscan.") and "left to the MPI" in said
    assert "left to the MPI" not in sums.not_covered(names, "runs")  # a rule may give a scan to the library
    assert "left to the MPI" in sums.not_covered(("ireduce_scatter_block",), "runs")
    assert sums.not_covered(("reduce_scatter", "ibcast"), "ranks") == ""


def test_what_serves_a_call_because_of_the_level() -> None:
    assert "alltoallv" in sums.serving("reduce_scatter_block", "placement")
    assert "alltoallv" not in sums.serving("allreduce", "ranks")
    assert "by rules alone" in sums.serving("reduce", "runs")
    assert "do not cover" in sums.serving("exscan", "ranks")
    assert sums.serving("bcast", "ranks") == ""
    assert sums.use({}, "allreduce", "runs") == sums.use({}, "bcast", "ranks") == ""
    assert sums.use({"coll": "unisono", "algorithm": "slices"}, "allreduce", "ranks") == ""
