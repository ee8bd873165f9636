"""Layouts in a tuning: what is proven is kept, what is not is not called proven."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import pytest

from tests.hybrid.made import all_of, machine, study
from tests.hybrid.test_decide import answer
from tests.tuning.samples import machine as tuned_machine
from tests.tuning.samples import plan, tuning
from unisono.cmdline.layouts import Layout
from unisono.core.errors import UserError
from unisono.core.vocabulary import Setting
from unisono.hybrid.decide import decide
from unisono.hybrid.keep import beside, keeping_layouts, layouts, with_layouts
from unisono.hybrid.policies import POLICIES
from unisono.hybrid.run import Result
from unisono.hybrid.variants import Variant
from unisono.machine.fingerprint import fingerprint
from unisono.tuning import LayoutModel, read, write
from unisono.tuning.document import parse, render
from unisono.tuning.show import show


def kept(seconds_of_hybrid: float) -> LayoutModel:
    flat, two, _ = all_of(machine())
    found = study({flat: 1.0, two: seconds_of_hybrid})
    (layout,) = layouts(found.decision, found.data, found.program, found.metric)
    return layout


def test_the_proven_layout_is_kept_with_its_evidence(tmp_path: Path) -> None:
    layout = kept(0.8)
    assert (layout.nodes, layout.threads, layout.processes, layout.proven) == (1, 2, 2, True)
    assert layout.gain.mid == pytest.approx(1.25, rel=0.05)
    assert layout.reference == "flat MPI"
    made = with_layouts(None, [layout], study({all_of(machine())[0]: 1.0}).data)
    path = tmp_path / "tuning.toml"
    write(made, path)
    assert read(path, layouts=True) == made
    assert parse(render(made), "here") == made
    assert len(show(made).renderables) > 1


def test_nothing_proven_keeps_the_reference_and_says_so() -> None:
    layout = kept(1.0)
    assert (layout.threads, layout.processes, layout.proven) == (1, 4, False)
    assert (layout.gain.low, layout.gain.high) == (1.0, 1.0)


def test_one_layout_alone_is_no_finding() -> None:
    found = study({all_of(machine())[0]: 1.0})
    assert layouts(found.decision, found.data, found.program, found.metric) == []


def test_a_restless_machine_leaves_no_layout() -> None:
    flat, two, _ = all_of(machine())
    found = study({flat: 1.0, two: 0.5})
    restless = [
        Result(r.round, r.variant, r.seconds, "", answer(r.seconds or 1, triad=10.0 * 1.5**r.round))
        for r in found.results
    ]
    decision = decide(restless, [flat, two], 0.95)
    assert decision is not None
    assert layouts(decision, found.data, found.program, found.metric) == []


def test_policies_are_kept_by_their_own_name() -> None:
    flat, four = (Variant(1, Layout(*sides), "auto", "single", Setting()) for sides in ((1, 16), (4, 4)))
    found = study({flat: 1.0, four: 0.8}, machine(16, 4))
    assert layouts(found.decision, found.data, found.program, found.metric)[0].numa == "socket-local"
    assert get_args(LayoutModel.model_fields["numa"].annotation) == tuple(POLICIES)


def test_a_newer_layout_replaces_the_older_and_plans_stay() -> None:
    there = tuning(plan())
    data = study({all_of(machine())[0]: 1.0}).data
    older = with_layouts(there, [kept(0.8)], data)
    assert older.plan == there.plan
    other = kept(0.7).model_copy(update={"program": "./app"})
    newer = with_layouts(older, [kept(0.5), other], data)
    assert [layout.program for layout in newer.layout] == ["solver 64", "./app"]
    assert newer.layout[0].gain.mid > 1.8


def test_tune_keeps_layouts_of_the_same_machine(tmp_path: Path) -> None:
    here = tuned_machine()
    path = tmp_path / "tuning.toml"
    before = tuning(plan()).model_copy(update={"machine": fingerprint(here)})
    write(with_layouts(before, [kept(0.8)], study({all_of(machine())[0]: 1.0}).data), path)
    again = keeping_layouts(before, path)
    assert len(again.layout) == 1
    elsewhere = before.model_copy(update={"machine": {**fingerprint(here), "CPU": "another"}})
    assert keeping_layouts(elsewhere, path).layout == ()
    assert keeping_layouts(before, tmp_path / "none.toml") == before


def test_a_tuning_of_another_machine_is_not_extended(tmp_path: Path) -> None:
    path = tmp_path / "tuning.toml"
    assert beside(path, machine()) is None
    write(tuning(plan()).model_copy(update={"machine": {"CPU": "another"}}), path)
    with pytest.raises(UserError, match="machine that differs: it was measured with CPU another, but here it is test"):
        beside(path, machine())


def test_layouts_alone_are_a_tuning_for_run_layout_only(tmp_path: Path) -> None:
    path = tmp_path / "tuning.toml"
    write(with_layouts(None, [kept(0.8)], study({all_of(machine())[0]: 1.0}).data), path)
    with pytest.raises(UserError, match="holds layouts alone, nothing on collectives"):
        read(path)
    text = render(read(path, layouts=True))
    with pytest.raises(UserError, match="has two layouts"):
        parse(text + text[text.index("\n[[layout]]") :], "here")
    with pytest.raises(UserError, match="neither a plan nor a layout"):
        parse(text[: text.index("\n[[layout]]")], "here")
