"""The explorer in a browser on profiles that hold very much, very little, or names made to break a page."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest
from selenium.webdriver import Chrome
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from tests.report.browsing import console, wait_for
from tests.report.explorer.conftest import open_explorer
from tests.report.explorer.reading import ROWS, press
from unisono.profile.recorded import Profile
from unisono.report.explorer.page import write_explorer

pytestmark = pytest.mark.browser


def test_256_ranks_and_1000_call_paths_draw_only_what_is_in_view(browser: Chrome, pages: dict[str, Path]) -> None:
    open_explorer(browser, pages["large"])
    count = "return document.querySelectorAll('[role=treeitem]').length"
    browser.find_element(By.ID, "open-all").click()
    press(browser, "system", Keys.HOME, Keys.ARROW_DOWN, "*")
    assert browser.execute_script("return document.querySelector('#call .rows').offsetHeight") > 1000 * 24
    assert browser.execute_script("return document.querySelector('#system .rows').offsetHeight") > 256 * 24
    for keys in ([], [Keys.PAGE_DOWN] * 3, [Keys.END]):
        press(browser, "call", *keys)
        assert browser.execute_script(count) < 150
        chosen = "return document.querySelector('#call [aria-selected=true]').getBoundingClientRect().bottom"
        below = "return document.querySelector('#call').getBoundingClientRect().bottom"
        assert browser.execute_script(chosen) <= browser.execute_script(below) + 1
    assert browser.execute_script("return document.querySelectorAll('*').length") < 3000
    assert console(browser) == []


def test_profiles_that_hold_little_still_open(browser: Chrome, profile: Profile, tmp_path: Path) -> None:
    poor = profile.cells.copy()
    for name in ("waiting", "time_min", "time_max"):
        poor[name] = np.nan
    for name in ("calls", "sent", "received", "size", "size_min", "size_max", "comm"):
        poor[name] = -1
    for number, cells in enumerate((poor, poor[poor["function"] == 0], poor[poor["function"] != 0], poor[:0])):
        page = write_explorer(dataclasses.replace(profile, cells=cells), tmp_path / f"{number}.html")
        open_explorer(browser, page)
        for pane in ("metric", "call", "system"):
            press(browser, pane, Keys.HOME, "*", Keys.END, Keys.HOME, Keys.ARROW_LEFT)
        browser.execute_script(
            "document.querySelectorAll('[data-mode], [data-by], #hottest').forEach((b) => b.click())"
        )
        words = browser.find_element(By.TAG_NAME, "body").text
        assert not any(word in words for word in ("NaN", "undefined", "Infinity"))
        assert console(browser) == []


HOSTILE = (
    "</script><script>document.title = 'taken'</script>",
    "<img src=x onerror=\"document.title='taken'\">",
    "\"'`${document.title='taken'}",
    "{{ 7 * 7 }}",
    "\u202eevil\u2066\x00\x1b[31m\ud800",
    "größe::大きさ\U0001f600",
    "std::vector<" * 900 + "int" + ">" * 900,
)


def test_hostile_names_are_only_names(browser: Chrome, profile: Profile, tmp_path: Path) -> None:
    frames = tuple(
        dataclasses.replace(frame, function=HOSTILE[number % len(HOSTILE)], file=HOSTILE[number % 5], module=HOSTILE[0])
        for number, frame in enumerate(profile.frames)
    )
    origin = dataclasses.replace(
        profile.origin,
        command=HOSTILE[0],
        mpi=HOSTILE[1],
        ended=HOSTILE[0],
        created=HOSTILE[0],
        hosts=tuple(HOSTILE[rank % 5] for rank in range(profile.ranks)),
        machine={HOSTILE[1]: HOSTILE[0]},
    )
    functions = ("", *(HOSTILE[number % len(HOSTILE)] + str(number) for number in range(1, len(profile.functions))))
    hostile = dataclasses.replace(profile, frames=frames, origin=origin, functions=functions, notes=HOSTILE)
    open_explorer(browser, write_explorer(hostile, tmp_path / "hostile.html", name=HOSTILE[0]))
    browser.find_element(By.ID, "open-all").click()
    for word in ("script", "vector", "{{"):
        field = browser.find_element(By.ID, "find")
        field.clear()
        field.send_keys(word, Keys.ENTER)
    wait_for(browser, "return document.querySelectorAll('#matches button').length", lambda n: n > 0)
    assert browser.title != "taken"
    assert browser.execute_script("return document.querySelectorAll('main img, main script').length") == 0
    assert console(browser) == []
    names = [row["name"] for row in browser.execute_script(ROWS, "call")]
    assert any("<img src=x" in name for name in names)
    assert not any(char in name for name in names for char in "\u202e\u2066\x1b")
    assert max(len(name) for name in names) <= 72
    width = browser.execute_script("return document.documentElement.scrollWidth - innerWidth")
    assert width <= 0, "nothing is pushed out of the page"
