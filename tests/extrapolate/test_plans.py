"""Predicted plans: what rules may name, when a launch setting is trusted, and what is said where nothing is."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

import pytest

from tests.extrapolate.test_extrapolate import AROUND, DOUBLING, MANY, SIZES, truth
from unisono.core.errors import UserError
from unisono.core.interval import Interval
from unisono.core.sizes import parse_size
from unisono.core.vocabulary import CALL_SCOPE, DEFAULT, Case, Setting
from unisono.decide.decision import Decision, Estimate
from unisono.extrapolate.fit import Point, fit
from unisono.extrapolate.other_ppn import between
from unisono.extrapolate.plans import Predicted, extrapolate
from unisono.extrapolate.terms import HALVES, RING, TREE, Growth
from unisono.report.predictions import predictions
from unisono.tuning.plans import Plan

OURS = Setting({"coll": "unisono", "algorithm": "halves"})
PRELOADED = Setting({"preload": "unisono"})
UCX = Setting({"UCX_TLS": "rc"})
ONE = Interval(1.0, 1.0, 1.0)

Curves = Mapping[Setting, tuple[Growth, float]]


def decision(curves: Curves, counts: tuple[int, ...], launches: tuple[Setting, ...] = ()) -> Decision:
    """As if each setting had been measured, exactly and once."""
    estimates = [
        Estimate(
            Case("allreduce", n, 2), size, setting, 3, Interval(s := factor * truth(growth, size, n), s, s), ONE, False
        )
        for setting, (growth, factor) in curves.items()
        for n in counts
        for size in SIZES
    ]
    plans = tuple(Plan(n, 2, DEFAULT, {"allreduce": ONE}, ()) for n in counts)
    possible = {(n, 2): (DEFAULT, *launches) for n in counts}
    return Decision("race", 0.03, 0.95, "median", tuple(estimates), plans, (), possible=possible)


def predicted(curves: Curves, *launches: Setting, to: int = 32) -> Predicted:
    return extrapolate(decision(curves, (1, 2, 4, 8), launches), [to], None, CALL_SCOPE)


SLOW_DEFAULT = {DEFAULT: (TREE, 2.0), DOUBLING: (TREE, 1.0), AROUND: (RING, 1.0)}


def test_rules_follow_the_fastest_over_the_sizes() -> None:
    measured = decision(SLOW_DEFAULT, (1, *MANY))
    (plan,) = extrapolate(measured, [64], None, CALL_SCOPE).plans
    assert (plan.nodes, plan.ppn, plan.launch, plan.basis) == (64, 2, DEFAULT, "predicted")
    assert [rule.call for rule in plan.rules] == [DOUBLING, AROUND]
    small, large = plan.rules
    assert small.last is not None
    assert large.first == small.last + 1
    assert large.last is not None, "nothing is claimed above what is known"
    assert all(rule.gain.low > 1 and rule.sure is not None and rule.sure > 0.5 for rule in plan.rules)
    assert plan.gain["allreduce"].low > 1


def test_only_what_the_plan_can_carry_out_is_named() -> None:
    own = {**SLOW_DEFAULT, OURS: (HALVES, 0.2)}
    (plain,) = predicted(own).plans
    assert all(rule.call.get("coll") == "tuned" for rule in plain.rules)
    (plan,) = predicted(own, PRELOADED).plans
    assert plan.launch == PRELOADED
    assert OURS in [rule.call for rule in plan.rules]
    asked_for = {**SLOW_DEFAULT, Setting({"coll": "tuned"}): (TREE, 2.0)}
    (plan,) = predicted(asked_for).plans
    assert plan.rules == (), "another component serves by itself, so algorithms of coll/tuned have no effect"


def test_a_plan_that_needs_the_library_has_the_best_without_it_beside_it() -> None:
    found = predicted({**SLOW_DEFAULT, OURS: (HALVES, 0.2)}, PRELOADED)
    (ours,), (without,) = found.plans, found.without
    assert (ours.needs_library, without.needs_library) == (True, False)
    assert [rule.call for rule in without.rules] == [DOUBLING, AROUND]
    assert without.gain["allreduce"].mid < ours.gain["allreduce"].mid
    assert predicted(SLOW_DEFAULT).without == ()


def test_one_message_size_of_the_default_is_too_few() -> None:
    measured = decision(SLOW_DEFAULT, (2, 4))
    kept = tuple(one for one in measured.estimates if one.size == SIZES[0])
    found = extrapolate(replace(measured, estimates=kept), [8], None, CALL_SCOPE)
    assert found.plans == ()
    (finding,) = found.findings()
    assert (finding.kind, finding.nodes, finding.ppn) == ("not told", 8, 2)
    assert finding.text == (
        "allreduce, 8 x 2 ranks: nothing is predicted, as the default was measured at fewer than two message sizes."
    )


def test_what_the_most_nodes_measured_did_not_have_is_nothing_for_more() -> None:
    two, ailing = (Setting({"coll": "tuned", "algorithm": name}) for name in ("two_proc", "tree"))
    both = decision({**SLOW_DEFAULT, ailing: (TREE, 0.2)}, (2, 4, 8))
    assert any(rule.call == ailing for rule in extrapolate(both, [16], None, CALL_SCOPE).plans[0].rules)
    kept = tuple(one for one in both.estimates if one.setting != ailing or one.case.nodes == 2)
    (plan,) = extrapolate(replace(both, estimates=kept), [16], None, CALL_SCOPE).plans
    assert plan.rules
    assert all(rule.call != ailing for rule in plan.rules)
    (plan,) = extrapolate(decision({**SLOW_DEFAULT, two: (TREE, 0.2)}, (2,)), [16], None, CALL_SCOPE).plans
    assert all(rule.call != two for rule in plan.rules), "nor where nothing tells that it fails"


@pytest.mark.parametrize(("factor", "taken"), [(0.98, False), (0.4, True)])
def test_a_launch_setting_is_taken_when_it_is_trusted(factor: float, taken: bool) -> None:
    (plan,) = predicted({DEFAULT: (TREE, 1.0), UCX: (TREE, factor)}, UCX).plans
    assert (plan.launch == UCX) == taken
    assert plan.gain["allreduce"].mid == pytest.approx(1 / factor if taken else 1.0, rel=0.02)


def test_where_it_is_not_sure_one_launch_is_named_that_tune_understands() -> None:
    found = predicted({DEFAULT: (TREE, 1.0), DOUBLING: (TREE, 1.06)}, to=64)
    (plan,) = found.plans
    assert plan.rules == ()
    (finding,) = found.findings()
    assert "unisono tune --nodes 64 --ppn 2 --collective allreduce --size " in finding.text
    words = finding.text.split()
    named = [parse_size(words[n + 1], "--size") for n, word in enumerate(words) if word == "--size"]
    assert named == list(found.launches[0].sizes)
    assert found.launches[0].settings == (DEFAULT, DOUBLING)


def test_measured_counts_and_one_node_are_not_predicted() -> None:
    known = decision(SLOW_DEFAULT, (1, 2, 4))
    assert extrapolate(known, [1, 2, 4], None, CALL_SCOPE).plans == ()
    with pytest.raises(UserError, match="one node tells nothing of a network"):
        extrapolate(decision(SLOW_DEFAULT, (1,)), [8], None, CALL_SCOPE)


def test_other_ranks_a_node_are_predicted_with_wider_intervals() -> None:
    """Of two ranks a node and, where they were measured, four: eight on the same nodes and on others."""
    law = {DEFAULT: (TREE, 1.0), DOUBLING: (TREE, 0.4)}
    two = decision(law, (2, 4, 8))
    for nodes in (8, 32):
        (plan,) = extrapolate(two, [nodes], 8, CALL_SCOPE).plans
        (same,) = extrapolate(two, [32], 2, CALL_SCOPE).plans
        assert (plan.nodes, plan.ppn, plan.basis) == (nodes, 8, "predicted")
        assert {rule.call for rule in plan.rules} == {DOUBLING}
        gain, narrow = plan.gain["allreduce"], same.gain["allreduce"]
        assert gain.mid == pytest.approx(2.5, rel=0.05)
        assert gain.high / gain.low > narrow.high / narrow.low


def test_times_grow_with_the_ranks_a_node_as_they_did() -> None:
    """Half as much again with each doubling, which no law knows; one rank a node tells nothing of it."""

    def measured(ppn: int) -> list[Point]:
        factor = 1.5 ** math.log2(ppn)
        return [Point(nodes, ppn, size, factor * truth(TREE, size, nodes, 1)) for nodes in (4, 8) for size in SIZES]

    laws = {ppn: fit("allreduce", {DOUBLING: measured(ppn)}) for ppn in (1, 2, 4)}
    for known, factor in (((2, 4), 1.5**4), ((1, 2, 4), 1.5**4)):
        model = between({ppn: laws[ppn] for ppn in known}, 4)[DOUBLING]
        forecast = model.forecast(1 << 12, 8, 16)
        assert forecast is not None
        assert forecast.seconds == pytest.approx(factor * truth(TREE, 1 << 12, 8, 1), rel=0.01)
    alone = between({ppn: laws[ppn] for ppn in (1, 2)}, 2)[DOUBLING].forecast(1 << 12, 8, 16)
    assert alone is not None
    assert alone.seconds < 1.5**3 * truth(TREE, 1 << 12, 8, 1), "by its law alone"
    assert between(laws, 4)[DOUBLING].forecast(1 << 62, 8, 16) is None


def test_the_report_tells_what_is_not_sure_and_what_would_decide_it() -> None:
    (shape,) = predictions(predicted({DEFAULT: (TREE, 1.1), DOUBLING: (TREE, 1.0), AROUND: (RING, 1.0)}, to=64))
    assert (shape["title"], shape["launch"]) == ("64 nodes × 2 ranks", "")
    unsure = [row for row in shape["rows"] if not row["is_sure"]]
    assert unsure
    assert all(row["others"] for row in unsure), "what may be faster is named"
    (command,) = shape["commands"]
    assert command.startswith("unisono tune --nodes 64 --ppn 2 --collective allreduce --size ")
    assert predictions(None) == []
