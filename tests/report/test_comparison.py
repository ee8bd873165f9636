"""The page of a comparison."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from selenium.webdriver import Chrome
from selenium.webdriver.common.by import By

from tests.report import synthetic
from tests.report.browsing import console, open_page, requests
from tests.report.figures import expanded
from tests.report.test_size import SMALL
from unisono.core.interval import Interval
from unisono.core.vocabulary import Case, Sample, Setting
from unisono.decide.compare import Comparison, compare
from unisono.decide.differs import mean_gain
from unisono.report import comparison as comparing
from unisono.report.figures_comparison import comparison_figure, rows_of
from unisono.report.figures_history import history
from unisono.report.report import write_comparison_report
from unisono.study.data import StudyData

ALLREDUCE, ALLTOALL = Case("allreduce", 1, 8), Case("alltoall", 1, 8)


def boot(numa_per_socket: int, speed: float, seed: int) -> StudyData:
    """A study under one boot setting; its allreduce takes 1 / speed of the usual time."""
    study = synthetic.study(
        "boots",
        cases=[ALLREDUCE, ALLTOALL],
        sizes=[0, *(1 << power for power in range(3, 21, 3))],
        launch_settings=[Setting(), Setting({"UCX_RNDV_THRESH": "16kb"})],
        call_settings={"allreduce": [], "alltoall": []},
        on=synthetic.machine(2, numa_per_socket, 16, 1),
        failures=False,
        seed=seed,
    )

    def timed(sample: Sample) -> Sample:
        return replace(sample, median=sample.median / speed) if sample.case == ALLREDUCE else sample

    return replace(study, id=f"boots-{seed}", samples=tuple(timed(s) for s in study.samples))


@pytest.fixture(scope="module")
def studies() -> list[StudyData]:
    return [boot(1, 1.0, 11), boot(4, 1.25, 12)]


@pytest.fixture(scope="module")
def comparison(studies: list[StudyData]) -> Comparison:
    return compare(*studies)


def test_the_headline_is_what_was_found(comparison: Comparison) -> None:
    words = comparing.headline(comparison)
    assert words.startswith("NPS4 against NPS1, by default: allreduce 1.2")
    assert words.endswith(" as fast; no difference for alltoall.")
    gain = mean_gain(rows_of(comparison)[ALLREDUCE]["NPS4", "default"])
    assert gain.low < 1.25 < gain.high
    assert f"{gain.mid:.2f}× ({gain.low:.2f}–{gain.high:.2f})" in words


def test_a_mean_over_sizes_of_which_one_is_unknown_is_unknown(comparison: Comparison) -> None:
    rows = rows_of(comparison)[ALLREDUCE]["NPS4", "default"]
    rows = [replace(rows[0], gain=Interval(1.2, 0.0, float("inf"))), *rows[1:]]
    gain = mean_gain(rows)
    assert (gain.low, gain.high) == (0.0, float("inf"))
    assert 1.1 < gain.mid < 1.4


def test_what_differs_is_marked(studies: list[StudyData]) -> None:
    table = {name: (values, differ) for name, values, differ in comparing.study_table(["NPS1", "NPS4"], studies)}
    assert table["NUMA nodes a socket (NPS)"] == (["1", "4"], True)
    assert table["MPI"] == (["Open MPI 5.0.11", "Open MPI 5.0.11"], False)


def test_the_figure_holds_both_studies(comparison: Comparison) -> None:
    figure, legend = comparison_figure(comparison, ALLREDUCE)
    assert [entry.name for entry in legend] == ["NPS1, default", "NPS1, best", "NPS4, default", "NPS4, best"]
    curves = {(t["name"], t["yaxis"]): t for t in expanded(figure)["data"] if "name" in t}
    rows = rows_of(comparison)[ALLREDUCE]["NPS4", "default"]
    gains = curves["NPS4, default", "y2"]
    assert gains["y"] == [pytest.approx(row.gain.mid, rel=1e-3) for row in rows]
    assert curves["NPS1, default", "y"]["y"] == [pytest.approx(r.reference_time * 1e6, rel=1e-3) for r in rows]
    assert gains["x"][0] == 4, "0 bytes half a step below the smallest size"
    assert len({(e.colour, e.dash, e.marker) for e in legend}) == len(legend)


def test_three_studies_give_a_row_each(studies: list[StudyData], directory: Path) -> None:
    third = replace(boot(2, 0.8, 13))
    three = [*studies, third]
    found = compare(*three)
    assert comparing.headline(found) == "Against NPS1, by default: NPS4 is faster and NPS2 is slower."
    rows = comparing.forest(found)["rows"]
    assert [(row["label"], row["other"], row["verdict"]) for row in rows] == [
        ("allreduce", "NPS4", "faster"),
        ("allreduce", "NPS2", "slower"),
        ("alltoall", "NPS4", "no difference"),
        ("alltoall", "NPS2", "no difference"),
    ]
    path = write_comparison_report(found, three, directory / "three.html")
    assert 'id="library"' in path.read_text("utf-8")
    assert path.stat().st_size < SMALL


def test_faster_at_one_size_alone_is_not_called_faster(comparison: Comparison) -> None:
    """What the findings say of one size, where the mean over all of them holds 1, is said of that size."""
    rows = tuple(
        replace(row, gain=Interval(1.3, 1.2, 1.4) if row.size == 512 else Interval(1.0, 0.97, 1.03))
        for row in comparison.rows
    )
    one = replace(comparison, rows=rows)
    assert comparing.case_verdict(comparison, ALLREDUCE, "NPS4", "default") == "faster"
    assert comparing.case_verdict(one, ALLREDUCE, "NPS4", "default") == "faster at some sizes"
    assert one.as_dict()["verdict"]["NPS4"]["default"] == one.verdict("NPS4") == "faster at some sizes"
    words = "NPS4 against NPS1, by default: allreduce faster at some sizes; no difference for alltoall."
    assert comparing.headline(one) == words
    two = replace(one, others=("NPS4", "NPS4"))
    assert comparing.headline(two).startswith("Against NPS1, by default: NPS4 is faster at some message sizes and ")


def test_the_history_is_a_line_a_case_in_the_order_of_the_dates(studies: list[StudyData]) -> None:
    days = (22, 23, 21)
    three = [
        replace(study, created=f"2026-11-{day}T10:00:00+00:00")
        for study, day in zip([*studies, boot(2, 0.8, 13)], days, strict=True)
    ]
    found = history(compare(*three), three)
    assert [title for title, _ in found.panels] == ["By default", "Each at its best"]
    lines = found.panels[0][1]["data"]
    assert [line["name"] for line in lines] == [key["name"] for key in found.keys]
    allreduce = lines[0]
    assert found.panels[0][1]["layout"]["xaxis"]["ticktext"] == ["NPS2", "NPS1", "NPS4"], "by date"
    assert allreduce["x"] == [0, 1, 2]
    assert allreduce["y"][0] < allreduce["y"][1] == 1.0 < allreduce["y"][2]
    assert all(length > 0 for i, length in enumerate(allreduce["error_y"]["array"]) if i != 1)
    assert comparing.content(compare(*three[:2]), three[:2])["history"] == []


def test_hostile_labels_stay_text(studies: list[StudyData], directory: Path) -> None:
    hostile = "</script><img src=x onerror=alert(1)>"
    machine = studies[0].machine.model_copy(update={"name": hostile})
    renamed = [studies[0], replace(studies[1], machine=machine)]
    found = compare(*renamed)
    assert hostile in found.others
    page = write_comparison_report(found, renamed, directory / "hostile-comparison.html").read_text("utf-8")
    assert "<img" not in page.split("<script>")[0]
    assert hostile not in page


@pytest.mark.browser
def test_opens_in_a_browser(browser: Chrome, comparison: Comparison, studies: list[StudyData], directory: Path) -> None:
    path = write_comparison_report(comparison, studies, directory / "comparison.html")
    open_page(browser, path)
    assert browser.title.startswith("NPS4 against NPS1")
    assert console(browser) == []
    assert [url for url in requests(browser) if not url.startswith(("file://", "data:", "blob:"))] == []
    buttons = browser.find_elements(By.CSS_SELECTOR, "details.case[open] button[data-set=zoom]")
    buttons[1].click()
    range_ = browser.execute_script("return document.querySelector('details.case[open] .plot').layout.xaxis.range")
    assert 10 ** range_[1] < 2048
