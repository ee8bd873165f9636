"""The charts and tables about our collectives' speed are what the benchmarks make of the measurements that are kept."""

from __future__ import annotations

import importlib
import re
from typing import Any

import pytest

from tests.docs.text import ROOT

BENCHMARKS = ROOT / "benchmarks"
DATA = BENCHMARKS / "data"
PAGE = ROOT / "docs" / "how-fast-our-collectives-are.md"
ONE_NODE = sorted({file.relative_to(DATA).as_posix() for file in DATA.rglob("collectives-*.jsonl")})


@pytest.fixture
def module(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Benchmarks import each other as programs do: from their own folder."""
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    return importlib.import_module


def test_what_is_kept_names_no_folder_of_the_machine_it_was_measured_on() -> None:
    kept = [file for file in DATA.rglob("*") if file.is_file()]
    assert len(kept) > 20
    named = {str(file): re.findall(rb"/(?:root|home|work|tmp)/[^\"']{0,40}", file.read_bytes()) for file in kept}
    assert {file: places[:3] for file, places in named.items() if places} == {}


def test_charts_are_drawn_from_what_is_kept(module: Any) -> None:
    """Where this fails, `python benchmarks/collectives_charts.py docs/images` draws them anew."""
    drawn = module("collectives_charts").pictures()
    assert len(drawn) == 6
    for name, svg in drawn.items():
        assert (ROOT / "docs" / "images" / f"{name}.svg").read_text() == svg, name
        assert any(f"images/{name}.svg" in page.read_text() for page in (PAGE, ROOT / "docs" / "collectives.md")), name


def test_the_page_has_the_tables_that_the_benchmark_prints(module: Any) -> None:
    """Of every kept file that the page names as one whose tables it has."""
    kept, tables, text = module("one_node_kept"), module("one_node_tables"), PAGE.read_text()
    named = [file for file in ONE_NODE if f"--keep benchmarks/data/{file} --markdown" in text]
    assert len(named) >= 12
    for file in named:
        if file == "collectives-nodes.jsonl":
            continue
        found = kept.Kept(DATA / file)
        collectives = [name for name in module("collectives_charts").COLLECTIVES if name in found.collectives]
        printed = tables.markdown(list(kept.rows(found, collectives, found.sizes, 2)), {})
        lost = [line for line in printed.splitlines() if line.startswith("| ") and line not in text]
        assert lost == [], f"{file}: {lost[:3]}"


def test_the_page_has_the_table_of_several_nodes(module: Any) -> None:
    nodes, text = module("collectives_nodes"), PAGE.read_text()
    found = nodes.Kept(DATA / "collectives-nodes.jsonl")
    made = [row for layout in ("4x2", "2x4") for name in nodes.COLLECTIVES for row in nodes.rows(found, layout, name)]
    lines = nodes.markdown(made).splitlines()
    assert len(lines) == 2 + 72
    assert [line for line in lines if line not in text] == []
