"""Small steps in a browser."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from selenium.webdriver import Chrome

DRAWN = "return document.querySelectorAll('.plot svg.main-svg').length"


def wait_for(browser: Chrome, script: str, reached: Callable[[Any], bool], *arguments: Any) -> Any:
    """What the script returns, as soon as it is what is waited for; fails after ten seconds."""
    deadline = time.monotonic() + 10
    while not reached(value := browser.execute_script(script, *arguments)):
        assert time.monotonic() < deadline, f"{script}: still {value!r}"
        time.sleep(0.05)
    return value


def scroll_through(browser: Chrome) -> None:
    """Slowly enough that every figure comes into view."""
    y = 0
    while y < browser.execute_script("return document.documentElement.scrollHeight"):
        browser.execute_script(f"window.scrollTo(0, {y})")
        time.sleep(0.05)
        y += 700


def sideways(browser: Chrome, width: int) -> list[str]:
    """What a window of this width does not show: what lies beyond its edge, and what is cut and has to be scrolled."""
    metrics = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    try:
        browser.execute_script("document.querySelectorAll('details').forEach((d) => { d.open = true; })")
        scroll_through(browser)
        found: list[str] = browser.execute_script(
            "const said = (e) => e.outerHTML.slice(0, 80);"
            "const beyond = (e) => !e.closest('.scroll, .tree, svg, .plot, .map-head') && !e.classList.contains('sr')"
            " && e.getBoundingClientRect().right > arguments[0] + 1;"
            "const cut = (e) => e.scrollWidth > e.clientWidth + 1;"
            "return [...document.querySelectorAll('main *')].filter(beyond)"
            ".concat([...document.querySelectorAll('html, .scroll')].filter(cut)).map(said)",
            width,
        )
    finally:
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    return found


def console(browser: Chrome) -> list[Any]:
    """What was said since the last time."""
    driver: Any = browser
    return list(driver.get_log("browser"))


def requests(browser: Chrome) -> list[str]:
    """What was asked for since the last time."""
    driver: Any = browser
    messages = [json.loads(entry["message"])["message"] for entry in driver.get_log("performance")]
    return [m["params"]["request"]["url"] for m in messages if m["method"] == "Network.requestWillBeSent"]


def open_page(browser: Chrome, path: Path) -> None:
    """With the first figure of its open case drawn, and nothing left in the logs from before."""
    console(browser)
    requests(browser)
    browser.get(path.as_uri())
    # That figure and no other: one above it may be drawn before, and this one's `data` is set only with its drawing.
    first = "document.querySelector('details.case[open] .plot')"
    browser.execute_script(f"{first}.scrollIntoView()")
    wait_for(browser, f"const p = {first}; return Boolean(p.data && p.querySelector('svg.main-svg'))", bool)
