"""A profile as tables for a terminal."""

from __future__ import annotations

import math
import statistics

import numpy as np
from rich.cells import cell_len
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from unisono.core.display import data_amount, percent, seconds, signed_percent
from unisono.core.language import _, ngettext, translated
from unisono.profile.flat import FlatRow, flat_table
from unisono.profile.hot import HotSpot, Other, Spread, hot_spots, other
from unisono.profile.importers import label_of
from unisono.profile.posted import is_followed, posted_table
from unisono.profile.recorded import UNKNOWN, Profile, is_persistent
from unisono.profile.sites import sites
from unisono.profile.sizes import NONE
from unisono.profile.words import Callers, answer, bin_size, late_sentences, short

REGIONS = 20
HOT_SPOTS = 10
_SIZES = 3
"""Message sizes of a hot spot that are shown, one a line."""
_WIDE = 100
_LEAST_SHARE = 0.0005
"""Regions with less are not shown: under 0.1 %."""


def show(profile: Profile, *, hot: int = HOT_SPOTS, regions: int = REGIONS, width: int = 100) -> Group:
    """The answer; where the profile is from; the flat table; the hot spots. Fits into `width` columns from 80 on."""
    spots = hot_spots(profile)
    parts: list[RenderableType] = [
        Text(answer(profile, spots), style="bold"),
        Text(),
        _about(profile),
        Text(),
        _flat(profile, regions, width),
        Text(),
    ]
    if spots:
        parts.append(_hot(profile, spots, hot, width))
        parts += _posted(profile, spots, hot)
    return Group(*parts)


def _about(profile: Profile) -> Table:
    origin = profile.origin
    table = Table.grid(padding=(0, 2))
    table.add_column(style="dim", no_wrap=True)
    table.add_column(overflow="fold")
    if origin.command:
        table.add_row(_("command"), Text(origin.command))
    table.add_row(_("ranks"), Text(_ranks(profile)))
    if origin.mpi:
        table.add_row("MPI", Text(origin.library))
    created = origin.created[:19].replace("T", " ") + " UTC" if origin.created else ""
    table.add_row(_("from"), Text(" ".join(part for part in (_source(origin.source), created) if part)))
    if origin.ended != "finalize":
        text = _("by {cause}: the profile is of the time until then").format(cause=origin.ended)
        table.add_row(_("ended"), Text(text, style="yellow"))
    if len(profile.wall):
        table.add_row(_("time"), Text(_wall(profile)))
    cost = overhead(profile)
    if cost:
        table.add_row(_("recorder"), Text(cost))
    if origin.dropped:
        text = _("{calls} calls did not fit into the recorder's tables and are missing").format(
            calls=f"{origin.dropped:,}"
        )
        table.add_row(_("lost"), Text(text, style="yellow"))
    for note in profile.notes:
        table.add_row(_("note"), Text(translated(note)))
    return table


def _source(source: str) -> str:
    return "Unisono" if source == "unisono" else label_of(source) or source


def _ranks(profile: Profile) -> str:
    hosts = [host for host in profile.origin.hosts if host]
    nodes = len(set(hosts))
    if len(hosts) != profile.ranks:
        return f"{profile.ranks:,}"
    said = ngettext("{ranks} on {count} node", "{ranks} on {count} nodes", nodes)
    return said.format(ranks=f"{profile.ranks:,}", count=nodes)


def _wall(profile: Profile) -> str:
    wall = profile.wall
    total = float(profile.cells["time"].sum())
    mpi = float(profile.mpi_rows["time"].sum()) / total if total > 0 else 0.0
    if profile.origin.summed:
        said = _("{longest} a rank, {all} on all ranks together; MPI takes {share}")
    else:
        said = _("{longest} a rank (the longest), {all} on all ranks together; MPI takes {share}")
    return said.format(longest=seconds(float(wall.max())), all=seconds(total), share=percent(mpi))


