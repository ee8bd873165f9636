"""Every kind of page is read on a telephone, too. Reports and profiles are asked beside their other tests."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from selenium.webdriver import Chrome

from tests.advise.made_world import Fake
from tests.fabric.made_up import Ails, made_up
from tests.hybrid.made import all_of, machine
from tests.hybrid.made import study as hybrid_study
from tests.report import synthetic as studies
from tests.report import synthetic_decisions
from tests.report.browsing import sideways, wait_for
from tests.report.test_comparison import boot
from unisono.advise.story import read_story
from unisono.core.vocabulary import Case
from unisono.decide.compare import compare
from unisono.hybrid.compare import compare as compare_hybrid
from unisono.hybrid.study import HybridStudy
from unisono.report.fabric import write_fabric_report
from unisono.report.hybrid import write_hybrid_report
from unisono.report.hybrid_comparison import write_hybrid_comparison
from unisono.report.report import write_comparison_report, write_report
from unisono.report.story import write_story

pytestmark = pytest.mark.browser


def _hybrid(name: str, times: tuple[float, ...]) -> HybridStudy:
    on = machine(4, name=name)
    return hybrid_study(dict(zip(all_of(on, "1x1,1x2,1x4,2x2"), times, strict=True)), on)


def _story(path: Path) -> Path:
    fake = Fake(path.parent)
    return write_story(read_story(fake.optimize(), fake.files), path)


def _comparison(path: Path) -> Path:
    studies = [boot(domains, speed, domains) for domains, speed in ((1, 1.0), (4, 1.25), (2, 0.8))]
    return write_comparison_report(compare(*studies), studies, path)


def _layouts(path: Path) -> Path:
    return write_hybrid_report(_hybrid("t2k", (1.0, 2.0, 4.0, 0.9)), path)


def _compared_layouts(path: Path) -> Path:
    studies = [_hybrid("t2k", (1.0, 2.0, 4.0, 0.9)), _hybrid("xt4", (0.5, 1.25, 2.0, 0.6))]
    return write_hybrid_comparison(compare_hybrid(studies), studies, path)


def _fabric(path: Path) -> Path:
    return write_fabric_report(made_up(12, 0, Ails(slower={1: 2.0})), path)


MARKS = """
const sizes = (what, side) => [...document.querySelectorAll(what)]
  .map((e) => e.getBoundingClientRect()[side]).filter((size) => size > 0);
return [Math.min(...sizes("svg.interval", "width")), Math.min(...sizes("svg.axis text", "height"))]"""


@pytest.mark.parametrize("made", [_comparison, _compared_layouts])
def test_marks_and_their_axis_can_be_read(browser: Chrome, tmp_path: Path, made: Callable[[Path], Path]) -> None:
    """At 800 pixels a table leaves little room for them: they were a few pixels wide, with letters of three."""
    browser.get(made(tmp_path / "page.html").as_uri())
    metrics = {"width": 800, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    try:
        marks, words = browser.execute_script(MARKS)
    finally:
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    assert (marks >= 120, words >= 6) == (True, True), (marks, words)


WHOLE = """
const line = (node, from) => {
  const range = document.createRange();
  range.setStart(node, from), range.setEnd(node, node.textContent.length);
  return [...range.getClientRects()].map((box) => box.bottom); };
document.querySelector("details.case .what").textContent += ", tuned/recursive_doubling below 2 KiB".repeat(9);
return [
  [...document.querySelectorAll("h1 small")].map(({ previousSibling: before, firstChild: inside }) =>
    [...line(before, before.textContent.trimEnd().length - 3), ...line(inside, 0)]),
  [...document.querySelectorAll("details.case .what")].filter((what) => what.scrollWidth > what.clientWidth).length]"""


@pytest.mark.parametrize("width", [390, 1280])
def test_a_ratio_has_its_interval_beside_it_and_a_choice_is_shown_whole(
    browser: Chrome, tmp_path: Path, width: int
) -> None:
    study = studies.study(cases=[Case(name, 1, 4) for name in ("allreduce", "alltoall", "allgather", "bcast")])
    page = write_report(study, synthetic_decisions.decision(study), tmp_path / "report.html")
    browser.get(page.as_uri())
    metrics = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    try:
        lines, cut = browser.execute_script(WHOLE)
    finally:
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    assert len(lines) == 4
    assert all(max(line) - min(line) < 12 for line in lines), lines  # a line is 27 pixels high, or more
    assert cut == 0


def test_every_node_of_a_fabric_has_its_row_on_paper(browser: Chrome, tmp_path: Path) -> None:
    """Charts are printed low; a map of nodes is as high as they are many."""
    browser.get(_fabric(tmp_path / "page.html").as_uri())
    wait_for(browser, "return 'ready' in document.documentElement.dataset", bool)
    heights = "return [...document.querySelectorAll('.plot')].map((p) => p._fullLayout.height)"
    browser.execute_script("dispatchEvent(new Event('beforeprint'))")
    found = wait_for(browser, heights, lambda heights: len(heights) == 3)
    browser.execute_script("dispatchEvent(new Event('afterprint'))")
    assert min(found) >= 12 * 18, found
    assert found[0] >= 12 * 30, found


def test_open_markers_are_drawn_open(tmp_path: Path) -> None:
    """As the keys below them are."""
    page = _story(tmp_path / "page.html").read_text(encoding="utf-8")
    assert page.count('<g class="open" transform') == page.count("<g transform") > 0


@pytest.mark.parametrize("made", [_story, _comparison, _layouts, _compared_layouts, _fabric])
def test_nothing_is_cut(browser: Chrome, tmp_path: Path, made: Callable[[Path], Path]) -> None:
    browser.get(made(tmp_path / "page.html").as_uri())
    assert {width: sideways(browser, width) for width in (800, 420)} == {800: [], 420: []}
