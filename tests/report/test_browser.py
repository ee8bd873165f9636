"""The page in a real browser: opens from a file, asks nobody for anything, draws, zooms, switches, prints."""

from __future__ import annotations

import base64
import json
import re
from pathlib import Path

import pytest
from selenium.webdriver import ActionChains, Chrome
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from tests.report.browsing import DRAWN, console, open_page, requests, scroll_through, sideways, wait_for
from unisono.decide.decision import Decision
from unisono.report.report import write_report
from unisono.study.data import StudyData

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def page(study: StudyData, decision: Decision, directory: Path) -> Path:
    return write_report(study, decision, directory / "report.html")


@pytest.fixture
def opened(browser: Chrome, page: Path) -> Chrome:
    open_page(browser, page)
    return browser


def test_opens_without_a_word_on_the_console_and_without_a_request(opened: Chrome) -> None:
    for details in opened.find_elements(By.CSS_SELECTOR, "details"):
        opened.execute_script("arguments[0].open = true", details)
    scroll_through(opened)
    plots = len(opened.find_elements(By.CSS_SELECTOR, ".plot"))
    undrawn = "return [...document.querySelectorAll('.plot')].filter((p) => !p.querySelector('svg.main-svg')).length"
    wait_for(opened, undrawn, lambda n: n == 0)
    assert plots > 10
    assert console(opened) == []
    assert [url for url in requests(opened) if not url.startswith(("file://", "data:", "blob:"))] == []
    assert opened.find_element(By.TAG_NAME, "html").get_attribute("lang") == "en"
    assert opened.title.startswith("On this machine, ")


def test_figures_of_closed_cases_are_drawn_when_opened(opened: Chrome) -> None:
    closed = opened.find_elements(By.CSS_SELECTOR, "details.case:not([open])")
    assert closed
    assert closed[0].find_elements(By.CSS_SELECTOR, "svg.main-svg") == []
    opened.execute_script("arguments[0].scrollIntoView()", closed[0])
    closed[0].find_element(By.TAG_NAME, "summary").click()
    wait_for(opened, "return arguments[0].querySelectorAll('svg.main-svg').length", bool, closed[0])


def test_curves_are_drawn_as_lines(opened: Chrome) -> None:
    lines = "return document.querySelectorAll('details.case[open] .with-legend g.trace.scatter path.js-line').length"
    # the limit, and default and chosen in both panels
    assert wait_for(opened, lines, lambda n: n >= 5)


def test_figures_answer_the_mouse(opened: Chrome) -> None:
    """Pointing shows numbers, dragging zooms, a double click takes it back, and a button makes a picture."""
    plot = opened.find_element(By.CSS_SELECTOR, "details.case[open] .plot")
    opened.execute_script("arguments[0].scrollIntoView({block: 'center'})", plot)
    area = plot.find_element(By.CSS_SELECTOR, ".nsewdrag")
    point = plot.find_elements(By.CSS_SELECTOR, ".scatterlayer .point")[3]
    ActionChains(opened).move_to_element(point).perform()
    wait_for(opened, "return arguments[0].querySelectorAll('.hoverlayer text').length", bool, plot)
    ranges = "return JSON.stringify(arguments[0]._fullLayout.xaxis.range)"
    before = opened.execute_script(ranges, plot)
    ActionChains(opened).move_to_element(area).click_and_hold().move_by_offset(80, 0).release().perform()
    wait_for(opened, ranges, lambda range: range != before, plot)

    def is_back(range: str) -> bool:
        """Two clicks that a busy machine brings more than 300 ms apart are none for the figure: people click again."""
        if range != before:
            ActionChains(opened).double_click(area).perform()
        return bool(range == before)

    wait_for(opened, ranges, is_back, plot)
    opened.execute_script(
        "window.saved = ''; HTMLAnchorElement.prototype.click = function () { saved = this.download; }"
    )
    picture = plot.find_element(By.CSS_SELECTOR, ".modebar-btn")
    opened.execute_script("arguments[0].dispatchEvent(new MouseEvent('click', {bubbles: true}))", picture)
    wait_for(opened, "return window.saved", lambda name: name.endswith(".png"))
    assert console(opened) == []


def test_zoom_buttons_show_their_sizes_and_fit_the_times(opened: Chrome) -> None:
    ranges = (
        "const l = document.querySelector('details.case[open] .plot').layout; return [l.xaxis.range, l.yaxis.range]"
    )
    drawn = "return Boolean(document.querySelector('details.case[open] .plot').layout)"
    opened.execute_script("document.querySelector('details.case[open] .plot').scrollIntoView()")
    wait_for(opened, drawn, bool)
    (x_all, y_all) = opened.execute_script(ranges)
    buttons = {b.text: b for b in opened.find_elements(By.CSS_SELECTOR, "details.case[open] button[data-set=zoom]")}
    assert list(buttons) == ["all", "small", "medium", "medium large", "large"]
    buttons["small"].click()
    (x, y) = opened.execute_script(ranges)
    assert 10 ** x[0] <= 8 < 512 <= 10 ** x[1] < 2048
    assert y[1] < y_all[1], "the times of small messages fill the axis"
    assert buttons["small"].get_attribute("aria-pressed") == "true"
    assert buttons["all"].get_attribute("aria-pressed") == "false"
    ticks = opened.execute_script(
        "return [...document.querySelector('details.case[open] .plot').layout.yaxis.ticktext]"
    )
    assert 3 <= len(ticks) <= 12
    buttons["all"].send_keys(Keys.ENTER)
    assert opened.execute_script(ranges) == [x_all, y_all]


