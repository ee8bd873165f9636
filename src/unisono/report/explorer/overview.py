"""What stands above the panes: the one-row answer, the hot spots, and below them the flat table and the origin."""

from __future__ import annotations

import math
import shlex
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from unisono.core.display import percent, signed_percent
from unisono.core.language import _, translated
from unisono.profile import words
from unisono.profile.cost import LEAST_RUNS, difference, estimated
from unisono.profile.flat import FlatRow, flat_table
from unisono.profile.hot import HotSpot, other
from unisono.profile.importers import label_of
from unisono.profile.recorded import UNKNOWN, Comm, Profile, collective_of
from unisono.profile.sites import sites
from unisono.profile.sizes import MEAN
from unisono.report.explorer.tree import CallTree
from unisono.report.text import count, format_duration, format_time, join

SPOTS_MOST = 8
REGIONS_FIRST = 20
REGIONS_MOST = 200
_LONGEST = 60


def short(name: str, most: int = _LONGEST) -> str:
    """A name for a sentence; a long one without its template arguments, then its parameters, then its end."""
    for opening, closing in ("<>", "()"):
        if len(name) > most:
            name = _emptied(name, opening, closing)
    return name if len(name) <= most else name[: most - 1] + "…"


def _emptied(name: str, opening: str, closing: str) -> str:
    """What is between the outermost brackets replaced by "…"; `operator<` and `->` are no brackets."""
    text, depth = "", 0
    for before, char in zip(" " + name, name, strict=False):
        if char == opening and (depth or char != "<" or not text.endswith(("operator", "operator<"))):
            depth += 1
            text += f"{opening}…{closing}" if depth == 1 else ""
        elif char == closing and depth and before != "-":
            depth -= 1
        elif not depth:
            text += char
    return text


def answer(profile: Profile, spots: Sequence[HotSpot]) -> str:
    """The one sentence of the profile; names cut, since they may be of any length."""
    frames = tuple(
        replace(frame, function=short(frame.function), module=short(frame.module)) for frame in profile.frames
    )
    named = replace(profile, frames=frames)
    return words.answer(named, [replace(spot, function=short(spot.function)) for spot in spots])


def comm_words(comm: Comm | None) -> str:
    """ "256 ranks on 8 nodes"; "" where it is not known."""
    if comm is None or comm.size == UNKNOWN:
        return ""
    found = count(comm.size, "rank")
    if comm.nodes != UNKNOWN:
        found = _("{ranks} on {nodes}").format(ranks=found, nodes=count(comm.nodes, "node"))
    if comm.created > 1:
        found = _("{communicator} ({count} such)").format(communicator=found, count=f"{comm.created:,}")
    return found


def per_rank(spot: HotSpot) -> str:
    """Calls per rank: "25", or "20 to 31"."""
    least, most = round(spot.calls.least), round(spot.calls.most)
    return f"{least:,}" if least == most else _("{least:,} to {most:,}").format(least=least, most=most)


def late(spots: Sequence[HotSpot]) -> list[str]:
    """For whom point-to-point calls wait, and how long nonblocking collectives are waited for; names cut."""
    named = [
        replace(
            spot,
            function=short(spot.function),
            frames=tuple(replace(f, function=short(f.function), module=short(f.module)) for f in spot.frames[:1]),
        )
        for spot in spots
    ]
    return words.late_sentences(named) + words.posted_sentences(named)


def size_words(spot: HotSpot) -> str:
    """The message size for a table: "512 KiB a peer", "~21.3 KiB" for a mean; "" where there is none."""
    main = words.main_size(spot)
    if main is None or main.kind != MEAN:
        return words.size_phrase(spot)
    size = words.bin_size(main)
    return _("{size} a peer").format(size=size) if spot.collective in words.PER_PEER else size


