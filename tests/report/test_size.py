"""What a page weighs, and that the library it carries is the one that was bundled, with its licences."""

from __future__ import annotations

import hashlib
import json
from importlib import resources
from pathlib import Path

from tests.hybrid.made import all_of, machine
from tests.hybrid.made import study as hybrid_study
from tests.report import synthetic, synthetic_decisions
from unisono.hybrid.compare import compare as compare_hybrid
from unisono.report import packed
from unisono.report.hybrid import write_hybrid_report
from unisono.report.hybrid_comparison import write_hybrid_comparison
from unisono.report.report import write_report

TOOLS = Path(__file__).parents[2] / "tools" / "plotly"
REPORT, SMALL = 1_500_000, 500_000
LIBRARY_SHA256 = "8904f32cfd2d4a77c2c9a5982325e5eb234b57b0d62bd2eb13f24af7bfb0716e"
"""Of what tools/plotly makes."""


def test_the_library_is_the_bundled_one_with_its_licences() -> None:
    vendor = resources.files("unisono.report").joinpath("vendor")
    library = vendor.joinpath(packed.LIBRARY).read_bytes()
    assert hashlib.sha256(library).hexdigest() == LIBRARY_SHA256
    assert packed.inflated(packed.library()).encode() == library
    wanted = json.loads((TOOLS / "package.json").read_text("utf-8"))["devDependencies"]["plotly.js"]
    assert library.startswith(f"/* plotly.js {wanted}: scatter, bar and heatmap. Copyright Plotly, Inc. MIT".encode())
    licences = vendor.joinpath("LICENSES.txt").read_text("utf-8")
    assert f"---- plotly.js {wanted}, MIT" in licences
    assert "Permission is hereby granted" in licences


def test_what_is_packed_cannot_end_its_element() -> None:
    text = "</script><!-- &amp; " * 50 + "".join(map(chr, range(32, 0x3000)))
    assert "<" not in packed.deflated(text)
    assert packed.inflated(packed.deflated(text)) == text


def test_a_report_of_thousands_of_estimates_weighs_little(directory: Path) -> None:
    study = synthetic.oci(ppns=(48,))
    decision = synthetic_decisions.decision(study)
    assert len(decision.estimates) > 3000
    assert write_report(study, decision, directory / "large.html").stat().st_size < REPORT


def test_pages_of_a_few_bars_carry_no_library(tmp_path: Path) -> None:
    here, there = machine(4, name="t2k"), machine(4, name="xt4")
    layouts = all_of(here, "1x1,1x2,1x4,2x2")
    studies = [
        hybrid_study(dict(zip(layouts, times, strict=True)), on)
        for on, times in ((here, (1.0, 2.0, 4.0, 0.9)), (there, (0.5, 1.25, 2.0, 0.6)))
    ]
    one = write_hybrid_report(studies[0], tmp_path / "hybrid.html")
    two = write_hybrid_comparison(compare_hybrid(studies), studies, tmp_path / "compared.html")
    for page, charts in ((one, 3), (two, 1)):
        text = page.read_text("utf-8")
        assert len(text.encode()) < SMALL
        assert 'id="library"' not in text
        assert text.count('<svg class="chart wide"') >= charts
        assert text.count("<title>") > 4, "what is pointed at says its numbers"
