"""One HTML file that needs nothing else: style sheet, script and Plotly inlined, figures as JSON beside their place.

Everything that comes from outside (study names, settings, what a launch wrote to stderr) is escaped by the template;
JSON inside a script element has every "<" written as an escape, so that no text can end it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from importlib import resources
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

import unisono
from unisono.errors import UserError
from unisono.report import marks, palette, text


def figure_json(figure: Any) -> Markup:
    """JSON for a script element; numbers that JSON lacks (infinite, not a number) are an error in the figure."""
    written = json.dumps(figure, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return Markup(
        written.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e").replace("\u2028", "\\u2028")
    )


def lead(sentence: str) -> Markup:
    """The sentence escaped, its intervals set back: the eye takes the ratio first."""
    return Markup(re.sub(r"\(([\d.]+–[\d.]+)\)", r"<small>(\1)</small>", str(escape(sentence))))


def environment() -> Environment:
    page = Environment(
        loader=PackageLoader("unisono.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    page.filters["lead"] = lead
    page.filters.update(
        figure_json=figure_json,
        gain=text.format_gain,
        duration=text.format_duration,
        ratio=text.format_ratio,
        time=text.format_time,
    )
    page.globals.update(swatch=marks.swatch, kind=marks.kind)
    return page


def plotly_script() -> str:
    """Plotly's own JavaScript as its Python package ships it. Raises UserError when that package has none."""
    source = resources.files("plotly").joinpath("package_data", "plotly.min.js")
    if not source.is_file():
        raise UserError(
            "the installed plotly package has no plotly.min.js; reinstall it with: pip install --force-reinstall plotly"
        )
    return source.read_text("utf-8")


def render(template: str, values: Mapping[str, Any]) -> str:
    """The whole page. `values` are the template's own, beside what every page has."""
    page = environment()
    assert page.loader is not None
    return page.get_template(template).render(
        version=unisono.__version__,
        light=Markup(palette.css("light")),
        dark=Markup(palette.css("dark")),
        stylesheet=Markup(_asset("page.css")),
        script=Markup(_asset("page.js")),
        plotly=Markup(plotly_script().replace("</script", "<\\/script")),
        **values,
    )


def _asset(name: str) -> str:
    return resources.files("unisono.report").joinpath("templates", name).read_text("utf-8")
