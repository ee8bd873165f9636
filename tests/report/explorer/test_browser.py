"""The explorer in a real browser: its values are the profile's, its trees work from the keyboard, names stay names."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from selenium.webdriver import Chrome
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from tests.report.browsing import console, requests, sideways, wait_for
from tests.report.explorer.conftest import open_explorer
from tests.report.explorer.reading import ROWS, choose_metric, press, rows, selected
from unisono.profile.hot import hot_spots
from unisono.profile.recorded import Profile
from unisono.report.explorer.kinds import COLLECTIVE, PROGRAM
from unisono.report.explorer.messages import message_table
from unisono.report.explorer.tree import CallTree, call_tree

pytestmark = pytest.mark.browser


@pytest.fixture
def opened(browser: Chrome, pages: dict[str, Path]) -> Chrome:
    browser.set_window_size(1280, 1000)
    open_explorer(browser, pages["plain"])
    return browser


@pytest.fixture(scope="module")
def tree(profile: Profile) -> CallTree:
    return call_tree(profile)


def in_subtree(tree: CallTree, node: int) -> Any:
    return (tree.node_of_cell >= node) & (tree.node_of_cell < tree.end[node])


def is_mpi(profile: Profile) -> Any:
    return profile.cells["function"] != 0


def test_opens_without_a_word_on_the_console_and_without_a_request(opened: Chrome, profile: Profile) -> None:
    assert console(opened) == []
    assert [url for url in requests(opened) if not url.startswith(("file://", "data:", "blob:"))] == []
    assert opened.find_element(By.TAG_NAME, "h1").text.endswith("of that is waiting.")
    for pane in ("metric", "call", "system"):
        assert len(rows(opened, pane)) > 3
    assert len(opened.find_elements(By.CSS_SELECTOR, "table.spots tbody tr")) == min(8, len(hot_spots(profile)))
    assert opened.find_elements(By.CSS_SELECTOR, "#cells svg path.cells")
    assert opened.find_elements(By.CSS_SELECTOR, "#strip svg path.part")
    assert not opened.find_elements(By.CSS_SELECTOR, "#loading")


def test_starts_at_the_first_hot_spot(opened: Chrome, profile: Profile) -> None:
    (spot,) = hot_spots(profile, 1)
    assert selected(opened, "metric")["name"] == "MPI"
    chosen = selected(opened, "call")
    assert chosen["name"] == spot.function
    assert chosen["value"] == pytest.approx(spot.time, rel=1e-6)


def test_metrics_are_the_sums_of_the_cells(opened: Chrome, profile: Profile, tree: CallTree) -> None:
    cells, mpi = profile.cells, is_mpi(profile)
    shown = rows(opened, "metric")
    assert shown["time"]["open"] == "true"
    assert shown["time"]["value"] == pytest.approx(cells["time"][~mpi].sum(), rel=1e-6), "open: its own alone"
    assert shown["MPI"]["value"] == pytest.approx(cells["time"][mpi].sum(), rel=1e-6), "closed: with all below"
    assert shown["MPI calls"]["value"] == np.maximum(cells["calls"][mpi], 0).sum()
    assert shown["bytes sent"]["value"] == np.maximum(cells["sent"][mpi], 0).sum()
    assert shown["bytes received"]["value"] == np.maximum(cells["received"][mpi], 0).sum()
    assert shown["shortest call"]["value"] == pytest.approx(np.nanmin(cells["time_min"]), rel=1e-6)
    assert shown["longest call"]["value"] == pytest.approx(np.nanmax(cells["time_max"]), rel=1e-6)
    press(opened, "metric", Keys.ARROW_RIGHT)
    choose_metric(opened, "collective")
    press(opened, "metric", Keys.ARROW_RIGHT)
    collective = tree.kind[tree.node_of_cell] == COLLECTIVE
    shown = rows(opened, "metric")
    waiting = np.nansum(cells["waiting"][collective])
    assert shown["waiting for the last rank"]["value"] == pytest.approx(waiting, rel=1e-5)
    assert shown["collective"]["value"] == pytest.approx(cells["time"][collective].sum() - waiting, rel=1e-5)


@pytest.mark.parametrize(("metric", "column"), [("MPI", "time"), ("bytes sent", "sent"), ("MPI calls", "calls")])
def test_call_tree_is_inclusive_when_closed_and_exclusive_when_open(
    opened: Chrome, profile: Profile, tree: CallTree, metric: str, column: str
) -> None:
    choose_metric(opened, metric)
    values = np.maximum(profile.cells[column].astype(np.float64), 0) * is_mpi(profile)
    for action in ("close-all", "hottest", "open-all"):
        opened.find_element(By.ID, action).click()
        shown = opened.execute_script(ROWS, "call")
        assert shown
        for row in shown:
            inside = tree.node_of_cell == row["node"] if row["open"] == "true" else in_subtree(tree, row["node"])
            assert row["value"] == pytest.approx(values[inside].sum(), rel=1e-6), row


def test_time_open_shows_the_programs_own_code(opened: Chrome, profile: Profile, tree: CallTree) -> None:
    choose_metric(opened, "time")
    opened.find_element(By.ID, "close-all").click()
    own = profile.cells["time"][tree.kind[tree.node_of_cell] == PROGRAM].sum()
    assert selected(opened, "call")["value"] == pytest.approx(own, rel=1e-6)
    press(opened, "metric", Keys.ARROW_LEFT)
    assert selected(opened, "call")["value"] == pytest.approx(profile.cells["time"].sum(), rel=1e-6)


def test_system_tree_sums_nodes_and_ranks_of_the_chosen_call(opened: Chrome, profile: Profile, tree: CallTree) -> None:
    node = selected(opened, "call")["node"]
    inside = in_subtree(tree, node)
    by_rank = np.bincount(profile.cells["rank"][inside], profile.cells["time"][inside], profile.ranks)
    press(opened, "system", Keys.HOME, Keys.ARROW_DOWN, "*", Keys.HOME)
    shown = rows(opened, "system")
    assert shown["machine"]["value"] == 0, "open: nothing beside its nodes"
    for rank in range(4):
        assert shown[f"rank {rank}"]["value"] == pytest.approx(by_rank[rank], rel=1e-6)
        assert shown[f"rank {rank}"]["level"] == 3
    press(opened, "system", Keys.ARROW_DOWN, Keys.ARROW_LEFT)
    assert rows(opened, "system")["node0"]["value"] == pytest.approx(by_rank[:4].sum(), rel=1e-6)
    press(opened, "system", Keys.HOME, Keys.ARROW_LEFT)
    assert rows(opened, "system")["machine"]["value"] == pytest.approx(by_rank.sum(), rel=1e-6)


def test_values_as_percent(opened: Chrome, profile: Profile, tree: CallTree) -> None:
    time, mpi = profile.cells["time"], is_mpi(profile)
    node = selected(opened, "call")["node"]
    chosen = time[in_subtree(tree, node)].sum()
    press(opened, "system", Keys.HOME, Keys.ARROW_LEFT)

    def texts(mode: str) -> tuple[str, str]:
        opened.find_element(By.CSS_SELECTOR, f"[data-mode={mode}]").click()
        return selected(opened, "call")["text"], selected(opened, "system")["text"]

    of_all = f"{100 * chosen / time.sum():.1f} %"
    assert texts("root") == (of_all, of_all)
    assert texts("selection") == (f"{100 * chosen / time[mpi].sum():.1f} %", "100.0 %")
    choose_metric(opened, "longest call")
    assert "%" not in selected(opened, "call")["text"], "a part of a longest call means nothing"
    assert opened.find_element(By.CSS_SELECTOR, "[data-mode=selection]").get_attribute("aria-pressed") == "true"


def test_search_lists_the_largest_first_and_walks_through(opened: Chrome, profile: Profile, tree: CallTree) -> None:
    opened.find_element(By.ID, "close-all").click()
    opened.find_element(By.TAG_NAME, "body").send_keys("/")
    field = opened.switch_to.active_element
    assert field.get_attribute("id") == "find"
    field.send_keys("ALLtoall")
    function = profile.functions.index("MPI_Alltoall")
    nodes = [node for node in range(len(tree)) if tree.function[node] == function]
    order = sorted(nodes, key=lambda node: -profile.cells["time"][in_subtree(tree, node)].sum())
    listed = opened.find_elements(By.CSS_SELECTOR, "#matches button")
    assert [int(button.get_attribute("data-node") or -1) for button in listed] == order
    status = opened.find_element(By.ID, "found")
    assert status.text == f"{len(order)} found"
    for step, node in enumerate([*order, order[0]]):
        field.send_keys(Keys.ENTER)
        assert selected(opened, "call")["node"] == node
        assert status.text == f"{step % len(order) + 1} of {len(order)}"
    opened.find_element(By.ID, "previous").click()
    assert selected(opened, "call")["node"] == order[-1]
    assert opened.find_elements(By.CSS_SELECTOR, "#call .row.match")
    field.send_keys(Keys.ESCAPE)
    assert not opened.find_element(By.ID, "matches").is_displayed()
    assert opened.switch_to.active_element.get_attribute("id") == "call"
    field.send_keys("no such function")
    assert status.text == "none"


def test_trees_work_from_the_keyboard_as_the_pattern_says(opened: Chrome) -> None:
    opened.find_element(By.ID, "close-all").click()
    place = opened.find_element(By.ID, "call")
    assert place.get_attribute("role") == "tree"
    assert place.get_attribute("tabindex") == "0"

    def active() -> dict[str, Any]:
        chosen = selected(opened, "call")
        assert place.get_attribute("aria-activedescendant") == f"call-{chosen['node']}"
        return chosen

    press(opened, "call", Keys.ARROW_RIGHT)
    assert (active()["node"], active()["open"]) == (0, "true"), "right opens"
    press(opened, "call", Keys.ARROW_RIGHT)
    child = active()
    assert child["level"] == 2, "right again goes to the first child"
    press(opened, "call", Keys.ARROW_DOWN, Keys.ARROW_UP)
    assert active()["node"] == child["node"]
    press(opened, "call", Keys.END)
    assert active()["node"] == opened.execute_script(ROWS, "call")[-1]["node"]
    press(opened, "call", Keys.ARROW_UP, Keys.HOME, Keys.ARROW_RIGHT, Keys.ARROW_LEFT)
    assert active()["node"] == 0, "left goes to the parent"
    press(opened, "call", Keys.ENTER)
    assert active()["open"] == "false"
    press(opened, "call", Keys.ENTER)
    names = [row["name"] for row in opened.execute_script(ROWS, "call")]
    press(opened, "call", *names[-1])
    assert active()["name"] == names[-1], "letters go to a name"
    outline = opened.execute_script("return getComputedStyle(document.activeElement).outlineStyle")
    assert outline != "none", "the focus is visible"
    tabs = [opened.switch_to.active_element.get_attribute("id")]
    opened.switch_to.active_element.send_keys(Keys.TAB)
    tabs.append(opened.switch_to.active_element.get_attribute("id"))
    assert tabs == ["call", "system"]


def test_histogram_switches_between_count_bytes_and_time(opened: Chrome, profile: Profile, tree: CallTree) -> None:
    node = selected(opened, "call")["node"]
    table = message_table(profile, tree)
    mine = table["node"] == node
    assert np.count_nonzero(mine) == 3
    bars = "return [...document.querySelectorAll('#histogram .bar')].map((bar) => Number(bar.dataset.value))"
    for by in ("bytes", "time", "calls"):
        opened.execute_script("arguments[0].click()", opened.find_element(By.CSS_SELECTOR, f"[data-by={by}]"))
        assert opened.execute_script(bars) == pytest.approx(table[by][mine].tolist(), rel=1e-6)
    heads = [text.text for text in opened.find_elements(By.CSS_SELECTOR, "#histogram text.head")]
    assert heads[0].endswith(("B", "KiB", "MiB"))
    opened.execute_script(
        "const bar = document.querySelector('#histogram .bar'), box = bar.getBoundingClientRect();"
        "bar.dispatchEvent(new PointerEvent('pointermove', {bubbles: true, clientX: box.x + 2, clientY: box.y + 2}))"
    )
    tip = opened.execute_script("return document.querySelector('.tip').textContent")
    assert "of their calls" in tip
    assert f"{int(table['calls'][mine][0]):,} calls" in tip
    assert len(opened.find_elements(By.CSS_SELECTOR, "#sizes-table tbody tr")) == 3


def select_leaf(browser: Chrome, name: str) -> None:
    field = browser.find_element(By.ID, "find")
    browser.execute_script("arguments[0].value = ''", field)
    field.send_keys(name, Keys.ENTER)
    assert selected(browser, "call")["name"] == name


def test_the_tunings_curve_stands_below_with_the_programs_sizes_on_it(
    opened: Chrome, browser: Chrome, pages: dict[str, Path]
) -> None:
    select_leaf(opened, "MPI_Allreduce")
    part = opened.find_element(By.ID, "curve-part")
    assert part.is_displayed()
    assert "allreduce on 3 x 4 ranks" in opened.find_element(By.ID, "curve-head").text
    assert len(opened.find_elements(By.CSS_SELECTOR, "#curve path.curve")) == 2
    assert len(opened.find_elements(By.CSS_SELECTOR, "#curve path.program")) == 3
    marks = "return [...document.querySelectorAll('#curve line.own')].map((line) => Number(line.getAttribute('x1')))"
    ticks = "return [...document.querySelectorAll('#histogram line.exact')].map((l) => Number(l.getAttribute('x1')))"
    assert opened.execute_script(marks) == opened.execute_script(ticks), "one axis for both"
    words = opened.find_element(By.ID, "curve-words").text
    assert "by default" in words
    assert "as fast" in words
    select_leaf(opened, "MPI_Waitall")
    assert not part.is_displayed()
    assert "None of these calls has a message size" in opened.find_element(By.ID, "histogram-words").text
    open_explorer(browser, pages["gains"])
    select_leaf(browser, "MPI_Allreduce")
    assert len(browser.find_elements(By.CSS_SELECTOR, "#curve path.curve.tuned")) >= 1
    assert len(browser.find_elements(By.CSS_SELECTOR, "#curve path.program")) == 3
    assert console(browser) == []


def test_where_the_tuning_keeps_the_default_it_says_so(opened: Chrome) -> None:
    curve = "{sizes: [8, 64], default: [[1e-6, 1e-6, 1e-6], [2e-6, 2e-6, 2e-6]], tuned: [], setting: ['a', 'default']}"
    sizes = "[{low: 50, high: 50, mean: 50, sort: 0, calls: 1, time: 1}]"
    words = opened.execute_script(f"return explorer.curve.sentence({curve}, {sizes})")
    assert words == "50 B takes 100.0 % of the time here. Measured at 64 B, nothing beats the default: 2.00 µs."


def test_a_gain_is_stated_where_it_is_known(opened: Chrome) -> None:
    """An interval that holds 1 shows no difference, however far its middle is from 1."""
    sizes = "[{low: 8, high: 8, mean: 8, sort: 0, calls: 1, time: 1}]"

    def said(gain: str) -> tuple[str, str]:
        times = "sizes: [8], default: [[1.5e-6, 1e-6, 2e-6]], tuned: [[1e-6, 1e-6, 1e-6]], setting: ['a']"
        rules = f"rules: [{{first: 0, last: null, gain: {gain}, setting: 'a', sizes: []}}]"
        both = [
            f"return explorer.curve.sentence({{{curve}}}, {sizes})" for curve in (f"{times}, gain: [{gain}]", rules)
        ]
        start = "8 B takes 100.0 % of the time here. "
        first, second = (opened.execute_script(script).removeprefix(start) for script in both)
        return first, second

    for gain in ("[1.5, 0.9, 2.5]", "[0.7, 0.5, 1.1]", "[1.5, null, null]"):
        measured, ruled = said(gain)
        assert "1.50 µs by default, 1.00 µs tuned, with a; no difference shown: " in measured
        assert ruled.startswith("There the tuning uses a; no difference from the default shown: ")
    measured, ruled = said("[1.5, 1.2, 2]")
    assert measured.endswith("1.00 µs tuned, 1.50× (1.20–2.00) as fast, with a.")
    assert ruled == "There the tuning is 1.50× (1.20–2.00) as fast as the default, with a."
    assert "as fast" in said("[0.7, 0.5, 0.9]")[0]


def test_a_hot_spot_and_a_rank_can_be_clicked(opened: Chrome, profile: Profile) -> None:
    third = hot_spots(profile, 3)[2]
    opened.find_elements(By.CSS_SELECTOR, "button.go")[2].click()
    assert selected(opened, "call")["value"] == pytest.approx(third.time, rel=1e-6)
    opened.execute_script(
        "const svg = document.querySelector('#strip svg'), box = svg.getBoundingClientRect();"
        "svg.dispatchEvent(new MouseEvent('click', {bubbles: true, clientX: box.right - 20, clientY: box.y + 20}))"
    )
    assert selected(opened, "system")["name"] == "rank 11"


def test_the_matrix_shows_who_sends_to_whom(opened: Chrome, profile: Profile) -> None:
    paths = "return [...document.querySelectorAll('#cells path.cells')].map((path) => path.getAttribute('d')).join('')"
    assert opened.execute_script(paths).count("M") == len(profile.pairs)
    opened.execute_script("document.querySelector('[data-cells=calls]').click()")
    assert opened.find_element(By.CSS_SELECTOR, "#cells svg").get_attribute("aria-label") == (
        f"Communication matrix by calls: {len(profile.pairs)} pairs"
    )


def test_phases_are_branches_of_the_call_tree(browser: Chrome, pages: dict[str, Path]) -> None:
    open_explorer(browser, pages["phases"])
    shown = rows(browser, "call")
    assert shown["phase solve"]["level"] == shown["outside any phase"]["level"] == 2
    assert console(browser) == []


def test_ranks_of_summed_sources_are_not_compared(browser: Chrome, pages: dict[str, Path]) -> None:
    open_explorer(browser, pages["summed"])
    assert not browser.find_elements(By.ID, "strip")
    assert "equal part" in browser.find_element(By.ID, "spread-words").text
    assert "cannot be compared" in browser.find_element(By.CSS_SELECTOR, "#answer .warn").text
    assert console(browser) == []


def test_long_cpp_names_lose_their_template_arguments(opened: Chrome) -> None:
    def short(name: str) -> str:
        return str(opened.execute_script("return explorer.format.short(arguments[0], 40)", name))

    deep = "void Kokkos::run<Range<Host, Static<4> >, double>(int)" + " const" * 3
    assert short(deep) == "void Kokkos::run<…>(…)" + " const" * 3
    assert short(deep + " const") == "void Kokkos::run<…>(…) const const cons…"
    assert short("bool operator<(Key const&, Key const&) [clone]") == "bool operator<(…) [clone]"
    assert short("f<1>") == "f<1>"


def test_theme_and_narrow_windows(opened: Chrome) -> None:
    try:
        for width, columns in ((1280, 3), (420, 1)):
            opened.set_window_size(width, 900)
            panes = "return getComputedStyle(document.querySelector('.panes')).gridTemplateColumns.split(' ').length"
            wait_for(opened, panes, columns.__eq__)
            wait_for(opened, "return document.documentElement.scrollWidth - innerWidth", lambda n: n <= 0)
        assert sideways(opened, 800) == []
        assert sideways(opened, 420) == []
        paper = "return getComputedStyle(document.querySelector('#call .row .value')).backgroundColor"
        light = opened.execute_script(paper)
        opened.find_element(By.ID, "theme").click()
        assert opened.execute_script(paper) != light
        opened.find_element(By.ID, "theme").click()
    finally:
        opened.set_window_size(1280, 1000)


def test_prints_the_trees_and_charts_at_the_width_of_the_paper(opened: Chrome) -> None:
    opened.execute_script("window.dispatchEvent(new Event('beforeprint'))")
    assert opened.execute_script("return document.querySelector('#histogram svg').getAttribute('width')") == "690"
    assert opened.execute_script("return document.querySelector('#call').classList.contains('printed')")
    opened.execute_script("window.dispatchEvent(new Event('afterprint'))")
    assert opened.execute_script("return Number(document.querySelector('#histogram svg').getAttribute('width'))") > 900
    pdf = opened.execute_cdp_cmd("Page.printToPDF", {"printBackground": True})
    assert len(pdf["data"]) > 20_000
    assert console(opened) == []
