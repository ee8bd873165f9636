"""Studies for the report's tests, and a browser."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from selenium import webdriver
from selenium.webdriver.chrome.service import Service

from tests.report import synthetic, synthetic_decisions
from unisono.core.vocabulary import Case
from unisono.decide.decision import Decision
from unisono.report.view import CaseView, case_views
from unisono.study.data import StudyData


@pytest.fixture(scope="session")
def study() -> StudyData:
    return synthetic.study(cases=[Case(c, 1, 2) for c in ("allreduce", "alltoall", "bcast")])


@pytest.fixture(scope="session")
def decision(study: StudyData) -> Decision:
    return synthetic_decisions.decision(study)


@pytest.fixture(scope="session")
def views(study: StudyData, decision: Decision) -> list[CaseView]:
    return case_views(study, decision)


@pytest.fixture(scope="session")
def classic() -> tuple[StudyData, Decision]:
    """A small study in the form of Oracle's guides: thresholds x placements x components."""
    study = synthetic.oci(ppns=(48,), thresholds=("", "4kb", "16kb"), powers=range(0, 21, 4))
    return study, synthetic_decisions.decision(study, steps=True)


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[webdriver.Chrome]:
    """Headless Chromium that writes down every console message and every request."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    driver = shutil.which("chromedriver")
    if chromium is None or driver is None:
        pytest.skip("needs chromium and chromedriver (Debian: apt-get install chromium chromium-driver)")
    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    profile = tmp_path_factory.mktemp("chromium")
    for argument in (
        "--headless=new",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-background-networking",
        "--no-first-run",
        "--disable-component-update",
        "--disable-sync",
        "--window-size=1280,1000",
        f"--user-data-dir={profile}",
    ):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    chrome = webdriver.Chrome(options=options, service=Service(driver))
    try:
        chrome.set_page_load_timeout(60)
        chrome.get("about:blank")  # else the browser's own first page still loads its parts
        yield chrome
    finally:
        chrome.quit()


@pytest.fixture(scope="session")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("reports")
