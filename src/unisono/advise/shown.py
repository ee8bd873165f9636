"""An advice as a terminal shows it: the hot spots, the launch settings, and the sentences."""

from __future__ import annotations

import math

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from unisono.advise.advice import Advice
from unisono.advise.said import named, waiting_words
from unisono.core.display import percent, percent_range
from unisono.core.language import _, ngettext
from unisono.tuning import words

SHOWN = 8
"""Hot spots in the table."""


def rendered(advice: Advice) -> Group:
    """For a terminal."""
    parts: list[RenderableType] = [_spot_table(advice), Text()]
    if any(p.predictable and (p.saving.mid or p.saving.high) for p in advice.predictions):
        parts += [_plan_table(advice), Text()]
    if advice.chosen is not None:
        parts += [Text(_("Use {setting}.").format(setting=named(advice.chosen.launch)))]
    parts += [Text(line, style="bold" if line == advice.headline else "") for line in advice.sentences()]
    return Group(*parts)


def _spot_table(advice: Advice) -> Table:
    table = Table(title=_("Hot spots"), title_justify="left")
    table.add_column(_("call"), overflow="fold")
    for name in (_("ranks"), _("message size")):
        table.add_column(name)
    for name in (_("calls a rank"), _("of the time"), _("waiting"), _("saves")):
        table.add_column(name, justify="right")
    for spot in advice.mix.spots[:SHOWN]:
        found = advice.of(spot)
        saves = ""
        if found is not None and found.predictable:
            saves = percent_range(found.saving)
        elif found is not None and (found.unknown or found.effect is not None):
            saves = _("not measured") if found.effect is None else _("too uncertain")
        table.add_row(
            Text(spot.name),
            f"{spot.case.nodes} x {spot.case.ppn}" if spot.case else "",
            spot.sizes_text,
            f"{spot.calls:,.0f}",
            percent(advice.mix.share(spot.time)),
            waiting_words(spot),
            saves,
        )
    rest = advice.mix.spots[SHOWN:]
    table.caption_justify = "left"
    table.caption = _(
        "of the time: the share of the time of all ranks from MPI_Init to MPI_Finalize; saves: the expected saving, "
        "as a share of the same time"
    )
    if rest:
        share = advice.mix.share(math.fsum(spot.time for spot in rest))
        table.add_row(
            ngettext("{count} other", "{count} others", len(rest)).format(count=len(rest)),
            "",
            "",
            "",
            percent(share),
            "",
            "",
        )
    return table


def _plan_table(advice: Advice) -> Table:
    title = _("Launch settings of {tuning}, {nodes} x {ppn} ranks, for this program").format(
        tuning=advice.tuning.name, nodes=advice.case[0], ppn=advice.case[1]
    )
    table = Table(title=title, title_justify="left")
    table.add_column("")
    table.add_column(_("setting"), overflow="fold")
    table.add_column(_("should save"), justify="right")
    for prediction in advice.predictions:
        chosen = prediction is advice.chosen
        table.add_row(
            ">" if chosen else "",
            Text(words.launch(prediction.launch)),
            percent_range(prediction.saving) if prediction.predictable else _("too uncertain"),
            style="bold" if chosen else "",
        )
    return table
