"""What pictures that stand alone as an SVG file have in common: they are light, as no page resolves their colours."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

from unisono.report.palette import ROLES


def sheet(width: int, height: int, parts: Iterable[str], font: int = 12) -> str:
    """The text of a file with these elements on an empty page."""
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'font-family="Helvetica, Arial, sans-serif" font-size="{font}">'
    )
    page = f'<rect width="{width}" height="{height}" fill="{colour("page")}"/>'
    return "\n".join([head, page, *parts, "</svg>\n"])


def colour(role: str) -> str:
    return ROLES[role][0]


def words(x: float, y: float, text: str, role: str = "text", more: str = "") -> str:
    """`more`: further attributes."""
    attributes = " ".join(filter(None, (f'x="{round(x, 1):g}" y="{round(y, 1):g}" fill="{colour(role)}"', more)))
    return f"<text {attributes}>{escape(text)}</text>"