def overhead(profile: Profile) -> str:
    """As-is against profiled time, and what recording is estimated to cost; "" where neither is known."""
    origin = profile.origin
    parts = []
    if origin.as_is and not math.isnan(origin.profiled):
        as_is = statistics.median(origin.as_is)
        change = origin.profiled / as_is - 1 if as_is > 0 else math.nan
        said = _("{as_is} without the recorder, {profiled} with it ({change})")
        if len(origin.as_is) > 1:
            said = _("{as_is} without the recorder (median of {count}), {profiled} with it ({change})")
        shown = "{:.4g}".format if origin.metric else seconds
        parts.append(
            said.format(
                as_is=shown(as_is),
                count=len(origin.as_is),
                profiled=shown(origin.profiled),
                change=signed_percent(change),
            )
        )
    if not math.isnan(origin.overhead_ns):
        calls = profile.mpi_rows["calls"]
        per_rank = np.bincount(profile.mpi_rows["rank"], np.maximum(calls, 0), max(1, profile.ranks))
        busiest = float(per_rank.max())
        cost = busiest * origin.overhead_ns * 1e-9
        longest = float(profile.wall.max()) if len(profile.wall) else 0.0
        said = _("recording costs {each:.0f} ns a call: {cost} on the busiest rank")
        if longest > 0:
            said = _("recording costs {each:.0f} ns a call: {cost} on the busiest rank, {share} of its time")
        share = percent(cost / longest) if longest > 0 else ""
        parts.append(said.format(each=origin.overhead_ns, cost=seconds(cost), share=share))
    return _("; ").join(parts)


def _flat(profile: Profile, regions: int, width: int) -> Table:
    flat = flat_table(profile)
    table = Table(title=_("Flat profile"), title_justify="left", title_style="bold", box=None, pad_edge=False)
    table.add_column(_("group"), no_wrap=True)
    for name in (_("visits"), _("time [s]"), "%", _("time/visit")):
        table.add_column(Text(name), justify="right", no_wrap=True)  # as plain text: [s] is markup for struck out
    table.add_column(_("region"), overflow="ellipsis", no_wrap=True)
    for row in flat.groups:
        _flat_row(table, row, "bold" if row.group == "ALL" else "")
    table.add_row()
    shown = [row for row in flat.regions[:regions] if row.share >= _LEAST_SHARE] or list(flat.regions[:1])
    for row in shown:
        _flat_row(table, row, "cyan" if row.group == "MPI" else "")
    rest = len(flat.regions) - len(shown)
    if rest:
        time = math.fsum(row.time for row in flat.regions) - math.fsum(row.time for row in shown)
        share = 1 - math.fsum(row.share for row in shown)
        table.add_row(
            "",
            "",
            f"{max(0.0, time):,.2f}",
            f"{100 * max(0.0, share):.1f}",
            "",
            ngettext("{count} other region", "{count} other regions", rest).format(count=rest),
        )
    numbers = table.columns[:-1]
    taken = sum(2 + max(cell_len(str(text)) for text in (column.header, *column.cells)) for column in numbers)
    table.columns[-1].max_width = max(12, width - taken - 2)  # names take what the numbers leave
    return table


def _flat_row(table: Table, row: FlatRow, style: str) -> None:
    visits = "?" if row.visits == UNKNOWN else f"{row.visits:,}" if row.visits else ""
    per_visit = "" if math.isnan(row.per_visit) else seconds(row.per_visit)
    table.add_row(
        row.group,
        visits,
        f"{row.time:,.2f}",
        f"{100 * row.share:.1f}",
        per_visit,
        Text(row.words),
        style=style,
    )


