"""What an optimization did, as a page: its words as the story has them, and every run of every trial drawn."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from markdown_it import MarkdownIt
from markupsafe import Markup

from unisono.advise.journal import Trial
from unisono.advise.story import Story
from unisono.core.language import N_, _
from unisono.core.vocabulary import Setting
from unisono.core.writing import write
from unisono.report.axes import Figure, hover_frame, layout
from unisono.report.page import render

_STYLES = ((False, N_("as it was"), "@default", "circle-open"), (True, N_("with the setting"), "@chosen", "circle"))


def write_story(story: Story, path: Path) -> Path:
    """Write the page to `path` and return it. Raises UserError when the file cannot be written."""
    return write(path, render("story.html.j2", content(story)))


def content(story: Story) -> dict[str, Any]:
    """Every value of the template. What comes from outside is escaped: HTML in the story's words stays text."""
    words = MarkdownIt("commonmark", {"html": False}).disable(["link", "image", "autolink"]).enable("table")
    trials = [trial for round in story.journal.rounds for trial in round.trials]
    if story.journal.whole is not None:
        trials.append(story.journal.whole)
    return {
        "title": story.headline,
        "text": Markup(words.render(story.markdown())),
        "charts": [
            (f"{number}. {Setting(trial.launch) if trial.launch else _('rules only')}", figure)
            for number, trial in enumerate(trials, start=1)
            if (figure := runs(trial)) is not None
        ],
        "keys": [
            {"name": _(name), "colour": colour, "dash": "", "marker": marker}
            for _tuned, name, colour, marker in _STYLES
        ],
    }


def runs(trial: Trial) -> Figure | None:
    """What each run took, in the order they ran; None without any."""
    done: Sequence[tuple[int, bool, float]] = [
        (number, bool(run.tuned), run.value) for number, run in enumerate(trial.runs, start=1) if run.value is not None
    ]
    if not done:
        return None
    data = [
        {
            "type": "scatter",
            "mode": "markers",
            "name": _(name),
            "x": [number for number, is_tuned, _ in done if is_tuned == tuned],
            "y": [value for _, is_tuned, value in done if is_tuned == tuned],
            "marker": {"color": colour, "symbol": marker, "size": 8},
            "hovertemplate": hover_frame(
                _(name), text=_("run {number}: {value}").format(number="%{x}", value="%{y:.4g}")
            ),
        }
        for tuned, name, colour, marker in _STYLES
    ]
    axis = {"tickfont": {"size": 11, "color": "@quiet"}}
    return {
        "data": data,
        "layout": layout(
            220,
            {},
            xaxis={**axis, "title": {"text": _("run, in order")}},
            yaxis={**axis, "title": {"text": _("seconds")}},
        ),
    }