def spot_rows(profile: Profile, tree: CallTree, spots: Sequence[HotSpot]) -> list[dict[str, Any]]:
    """One row a hot spot, with the node of the call tree it is."""
    function = {name: number for number, name in enumerate(profile.functions)}
    rows = []
    for spot, place in zip(spots, places(profile, spots), strict=True):
        nodes = tree.leaves(spot.path, function[spot.function])
        rows.append(
            {
                "node": _of_phase(profile, tree, nodes, spot.phase),
                "function": spot.function,
                "chain": _chain(spot),
                "place": place,
                "phase": short(spot.phase),
                "comm": comm_words(spot.comm),
                "calls": per_rank(spot),
                "size": size_words(spot),
                "time": format_time(spot.time),
                "share": percent(spot.share),
                "width": max(0.0, min(100.0, 100 * spot.share)),
                "waiting": percent(spot.waiting_share) if math.isfinite(spot.waiting_share) else "",
                "main": False,
                "waiting_width": 100 * spot.waiting_share if math.isfinite(spot.waiting_share) else 0.0,
                "collective": collective_of(spot.function) is not None,
            }
        )
    if rows:
        rows[words.main_spot(spots)]["main"] = True
    return rows


def places(profile: Profile, spots: Sequence[HotSpot]) -> list[str]:
    """Where each of them is called; of those that would read alike, where their call paths differ."""
    read = [(spot.function, _chain(spot), comm_words(spot.comm), spot.phase) for spot in spots]
    told = sites(profile, [(key, spot.path) for key, spot in zip(read, spots, strict=True)])
    return [site or (spot.frames[0].place if spot.frames else "") for spot, site in zip(spots, told, strict=True)]


def _chain(spot: HotSpot) -> str:
    return " ← ".join(short(frame.label, 44) for frame in spot.frames[:3]) or _("call path not known")


def _of_phase(profile: Profile, tree: CallTree, nodes: Sequence[int], phase: str) -> int:
    """Of a call path's nodes the one in that phase."""
    for node in nodes:
        above = node
        while above > 0 and tree.phase[above] < 0:
            above = int(tree.parent[above])
        if tree.phase[above] < 0 or profile.phases[int(tree.phase[above])] == phase:
            return node
    return nodes[0] if nodes else 0


def rest_words(profile: Profile, shown: list[HotSpot]) -> str:
    left = other(profile, shown)
    if left.count <= 0:
        return ""
    return _("{calls}: {share} of the time.").format(calls=count(left.count, "more call"), share=percent(left.share))


def facts(profile: Profile) -> list[tuple[str, str]]:
    """At a glance, under the answer."""
    cells = profile.cells
    time = float(cells["time"].sum())
    mpi = float(profile.mpi_rows["time"].sum())
    nodes = len(dict.fromkeys(profile.origin.hosts))
    found = [(_("ranks"), f"{profile.ranks:,}")]
    if nodes:
        found.append((_("nodes"), f"{nodes:,}"))
    if profile.ranks and float(profile.wall.max(initial=0.0)) > 0:
        found.append((_("wall time"), format_duration(float(profile.wall.max()))))
    found.append((_("in MPI"), percent(mpi / time) if time > 0 else "-"))
    waiting = profile.mpi_rows["waiting"]
    known = waiting[waiting == waiting]
    if len(known) and mpi > 0:
        found.append((_("of that waiting"), percent(float(known.sum()) / mpi)))
    if profile.origin.mpi:
        found.append(("MPI", short(profile.origin.library, 40)))
    return found


def warnings(profile: Profile) -> list[str]:
    """What would mislead a reader who did not know it."""
    origin, said = profile.origin, []
    if origin.ended != "finalize":
        sentence = _("The program did not reach MPI_Finalize; the profile was written at: {ended}.")
        said.append(sentence.format(ended=translated(origin.ended)))
    if origin.dropped:
        sentence = _("{dropped:,} calls did not fit into the recorder's tables and are missing here.")
        said.append(sentence.format(dropped=origin.dropped))
    if origin.summed:
        said.append(
            _("The source holds sums over all ranks only: every rank shows an equal part, so ranks cannot be compared.")
        )
    if origin.as_is and math.isfinite(origin.profiled):
        run = difference(origin.as_is, origin.profiled)
        if run.matters and len(origin.as_is) < LEAST_RUNS:  # it may as well be noise
            written = "{:.4g}".format if origin.metric else format_time
            sentence = _("Without the recorder the program took {as_is}, with it {profiled}.").format(
                as_is=written(run.as_is), profiled=written(run.profiled)
            )
            few = _("Too few runs to estimate the noise; use --as-is {least_runs} or more.")
            said.append(f"{sentence} {few.format(least_runs=LEAST_RUNS)}")
        elif run.matters:
            sentence = (
                _("With the recorder the program ran {share} longer than without it; the times below include that.")
                if run.ratio > 0
                else _(
                    "With the recorder the program ran {share} shorter than without it; the times below include that."
                )
            )
            ran = [sentence.format(share=percent(abs(run.ratio)))]
            if origin.split_waiting:
                ran.append(_("Telling waiting apart adds a barrier to every collective."))
            said.append(" ".join(ran))
    return said


