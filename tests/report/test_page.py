"""The file itself: one, self-contained, and nothing from outside can become markup."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest
from selenium.webdriver import Chrome

from tests.report import synthetic, synthetic_decisions
from tests.report.browsing import console, wait_for
from unisono.core.errors import UserError
from unisono.core.vocabulary import Case, Setting
from unisono.decide.decision import Decision
from unisono.report import page
from unisono.report.packed import Figures, unpacked
from unisono.report.report import write_report
from unisono.study.data import Refusal, StudyData
from unisono.tuning.finding import Finding

HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(2)> \" ' & \u2028 @chosen"


DEFLATED = "application/octet-stream"


class Elements(HTMLParser):
    """Tags with attributes, the text outside scripts and styles, and what is deflated, by its element's id."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text: list[str] = []
        self.packed: dict[str, str] = {}
        self._inside = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag in ("script", "style"):
            self._inside = f"#{dict(attrs).get('id')}" if dict(attrs).get("type") == DEFLATED else tag

    def handle_endtag(self, tag: str) -> None:
        if tag in ("script", "style"):
            self._inside = ""

    def handle_data(self, data: str) -> None:
        if self._inside.startswith("#"):
            self.packed[self._inside[1:]] = data
        elif not self._inside:
            self.text.append(data)


def parsed(path: Path) -> Elements:
    elements = Elements()
    elements.feed(path.read_text("utf-8"))
    return elements


@pytest.fixture(scope="module")
def plain(study: StudyData, decision: Decision, directory: Path) -> Elements:
    return parsed(write_report(study, decision, directory / "plain.html"))


def hostile_study() -> tuple[StudyData, Decision]:
    evil = Setting({"UCX_RNDV_THRESH": HOSTILE})
    study = synthetic.study(
        name=HOSTILE,
        cases=[Case("allreduce", 1, 2)],
        sizes=(8, 4096),
        launch_settings=[Setting(), Setting({"pml": "ob1"}), Setting({"mpi_x": HOSTILE})],
        launches=3,
    )
    broken = [replace(row, reason=HOSTILE, command=HOSTILE) for row in study.launches]
    study = replace(
        study,
        machine=study.machine.model_copy(
            update={"name": HOSTILE, "cpu_model": HOSTILE, "environment": {"UCX_X": HOSTILE}}
        ),
        launches=(replace(broken[0], status="crashed"), *broken[1:]),
        notes=(HOSTILE,),
        refusals=(Refusal(1, "allreduce", 8, evil, HOSTILE),),
    )
    decision = synthetic_decisions.decision(study)
    finding = Finding.of(Case("allreduce", 1, 2), "better", HOSTILE, parameter="UCX_RNDV_THRESH", value=HOSTILE)
    return study, replace(decision, findings=(finding,))


def test_nothing_from_outside_becomes_markup(directory: Path, plain: Elements) -> None:
    elements = parsed(write_report(*hostile_study(), directory / "hostile.html"))
    assert not [t for t, _ in elements.tags if t == "img"]
    assert not [a for _, attributes in elements.tags for a in attributes if a.startswith("on")]
    scripts = [a.get("id") for t, a in elements.tags if t == "script"]
    assert scripts == [a.get("id") for t, a in plain.tags if t == "script"] == ["library", "figures", None]
    assert sum(HOSTILE in text for text in elements.text) >= 5, "it is shown as it is"
    figures = unpacked(elements.packed["figures"])
    places = [int(a["data-figure"] or "") for _, a in elements.tags if "data-figure" in a]
    assert places == list(range(len(figures)))
    assert sum("&lt;/script&gt;&lt;script&gt;alert(1)" in json.dumps(figure) for figure in figures) > 3


@pytest.mark.browser
def test_hostile_names_are_inert_in_a_browser(directory: Path, browser: Chrome) -> None:
    console(browser)
    browser.get(write_report(*hostile_study(), directory / "hostile.html").as_uri())
    browser.execute_script("document.querySelectorAll('details').forEach((d) => { d.open = true; })")
    wait_for(browser, "return 'ready' in document.documentElement.dataset", bool)
    browser.execute_script("dispatchEvent(new Event('beforeprint')); dispatchEvent(new Event('afterprint'));")
    assert browser.execute_script("return document.querySelectorAll('.plot svg.main-svg').length") > 3
    assert browser.execute_script("return document.querySelectorAll('img, a[href^=javascript]').length") == 0
    assert console(browser) == []


