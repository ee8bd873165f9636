"""The explorer in Japanese, as it stands in a browser: what its scripts say, too."""

from __future__ import annotations

from pathlib import Path

from selenium.webdriver import Chrome

from tests.advise.made import Call
from tests.advise.made import profile as made
from tests.report.browsing import console
from tests.report.explorer.conftest import open_explorer
from tests.report.test_japanese import sentences_in
from unisono.core.vocabulary import Case
from unisono.profile.recorded import Profile
from unisono.report.explorer import overview
from unisono.report.explorer.page import write_explorer
from unisono.report.view import CaseView
from unisono.study.data import StudyData
from unisono.tuning import Tuning

SHOWN = """
const sections = ["nav", "#explore", "#messages", "#matrix", "#ranks", "#table", "#origin", "footer", ".spots thead"];
return sections.flatMap((name) => document.querySelector(name).innerText.split(/[\\n\\t]/)).concat(
  [...document.querySelectorAll("[title], [aria-label], [placeholder]")]
    .filter((one) => !one.matches(".tree *, .region"))
    .flatMap((one) => ["title", "aria-label", "placeholder"].map((name) => one.getAttribute(name) || "")))"""


def test_time_outside_of_mpi_is_japanese(japanese: None) -> None:
    regions = [row["region"] for row in overview.flat(made([Call("MPI_Bcast")]))["regions"]]
    assert "MPI_Bcast" in regions and "(MPI の外)" in regions


def test_no_english_sentence_is_left(
    japanese: None,
    browser: Chrome,
    profile: Profile,
    measured: tuple[StudyData, Tuning, dict[Case, CaseView]],
    tmp_path: Path,
) -> None:
    _, tuning, views = measured
    page = write_explorer(profile, tmp_path / "japanese.html", name="run", tuning=tuning, views=views)
    open_explorer(browser, page)
    shown: list[str] = browser.execute_script(SHOWN)
    assert "コールツリー" in "".join(shown) and "ホットパス" in shown
    assert "コミュニケータ: 12 ランク、3 ノード。" in "".join(shown), "with its numbers"
    assert len([text for text in shown if "時間" in text]) > 5
    assert [text for text in sentences_in(shown) if text not in profile.notes] == []
    assert console(browser) == []