def _hot(profile: Profile, spots: list[HotSpot], most: int, width: int) -> Group:
    """A row of two lines each: the function, and below it who called it."""
    shown = spots[:most]
    callers = Callers(profile, spots)
    wide = width >= _WIDE
    title = _("Hot spots: MPI calls by time")
    table = Table(title=title, title_justify="left", title_style="bold", box=None, pad_edge=False, padding=(0, 2, 0, 0))
    function, size = _("function"), _("message size")
    columns = ["%", _("wait"), function, _("ranks"), _("calls/rank"), size]
    columns += [_("bytes"), _("imbal.")] if wide else []
    rows = [_numbers(profile, spot)[: len(columns) - 1] for spot in shown]
    names = _names(profile, shown, callers)
    rest = other(profile, shown)
    if rest.count:
        rows.append([f"{100 * rest.share:.1f}", _waiting(_share(rest)), *[""] * (len(columns) - 3)])
        names.append(
            (Text(ngettext("{count} other", "{count} others", rest.count).format(count=rest.count), style="dim"), [])
        )
    taken = sum(
        2 + max(cell_len(text) for row in rows for text in [header, *row[at].split("\n")])
        for at, header in enumerate(name for name in columns if name != function)
    )
    room = max(12, width - taken - 2)  # the names take what the numbers leave
    for name in columns:
        left = name in (function, size)
        table.add_column(name, justify="left" if left else "right", no_wrap=True, overflow="ellipsis")
    for (called, path), numbers in zip(names, rows, strict=True):
        table.add_row(*numbers[:2], _named(called, path, room), *numbers[2:])
    late = [Text(sentence) for sentence in late_sentences(shown)]
    return Group(table, Text(_legend(profile, shown, wide), style="dim"), *late)


def _posted(profile: Profile, spots: list[HotSpot], most: int) -> list[RenderableType]:
    """Of nonblocking collectives the call and the wait for it."""
    followed = [spot for spot in spots if is_followed(spot)][:most]
    names = _names(profile, followed, Callers(profile, spots))
    rows = [
        (
            spot,
            Text(" < ").join([name, *(Text(frame, style="dim") for frame in path[:1])]),
            _calls(spot.calls),
            _bytes(spot),
        )
        for spot, (name, path) in zip(followed, names, strict=True)
    ]
    return [Text(), posted_table(rows)] if rows else []


def _names(profile: Profile, shown: list[HotSpot], callers: Callers) -> list[tuple[Text, list[str]]]:
    """Function and callers of each row; the line or offset that calls, where another row would read the same."""
    names = [(_name(spot), _from(profile, spot, callers)) for spot in shown]
    read = [(name.plain, tuple(path), _comm(spot)) for (name, path), spot in zip(names, shown, strict=True)]
    differ = sites(profile, [(key, spot.path) for key, spot in zip(read, shown, strict=True)])
    return [(name, _with(path, site)) for (name, path), site in zip(names, differ, strict=True)]


def _with(path: list[str], site: str) -> list[str]:
    if not site:
        return path
    return [site] if site.startswith(path[0].partition(" (")[0]) else [path[0], site]


def _bytes(spot: HotSpot) -> str:
    """ "?" where nothing is sent and nobody knows what came."""
    return data_amount(spot.received if spot.sent <= 0 else max(spot.sent, spot.received))


def _numbers(profile: Profile, spot: HotSpot) -> list[str]:
    """All columns but the function's."""
    return [
        f"{100 * spot.share:.1f}",
        _waiting(spot.waiting_share),
        _comm(spot),
        _calls(spot.calls),
        _sizes(spot),
        _bytes(spot),
        "-" if profile.origin.summed else f"{100 * spot.seconds.imbalance:.0f} %",
    ]


def _name(spot: HotSpot) -> Text:
    name = Text(spot.function.removeprefix("MPI_"), style="cyan")
    if spot.phase:
        name.append(f" [{spot.phase}]", style="magenta")
    return name


def _named(name: Text, path: list[str], room: int) -> Text:
    """The function, and below it who calls it, in one line where it fits, else in two; `room` columns wide."""
    whole = " < ".join(path)
    called = [whole] if len(whole) <= room else [path[0], *(f"< {frame}" for frame in path[1:])]
    lines = [name, *(Text(line, style="dim") for line in called if line)]
    for line in lines:
        line.truncate(room, overflow="ellipsis")
    return Text("\n").join(lines)


