"""The explorer as one HTML file: words and tables by the template, panes and charts by its scripts.

No Plotly: trees, histogram, curve, matrix and strips are small SVG drawings of its own, so that a page weighs what
its numbers weigh (some 100 kB, and 2 MB for 256 ranks x 1,000 call paths) instead of 4 MB more.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import resources
from pathlib import Path
from typing import Any

from jinja2 import ChoiceLoader, PackageLoader
from markupsafe import Markup

import unisono
from unisono.core.language import language, translated
from unisono.core.vocabulary import Case
from unisono.core.writing import write
from unisono.profile.hot import hot_spots
from unisono.profile.recorded import Profile, measured_as
from unisono.report import page, palette
from unisono.report.explorer import overview
from unisono.report.explorer.curves import curves
from unisono.report.explorer.data import page_data
from unisono.report.explorer.names import cleaned
from unisono.report.explorer.tree import call_tree
from unisono.report.view import CaseView
from unisono.tuning.contents import Tuning

SCRIPTS = (
    "unpack",
    "format",
    "sums",
    "treeview",
    "chart",
    "sizes",
    "curve",
    "matrix",
    "ranks",
    "search",
    "details",
    "main",
)
"""In the order in which they need each other."""


def write_explorer(
    profile: Profile,
    path: Path,
    *,
    name: str = "",
    tuning: Tuning | None = None,
    views: Mapping[Case, CaseView] | None = None,
) -> Path:
    """Write the page of `profile` to `path` and return it.

    `name` is what to call the profile; with a `tuning` its curve stands beside the program's message sizes, in
    seconds where `views` (the cases of its study) hold them. Raises UserError when the file cannot be written.
    """
    return write(path, render(profile, name=name, tuning=tuning, views=views))


def render(
    profile: Profile,
    *,
    name: str = "",
    tuning: Tuning | None = None,
    views: Mapping[Case, CaseView] | None = None,
) -> str:
    templates = page.environment()
    assert templates.loader is not None
    templates.loader = ChoiceLoader([PackageLoader("unisono.report.explorer"), templates.loader])
    script = _text("unisono.report", "page.js")
    explorer = "\n".join(_text("unisono.report.explorer", f"{name}.js") for name in SCRIPTS)
    return templates.get_template("explorer.html.j2").render(
        version=unisono.__version__,
        language=language(),
        texts=page.script_texts(script + explorer),
        light=Markup(palette.css("light")),
        dark=Markup(palette.css("dark")),
        stylesheet=Markup(_text("unisono.report", "page.css") + _text("unisono.report.explorer", "explorer.css")),
        script=Markup(script),
        explorer=Markup(explorer),
        **content(profile, name, tuning, views),
    )


def content(
    profile: Profile, name: str, tuning: Tuning | None, views: Mapping[Case, CaseView] | None
) -> dict[str, Any]:
    """Every value of the template that comes from the profile."""
    tree = call_tree(profile)
    spots = hot_spots(profile, overview.SPOTS_MOST)
    drawn = curves(profile, tuning, views) if tuning is not None else []
    root = overview.program(profile)
    spot_rows = overview.spot_rows(profile, tree, spots)
    words = {
        "title": overview.answer(profile, spots),
        "late": overview.late(spots),
        "name": name or root,
        "created": profile.origin.created[:16].replace("T", " "),
        "facts": overview.facts(profile),
        "warnings": overview.warnings(profile),
        "spots": spot_rows,
        "approximate": any(row["size"].startswith("~") for row in spot_rows),
        "rest": overview.rest_words(profile, spots),
        "flat": overview.flat(profile),
        "origin": overview.origin_rows(profile),
        "notes": [translated(note) for note in profile.notes],
        "summed": profile.origin.summed,
        "has_pairs": len(profile.pairs) > 0,
        "has_curves": bool(drawn),
        "tuning": tuning.name if tuning is not None else "",
    }
    collectives = {function: c for function in profile.functions if (c := measured_as(function))}
    data = page_data(profile, tree, root=root, curves=drawn, collectives=collectives)
    return {**cleaned(words), "data": data}


def _text(package: str, name: str) -> str:
    return resources.files(package).joinpath("templates", name).read_text("utf-8")
