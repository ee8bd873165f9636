"""Colours by role, for the light and the dark page.

Figures name roles ("@chosen", "@chosen/15" with an opacity in percent); the page resolves them from its style sheet
when it draws, so one figure serves both themes and print. Blue is better or chosen, orange is worse: told apart by
every kind of colour vision, and never by colour alone (line dash, marker and words say the same). The series colours
are Paul Tol's "muted" scheme, lightened for the dark page.
"""

from __future__ import annotations

ROLES: dict[str, tuple[str, str]] = {
    "page": ("#ffffff", "#14171b"),
    "panel": ("#f6f7f9", "#1b1f25"),
    "text": ("#1b2128", "#e3e7ec"),
    "quiet": ("#5a6572", "#9aa6b4"),
    "line": ("#dce1e7", "#313842"),
    "grid": ("#e8ebef", "#272d35"),
    "chosen": ("#0a5fb4", "#6db3f7"),
    "default": ("#3d4650", "#c3ccd6"),
    "limit": ("#8a6d1f", "#d3b257"),
    "proof": ("#b0126f", "#ff8ac5"),
    "better": ("#0a5fb4", "#6db3f7"),
    "worse": ("#b84a00", "#f5924e"),
    "neutral": ("#f3f4f6", "#23282f"),
    "better-deep": ("#08519c", "#4292d9"),
    "better-mid": ("#6aaed6", "#2b5f8f"),
    "worse-mid": ("#f2a566", "#94511f"),
    "worse-deep": ("#a63603", "#e8833a"),
    "series-1": ("#332288", "#9c8ff0"),
    "series-2": ("#117733", "#58c27d"),
    "series-3": ("#cc6677", "#ee8f9e"),
    "series-4": ("#44aa99", "#6fd3c3"),
    "series-5": ("#aa4499", "#d982cb"),
    "series-6": ("#999933", "#cfcf6b"),
    "series-7": ("#882255", "#c86a9b"),
    "series-8": ("#2f9bd0", "#88ccee"),
    "ordered-1": ("#c9b037", "#f2e27a"),
    "ordered-2": ("#8fae44", "#c0dc6f"),
    "ordered-3": ("#4fa36b", "#86cf8d"),
    "ordered-4": ("#2b8f8b", "#58bfb4"),
    "ordered-5": ("#31749a", "#5a9fd0"),
    "ordered-6": ("#47528f", "#8586d6"),
    "ordered-7": ("#4b2a70", "#b673cf"),
}
"""Role -> (light, dark). "ordered" is a viridis-like ramp for values that have an order, such as thresholds."""

SERIES = tuple(f"@series-{i}" for i in range(1, 9))
ORDERED = tuple(f"@ordered-{i}" for i in range(1, 8))
DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot")
MARKERS = ("circle", "square", "diamond", "triangle-up", "triangle-down", "cross", "x", "star", "hexagon", "pentagon")


def ordered_colours(number: int) -> list[str]:
    """`number` roles spread evenly over the ordered ramp; beyond seven they repeat with other dashes and markers."""
    if number <= 1:
        return [ORDERED[3]] * number
    if number > len(ORDERED):
        return [ORDERED[i % len(ORDERED)] for i in range(number)]
    return [ORDERED[round(i * (len(ORDERED) - 1) / (number - 1))] for i in range(number)]


def css(theme: str) -> str:
    """The custom properties of one theme, "light" or "dark"."""
    index = ("light", "dark").index(theme)
    return "".join(f"--{role}:{colours[index]};" for role, colours in ROLES.items())
