"""One HTML file that needs nothing else: style sheet, script, and where it has charts their library and figures.

Everything that comes from outside (study names, settings, what a launch wrote to stderr) is escaped by the template,
or is base64 (packed.py).
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Mapping
from importlib import resources
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

import unisono
from unisono.core.language import _, language
from unisono.report import marks, palette, static, text
from unisono.report.packed import Figures, library


def lead(sentence: str) -> Markup:
    """The sentence escaped, its intervals set back: the eye takes the ratio first, on the same line."""
    return Markup(re.sub(r" \(([\d.]+–[\d.]+)\)", "\u00a0" + r"<small>(\1)</small>", str(escape(sentence))))


def content(said: str) -> Markup:
    """The text escaped for where no attribute is: a tuning is full of quotes, which may stay as they are there."""
    return Markup(html.escape(said, quote=False))


def script_texts(script: str) -> dict[str, str]:
    """The texts that a script marks, `_("...")`, with their translations; none in English."""
    if language() == "en":
        return {}
    marked = (json.loads(text) for text in re.findall(r'\b_\(("(?:[^"\\]|\\.)*")', script))
    return {text: _(text) for text in marked}


def environment() -> Environment:
    """Templates of pages, for one page: it keeps the figures and swatches that are drawn on it."""
    figures, swatches = Figures(), marks.Swatches()
    page = Environment(
        loader=PackageLoader("unisono.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    page.filters.update(
        lead=lead,
        content=content,
        keep=figures.keep,
        gain=text.format_gain,
        duration=text.format_duration,
        ratio=text.format_ratio,
        time=text.format_time,
    )
    page.globals.update(_=_, swatch=swatches, kind=marks.kind, figures=figures, library=library, drawn=static.drawn)
    return page


def render(template: str, values: Mapping[str, Any]) -> str:
    """The whole page. `values` are the template's own, beside what every page has."""
    page, script = environment(), _asset("page.js")
    assert page.loader is not None
    return page.get_template(template).render(
        version=unisono.__version__,
        language=language(),
        texts=script_texts(script),
        light=Markup(palette.css("light")),
        dark=Markup(palette.css("dark")),
        stylesheet=Markup(_asset("page.css")),
        script=Markup(script),
        **values,
    )


def _asset(name: str) -> str:
    return resources.files("unisono.report").joinpath("templates", name).read_text("utf-8")