def test_legend_switches_curves_from_the_keyboard(opened: Chrome) -> None:
    visible = "return document.querySelector('details.case[open] .plot').data.filter((t) => t.visible !== false).length"
    before = opened.execute_script(visible)
    button = opened.find_element(By.CSS_SELECTOR, "details.case[open] .legend .others button")
    button.send_keys(Keys.SPACE)
    assert button.get_attribute("aria-pressed") == "true"
    assert opened.execute_script(visible) == before + len(json.loads(button.get_attribute("data-traces") or ""))
    opened.find_element(By.CSS_SELECTOR, "details.case[open] .legend button[data-none]").click()
    assert opened.execute_script(visible) == before


def test_steps_switch_between_gain_and_time(opened: Chrome) -> None:
    scroll_through(opened)
    title = "return document.querySelectorAll('details.case[open] .panels .plot')[0].layout.yaxis.title.text"
    assert wait_for(opened, title, bool) == "gain over not set"
    button = opened.find_element(By.CSS_SELECTOR, "details.case[open] button[data-set=view][data-value=time]")
    opened.execute_script("arguments[0].scrollIntoView({block: 'center'})", button)
    button.click()
    assert opened.execute_script(title) == "time"


def test_theme_follows_the_system_and_the_button(opened: Chrome, page: Path) -> None:
    opened.execute_script("localStorage.clear()")  # pages of other tests remember their choice for all
    open_page(opened, page)
    paper = "return getComputedStyle(document.body).backgroundColor"
    curve = (
        "return document.querySelector('details.case[open] .plot')"
        ".data.find((t) => t.name === 'chosen' && t.line.width > 1).line.color"
    )

    def system(scheme: str) -> None:
        feature = {"name": "prefers-color-scheme", "value": scheme}
        opened.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [feature]})

    try:
        system("light")
        light = opened.execute_script(paper), wait_for(opened, curve, lambda c: c == "#0a5fb4")
        assert light[0] == "rgb(255, 255, 255)"
        system("dark")
        wait_for(opened, curve, lambda c: c == "#6db3f7")
        assert opened.execute_script(paper) == "rgb(20, 23, 27)"
        opened.find_element(By.ID, "theme").click()
        assert opened.execute_script(paper) == light[0]
        assert opened.execute_script(curve) == light[1]
        opened.refresh()
        opened.execute_script("document.querySelector('details.case[open] .plot').scrollIntoView()")
        wait_for(opened, DRAWN, bool)
        assert opened.execute_script(paper) == light[0], "the choice is remembered"
    finally:
        opened.execute_script("localStorage.clear()")
        system("light")


def test_prints_light_what_is_open_on_six_pages_at_most(opened: Chrome) -> None:
    opened.execute_script("document.documentElement.dataset.theme = 'dark'")
    opened.execute_script(
        "addEventListener('afterprint', () => { window.printed = true; });"
        "const wanted = (p) => !p.closest('details:not([open]), .steps, .map, .screen');"
        "const state = () => ({theme: document.documentElement.dataset.theme,"
        " undrawn: [...document.querySelectorAll('.plot')]"
        "   .filter((p) => wanted(p) && !p.querySelector('svg.main-svg')).length,"
        " widest: Math.max(...[...document.querySelectorAll('.plot')].filter(wanted)"
        "   .map((p) => p.querySelector('svg.main-svg').clientWidth))});"
        "addEventListener('beforeprint', () => { window.atPrint = state(); });"
    )
    pdf = base64.b64decode(opened.execute_cdp_cmd("Page.printToPDF", {"preferCSSPageSize": True})["data"])
    assert len(pdf) > 50_000
    assert 2 <= len(re.findall(rb"/Type\s*/Page[^s]", pdf)) <= 6
    assert opened.execute_script("return window.atPrint") == {"theme": "light", "undrawn": 0, "widest": 700}
    wait_for(opened, "return window.printed", bool)
    assert opened.execute_script("return document.documentElement.dataset.theme") == "dark"
    assert opened.find_elements(By.CSS_SELECTOR, "details.case:not([open])")


def test_names_of_settings_leave_room_for_the_map_on_a_narrow_page(opened: Chrome) -> None:
    """At 420 pixels they took five sixths of the width."""
    metrics = {"width": 420, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    opened.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    try:
        opened.refresh()
        scroll_through(opened)
        drawn = ".filter((p) => p.clientWidth && p._fullLayout)"
        plots = f"[...document.querySelectorAll('.map .plot, #time .plot')]{drawn}"
        shares = f"return {plots}.map((p) => p._fullLayout.xaxis._length / p.clientWidth)"
        found = wait_for(opened, shares, lambda found: len(found) == 2)
    finally:
        opened.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    assert min(found) > 0.4, found


@pytest.mark.parametrize("width", [1280, pytest.param(800, marks=pytest.mark.nightly), 420])
def test_nothing_sticks_out_sideways(opened: Chrome, width: int) -> None:
    assert sideways(opened, width) == []


def test_a_link_to_a_case_opens_it(browser: Chrome, page: Path) -> None:
    browser.get("about:blank")
    browser.get(page.as_uri() + "#case-bcast-1x2")
    wait_for(browser, "return document.getElementById('case-bcast-1x2').open", bool)


def test_a_classic_study_draws_its_steps(browser: Chrome, classic: tuple[StudyData, Decision], directory: Path) -> None:
    open_page(browser, write_report(*classic, directory / "classic.html"))
    scroll_through(browser)
    panels = (
        "return [...document.querySelectorAll('[data-same] .plot')]"
        ".filter((p) => p.layout).map((p) => p.layout.yaxis.range)"
    )
    ranges = wait_for(browser, panels, lambda found: len(found) >= 6)
    assert all(r == ranges[0] for r in ranges[:6]), "panels of a step share their scale"
    assert console(browser) == []
