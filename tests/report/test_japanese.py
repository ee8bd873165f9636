"""Pages in Japanese: no English sentence is left in what a person reads, of the pages and of their charts."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from html.parser import HTMLParser
from io import StringIO
from pathlib import Path
from typing import Any

from rich.console import Console

from tests.hybrid.made import all_of, machine
from tests.hybrid.made import study as hybrid_study
from tests.report import synthetic_decisions
from tests.report.test_comparison import boot
from unisono.decide.compare import compare
from unisono.hybrid.compare import compare as compare_hybrid
from unisono.report.hybrid import write_hybrid_report
from unisono.report.hybrid_comparison import write_hybrid_comparison
from unisono.report.packed import unpacked
from unisono.report.report import write_comparison_report, write_report
from unisono.search.verdict import decide_study
from unisono.study.store import Store

RECORDED = Path(__file__).parents[2] / "benchmarks" / "data" / "prediction" / "fft-tiny.db"

_UNREAD = ("script", "style", "code", "pre")
_READ = ("title", "aria-label", "placeholder")
_SENTENCE = re.compile(r"\b[a-z]{2,} [a-z]{2,}\b|\b[A-Z][a-z]+ [a-z]{2,} [a-z]{2,}\b|\b[A-Za-z][a-z]{4,}$")
"""Two small words beside each other, or a text that ends with a word: no setting and no component list does."""
_NAMES = re.compile(
    r"\b(Open MPI|Unisono|unisono profile|unisono|mpirun|AMD EPYC|Processor|Debian GNU/Linux|Linux|bookworm|docker|"
    r"allgather|allreduce|alltoall|bcast|reduce|halo|tuned|basic|adapt|han|hcoll|libnbc|self|monitoring|sysv|posix|coll|"
    r"cells|inline|ring|cyclic|block|algorithm|segment|race|classic|performance|ethernet|infiniband|single|threads|"
    r"flat|solver|slots?|GFLOPS|hybrid|boots|Shift|Enter)\b"
)


class _Texts(HTMLParser):
    """What is read: text and the attributes that are shown or spoken; and the charts' texts."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self.lang: str | None = None
        self._inside: list[str] = []
        self._figures = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        known = dict(attrs)
        self.lang = self.lang or known.get("lang")
        self._figures = known.get("id") == "figures"
        if tag in _UNREAD:
            self._inside.append(tag)
        self.found += [text for name in _READ if (text := known.get(name))]

    def handle_endtag(self, tag: str) -> None:
        self._figures = False
        if tag in _UNREAD:
            self._inside.remove(tag)

    def handle_data(self, data: str) -> None:
        if self._figures:
            self.found += _drawn(unpacked(data), "")
        elif not self._inside and data.strip():
            self.found.append(data.strip())


def _drawn(node: Any, key: str) -> Iterator[str]:
    """What a chart shows, in words: titles, names, ticks, what is under the pointer."""
    if isinstance(node, dict):
        for name, value in node.items():
            yield from _drawn(value, name)
    elif isinstance(node, list):
        for value in node:
            yield from _drawn(value, key)
    elif isinstance(node, str) and key in ("text", "name", "hovertext", "hovertemplate", "ticktext", "title"):
        yield from re.split(r"\n|<br>|<[^>]*>", re.sub(r"%\{[^}]*\}", "", node))


def _english(path: Path) -> list[str]:
    page = _Texts()
    page.feed(path.read_text(encoding="utf-8"))
    assert page.lang == "ja"
    assert sum(bool(re.search("[\u3040-\u30ff]", text)) for text in page.found) > 30
    return sentences_in(page.found)


def sentences_in(texts: list[str]) -> list[str]:
    """Those that are English, without what is a setting, a path or an identifier in them."""
    without = (re.sub(r"\S*[=/_]\S*", "", text) for text in dict.fromkeys(texts))
    return [text for text in without if _SENTENCE.search(_NAMES.sub("", text).strip(" ,:()."))]


def test_english_is_found(tmp_path: Path) -> None:
    """The very search these tests rest on."""
    page = tmp_path / "page.html"
    body = "".join(f"<p>これは文です {number}</p>" for number in range(40))
    page.write_text(f'<html lang="ja">{body}<p>UCX_RNDV_THRESH=16kb, tuned/ring</p><p>Numbers</p>'
                    "<p title='best first'>allreduce is faster</p></html>", encoding="utf-8")  # fmt: skip
    assert _english(page) == ["Numbers", "best first", "allreduce is faster"]


def test_a_report(japanese: None, tmp_path: Path) -> None:
    """Of a study that was recorded: its notes, reasons and refusals are kept in English."""
    with Store.open(RECORDED) as store:
        study = store.data()
    decision = decide_study(study)
    assert _english(write_report(study, decision, tmp_path / "report.html")) == []


def test_a_report_with_failures_and_proof(japanese: None, classic: Any, tmp_path: Path) -> None:
    study, decision = classic
    verification = synthetic_decisions.verification(study, decision)
    # These samples make up their findings and notes in words that are nobody's.
    quiet = replace(study, notes=(), refusals=[], launches=[replace(row, reason="") for row in study.launches])
    page = write_report(quiet, replace(decision, findings=()), tmp_path / "report.html", verification=verification)
    assert _english(page) == []


def test_a_comparison(japanese: None, tmp_path: Path) -> None:
    studies = [boot(1, 1.0, 1), boot(4, 1.3, 2), boot(2, 1.1, 3)]
    page = write_comparison_report(compare(*studies), studies, tmp_path / "comparison.html")
    assert _english(page) == []


def test_a_comparison_in_a_terminal(japanese: None) -> None:
    text = StringIO()
    Console(file=text, width=200).print(compare(boot(1, 1.0, 1), boot(4, 1.3, 2), boot(2, 1.1, 3)).table())
    assert sentences_in(text.getvalue().splitlines()) == []
    assert {"ケース", "サイズ"} <= set(re.split(r"\s{2,}|\n", text.getvalue()))


def test_layouts(japanese: None, tmp_path: Path) -> None:
    here, there = machine(4, name="t2k"), machine(4, name="xt4")
    layouts = all_of(here, "1x1,1x2,1x4,2x2")
    studies = [
        hybrid_study(dict(zip(layouts, times, strict=True)), on)
        for on, times in ((here, (1.0, 2.0, 4.0, 0.9)), (there, (0.5, 1.25, 2.0, 0.6)))
    ]
    assert _english(write_hybrid_report(studies[0], tmp_path / "hybrid.html")) == []
    assert _english(write_hybrid_comparison(compare_hybrid(studies), studies, tmp_path / "compared.html")) == []
