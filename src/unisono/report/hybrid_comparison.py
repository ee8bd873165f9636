"""The values of the page on hybrid studies compared: the ratio of two machines by layout and cores."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from unisono.core.language import _, translated
from unisono.core.writing import write
from unisono.hybrid.compare import Comparison
from unisono.hybrid.study import HybridStudy
from unisono.report.comparison import study_table
from unisono.report.figures_hybrid import ratio
from unisono.report.marks import RatioScale, interval_mark, ratio_axis
from unisono.report.page import render
from unisono.report.text import format_time


def write_hybrid_comparison(comparison: Comparison, studies: Sequence[HybridStudy], path: Path) -> Path:
    """Write the page to `path` and return it. Raises UserError when the file cannot be written."""
    return write(path, render("hybrid_comparison.html.j2", content(comparison, studies)))


def content(comparison: Comparison, studies: Sequence[HybridStudy]) -> dict[str, Any]:
    """Every value of the template; `studies` in the order they were compared, the reference first."""
    scale = RatioScale.over([row.gain for row in comparison.rows], width=420)
    figure, keys = ratio(comparison)
    first, *others = comparison.sentences
    return {
        "title": _("{sentence}.").format(sentence=translated(first)),
        "sentences": [_("{sentence}.").format(sentence=translated(sentence)) for sentence in others],
        "reference": comparison.reference,
        "several": len(comparison.others) > 1,
        "axis": ratio_axis(scale),
        "rows": [
            {
                "other": row.other,
                "cores": row.cores,
                "model": translated(row.model),
                "is_best": row.threads is None,
                "layouts": "; ".join(dict.fromkeys(translated(name) for name in (row.reference_name, row.name))),
                "reference_seconds": format_time(row.reference_seconds),
                "seconds": format_time(row.seconds),
                "mark": interval_mark(scale, row.gain, 0.0),
                "gain": row.gain,
            }
            for row in comparison.rows
        ],
        "figure": figure if len({row.cores for row in comparison.rows}) > 1 else None,
        "keys": keys,
        "notes": [translated(note) for note in comparison.notes],
        "differences": [
            (other, [translated(sentence) for sentence in said])
            for other, said in zip(comparison.others, comparison.differences, strict=True)
        ],
        "studies": study_table([comparison.reference, *comparison.others], [study.data for study in studies]),
        "confidence": f"{comparison.confidence:.0%}",
        "provenance": [(study.data.name, f"{study.data.id}, {study.data.created}") for study in studies],
    }