def origin_rows(profile: Profile) -> list[tuple[str, str]]:
    origin = profile.origin
    own = origin.source == "unisono"
    rows = [(_("source"), _("recorded by Unisono") if own else label_of(origin.source) or origin.source)]
    if origin.command:
        rows.append((_("command"), origin.command))
    if origin.created:
        rows.append((_("created"), origin.created[:19].replace("T", " ") + " UTC"))
    if origin.mpi:
        rows.append(("MPI", origin.mpi))
    hosts = list(dict.fromkeys(origin.hosts))
    if hosts:
        named = join([short(host, 40) for host in hosts[:12]])
        if len(hosts) > 12:
            named = _("{hosts} and {count} more").format(hosts=named, count=f"{len(hosts) - 12:,}")
        rows.append((_("nodes"), named))
    if own or origin.ended != "finalize":
        rows.append((_("ended"), _("at MPI_Finalize") if origin.ended == "finalize" else translated(origin.ended)))
    what, written = (origin.metric, "{:.4g}".format) if origin.metric else (_("run time"), format_time)
    if origin.as_is:
        runs = ", ".join(map(written, origin.as_is))
        rows.append((_("{what} as it is").format(what=what), f"{runs} ({count(len(origin.as_is), 'run')})"))
    if math.isfinite(origin.profiled):
        took = written(origin.profiled)
        if origin.as_is:
            run = difference(origin.as_is, origin.profiled)
            sentence = (
                _("{time}: {change} against as it is, too few runs to tell it from noise")
                if len(origin.as_is) < LEAST_RUNS
                else _("{time}: {change} against as it is")
                if run.matters
                else _("{time}: {change} against as it is, within noise")
            )
            took = sentence.format(time=took, change=signed_percent(run.ratio))
        rows.append((_("{what} profiled").format(what=what), took))
    if math.isfinite(origin.overhead_ns):
        share = estimated(profile)
        sentence = (
            _("about {ns:.0f} ns a call, {share} of the busiest rank's time")
            if math.isfinite(share)
            else _("about {ns:.0f} ns a call")
        )
        rows.append((_("cost of recording"), sentence.format(ns=origin.overhead_ns, share=percent(share))))
    if own and origin.depth >= 0:
        rows.append((_("call path"), _("up to {frames}").format(frames=count(origin.depth, "frame"))))
    if own:
        measured = _("measured") if origin.split_waiting else _("not measured: record with --split-waiting")
        rows.append((_("waiting"), measured))
    rows += [(_(name), value) for name, value in origin.machine.items()]
    return rows


def flat(profile: Profile) -> dict[str, Any]:
    table = flat_table(profile)
    return {
        "groups": [_flat_row(row) for row in table.groups],
        "regions": [_flat_row(row) for row in table.regions[:REGIONS_FIRST]],
        "others": [_flat_row(row) for row in table.regions[REGIONS_FIRST:REGIONS_MOST]],
        "left": max(0, len(table.regions) - REGIONS_MOST),
    }


def _flat_row(row: FlatRow) -> dict[str, Any]:
    return {
        "group": row.group,
        "region": short(row.words, 100),
        "full": row.words,
        "visits": f"{row.visits:,}" if row.visits != UNKNOWN else "-",
        "time": format_time(row.time),
        "share": f"{100 * row.share:.1f} %",
        "width": max(0.0, min(100.0, 100 * row.share)),
        "per_visit": format_time(row.per_visit),
    }


def program(profile: Profile) -> str:
    """What to call the root of the call tree: the program of the command line, where it can be told."""
    try:
        words = shlex.split(profile.origin.command)
    except ValueError:
        words = profile.origin.command.split()
    named = [word.rsplit("/", 1)[-1] for word in words if "/" in word and not word.startswith("-")]
    return short(named[-1] if named else _("whole program"))