def test_a_figure_cannot_end_its_element() -> None:
    figures = Figures()
    strings = {"data": [{"x": [HOSTILE, "<!--", "]]>"], "name": HOSTILE}, {"y": [1.5], "x": []}], "layout": {}}
    assert (figures.keep(strings), figures.keep({"data": [{"z": [[None]]}, {}]})) == (0, 1)
    assert re.fullmatch("[!-;=-~]+", figures.packed())
    assert unpacked(figures.packed()) == [strings, {"data": [{"z": [[None]]}, {}]}]


def test_a_figure_with_an_infinite_number_is_refused() -> None:
    with pytest.raises(ValueError, match="Out of range float"):
        Figures().keep({"data": [{"y": [float("inf")]}]})


def test_the_file_is_self_contained(plain: Elements) -> None:
    for tag, attributes in plain.tags:
        for name in ("src", "href", "srcset", "action", "data"):
            value = attributes.get(name) or ""
            assert value.startswith("#") or not value, f"<{tag} {name}={value}>"
        assert tag not in ("link", "iframe", "object", "embed")
    policy = next(a["content"] or "" for t, a in plain.tags if t == "meta" and a.get("http-equiv"))
    assert policy.startswith("default-src 'none'")
    assert "http" not in policy


def test_the_style_sheet_and_script_ask_for_nothing() -> None:
    folder = Path(page.__file__).parent / "templates"
    for name in ("page.css", "page.js"):
        assert not re.search(
            r"url\(|@import|https?://|fetch\(|XMLHttpRequest|eval\(", (folder / name).read_text("utf-8")
        )


def test_every_role_in_the_style_sheet_is_in_the_palette() -> None:
    from unisono.report import palette

    folder = Path(page.__file__).parent / "templates"
    used = set(re.findall(r"var\(--([a-z0-9-]+)\)", (folder / "page.css").read_text("utf-8")))
    assert used <= set(palette.ROLES)


def test_every_control_is_reachable_and_named(plain: Elements) -> None:
    assert ("html", {"lang": "en"}) in plain.tags
    for tag, attributes in plain.tags:
        if tag == "div" and "plot" in (attributes.get("class") or "").split():
            assert attributes.get("aria-label")
        if tag == "button":
            assert attributes.get("tabindex") is None
    links = {a["href"] for t, a in plain.tags if t == "a" and a.get("href")}
    targets = {f"#{a['id']}" for _, a in plain.tags if a.get("id")}
    assert links <= targets


def test_text_contrast_is_enough_in_both_themes() -> None:
    from unisono.report.figures_fabric import UNDER_NUMBERS
    from unisono.report.palette import ROLES

    def luminance(colour: str) -> float:
        parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [p / 12.92 if p <= 0.03928 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    def contrast(a: str, b: str) -> float:
        light, dark = sorted((luminance(a), luminance(b)), reverse=True)
        return (light + 0.05) / (dark + 0.05)

    under_numbers = [role.removeprefix("@") for _at, role in UNDER_NUMBERS]
    for theme in (0, 1):
        for role in ("text", "quiet", "better", "worse", "chosen"):
            for ground in ("page", "panel") if role != "text" else ("page", "panel", *under_numbers):
                assert contrast(ROLES[role][theme], ROLES[ground][theme]) >= 4.5, (role, ground, theme)
        for role in ROLES:
            if role.startswith(("series", "limit", "default")):
                assert contrast(ROLES[role][theme], ROLES["page"][theme]) >= 2.8, (role, theme)


def test_a_place_that_cannot_be_written_is_the_users_error(
    study: StudyData, decision: Decision, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match=r"report\.html: cannot be written: Not a directory"):
        write_report(study, decision, tmp_path / "file" / "report.html")
    (tmp_path / "folder").mkdir()
    with pytest.raises(UserError, match="folder: is a directory"):
        write_report(study, decision, tmp_path / "folder")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["file", "folder"], "nothing half-written is left"