def _legend(profile: Profile, shown: list[HotSpot], wide: bool) -> str:
    words = [_("% of the program's time on all ranks")]
    if any(is_persistent(spot.function) and spot.completion > 0 for spot in shown):
        words.append(
            _("persistent collectives: calls make requests, and the time includes all starts and the waits for them")
        )
    if any(is_followed(spot) for spot in shown):
        words.append(
            _(
                "nonblocking collectives: the time includes the wait for them; the calls that complete them are "
                "shown without it"
            )
        )
    if any(not math.isnan(spot.waiting_share) for spot in shown):
        words.append(
            _("wait: the part of the time spent waiting for the last rank, or for the other side of a message")
        )
    if any(spot.comm and spot.comm.nodes > 0 for spot in shown):
        words.append(_("ranks: nodes x ranks a node of the communicator"))
    if any(entry.kind == "mean" for spot in shown for entry in spot.sizes):
        words.append(_("~: a mean; all sizes are assumed to be the same"))
    if any(len(spot.sizes) > 1 for spot in shown):
        words.append(_("% after a size: its share of the row's time"))
    if wide:
        words.append(_("bytes: sent, or received, by all ranks"))
    if wide and any(spot.sent == 0 and spot.received < 0 for spot in shown):
        words.append(_("?: the bytes of a nonblocking receive are in the row of its sender"))
    if wide and not profile.origin.summed:
        words.append(_("imbal.: how far the longest rank is above the mean"))
    return _("{clauses}.").format(clauses=_("; ").join(words))


def _waiting(share: float) -> str:
    return "-" if math.isnan(share) else f"{100 * share:.0f} %"


def _share(rest: Other) -> float:
    return rest.waiting / rest.time if rest.time > 0 else math.nan


def _from(profile: Profile, spot: HotSpot, callers: Callers) -> list[str]:
    """The two innermost frames, or the ones that matter behind a wrapper; [] where the call path is not known."""
    if not spot.frames:
        return []
    first, *rest = spot.frames
    name, through = callers.of(spot)
    # a Cube file holds where a function begins, not where it calls
    place = f" ({first.place})" if first.place and profile.origin.source != "cubex" else ""
    above = name if through else rest[0].label if rest else ""
    return [short(first.label) + place, *([short(above)] if above else [])]


def _comm(spot: HotSpot) -> str:
    if spot.comm is None or spot.comm.size <= 0:
        return "-"
    size, nodes = spot.comm.size, spot.comm.nodes
    if nodes <= 0:
        return f"{size}"
    return _("{ranks} on {count}").format(ranks=size, count=nodes) if size % nodes else f"{nodes} x {size // nodes}"


def _calls(calls: Spread) -> str:
    if calls.most == 0:
        return "?"
    if round(calls.least) == round(calls.most):
        return f"{calls.mean:,.0f}"
    return f"{calls.least:,.0f}-{calls.most:,.0f}"


def _sizes(spot: HotSpot) -> str:
    """The sizes with the most time, one a line, each with its part of the hot spot's time where there are several."""
    sized = [entry for entry in spot.sizes if entry.kind != NONE]
    if not sized:
        return "-"
    if len(sized) == 1:
        return bin_size(sized[0])
    shown = sized if len(sized) <= _SIZES else sized[: _SIZES - 1]
    lines = [f"{bin_size(entry)} {percent(entry.time / spot.time if spot.time else 0)}" for entry in shown]
    rest = sized[len(shown) :]
    if rest:
        share = math.fsum(entry.time for entry in rest) / spot.time if spot.time else 0
        lines.append(_("{count} more {share}").format(count=len(rest), share=percent(share)))
    return "\n".join(lines)
