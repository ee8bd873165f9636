"""Reading the explorer's trees, and pressing their keys."""

from __future__ import annotations

from typing import Any

from selenium.webdriver import Chrome
from selenium.webdriver.common.by import By

ROWS = """return [...document.querySelectorAll('#' + arguments[0] + ' [role=treeitem]')].map((row) => ({
    node: Number(row.dataset.node), value: Number(row.dataset.value), text: row.querySelector('.number').textContent,
    name: row.querySelector('.name').textContent, level: Number(row.getAttribute('aria-level')),
    open: row.getAttribute('aria-expanded'), selected: row.getAttribute('aria-selected') === 'true'}))"""


def rows(browser: Chrome, pane: str) -> dict[str, dict[str, Any]]:
    """Name -> what the row says; call-tree names of the synthetic profile occur once but for MPI's."""
    return {row["name"]: row for row in browser.execute_script(ROWS, pane)}


def selected(browser: Chrome, pane: str) -> dict[str, Any]:
    (row,) = [row for row in browser.execute_script(ROWS, pane) if row["selected"]]
    return dict(row)


def press(browser: Chrome, pane: str, *keys: str) -> None:
    place = browser.find_element(By.ID, pane)
    browser.execute_script("arguments[0].focus({preventScroll: true})", place)
    place.send_keys(*keys)


def choose_metric(browser: Chrome, name: str) -> None:
    browser.execute_script(
        "[...document.querySelectorAll('#metric .name')].find((one) => one.textContent === arguments[0]).click()",
        name,
    )
    assert selected(browser, "metric")["name"] == name
