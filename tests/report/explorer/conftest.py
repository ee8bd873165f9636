"""Profiles for the explorer's tests, and their pages in the browser that all tests of the report share."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest
from selenium.webdriver import Chrome

from tests.profile.synthetic import synthetic
from tests.report import synthetic as studies
from tests.report import synthetic_decisions
from tests.report.browsing import console, requests, wait_for
from unisono.core.vocabulary import Case
from unisono.decide.document import from_decision
from unisono.profile.recorded import Profile
from unisono.report.explorer.page import write_explorer
from unisono.report.view import CaseView, case_views
from unisono.study.data import StudyData
from unisono.tuning import Tuning


def one_phase(profile: Profile) -> Profile:
    """The same without named phases."""
    cells = profile.cells.copy()
    cells["phase"] = 0
    return dataclasses.replace(profile, cells=cells, phases=("",))


@pytest.fixture(scope="session")
def profile() -> Profile:
    """12 ranks on 3 nodes, 40 call paths, without phases."""
    return one_phase(synthetic(12, 40, nodes=3, sizes=3))


@pytest.fixture(scope="session")
def measured() -> tuple[StudyData, Tuning, dict[Case, CaseView]]:
    """A study of the profile's shape: 3 nodes of 4 ranks."""
    study = studies.study(cases=[Case(collective, 3, 4) for collective in ("allreduce", "alltoall")])
    decision = synthetic_decisions.decision(study)
    return study, from_decision(decision, study), {view.case: view for view in case_views(study, decision)}


@pytest.fixture(scope="session")
def pages(
    profile: Profile, measured: tuple[StudyData, Tuning, dict[Case, CaseView]], tmp_path_factory: pytest.TempPathFactory
) -> dict[str, Path]:
    directory = tmp_path_factory.mktemp("explorer")
    _, tuning, views = measured
    large = synthetic(256, 1000, nodes=8)
    summed = dataclasses.replace(profile, origin=dataclasses.replace(profile.origin, summed=True))
    return {
        "plain": write_explorer(profile, directory / "plain.html", name="run", tuning=tuning, views=views),
        "gains": write_explorer(profile, directory / "gains.html", tuning=tuning),
        "phases": write_explorer(synthetic(8, 20), directory / "phases.html"),
        "large": write_explorer(large, directory / "large.html"),
        "summed": write_explorer(summed, directory / "summed.html"),
    }


def open_explorer(browser: Chrome, page: Path) -> None:
    """With its panes filled, and nothing left in the logs from before."""
    console(browser)
    requests(browser)
    browser.get(page.as_uri())
    wait_for(browser, "return document.documentElement.dataset.explorer", lambda state: state == "ready")
